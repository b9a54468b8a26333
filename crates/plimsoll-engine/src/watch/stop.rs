//! Ending a watcher from elsewhere: another thread, or a signal.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// What ends a watcher. The watcher ends too when this is dropped.
#[derive(Debug)]
pub struct Stopper(UnixStream);

/// What a watcher is ended by.
#[derive(Debug)]
pub struct Stop(UnixStream);

/// A stopper, and what it stops.
pub fn stopper() -> io::Result<(Stopper, Stop)> {
    let (stopper, stop) = UnixStream::pair()?;
    // A second signal must not find the first in its way.
    stopper.set_nonblocking(true)?;
    Ok((Stopper(stopper), Stop(stop)))
}

impl Stopper {
    /// Ends the watcher, as soon as it has told what it knows.
    pub fn stop(&self) {
        // Whoever is gone, or has been told, need not be told again.
        let _ = (&self.0).write_all(&[0]);
    }

    /// Another one for the same watcher.
    pub fn another(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

/// A byte written there stops the watcher.
impl From<Stopper> for OwnedFd {
    fn from(stopper: Stopper) -> Self {
        stopper.0.into()
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
