//! What goes to a team's database.

use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::save::Save;
use rusqlite::types::Value;

use super::{CheckpointRow, CompactionRow, PastTask, ReadingRow, RunRow, SessionRow};

/// What may go to a team's database.
#[derive(Clone, Copy)]
pub struct Allowed<'a> {
    /// Readings and compactions.
    pub readings: bool,
    /// Checkpoints.
    pub checkpoints: bool,
    /// Saves.
    pub saves: bool,
    /// Whether anything of a project may.
    pub sends: &'a dyn Fn(Option<&Path>) -> bool,
    /// Nothing that is older.
    pub since: Millis,
}

/// Rows on their way to a team's database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shipment {
    /// Sessions.
    pub sessions: Vec<SessionRow>,
    /// Responses with their usage.
    pub readings: Vec<ReadingRow>,
    /// Compactions.
    pub compactions: Vec<CompactionRow>,
    /// Checkpoints.
    pub checkpoints: Vec<CheckpointRow>,
    /// Saves.
    pub saves: Vec<Save>,
    /// Runs.
    pub runs: Vec<RunRow>,
    /// What past sessions were asked for.
    pub past_tasks: Vec<PastTask>,
    /// What of the outbox is done when they have arrived.
    pub(crate) numbers: Vec<i64>,
    /// The table that was gone through: from where, and how far if it has more.
    pub(crate) swept: Option<(&'static str, Value, Option<Value>)>,
}

impl Shipment {
    /// How many rows it is.
    pub fn len(&self) -> usize {
        self.sessions.len()
            + self.readings.len()
            + self.compactions.len()
            + self.checkpoints.len()
            + self.saves.len()
    }

    /// Whether none of what waited may go.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What waits to go to a team's database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Rows that have come or changed.
    pub changed: u64,
    /// Rows that are still to be gone through.
    pub to_sweep: u64,
    /// When something last arrived.
    pub shipped: Option<Millis>,
    /// Why nothing can be shipped.
    pub trouble: Option<String>,
}
