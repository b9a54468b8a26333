//! What comes next in a run: its jobs, and its plan where the work takes more than was estimated.
//!
//! Everything here is a function of the run as its journal tells it.

mod cleaned;
mod jobs;
mod replan;

pub use cleaned::cleaned;
pub use jobs::{next_jobs, pause};
pub use replan::replan;
