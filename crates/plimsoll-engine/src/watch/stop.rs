//! Stops a watcher from another thread or a signal handler.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Stops a watcher, also when dropped.
#[derive(Debug)]
pub struct Stopper(UnixStream);

/// The watcher's side of a [`Stopper`].
#[derive(Debug)]
pub struct Stop(UnixStream);

/// Creates a stopper with the watcher's side.
pub fn stopper() -> io::Result<(Stopper, Stop)> {
    let (stopper, stop) = UnixStream::pair()?;
    // A second signal must not block if the first is still unread.
    stopper.set_nonblocking(true)?;
    Ok((Stopper(stopper), Stop(stop)))
}

impl Stopper {
    /// Stops the watcher once it has reported its pending notices.
    pub fn stop(&self) {
        // An error means that the watcher has ended or was stopped already.
        let _ = (&self.0).write_all(&[0]);
    }

    /// Returns another stopper for the same watcher.
    pub fn another(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

/// Writing a byte to this descriptor stops the watcher.
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
