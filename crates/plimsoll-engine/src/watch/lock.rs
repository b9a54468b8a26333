//! One watcher per machine.
//!
//! The lock falls with the process that holds it, however that ends; what is written in the file is
//! only who it is.

use std::fs::{File, TryLockError};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::paths::{self, Links, Paths};
use crate::world::now;

/// The right to watch, as long as it is kept.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Who watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub process: u32,
    /// Since when, in milliseconds since the epoch.
    pub since: u64,
}

/// Why nobody else may watch.
#[derive(Debug, thiserror::Error)]
pub enum NotLocked {
    /// Somebody does; nothing is known of who has only just begun.
    #[error("another watcher runs")]
    Held(Option<Holder>),
    /// The system refuses.
    #[error("could not lock the watcher's file")]
    Io(#[from] io::Error),
}

impl Lock {
    /// Takes the right to watch on this machine.
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

/// Whether somebody watches this machine.
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
