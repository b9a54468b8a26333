//! All SQL of plimsoll, and nothing but SQL.
//!
//! The store can be rebuilt from transcripts, spools, checkpoints and the journals of saves and
//! runs. It opens none of these files: the engine reads them and passes rows ([`Batch`]), and
//! [`Store::ingest`] stores each row once, even if several processes read the same file at the same
//! time. One fact has no other source: since when a client has had its current settings. A rebuilt
//! store detects that time again.
//!
//! The feature `team` adds a second store that a team shares. Rows for it wait in the outbox of
//! the first ([`Store::next_shipment`]).

mod error;
#[cfg(feature = "team")]
pub mod postgres;
mod rows;
mod sqlite;

pub use error::StoreError;
pub use rows::{
    AutoCompactionCounts, Batch, Bookmark, CheckpointHit, CheckpointListing, CheckpointRow,
    ClientRow, ClientSettingsRow, CompactionRow, Counts, CurvePoint, CurvePointRow, DecisionRow,
    FirstPromptRow, FoundCheckpoints, FoundSaves, GrowthSamples, HistoryExtent, HookCount,
    HookRunRow, HookSpan, IngestResult, LastCheckpoint, LinePiece, MatchKind, OutboxStatus,
    OverviewRow, PastTask, PeakRow, ReadingRow, RemoteSession, RunCounts, RunRow, SaveFilter,
    SaveKinds, SessionRow, Shipment, ShipmentFilter, SourceFile, WorkPeriod,
};
pub use sqlite::{Store, read_machine_id};
