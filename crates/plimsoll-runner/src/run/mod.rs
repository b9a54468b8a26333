//! Decides what comes next in a run: the next jobs, and a new plan if work takes more than
//! estimated.
//!
//! Everything here is a pure function of the run as recorded in its journal.

mod cleaned;
mod jobs;
mod replan;

pub use cleaned::cleaned;
pub use jobs::{next_jobs, pause};
pub use replan::replan;
