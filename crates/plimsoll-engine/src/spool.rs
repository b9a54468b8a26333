//! The spool: what no transcript tells, one append-only file per window.
//!
//! Each line is a decision together with the window's whole state, so the last line tells all, and
//! a torn one costs nothing but itself. A call that decides nothing writes nothing.

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
    /// When, in milliseconds since the epoch.
    pub at: u64,
    /// What was decided.
    pub what: String,
    /// The reading it was decided on.
    pub used: Tokens,
    /// The window it was read against.
    pub window: Tokens,
    /// The window's state from then on.
    pub state: SessionState,
}

impl SpoolLine {
    /// What is remembered of an event that nothing was measured for.
    pub fn unmeasured(what: &str, state: SessionState) -> Self {
        Self { at: now(), what: what.to_owned(), used: 0, window: 0, state }
    }
}

/// The decision that is none: a session has begun.
pub const STARTED: &str = "started";
/// Likewise: the session is over.
pub const ENDED: &str = "ended";
/// Likewise: the client told the size of the window.
pub const WINDOW: &str = "window";
/// Likewise: a tool has run, and there is no transcript to tell of it.
pub const UNSEEN: &str = "unseen";

/// The state that the spool at `path` ends with; an empty one if there is none.
pub fn state(path: &Path) -> io::Result<SessionState> {
    Ok(last_of(path, state_of)?.unwrap_or_default())
}

/// The last whole line of the spool at `path`.
pub fn last(path: &Path) -> io::Result<Option<SpoolLine>> {
    last_of(path, parse)
}

/// What `read` makes of the last line that it can read.
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

/// The state that a whole line of a spool tells.
fn state_of(line: &[u8]) -> Option<SessionState> {
    state_at_end(line).or_else(|| Some(parse(line)?.state))
}

/// The same of a line as this release writes it, which ends with the state. Hooks ask for nothing else, so
/// of what stands before they only see that nothing is missing.
fn state_at_end(line: &[u8]) -> Option<SessionState> {
    // Nothing before the state is an object.
    let (before, state) = line.split_at_checked(1 + find(b'{', line.get(1..)?)?)?;
    let is_whole = before.starts_with(br#"{"at":"#)
        && before.ends_with(br#","state":"#)
        && before.iter().all(|byte| (b' '..=b'~').contains(byte));
    let state = state.strip_suffix(b"}").filter(|_| is_whole)?;
    serde_json::from_str(std::str::from_utf8(state).ok()?).ok()
}

/// A whole line of a spool; nothing if it is torn.
pub fn parse(line: &[u8]) -> Option<SpoolLine> {
    // Looked at as a whole, it costs less than name by name.
    serde_json::from_str(std::str::from_utf8(line).ok()?).ok()
}

/// A spool that nobody else can write to right now.
#[derive(Debug)]
pub struct Locked {
    file: File,
}

/// How long we wait for others to finish; then we leave the word to them.
const PATIENCE: Duration = Duration::from_millis(200);
const STEP: Duration = Duration::from_micros(500);

impl Locked {
    /// Locks the spool at `path`; nothing if others keep it too long.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        Self::within(path, PATIENCE)
    }

    /// Locks the spool at `path`; nothing if others have it right now.
    pub fn at_once(path: &Path) -> io::Result<Option<Self>> {
        Self::within(path, Duration::ZERO)
    }

    fn within(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let mut file = paths::append(path)?;
        let mut waited = Duration::ZERO;
        loop {
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => return Ok(Some(Self { file })),
                // It was deleted between opening and locking.
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

    /// Whether the disk has room for a line: what cannot be remembered had better not be said.
    pub fn has_room(&self, line: &SpoolLine) -> bool {
        let (Ok(bytes), Ok(metadata)) = (bytes(line), self.file.metadata()) else { return false };
        let room = bytes.len() as u64 + 1;
        let reserved =
            rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, metadata.len(), room);
        // A file system that cannot reserve tells nothing.
        !matches!(reserved, Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG))
    }

    /// Appends a line in one write, and gives the lock up.
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

/// Whether an open file is still the one at `path`.
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
