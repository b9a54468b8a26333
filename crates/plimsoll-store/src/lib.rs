//! All SQL of plimsoll, and nothing but SQL.
//!
//! The store can be rebuilt from transcripts, spools, checkpoints and the journals of saves and
//! runs. It opens none of these files: the engine reads them and passes rows ([`Batch`]), and
//! [`Store::ingest`] stores each row once, even if several processes read the same file at the same
//! time. One fact has no other source: since when a client has had its current settings. A rebuilt
//! store detects that time again.
//!
//! The feature `postgres` adds a second store that a team shares. Rows for it wait in the outbox of
//! the first ([`Store::next_shipment`]).

mod error;
#[cfg(feature = "postgres")]
pub mod postgres;
mod rows;
mod sqlite;

pub use error::StoreError;
pub use rows::{
    Allowed, Batch, BeginningRow, Bookmark, CheckpointRow, CheckpointsThere, ClientRow,
    ClientSettingsRow, CompactionRow, Counts, DecisionRow, Extent, Found, FoundSaves, Hit,
    HookCount, HookRunRow, HookSpan, Ingested, LastCheckpoint, Match, Overflows, OverviewRow, Pace,
    PastTask, PeakRow, Piece, Point, PointRow, ReadingRow, RunCounts, RunRow, SaveFilter,
    SaveKinds, SessionRow, Shipment, SourceFile, Stretch, Waiting,
};
pub use sqlite::{Store, machine_of};
