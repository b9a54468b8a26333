//! One at a time, across processes.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// Locks the file that `open` opens until it is dropped, unless others keep it past the deadline.
/// The lock of a killed process is free.
pub fn lock(open: impl Fn() -> io::Result<File>, deadline: Instant) -> io::Result<File> {
    const STEP: Duration = Duration::from_micros(500);
    let mut file = open()?;
    loop {
        match file.try_lock() {
            Ok(()) if file.metadata()?.nlink() > 0 => return Ok(file),
            // Somebody put another file in its place between opening and locking.
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
