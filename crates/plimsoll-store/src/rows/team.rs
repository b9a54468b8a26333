//! Rows on their way to a team's database.

use std::path::{Path, PathBuf};

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_extract::save::Save;
use rusqlite::types::Value;

use super::{CheckpointRow, CompactionRow, PastTask, ReadingRow, RunRow, SessionRow};

/// The rows that may be sent to a team's database.
#[derive(Clone, Copy)]
pub struct ShipmentFilter<'a> {
    /// Whether readings and compactions may be sent.
    pub readings: bool,
    pub checkpoints: bool,
    pub saves: bool,
    /// Returns whether rows of a project may be sent.
    pub allows_project: &'a dyn Fn(Option<&Path>) -> bool,
    /// Only rows from this time on.
    pub since: Millis,
}

/// Rows to send to a team's database in one transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shipment {
    pub sessions: Vec<SessionRow>,
    pub readings: Vec<ReadingRow>,
    pub compactions: Vec<CompactionRow>,
    pub checkpoints: Vec<CheckpointRow>,
    pub saves: Vec<Save>,
    pub runs: Vec<RunRow>,
    pub past_tasks: Vec<PastTask>,
    /// The outbox entries to delete after the rows have arrived.
    pub(crate) outbox_numbers: Vec<i64>,
    /// The table that the sweep has read: its name, the id before the first row read, and the last
    /// id read. The last id is `None` if the table has no more rows.
    pub(crate) sweep: Option<(&'static str, Value, Option<Value>)>,
}

impl Shipment {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.sessions.len()
            + self.readings.len()
            + self.compactions.len()
            + self.checkpoints.len()
            + self.saves.len()
    }

    /// Returns whether there is nothing to send: none of the waiting rows may be sent.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The state of the outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboxStatus {
    /// The number of new or changed rows.
    pub changed: u64,
    /// The number of rows that the sweep has not read yet.
    pub to_sweep: u64,
    /// The time of the last arrival at the team's database.
    pub last_shipped: Option<Millis>,
    /// The reason why nothing can be sent.
    pub error: Option<String>,
}

/// A session on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSession {
    pub session: SessionId,
    /// The path of the project on that machine.
    pub project: Option<PathBuf>,
    /// The unique id of the machine.
    pub machine: String,
}
