//! The names that tools showed, apart from those that somebody used.
//!
//! Most of a transcript is what tools gave back, and most names in it are never used. What was not
//! used by the second compaction after it is forgotten, so whoever reads a long transcript for the
//! first time need not look at what tools gave back before the last compactions.

use serde::{Deserialize, Serialize};

use super::mention::Mention;
use super::score::Clock;
use super::table::{Most, Table};

/// What tools showed lately.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Since the last compaction.
    now: Table,
    /// In the window before.
    before: Table,
}

/// More than that no restore has room for.
const MOST: Most = Most { names: 300, files: 120 };

/// A text that a tool showed, or wrote.
pub(super) struct Shown<'t> {
    pub(super) text: &'t str,
    /// How much each name in it counts.
    pub(super) weight: f32,
    /// The file that it is of.
    pub(super) of: Option<&'t str>,
    pub(super) now: Clock,
}

impl Seen {
    /// Notes the names in what a tool showed. Paths are as seen from `folder`.
    pub(super) fn take(&mut self, shown: &Shown<'_>, folder: Option<&str>) {
        let Shown { text, weight, now, .. } = *shown;
        let of = shown.of.map(|path| self.now.file(path, 0.0, now));
        self.now.mention(&Mention { text, weight, of, now }, folder);
        self.now.shrink(MOST, now, |_| false);
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
