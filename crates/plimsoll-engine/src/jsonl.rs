//! Reads JSON Lines files from either end: transcripts, and our own spools.
//!
//! Such a file grows while it is read, may end in half a line or be replaced by a shorter one, and
//! its path may come from outside: only regular files are read, and nothing here blocks. In a line
//! longer than [`LONG_LINE`], long strings are cut, so that an embedded image or file costs no
//! memory. Readings do not need that content.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::UNIX_EPOCH;

use plimsoll_core::bytes;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use crate::paths::{self, Links};

/// Lines longer than this are not loaded completely.
pub const LONG_LINE: u64 = 4 << 20;
/// Length to which strings in such a line are cut.
const LONG_STRING: usize = 256 << 10;
/// First step back from the end; enough for most readings.
const FIRST_STEP: u64 = 8 << 10;
const LARGEST_STEP: u64 = 1 << 20;
/// Maximum distance from the end for backward searches.
pub const HORIZON: u64 = 32 << 20;
const FORWARD_STEP: usize = 256 << 10;
/// First step of a forward reader: often a few lines are enough.
const FIRST_FORWARD_STEP: usize = 16 << 10;

/// An open file, limited to its length at the time of opening.
#[derive(Debug)]
pub struct JsonLines {
    file: File,
    len: u64,
    inode: u64,
}

/// Reports whether a path is absolute and contains no `..`.
fn is_plain(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    let goes_up = || name.split(|byte| *byte == b'/').any(|part| part == b"..");
    name.starts_with(b"/") && !(bytes::contains_once(b"/..", name) && goes_up())
}

#[derive(Debug)]
pub struct Line<'a> {
    pub offset: u64,
    /// Length in the file.
    pub len: u64,
    /// Content without the newline; long strings are cut if the line is very long.
    pub bytes: &'a [u8],
}

