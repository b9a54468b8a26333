//! Decides what comes next in a run: the next jobs, and a new plan if work takes more than
//! estimated.
//!
//! Everything here is a pure function of the run as recorded in its journal.

mod jobs;
mod redact_record;
mod replan;

pub use jobs::{next_jobs, retry_pause};
pub use redact_record::redact_record;
pub use replan::replan;
