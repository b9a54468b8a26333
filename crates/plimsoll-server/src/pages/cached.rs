//! What takes long to find out: found out in a thread of its own, and shown as it was for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The last answer, and whether somebody is about to find a newer one.
#[derive(Debug)]
pub(crate) struct Cached<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    last: Option<(Instant, Arc<T>)>,
    is_busy: bool,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Mutex::new(State { last: None, is_busy: false }))
    }
}

impl<T> Cached<T> {
    /// The last answer; and whether whoever asks should find a newer one, which nobody else does then.
    pub(super) fn look(&self, fresh: Duration) -> (Option<Arc<T>>, bool) {
        let mut state = self.state();
        let is_fresh = state.last.as_ref().is_some_and(|(when, _)| when.elapsed() < fresh);
        let is_due = !is_fresh && !state.is_busy;
        state.is_busy |= is_due;
        (state.last.as_ref().map(|(_, last)| last.clone()), is_due)
    }

    /// The last answer, however old.
    pub(super) fn last(&self) -> Option<Arc<T>> {
        self.state().last.as_ref().map(|(_, last)| last.clone())
    }

    /// A newer answer was found, or could not be.
    pub(super) fn put(&self, found: Option<T>) {
        let mut state = self.state();
        state.is_busy = false;
        if let Some(found) = found {
            state.last = Some((Instant::now(), Arc::new(found)));
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_looks_and_the_others_take_what_there_is() {
        let cached = Cached::default();
        assert_eq!(cached.look(Duration::ZERO), (None, true));
        assert_eq!(cached.look(Duration::ZERO), (None, false), "somebody looks already");
        cached.put(Some(1));
        assert_eq!(cached.look(Duration::from_secs(60)), (Some(Arc::new(1)), false));
        assert_eq!(cached.look(Duration::ZERO), (Some(Arc::new(1)), true));
        cached.put(None);
        assert_eq!(cached.look(Duration::ZERO), (Some(Arc::new(1)), true), "it failed, and is due");
    }
}