impl JsonLines {
    /// Opens the file at `path`; `None` if it does not exist.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        if !is_plain(path) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain absolute path"));
        }
        let file = match paths::open(path, Links::Followed) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Some(Self { file, len: metadata.len(), inode: metadata.ino() }))
    }

    /// Opens a file without any lines, for a session that has no transcript.
    pub fn empty() -> io::Result<Self> {
        Ok(Self { file: File::open("/dev/null")?, len: 0, inode: 0 })
    }

    /// Returns the same file limited to the first `len` bytes.
    pub fn until(&self, len: u64) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, len: len.min(self.len), inode: self.inode })
    }

    /// Returns the same file up to the end of its last complete line. The next read picks up the
    /// rest.
    pub fn in_whole_lines(mut self) -> io::Result<Self> {
        let last = self.bytes(self.len.saturating_sub(1)..self.len)?;
        if last != [b'\n'] {
            self.len = self.line_start(self.len)?;
        }
        Ok(self)
    }

    /// Returns the length at the time of opening.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the modification time in milliseconds since the epoch.
    pub(crate) fn written(&self) -> io::Result<u64> {
        let age = self.file.metadata()?.modified()?.duration_since(UNIX_EPOCH);
        Ok(age.unwrap_or_default().as_millis() as u64)
    }

    /// Returns the inode, which changes if the file is replaced.
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Returns a reader of the lines from the end backwards.
    pub fn backward(&self) -> Backward<'_> {
        Backward {
            file: self,
            buffer: Vec::new(),
            start: self.len,
            end: 0,
            step: FIRST_STEP,
            long: Vec::new(),
            at_end: true,
            given_first: false,
        }
    }

    /// Returns a reader of the lines from `offset`, which must be the start of a line.
    pub fn forward(&self, offset: u64) -> Forward<'_> {
        let (buffer, long) = (Vec::new(), Vec::new());
        Forward { file: self, buffer, start: offset, from: 0, to: 0, long }
    }

    /// Returns the offset of the last line in `range` that contains `mark`.
    pub fn last_line_with(&self, mark: &[u8], range: Range<u64>) -> io::Result<Option<u64>> {
        let (mut end, mut chunk) = (range.end, Vec::new());
        while end > range.start {
            let start = end.saturating_sub(FORWARD_STEP as u64).max(range.start);
            chunk.clear();
            // A mark may straddle two chunks.
            let to = range.end.min(end + mark.len() as u64 - 1);
            self.read(start, (to - start) as usize, &mut chunk)?;
            if let Some(at) = bytes::last(mark, &chunk) {
                return self.line_start(start + at as u64).map(Some);
            }
            end = start;
        }
        Ok(None)
    }

    /// Reads a range of the file unchanged.
    pub fn bytes(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(range.start, (range.end - range.start) as usize, &mut bytes)?;
        Ok(bytes)
    }

    /// Appends up to `len` bytes at `offset` to `into`; fewer only at the end of the file.
    fn read(&self, offset: u64, len: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let (before, wanted) = (into.len(), self.rest(offset, len));
        into.reserve_exact(wanted);
        while into.len() - before < wanted {
            let at = offset + (into.len() - before) as u64;
            match rustix::io::pread(&self.file, spare_capacity(into), at) {
                Ok(0) => break, // shrunk since it was opened
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        into.truncate(before + wanted);
        Ok(())
    }

    /// Returns how many of `len` bytes at `offset` exist.
    fn rest(&self, offset: u64, len: usize) -> usize {
        usize::try_from(self.len.saturating_sub(offset)).map_or(len, |rest| rest.min(len))
    }

    /// Fills `into` with the bytes at `offset`. Returns how many were read.
    fn read_into(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], offset + done as u64) {
                Ok(0) => break, // shrunk since it was opened
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Returns the line at `start..end` with its long strings cut.
    fn long_line(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        let mut cutter = Cutter::default();
        let mut chunk = Vec::new();
        let mut at = start;
        while at < end {
            chunk.clear();
            self.read(at, FORWARD_STEP.min((end - at) as usize), &mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            cutter.add(&chunk);
            at += chunk.len() as u64;
        }
        Ok(cutter.kept)
    }

    /// Returns the end of the line that contains `offset`: its newline, or the end of the file.
    fn line_end(&self, mut offset: u64) -> io::Result<u64> {
        let mut chunk = Vec::new();
        loop {
            chunk.clear();
            self.read(offset, FORWARD_STEP, &mut chunk)?;
            if let Some(newline) = bytes::find(b'\n', &chunk) {
                return Ok(offset + newline as u64);
            }
            if chunk.is_empty() {
                return Ok(offset);
            }
            offset += chunk.len() as u64;
        }
    }

    /// Returns the start of the line that contains the byte before `offset`.
    fn line_start(&self, mut offset: u64) -> io::Result<u64> {
        let mut chunk = Vec::new();
        while offset > 0 {
            let step = LARGEST_STEP.min(offset);
            chunk.clear();
            self.read(offset - step, step as usize, &mut chunk)?;
            if let Some(newline) = bytes::rfind(b'\n', &chunk) {
                return Ok(offset - step + newline as u64 + 1);
            }
            offset -= step;
        }
        Ok(0)
    }
}

/// Reads lines from the end backwards; see [`JsonLines::backward`].
#[derive(Debug)]
pub struct Backward<'t> {
    file: &'t JsonLines,
    /// Bytes of the file from `start` on. Those before `end` are still to be returned.
    buffer: Vec<u8>,
    start: u64,
    end: usize,
    step: u64,
    long: Vec<u8>,
    /// No line has been returned yet, so an empty text after the last newline is skipped.
    at_end: bool,
    given_first: bool,
}

impl Backward<'_> {
    /// Returns the line before the one returned last.
    #[expect(clippy::should_implement_trait, reason = "a line borrows from the reader")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if let Some(newline) = bytes::rfind(b'\n', &self.buffer[..self.end]) {
                let (from, to) = (newline + 1, self.end);
                self.end = newline;
                if std::mem::take(&mut self.at_end) && from == to {
                    continue;
                }
                return Ok(Some(self.line(from, to)));
            }
            if self.start == 0 {
                let given = std::mem::replace(&mut self.given_first, true);
                let nothing = given || self.at_end && self.end == 0;
                let to = std::mem::take(&mut self.end);
                return Ok((!nothing).then(|| self.line(0, to)));
            }
            if self.end as u64 > LONG_LINE {
                return self.long_line().map(Some);
            }
            self.read_back()?;
        }
    }

    /// Returns the line before the one returned last, if it is in memory already.
    pub fn next_at_hand(&mut self) -> Option<Line<'_>> {
        let newline = bytes::rfind(b'\n', &self.buffer[..self.end])?;
        let (from, to) = (newline + 1, self.end);
        self.end = newline;
        Some(self.line(from, to))
    }

    fn line(&self, from: usize, to: usize) -> Line<'_> {
        let offset = self.start + from as u64;
        Line { offset, len: (to - from) as u64, bytes: &self.buffer[from..to] }
    }

    /// Prepends the preceding bytes of the file to the rest of the buffer.
    fn read_back(&mut self) -> io::Result<()> {
        let step = self.step.min(self.start);
        self.step = (self.step * 4).min(LARGEST_STEP);
        let mut buffer = Vec::new();
        self.file.read(self.start - step, step as usize, &mut buffer)?;
        let read = buffer.len();
        buffer.extend_from_slice(&self.buffer[..self.end]);
        self.buffer = buffer;
        self.start -= step;
        self.end += read;
        Ok(())
    }

    fn long_line(&mut self) -> io::Result<Line<'_>> {
        let end = self.start + self.end as u64;
        let offset = self.file.line_start(self.start)?;
        self.long = self.file.long_line(offset, end)?;
        self.buffer = Vec::new();
        // Skip the newline before the line.
        self.start = offset.saturating_sub(1);
        self.end = 0;
        self.at_end = false;
        self.given_first = offset == 0;
        self.step = FIRST_STEP;
        Ok(Line { offset, len: end - offset, bytes: &self.long })
    }
}

