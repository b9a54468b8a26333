//! A team: what this machine sends to the database that its user shares with others, and what it is
//! asked for.
//!
//! `office` is one visit there: rows go, messages go and come. `shipper` goes there again and again as
//! long as somebody serves or watches; `errands` are what the commands do; `link` is what pages ask
//! through. No hook ever comes here.

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
