//! Exchanges data with the database that a team shares.
//!
//! This machine sends rows and exchanges messages and claims. [`Shipper`] does so in the background
//! while a server or watcher runs; the functions re-exported here do so once, for the commands.
//! Pages read through a connection of their own. Hooks never use this module.

mod commands;
mod connection;
mod exchange;
mod page_connection;
mod shipper;

pub use commands::{
    SyncReport, TeamOverview, TeamReport, check_url, end_claim, init, prune, send_messages,
    sessions_among, sessions_named, status, sync,
};
pub(crate) use page_connection::PageConnection;
pub use plimsoll_store::RemoteSession;
pub use plimsoll_store::postgres::{
    ClaimRow, DatabaseInfo, MachineRow, MigrationResult, PrunedRows, TeamError, WithOwner,
};
pub use shipper::Shipper;