/// Reads lines in file order; see [`JsonLines::forward`].
#[derive(Debug)]
pub struct Forward<'t> {
    file: &'t JsonLines,
    /// Bytes of the file. Those in `from..to` are still to be returned.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// File offset of `from`.
    start: u64,
    long: Vec<u8>,
}

impl Forward<'_> {
    /// Returns the next line; the last one may lack a newline.
    #[expect(clippy::should_implement_trait, reason = "a line borrows from the reader")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.from..self.to];
            if let Some(newline) = bytes::find_far(b'\n', &rest[searched..]) {
                return Ok(Some(self.line(searched + newline, 1)));
            }
            searched = rest.len();
            if searched as u64 > LONG_LINE {
                return self.long_line().map(Some);
            }
            if !self.read_on()? {
                return Ok((searched > 0).then(|| self.line(searched, 0)));
            }
        }
    }

    /// Returns the next `len` bytes as a line, and skips its `end` bytes of newline.
    fn line(&mut self, len: usize, end: usize) -> Line<'_> {
        let (offset, from) = (self.start, self.from);
        self.from += len + end;
        self.start += (len + end) as u64;
        Line { offset, len: len as u64, bytes: &self.buffer[from..from + len] }
    }

    /// Reads more bytes into the buffer. Returns false at the end of the file.
    fn read_on(&mut self) -> io::Result<bool> {
        let offset = self.start + (self.to - self.from) as u64;
        self.buffer.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        let step = if self.buffer.is_empty() { FIRST_FORWARD_STEP } else { FORWARD_STEP };
        let end = self.to + self.file.rest(offset, step);
        if end > self.buffer.len() {
            self.buffer.resize(end, 0);
        }
        let read = self.file.read_into(offset, &mut self.buffer[self.to..end])?;
        self.to += read;
        Ok(read > 0)
    }

    fn long_line(&mut self) -> io::Result<Line<'_>> {
        let offset = self.start;
        let end = self.file.line_end(offset + (self.to - self.from) as u64)?;
        self.long = self.file.long_line(offset, end)?;
        self.buffer = Vec::new();
        (self.from, self.to) = (0, 0);
        self.start = (end + 1).min(self.file.len);
        Ok(Line { offset, len: end - offset, bytes: &self.long })
    }
}

/// Copies JSON and drops what exceeds [`LONG_STRING`] in a string. Escapes and UTF-8 sequences stay
/// complete.
#[derive(Default)]
struct Cutter {
    kept: Vec<u8>,
    /// Length of the current string.
    string: Option<usize>,
    /// Remaining bytes of an escape.
    escape: usize,
    cutting: bool,
}

impl Cutter {
    fn add(&mut self, json: &[u8]) {
        for &byte in json {
            match self.string {
                Some(len) => self.inside(byte, len),
                None => self.string = (byte == b'"').then_some(0),
            }
            if !self.cutting {
                self.kept.push(byte);
            }
        }
    }

    fn inside(&mut self, byte: u8, len: usize) {
        let continues = byte & 0b1100_0000 == 0b1000_0000;
        self.cutting |= len >= LONG_STRING && self.escape == 0 && !continues;
        self.string = Some(len + 1);
        match (self.escape, byte) {
            (0, b'"') => (self.string, self.cutting) = (None, false),
            (0, b'\\') => self.escape = 1,
            (0, _) => {}
            (_, b'u') => self.escape = 4,
            (_, _) => self.escape -= 1,
        }
    }
}

