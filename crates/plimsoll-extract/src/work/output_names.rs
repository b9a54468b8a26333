//! Names from tool output, kept apart from names that the user or the agent used.
//!
//! Most of a transcript is tool output, and most names in it are never used. A name that is still
//! unused at the second compaction after it is dropped. So the first reading of a long transcript
//! can skip tool output before the last compactions.

use serde::{Deserialize, Serialize};

use super::mention::Mention;
use super::name_table::{NameTable, TableLimits};
use super::score::Clock;

/// Names from recent tool output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OutputNames {
    /// Names since the last compaction.
    now: NameTable,
    /// Names from the window before it.
    before: NameTable,
}

/// Limits of each table: a restore has no room for more.
const MOST: TableLimits = TableLimits { names: 300, files: 120 };

/// A text that a tool showed or wrote.
pub(super) struct ShownText<'t> {
    pub(super) text: &'t str,
    /// Weight of each name in the text.
    pub(super) weight: f32,
    /// The file that the text belongs to.
    pub(super) of: Option<&'t str>,
    pub(super) now: Clock,
}

impl OutputNames {
    /// Records the names in a text. Paths are relative to `folder`.
    pub(super) fn take(&mut self, shown: &ShownText<'_>, folder: Option<&str>) {
        let ShownText { text, weight, now, .. } = *shown;
        let of = shown.of.map(|path| self.now.file(path, 0.0, now));
        self.now.mention(&Mention { text, weight, of, now }, folder);
        self.now.shrink(MOST, now, |_| false);
    }

    /// Starts a new window after a compaction.
    pub(super) fn start_window(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    /// Sets the place of the current record.
    pub(super) fn at(&mut self, place: super::Place) {
        self.now.here = place;
    }

    /// Moves all names into `table`.
    pub(super) fn move_into(self, table: &mut NameTable) {
        table.absorb(self.before);
        table.absorb(self.now);
    }
}
