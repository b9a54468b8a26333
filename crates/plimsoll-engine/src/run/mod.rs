//! Runs: work that goes on over as many sessions as it takes.
//!
//! The truth of a run is its journal ([`Journal`]); what its lines mean is core's business. A
//! [`Conductor`] carries out one job after the other, or several at once: it starts an agent, waits for
//! its end, and where a hook of ours stopped it, starts a fresh one that goes on. All that it must know
//! of a session comes from its journal, its spool and its transcript, so that another conductor can take
//! its place at any moment.

mod agent;
mod carrying;
mod conductor;
mod files;
mod fingerprint;
mod halt;
mod journal;
mod keeping;
mod leg;
mod look;
mod output;
mod plan;
mod told;
mod waiting;

pub use crate::process::is_alive;
pub use agent::{Agent, LONGEST_WORD, Unfit};
pub use conductor::{Conductor, JobEnd, NotTakenUp, Order, Progress, Stage, agent_of};
pub use halt::Halt;
pub use journal::{Journal, ids, newest, read};
pub use keeping::{prune, referred};
pub use leg::Errors;
pub use output::{LastWords, last_words, printed};
pub use plan::{Manner, News, usual_pause};

/// What the conductor tells the agent's hooks, in the environment that they inherit.
pub mod variables {
    /// The run.
    pub const RUN: &str = "PLIMSOLL_RUN";
    /// The session that it has begun: one that the agent begins in turn is not its own.
    pub const SESSION: &str = "PLIMSOLL_RUN_SESSION";
    /// The checkpoint that this session is given.
    pub const CHECKPOINT: &str = "PLIMSOLL_RUN_CHECKPOINT";
    /// Set where that checkpoint tells of work that is done, and the session has work of its own.
    pub const DONE: &str = "PLIMSOLL_RUN_DONE";
    /// All of them: those of a run that this one is begun in mean nothing to its sessions.
    pub(super) const ALL: [&str; 4] = [RUN, SESSION, CHECKPOINT, DONE];
}