/// Passes the complete lines from `offset` on to `take`, about `most` bytes of them. Returns the
/// offset of the next line.
pub fn whole_lines(
    file: &JsonLines,
    offset: u64,
    most: u64,
    mut take: impl FnMut(&Line<'_>),
) -> io::Result<u64> {
    let mut reader = file.forward(offset);
    let mut next = offset;
    while let Some(line) = reader.next()? {
        let end = line.offset + line.len;
        // An incomplete line is left for the next call.
        if end >= file.len() {
            break;
        }
        take(&line);
        next = end + 1;
        if next - offset >= most {
            break;
        }
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn lines_in(bytes: &[u8]) -> JsonLines {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        JsonLines::open(file.path()).unwrap().unwrap()
    }

    type Lines = Vec<(u64, u64, Vec<u8>)>;

    fn backward(file: &JsonLines) -> Lines {
        let (mut reader, mut lines) = (file.backward(), Vec::new());
        while let Some(line) = reader.next().unwrap() {
            lines.push((line.offset, line.len, line.bytes.to_vec()));
        }
        lines.reverse();
        lines
    }

    fn forward(file: &JsonLines) -> Lines {
        let (mut reader, mut lines) = (file.forward(0), Vec::new());
        while let Some(line) = reader.next().unwrap() {
            lines.push((line.offset, line.len, line.bytes.to_vec()));
        }
        lines
    }

    /// Builds a file of lines with these lengths.
    fn lines_of(lengths: &[usize], torn: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (n, length) in lengths.iter().enumerate() {
            bytes.extend(std::iter::repeat_n(b'a' + (n % 26) as u8, *length));
            bytes.push(b'\n');
        }
        if torn {
            bytes.extend_from_slice(b"torn");
        }
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn both_ways_give_the_same_lines(
            lengths in prop::collection::vec(prop_oneof![0..300_usize, 15_000..18_000_usize, 250_000..270_000_usize], 0..12),
            torn in any::<bool>(),
        ) {
            let bytes = lines_of(&lengths, torn);
            let file = lines_in(&bytes);
            let expected: Lines = {
                let mut offset = 0;
                let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
                let split = |line: &[u8]| {
                    let found = (offset, line.len() as u64, line.to_vec());
                    offset += line.len() as u64 + 1;
                    found
                };
                if bytes.is_empty() { Vec::new() } else { text.split(|byte| *byte == b'\n').map(split).collect() }
            };
            prop_assert_eq!(&forward(&file), &expected);
            prop_assert_eq!(&backward(&file), &expected);
        }

        #[test]
        fn a_cut_line_is_the_same_json_with_shorter_strings(text in any::<String>(), chunk in 1..7_usize) {
            let long = text.clone() + &"\u{e9}\"\\\u{1}x".repeat(LONG_STRING / 4);
            let json = serde_json::to_vec(&serde_json::json!({"a": long, "b": [text, 1]})).unwrap();
            let mut cutter = Cutter::default();
            json.chunks(chunk).for_each(|chunk| cutter.add(chunk));
            let cut: serde_json::Value = serde_json::from_slice(&cutter.kept).unwrap();
            prop_assert!(long.starts_with(cut["a"].as_str().unwrap()));
            prop_assert_eq!(cut["b"][0].as_str(), Some(text.as_str()));
            prop_assert!(cutter.kept.len() < LONG_STRING + 8 * text.len() + 64);
        }
    }

    #[test]
    fn a_very_long_line_keeps_its_place_and_its_neighbours() {
        let long = format!("{{\"data\":\"{}\",\"uuid\":\"x\"}}", "A".repeat(9 << 20));
        let bytes = format!("first\n{long}\nlast\n");
        let file = lines_in(bytes.as_bytes());
        for lines in [forward(&file), backward(&file)] {
            let [first, middle, last] = &lines[..] else { panic!("{} lines", lines.len()) };
            assert_eq!((first.0, last.0), (0, 7 + long.len() as u64));
            assert_eq!((middle.0, middle.1), (6, long.len() as u64));
            assert!(middle.2.len() < 300_000 && middle.2.ends_with(b"\"uuid\":\"x\"}"));
        }
    }

    #[test]
    fn only_a_plain_path_to_a_regular_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("loop", path("loop")).unwrap();
        std::fs::write(path("file"), "").unwrap();
        let fifo = path("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        for bad in [
            folder.path(),
            Path::new("/dev/zero"),
            &fifo,
            &path("loop"),
            &path("../x"),
            Path::new("x"),
        ] {
            assert!(JsonLines::open(bad).is_err(), "{}", bad.display());
        }
        assert!(JsonLines::open(&path("none")).unwrap().is_none());
        assert!(JsonLines::open(&path("file")).unwrap().unwrap().is_empty());
    }
}
