//! The log of errors in hooks: one line each, without any payload text.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::paths::Links;
use crate::{paths, world};

/// Size at which the log is rotated. One old log is kept beside it.
const LARGEST_LOG: u64 = 1 << 20;

/// Writes one line. Failures are ignored: a hook must not fail because of its log.
pub fn write(log: &Path, what: &str) {
    let now = world::now();
    let line = format!("{now} pid {} {}\n", std::process::id(), what.replace('\n', " "));
    let Ok(mut file) = paths::append(log) else { return };
    let _ = file.write_all(line.as_bytes());
    if file.metadata().is_ok_and(|metadata| metadata.len() > LARGEST_LOG) {
        let _ = begin_anew(log, &file);
    }
}

/// Rotates `file`, which has grown too large.
///
/// Of many writers one does so: it locks the very file that it moves, so no other can move it, and
/// a log begun meanwhile is not moved over the old one.
fn begin_anew(log: &Path, file: &File) -> io::Result<()> {
    flock(file, FlockOperation::NonBlockingLockExclusive)?;
    if is_at(file, log) { fs::rename(log, before(log)) } else { Ok(()) }
}

/// Reports whether `path` is the current name of `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(own), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (own.dev(), own.ino()) == (named.dev(), named.ino())
}

/// Returns the path of the previous log.
fn before(log: &Path) -> PathBuf {
    log.with_extension("log.1")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Time in milliseconds since the epoch, and process id. `None` if the line contains neither.
    pub written: Option<(i64, u32)>,
    pub what: String,
}

impl Line {
    fn parse(line: &str) -> Self {
        let parts = || {
            let (time, rest) = line.split_once(" pid ")?;
            let (pid, what) = rest.split_once(' ')?;
            Some(((time.parse().ok()?, pid.parse().ok()?), what))
        };
        match parts() {
            Some((written, what)) => Self { written: Some(written), what: what.to_owned() },
            None => Self { written: None, what: line.to_owned() },
        }
    }
}

/// Reads the log, then follows it.
#[derive(Debug)]
pub struct Reader {
    log: PathBuf,
    file: Option<File>,
    /// Start of an incomplete line.
    rest: Vec<u8>,
}

impl Reader {
    /// Opens the log and returns all lines so far, oldest first, including those of the previous
    /// log.
    pub fn open(log: &Path) -> io::Result<(Self, Vec<Line>)> {
        let mut reader = Self { log: before(log), file: None, rest: Vec::new() };
        let mut lines = reader.read_on()?;
        log.clone_into(&mut reader.log);
        lines.extend(reader.read_on()?);
        Ok((reader, lines))
    }

    /// Returns the lines added since the last call. After a rotation, reads the rest of the old log
    /// first, then the new one.
    pub fn read_on(&mut self) -> io::Result<Vec<Line>> {
        // Check first: lines written to the old log before the rotation are then read below.
        let is_anew = !self.file.as_ref().is_some_and(|file| is_at(file, &self.log));
        let mut lines = self.drain()?;
        if is_anew {
            self.file = match paths::open(&self.log, Links::Refused) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(lines),
                opened => Some(opened?),
            };
            self.rest.clear();
            lines.extend(self.drain()?);
        }
        Ok(lines)
    }

    fn drain(&mut self) -> io::Result<Vec<Line>> {
        let Some(file) = &mut self.file else { return Ok(Vec::new()) };
        file.read_to_end(&mut self.rest)?;
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        Ok(String::from_utf8_lossy(&text).lines().map(Line::parse).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: Vec<Line>) -> Vec<String> {
        lines.into_iter().map(|line| line.what).collect()
    }

    #[test]
    fn a_line_tells_when_and_by_whom_it_was_written() {
        let line = Line::parse("1794722294946 pid 17 could not read: no");
        assert_eq!(line.written, Some((1_794_722_294_946, 17)));
        assert_eq!(line.what, "could not read: no");
        let other = "not ours";
        assert_eq!(Line::parse(other), Line { written: None, what: other.to_owned() });
    }

    #[test]
    fn many_writers_lose_no_line_when_the_log_is_begun_anew() {
        const WRITERS: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("hook.log");
        // Long enough that the log is rotated exactly once while all of them write.
        let filler = "x".repeat(LARGEST_LOG as usize / WRITERS / 10);
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (log, filler) = (&log, &filler);
                scope.spawn(move || {
                    for line in 0..15 {
                        write(log, &format!("{writer}/{line} {filler}"));
                    }
                });
            }
        });
        let (_, lines) = Reader::open(&log).unwrap();
        assert_eq!(lines.len(), WRITERS * 15);
        assert!(lines.iter().all(|line| line.written.is_some()));
        assert!(before(&log).exists());
    }

    #[test]
    fn a_log_that_another_has_begun_since_is_not_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("hook.log");
        write(&log, "old");
        let old = paths::append(&log).unwrap();
        begin_anew(&log, &old).unwrap();
        write(&log, "new");
        begin_anew(&log, &old).unwrap();
        let (_, lines) = Reader::open(&log).unwrap();
        assert_eq!(texts(lines), ["old", "new"]);
    }

    #[test]
    fn a_reader_follows_a_log_that_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("hook.log");
        let (mut reader, lines) = Reader::open(&log).unwrap();
        assert_eq!(texts(lines), [""; 0]);
        write(&log, "first");
        assert_eq!(texts(reader.read_on().unwrap()), ["first"]);
        write(&log, "second");
        begin_anew(&log, &paths::append(&log).unwrap()).unwrap();
        write(&log, "third");
        assert_eq!(texts(reader.read_on().unwrap()), ["second", "third"]);
        paths::append(&log).unwrap().write_all(b"1 pid 2 fou").unwrap();
        assert_eq!(texts(reader.read_on().unwrap()), [""; 0]);
        paths::append(&log).unwrap().write_all(b"rth\n").unwrap();
        assert_eq!(texts(reader.read_on().unwrap()), ["fourth"]);
    }
}
