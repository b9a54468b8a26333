//! What a session is given of earlier work when it begins.

use crate::settings::RestoreMode;

/// What a session begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Nothing is said of earlier work.
    Silent,
    /// The newest checkpoint is mentioned, and the user is shown how to load it.
    Offer,
    /// The newest checkpoint is given whole, because the user has asked for that.
    Newest,
    /// The checkpoint of the last session is given whole, unless another session was given it.
    Last,
}

/// The project's last interactive session that has a checkpoint of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastSession {
    /// How it ended.
    pub ending: Ending,
    /// How old its checkpoint is, in milliseconds.
    pub checkpoint_age: u64,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has not ended.
    Running,
    /// It ended below the save line.
    Finished,
    /// It ended at or above the save line.
    NearlyFull,
    /// It ended without a word: its process was killed, or its terminal closed.
    CutOff,
}

/// How long after its checkpoint a session's work is continued without being asked for, in
/// milliseconds.
const FRESH: u64 = 24 * 60 * 60 * 1000;

/// Decides what a session that starts is given. The last session is looked at only where it matters.
pub fn begin(
    mode: RestoreMode,
    is_headless: bool,
    last: impl FnOnce() -> Option<LastSession>,
) -> Beginning {
    match mode {
        RestoreMode::Off => Beginning::Silent,
        RestoreMode::Inject => Beginning::Newest,
        RestoreMode::Auto | RestoreMode::Offer if is_headless => Beginning::Silent,
        RestoreMode::Auto if last().is_some_and(|last| last.is_to_be_continued()) => {
            Beginning::Last
        }
        RestoreMode::Auto | RestoreMode::Offer => Beginning::Offer,
    }
}

impl LastSession {
    fn is_to_be_continued(&self) -> bool {
        let is_unfinished = matches!(self.ending, Ending::NearlyFull | Ending::CutOff);
        is_unfinished && self.checkpoint_age < FRESH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mode: RestoreMode, is_headless: bool, last: Option<LastSession>, expected: Beginning) {
        assert_eq!(begin(mode, is_headless, || last), expected);
    }

    fn last(ending: Ending, checkpoint_age: u64) -> Option<LastSession> {
        Some(LastSession { ending, checkpoint_age })
    }

    #[test]
    fn unfinished_work_of_the_last_day_is_given_whole() {
        for ending in [Ending::NearlyFull, Ending::CutOff] {
            check(RestoreMode::Auto, false, last(ending, FRESH - 1), Beginning::Last);
            check(RestoreMode::Auto, false, last(ending, FRESH), Beginning::Offer);
            check(RestoreMode::Offer, false, last(ending, 0), Beginning::Offer);
            check(RestoreMode::Off, false, last(ending, 0), Beginning::Silent);
        }
        for ending in [Ending::Running, Ending::Finished] {
            check(RestoreMode::Auto, false, last(ending, 0), Beginning::Offer);
        }
        check(RestoreMode::Auto, false, None, Beginning::Offer);
    }

    #[test]
    fn a_headless_session_is_given_something_only_where_the_user_asked_for_it() {
        let full = last(Ending::NearlyFull, 0);
        check(RestoreMode::Auto, true, full, Beginning::Silent);
        check(RestoreMode::Offer, true, full, Beginning::Silent);
        check(RestoreMode::Inject, true, full, Beginning::Newest);
    }
}
