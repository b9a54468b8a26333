//! Runs: work that goes on over as many sessions as it takes.
//!
//! The truth of a run is its journal ([`Journal`]); what its lines mean is core's business.

mod journal;

pub use crate::process::is_alive;
pub use journal::{Journal, ids, newest, read};
