//! Runs: work that goes on over as many sessions as it takes.
//!
//! The truth of a run is its journal ([`plimsoll_engine::run_journal`]); what its lines mean is core's business. A
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
mod leg;
mod look;
mod output;
mod plan;
mod told;
mod waiting;

pub use agent::{Agent, LONGEST_WORD, Unfit};
pub use conductor::{Conductor, JobEnd, NotTakenUp, Order, Progress, Stage, agent_of};
pub use halt::Halt;
pub use leg::Errors;
pub use output::{LastWords, last_words, printed};
pub use plan::{Manner, News, usual_pause};
