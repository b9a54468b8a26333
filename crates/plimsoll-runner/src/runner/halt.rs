//! Ending a run from elsewhere: a signal, or another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The signal that ends a run, once there was one.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicUsize>);

impl Halt {
    /// Where whoever catches signals writes the number of one.
    pub fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// The signal; nothing as long as there was none.
    pub fn signal(&self) -> Option<i32> {
        i32::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }
}
