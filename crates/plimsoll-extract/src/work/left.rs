//! What a session left behind, for whoever asks whether the next one did anything new.

use super::Work;
use super::body::{commands, working_set};
use super::restore::failing;
use crate::checkpoint::without_pointer;

/// What a session left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// The files that it changed, by their names.
    pub changed: Vec<String>,
    /// What failed when it was last tried.
    pub errors: Vec<String>,
    /// What it looked at and ran.
    pub looked_at: Vec<String>,
}

impl Left {
    /// What the work of a session comes to.
    pub fn of(work: &Work) -> Self {
        let changed = work.changes().into_iter().map(|(path, _)| path.to_owned());
        let errors = failing(work).map(|(line, _)| line.trim_start_matches("- ").to_owned());
        let seen = commands(work).chain(working_set(work));
        let mut left = Self {
            changed: changed.collect(),
            errors: errors.collect(),
            looked_at: seen.map(|line| without_pointer(&line).to_owned()).collect(),
        };
        left.changed.sort_unstable();
        left.errors.sort_unstable();
        left.looked_at.sort_unstable();
        left
    }
}
