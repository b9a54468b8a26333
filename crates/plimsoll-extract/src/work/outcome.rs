//! The outcome of a session, used to decide whether the next session did anything new.

use super::Work;
use super::checkpoint_body::{commands, working_set};
use super::restore::failing;
use crate::checkpoint::strip_pointer;

/// The outcome of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionOutcome {
    /// Paths of changed files.
    pub changed: Vec<String>,
    /// Commands that failed when last run, with their errors.
    pub errors: Vec<String>,
    /// Files and commands that the session looked at or ran.
    pub viewed: Vec<String>,
}

impl SessionOutcome {
    /// Extracts the outcome from a session's work.
    pub fn from_work(work: &Work) -> Self {
        let changed = work.changes().into_iter().map(|(path, _)| path.to_owned());
        let errors = failing(work).map(|(line, _)| line.trim_start_matches("- ").to_owned());
        let seen = commands(work).chain(working_set(work));
        let mut left = Self {
            changed: changed.collect(),
            errors: errors.collect(),
            viewed: seen.map(|line| strip_pointer(&line).to_owned()).collect(),
        };
        left.changed.sort_unstable();
        left.errors.sort_unstable();
        left.viewed.sort_unstable();
        left
    }
}
