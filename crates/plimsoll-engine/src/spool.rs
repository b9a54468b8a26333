//! The spool: decisions that no transcript contains, in one append-only file per window.
//!
//! Each line is a decision with the window's complete state, so the last line is enough, and a torn
//! line loses nothing else. A call that decides nothing writes nothing.

use std::fs::{File, Metadata, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use plimsoll_core::Tokens;
use plimsoll_core::bytes::find;
use plimsoll_core::session::SessionState;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::jsonl::JsonLines;
use crate::paths;
use crate::world::now;

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpoolLine {
    /// Milliseconds since the epoch.
    pub at: u64,
    /// The decision.
    pub what: String,
    /// The reading on which it is based.
    pub used: Tokens,
    /// The window's size at that time.
    pub window: Tokens,
    /// The window's state after the decision.
    pub state: SessionState,
}

impl SpoolLine {
    /// Creates a line for an event without a measurement.
    pub fn unmeasured(what: &str, state: SessionState) -> Self {
        Self { at: now(), what: what.to_owned(), used: 0, window: 0, state }
    }
}

pub use plimsoll_core::session::label::{ENDED, STARTED, UNSEEN, WINDOW};

/// Returns the state at the end of the spool at `path`; the default state if there is no spool.
pub fn state(path: &Path) -> io::Result<SessionState> {
    Ok(last_of(path, state_of)?.unwrap_or_default())
}

/// Returns the last complete line of the spool at `path`.
pub fn last(path: &Path) -> io::Result<Option<SpoolLine>> {
    last_of(path, parse)
}

/// Applies `read` to lines from the last backwards, until it returns a value.
fn last_of<T>(path: &Path, read: impl Fn(&[u8]) -> Option<T>) -> io::Result<Option<T>> {
    let Some(file) = JsonLines::open(path)? else { return Ok(None) };
    let mut lines = file.backward();
    while let Some(line) = lines.next()? {
        if let Some(read) = read(line.bytes) {
            return Ok(Some(read));
        }
    }
    Ok(None)
}

/// Returns the state in a complete line of a spool.
fn state_of(line: &[u8]) -> Option<SessionState> {
    state_at_end(line).or_else(|| Some(parse(line)?.state))
}

/// Returns the state of a line in this release's format, which ends with the state. Hooks need
/// nothing else, so the part before the state is only checked for damage.
fn state_at_end(line: &[u8]) -> Option<SessionState> {
    // No field before the state is an object.
    let (before, state) = line.split_at_checked(1 + find(b'{', line.get(1..)?)?)?;
    let is_whole = before.starts_with(br#"{"at":"#)
        && before.ends_with(br#","state":"#)
        && before.iter().all(|byte| (b' '..=b'~').contains(byte));
    let state = state.strip_suffix(b"}").filter(|_| is_whole)?;
    serde_json::from_str(std::str::from_utf8(state).ok()?).ok()
}

/// Parses a line of a spool; `None` if it is torn.
pub fn parse(line: &[u8]) -> Option<SpoolLine> {
    // Validating UTF-8 once is faster than per string.
    serde_json::from_str(std::str::from_utf8(line).ok()?).ok()
}

/// A spool locked for writing.
#[derive(Debug)]
pub struct Locked {
    file: File,
}

/// How long to wait for another process. After that, the other process decides alone.
const PATIENCE: Duration = Duration::from_millis(200);
const STEP: Duration = Duration::from_micros(500);

impl Locked {
    /// Locks the spool at `path`; `None` if another process holds it too long.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        Self::within(path, PATIENCE)
    }

    /// Locks the spool at `path`; `None` if another process holds it right now.
    pub fn at_once(path: &Path) -> io::Result<Option<Self>> {
        Self::within(path, Duration::ZERO)
    }

    fn within(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let mut file = paths::append(path)?;
        let mut waited = Duration::ZERO;
        loop {
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => return Ok(Some(Self { file })),
                // The file was deleted between opening and locking.
                Ok(()) => file = paths::append(path)?,
                Err(TryLockError::WouldBlock) if waited < patience => {
                    std::thread::sleep(STEP);
                    waited += STEP;
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Reports whether the disk has room for a line. Advice that cannot be recorded should not be
    /// given, because it would be repeated.
    pub fn has_room(&self, line: &SpoolLine) -> bool {
        let (Ok(bytes), Ok(metadata)) = (bytes(line), self.file.metadata()) else { return false };
        let room = bytes.len() as u64 + 1;
        let reserved =
            rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, metadata.len(), room);
        // A file system that cannot reserve space gives no answer.
        !matches!(reserved, Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG))
    }

    /// Releases the lock without a line. A file that was only made to be locked is removed.
    pub fn release(self, path: &Path) {
        if self.file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Appends a line with one write and releases the lock.
    pub fn append(mut self, line: &SpoolLine) -> io::Result<()> {
        let mut bytes = bytes(line)?;
        if paths::is_torn(&self.file)? {
            bytes.insert(0, b'\n');
        }
        self.file.write_all(&bytes)
    }
}

fn bytes(line: &SpoolLine) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reports whether an open file is still the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let inode = |metadata: io::Result<Metadata>| metadata.map(|metadata| metadata.ino()).ok();
    inode(file.metadata()) == inode(std::fs::metadata(path))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn line(warned: u32) -> SpoolLine {
        let state = SessionState { warned: Some(warned), ..SessionState::default() };
        SpoolLine { at: 1, what: "warned".to_owned(), used: 2, window: 3, state }
    }

    #[test]
    fn the_last_whole_line_tells_the_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/s.jsonl");
        assert_eq!(state(&path).unwrap(), SessionState::default());
        for warned in [16, 17] {
            Locked::open(&path).unwrap().unwrap().append(&line(warned)).unwrap();
        }
        assert_eq!(state(&path).unwrap().warned, Some(17));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let parent = fs::metadata(path.parent().unwrap()).unwrap();
        assert_eq!(parent.permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn every_torn_end_is_survived_and_written_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let whole = serde_json::to_vec(&line(17)).unwrap();
        for cut in 0..=whole.len() {
            let mut bytes = serde_json::to_vec(&line(16)).unwrap();
            bytes.push(b'\n');
            bytes.extend_from_slice(&whole[..cut]);
            fs::write(&path, bytes).unwrap();
            let expected = if cut == whole.len() { 17 } else { 16 };
            assert_eq!(state(&path).unwrap().warned, Some(expected), "cut at {cut}");
            Locked::open(&path).unwrap().unwrap().append(&line(18)).unwrap();
            assert_eq!(state(&path).unwrap().warned, Some(18), "cut at {cut}");
        }
    }

    #[test]
    fn holes_of_zeros_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut bytes = serde_json::to_vec(&line(16)).unwrap();
        bytes.extend_from_slice(b"\n\0\0\0\0\0\n\xff\xfe\n");
        fs::write(&path, bytes).unwrap();
        assert_eq!(state(&path).unwrap().warned, Some(16));
    }

    #[test]
    fn a_line_of_another_release_tells_the_state_wherever_it_stands_and_a_damaged_one_none() {
        let warned = |line: &[u8]| state_of(line).and_then(|state| state.warned);
        let told = br#"{"at":1,"what":"warned","used":2,"window":3,"state":{"warned":17}}"#;
        assert_eq!(warned(told), Some(17));
        let newer = br#"{"at":1,"state":{"warned":17,"x":{}},"tide":{"y":1},"used":2,"what":"w","window":3}"#;
        assert_eq!(warned(newer), Some(17));
        let mut zeroed = told.to_vec();
        zeroed[8..20].fill(0);
        assert_eq!(warned(&zeroed), None);
    }

    #[test]
    fn a_locked_spool_is_left_to_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let held = Locked::open(&path).unwrap().unwrap();
        assert!(Locked::open(&path).unwrap().is_none());
        drop(held);
        assert!(Locked::open(&path).unwrap().is_some());
    }
}
