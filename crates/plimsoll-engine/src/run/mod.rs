//! Runs: work that goes on over as many sessions as it takes.
//!
//! The truth of a run is its journal ([`Journal`]); what its lines mean is core's business.

mod journal;

pub use crate::process::is_alive;
pub use journal::{Journal, ids, newest, read};

/// What the conductor tells the agent's hooks, in the environment that they inherit.
pub mod variables {
    /// The run.
    pub const RUN: &str = "PLIMSOLL_RUN";
    /// The session that it has begun: one that the agent begins in turn is not its own.
    pub const SESSION: &str = "PLIMSOLL_RUN_SESSION";
    /// The checkpoint that this session is given.
    pub const CHECKPOINT: &str = "PLIMSOLL_RUN_CHECKPOINT";
}
