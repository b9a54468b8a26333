//! Exchanges data with the database that a team shares.
//!
//! This machine sends rows and exchanges messages and claims. [`Shipper`] does so in the background
//! while a server or watcher runs; the functions re-exported here do so once, for the commands.
//! Pages read through a connection of their own. Hooks never use this module.

mod errands;
mod link;
mod office;
mod post;
mod shipper;

pub use errands::{
    Report, Synced, There, check, end_claim, init, post, prune, sessions_among, sessions_named,
    status, sync,
};
pub(crate) use link::Link;
pub use plimsoll_store::postgres::{
    About, ClaimRow, Elsewhere, MachineRow, Migrated, Pruned, TeamError, Theirs,
};
pub use shipper::Shipper;
