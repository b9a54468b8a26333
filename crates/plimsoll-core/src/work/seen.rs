//! The names that tools showed, apart from those that somebody used.
//!
//! Most of a transcript is what tools gave back, and most names in it are never used. What was not
//! used by the second compaction after it is forgotten, so whoever reads a long transcript for the
//! first time need not look at what tools gave back before the last compactions.

use serde::{Deserialize, Serialize};

use super::mention::Mention;
use super::score::Clock;
use super::table::Table;
use super::weight;

/// What tools showed lately.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Since the last compaction.
    now: Table,
    /// In the window before.
    before: Table,
}

impl Seen {
    /// Notes the names in what a tool showed of a file, if it was one.
    pub(super) fn take(&mut self, text: &str, of: Option<&str>, folder: Option<&str>, now: Clock) {
        let of = of.map(|path| self.now.file(path, 0.0, now));
        self.now.mention(&Mention { text, weight: weight::RETURNED, of, now }, folder);
        self.now.shrink(now, |_| false);
    }

    /// The conversation was replaced by a summary.
    pub(super) fn turn(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    /// The record that is being taken.
    pub(super) fn at(&mut self, place: super::Place) {
        self.now.here = place;
    }

    /// Puts all of it into a table.
    pub(super) fn into(self, table: &mut Table) {
        table.absorb(self.before);
        table.absorb(self.now);
    }
}
