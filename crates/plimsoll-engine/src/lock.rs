//! File locks between processes.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// Locks the file that `open` opens, until it is dropped. Fails if another process holds the lock
/// past the deadline. Locks of killed processes are released by the system.
pub fn lock(open: impl Fn() -> io::Result<File>, deadline: Instant) -> io::Result<File> {
    const STEP: Duration = Duration::from_micros(500);
    let mut file = open()?;
    loop {
        match file.try_lock() {
            Ok(()) if file.metadata()?.nlink() > 0 => return Ok(file),
            // The file was replaced between opening and locking.
            Ok(()) => file = open()?,
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(STEP);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process keeps it"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}
