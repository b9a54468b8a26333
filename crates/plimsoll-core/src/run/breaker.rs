//! The circuit breaker: ends a run that makes no progress.

use serde::{Deserialize, Serialize};

use super::{Ending, Fingerprint, LegEnd};

/// Number of sessions in a row that end a run.
const PATIENCE: u32 = 3;
/// A session that reaches the restart threshold within this many responses has no room to work.
const FEW_RESPONSES: u32 = 3;

/// Checks for progress after each session of a job.
///
/// A session makes no progress if it leaves the same state as any earlier session. So a run that
/// alternates between two states is caught, just like one that stands still.
#[derive(Clone, Debug)]
pub struct Breaker {
    known: Vec<String>,
    idle: u32,
    thrashing: u32,
    last: Fingerprint,
}

/// The kind of repetition that ended a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeats {
    /// Sessions in a row left the same files and errors.
    Work { sessions: u32, files: Vec<String>, errors: Vec<String> },
    /// Sessions in a row filled their window almost at once.
    Fullness { sessions: u32 },
}

impl Default for Breaker {
    fn default() -> Self {
        // Before the first session there is nothing.
        let known = vec![String::new()];
        Self { known, idle: 0, thrashing: 0, last: Fingerprint::default() }
    }
}

impl Breaker {
    /// Records the end of a session. Ignores sessions that exited on their own: the runner decides
    /// whether to retry those.
    pub fn note(&mut self, end: &LegEnd) {
        if let Ending::Exited { .. } = end.how {
            return;
        }
        let thrashes = end.how == Ending::Stopped && end.responses <= FEW_RESPONSES;
        self.thrashing = if thrashes { self.thrashing + 1 } else { 0 };
        if self.known.contains(&end.fingerprint.hash) {
            self.idle += 1;
        } else {
            self.known.push(end.fingerprint.hash.clone());
            self.idle = 0;
        }
        self.last = end.fingerprint.clone();
    }

    /// Returns the repetition that ends the run; `None` if the run may continue.
    pub fn open(&self) -> Option<Repeats> {
        let Fingerprint { files, errors, .. } = self.last.clone();
        if self.thrashing >= PATIENCE {
            return Some(Repeats::Fullness { sessions: self.thrashing });
        }
        (self.idle >= PATIENCE).then_some(Repeats::Work { sessions: self.idle, files, errors })
    }
}

impl std::fmt::Display for Repeats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fullness { sessions } => {
                write!(f, "{sessions} sessions in a row were full within {FEW_RESPONSES} responses")
            }
            Self::Work { sessions, files, errors } => {
                write!(f, "{sessions} sessions in a row did nothing new")?;
                list(f, "the same files", files)?;
                list(f, "the same errors", errors)
            }
        }
    }
}

fn list(f: &mut std::fmt::Formatter<'_>, what: &str, items: &[String]) -> std::fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    write!(f, "; {what}: {}", items.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(hash: &str, responses: u32, how: Ending) -> LegEnd {
        let fingerprint = Fingerprint { hash: hash.to_owned(), ..Fingerprint::default() };
        LegEnd {
            job: 1,
            leg: 1,
            how,
            first: None,
            used: None,
            window: None,
            responses,
            checkpoint: None,
            fingerprint,
        }
    }

    /// Returns the index of the session after which the breaker opens.
    fn opens_after(legs: &[LegEnd]) -> Option<usize> {
        let mut breaker = Breaker::default();
        legs.iter().position(|leg| {
            breaker.note(leg);
            breaker.open().is_some()
        })
    }

    fn stopped(hashes: &str) -> Vec<LegEnd> {
        hashes.split(' ').map(|hash| end(hash, 9, Ending::Stopped)).collect()
    }

    #[test]
    fn three_legs_in_a_row_without_anything_new_are_a_circle() {
        assert_eq!(opens_after(&stopped("a a a a")), Some(3));
        assert_eq!(opens_after(&stopped("a a a b b b c c c d")), None);
    }

    #[test]
    fn swinging_between_two_states_is_a_circle_too() {
        assert_eq!(opens_after(&stopped("a b a b a")), Some(4));
    }

    #[test]
    fn sessions_that_leave_nothing_behind_are_a_circle_from_the_start() {
        let none: Vec<_> = (0..3).map(|_| end("", 9, Ending::Lost)).collect();
        assert_eq!(opens_after(&none), Some(2));
    }

    #[test]
    fn three_sessions_that_are_full_almost_at_once_are_thrashing() {
        let at_once = |hash: &str| end(hash, 3, Ending::Stopped);
        assert_eq!(opens_after(&[at_once("a"), at_once("b"), at_once("c")]), Some(2));
        let later = end("x", 4, Ending::Stopped);
        assert_eq!(opens_after(&[at_once("a"), at_once("b"), later, at_once("c")]), None);
    }

    #[test]
    fn what_repeats_is_said() {
        let (files, errors) = (vec!["src/a.rs".to_owned()], vec!["E0308".to_owned()]);
        let repeats = Repeats::Work { sessions: 3, files, errors };
        let expected = "3 sessions in a row did nothing new; the same files: src/a.rs; \
                        the same errors: E0308";
        assert_eq!(repeats.to_string(), expected);
    }
}
