//! Cache for results that take long to compute: computed in the background, shown until stale.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The last result, and whether a newer one is being computed.
#[derive(Debug)]
pub(crate) struct Cached<T>(Mutex<CacheState<T>>);

#[derive(Debug)]
struct CacheState<T> {
    last: Option<(Instant, Arc<T>)>,
    is_busy: bool,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Mutex::new(CacheState { last: None, is_busy: false }))
    }
}

impl<T> Cached<T> {
    /// Returns the last result, and whether the caller must compute a newer one. Only one caller
    /// at a time gets `true`.
    pub(super) fn get(&self, fresh: Duration) -> (Option<Arc<T>>, bool) {
        let mut state = self.state();
        let is_fresh = state.last.as_ref().is_some_and(|(when, _)| when.elapsed() < fresh);
        let is_due = !is_fresh && !state.is_busy;
        state.is_busy |= is_due;
        (state.last.as_ref().map(|(_, last)| last.clone()), is_due)
    }

    /// Returns the last result, however old.
    pub(super) fn last(&self) -> Option<Arc<T>> {
        self.state().last.as_ref().map(|(_, last)| last.clone())
    }

    /// Stores a newer result; `None` if the computation failed.
    pub(super) fn put(&self, found: Option<T>) {
        let mut state = self.state();
        state.is_busy = false;
        if let Some(found) = found {
            state.last = Some((Instant::now(), Arc::new(found)));
        }
    }

    fn state(&self) -> MutexGuard<'_, CacheState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_caller_computes_at_a_time() {
        let cached = Cached::default();
        assert_eq!(cached.get(Duration::ZERO), (None, true));
        assert_eq!(cached.get(Duration::ZERO), (None, false), "somebody looks already");
        cached.put(Some(1));
        assert_eq!(cached.get(Duration::from_secs(60)), (Some(Arc::new(1)), false));
        assert_eq!(cached.get(Duration::ZERO), (Some(Arc::new(1)), true));
        cached.put(None);
        assert_eq!(cached.get(Duration::ZERO), (Some(Arc::new(1)), true), "it failed, and is due");
    }
}
