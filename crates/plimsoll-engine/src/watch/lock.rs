//! The lock for one watcher per machine.
//!
//! The system releases the lock when its process ends, in whatever way. The file's content only
//! says who holds it.

use std::fs::{File, TryLockError};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::paths::{self, Links, Paths};
use crate::world::now;

/// The right to watch, while this value lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// The process that watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub process: u32,
    /// Start time in milliseconds since the epoch.
    pub since: u64,
}

/// Reason why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum NotLocked {
    /// Another watcher runs; `None` if it has only just started.
    #[error("another watcher runs")]
    Held(Option<Holder>),
    #[error("could not lock the watcher's file")]
    Io(#[from] io::Error),
}

impl Lock {
    /// Takes the lock.
    pub fn take(paths: &Paths) -> Result<Self, NotLocked> {
        let mut file = paths::append(&paths.watch_lock())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(NotLocked::Held(holder(paths))),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let own = Holder { process: std::process::id(), since: now() };
        file.set_len(0)?;
        file.write_all(&serde_json::to_vec(&own).map_err(io::Error::from)?)?;
        Ok(Self { _file: file })
    }
}

/// Reports whether a watcher runs on this machine.
pub fn is_watched(paths: &Paths) -> bool {
    let file = paths::open(&paths.watch_lock(), Links::Refused);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn holder(paths: &Paths) -> Option<Holder> {
    let text = paths::read_small(&paths.watch_lock(), Links::Refused).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_watcher_and_the_next_may_follow_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().to_str().unwrap().to_owned();
        let paths = Paths::resolve(&|name| (name == "HOME").then(|| folder.clone())).unwrap();
        let held = Lock::take(&paths).unwrap();
        let Err(NotLocked::Held(Some(holder))) = Lock::take(&paths) else { panic!("two watch") };
        assert_eq!(holder.process, std::process::id());
        assert!(is_watched(&paths));
        drop(held);
        assert!(!is_watched(&paths));
        Lock::take(&paths).unwrap();
    }
}
