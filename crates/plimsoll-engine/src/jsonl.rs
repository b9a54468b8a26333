//! Reading files of JSON lines, from either end: transcripts, and our own spools.
//!
//! Such a file grows while it is read, may end in half a line, may be replaced by a shorter one,
//! and its path may come from outside: only a regular file is ever read, and nothing here waits.
//! Of a line past [`LONG_LINE`] the long strings are cut, so that a picture or a whole file inside it
//! costs no memory; that leaves everything a reading needs.

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

/// A line longer than this is not held in memory whole.
pub const LONG_LINE: u64 = 4 << 20;
/// What is kept of a string in such a line.
const LONG_STRING: usize = 256 << 10;
/// The first step back from the end: most readings need no second.
const FIRST_STEP: u64 = 8 << 10;
const LARGEST_STEP: u64 = 1 << 20;
/// How far back from the end anything is looked for.
pub const HORIZON: u64 = 32 << 20;
const FORWARD_STEP: usize = 256 << 10;
/// The first step on from where a line begins: often a look at a few lines is enough.
const FIRST_FORWARD_STEP: usize = 16 << 10;

/// An open file, as long as it was when it was opened.
#[derive(Debug)]
pub struct JsonLines {
    file: File,
    len: u64,
    inode: u64,
}

/// Whether a path is absolute and never goes back up.
fn is_plain(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    let goes_up = || name.split(|byte| *byte == b'/').any(|part| part == b"..");
    name.starts_with(b"/") && !(bytes::contains_once(b"/..", name) && goes_up())
}

/// One line.
#[derive(Debug)]
pub struct Line<'a> {
    /// Where it begins in the file.
    pub offset: u64,
    /// How long it is in the file.
    pub len: u64,
    /// Its bytes, without the newline; long strings are cut if the line is very long.
    pub bytes: &'a [u8],
}

impl JsonLines {
    /// Opens the file at `path`; nothing if there is none.
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

    /// The same file, as it was when it was only so long.
    pub fn until(&self, len: u64) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, len: len.min(self.len), inode: self.inode })
    }

    /// The same file up to the end of its last whole line: half a line is next time's line.
    pub fn in_whole_lines(mut self) -> io::Result<Self> {
        let last = self.bytes(self.len.saturating_sub(1)..self.len)?;
        if last != [b'\n'] {
            self.len = self.line_start(self.len)?;
        }
        Ok(self)
    }

    /// Its length when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there was nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// When it was last written to, in milliseconds since the epoch.
    pub(crate) fn written(&self) -> io::Result<u64> {
        let age = self.file.metadata()?.modified()?.duration_since(UNIX_EPOCH);
        Ok(age.unwrap_or_default().as_millis() as u64)
    }

    /// The identity of the file behind the path.
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// The lines from the end backwards.
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

    /// The lines from `offset` on, which is the beginning of one.
    pub fn forward(&self, offset: u64) -> Forward<'_> {
        let (buffer, long) = (Vec::new(), Vec::new());
        Forward { file: self, buffer, start: offset, from: 0, to: 0, long }
    }

    /// Where the last line begins of those in `range` in which `mark` stands.
    pub fn last_line_with(&self, mark: &[u8], range: Range<u64>) -> io::Result<Option<u64>> {
        let (mut end, mut chunk) = (range.end, Vec::new());
        while end > range.start {
            let start = end.saturating_sub(FORWARD_STEP as u64).max(range.start);
            chunk.clear();
            // A mark may stand across the end of what is looked at.
            let to = range.end.min(end + mark.len() as u64 - 1);
            self.read(start, (to - start) as usize, &mut chunk)?;
            if let Some(at) = bytes::last(mark, &chunk) {
                return self.line_start(start + at as u64).map(Some);
            }
            end = start;
        }
        Ok(None)
    }

    /// A stretch of the file as it is.
    pub fn bytes(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(range.start, (range.end - range.start) as usize, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads up to `len` bytes at `offset` to the end of `into`; fewer only at the end of the file.
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

    /// How much of `len` bytes at `offset` there is.
    fn rest(&self, offset: u64, len: usize) -> usize {
        usize::try_from(self.len.saturating_sub(offset)).map_or(len, |rest| rest.min(len))
    }

    /// Fills `into` with the bytes at `offset`, and says how many there were.
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

    /// The line at `start..end` with its long strings cut.
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

    /// Where the line that goes on at `offset` ends: at its newline, or with the file.
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

    /// Where the line that ends before `offset` begins.
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

/// Lines from the end backwards; see [`JsonLines::backward`].
#[derive(Debug)]
pub struct Backward<'t> {
    file: &'t JsonLines,
    /// Bytes of the file from `start` on, of which those before `end` are still to be given.
    buffer: Vec<u8>,
    start: u64,
    end: usize,
    step: u64,
    long: Vec<u8>,
    /// Nothing was given yet: what follows the last newline may be empty.
    at_end: bool,
    given_first: bool,
}

impl Backward<'_> {
    /// The line before the one given last.
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

    /// The line before the one given last, if it is in memory already.
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

    /// Puts the bytes before the buffer in front of what is left of it.
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
        // The newline before the line is given up with it.
        self.start = offset.saturating_sub(1);
        self.end = 0;
        self.at_end = false;
        self.given_first = offset == 0;
        self.step = FIRST_STEP;
        Ok(Line { offset, len: end - offset, bytes: &self.long })
    }
}

/// Lines in the order of the file; see [`JsonLines::forward`].
#[derive(Debug)]
pub struct Forward<'t> {
    file: &'t JsonLines,
    /// Bytes of the file, of which `from..to` are still to be given.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// Where those begin in the file.
    start: u64,
    long: Vec<u8>,
}

impl Forward<'_> {
    /// The next line; the last one may have no newline.
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

    /// Gives the next `len` bytes as a line, and passes over what ends it.
    fn line(&mut self, len: usize, end: usize) -> Line<'_> {
        let (offset, from) = (self.start, self.from);
        self.from += len + end;
        self.start += (len + end) as u64;
        Line { offset, len: len as u64, bytes: &self.buffer[from..from + len] }
    }

    /// Reads on behind the buffer; false at the end of the file.
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

/// Copies JSON, leaving out what goes past [`LONG_STRING`] in a string. Escapes and characters stay
/// whole.
#[derive(Default)]
struct Cutter {
    kept: Vec<u8>,
    /// The length of the string we are in.
    string: Option<usize>,
    /// Bytes of an escape that are still to come.
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

/// Gives `take` the whole lines from `offset` on, about `most` bytes of them, and says where the next
/// one begins.
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
        // Half a line is next time's line.
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

    /// A file of lines with these lengths.
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
