//! Ending a run from outside: by a signal, or from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The signal that ends a run, if one has arrived.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicUsize>);

impl StopFlag {
    /// Returns the flag to which a signal handler writes the signal's number.
    pub fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// Returns the signal; `None` if none has arrived.
    pub fn signal(&self) -> Option<i32> {
        i32::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }
}
