//! Everything remembered: all SQL, and nothing but SQL.
//!
//! The store is derived from transcripts, spools, checkpoints and the journals of saves and runs, and can be rebuilt from them. It opens neither:
//! the engine reads them and hands over rows ([`Batch`]), and the store sees to it that each is kept
//! once, however many processes read the same file at the same time ([`Store::ingest`]). Only since
//! when a client has been set as it is stands nowhere else, and is noticed anew.
//!
//! With the feature `postgres` there is a second one, which a team shares. What goes
//! there waits in the first ([`Store::next_shipment`]).

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
