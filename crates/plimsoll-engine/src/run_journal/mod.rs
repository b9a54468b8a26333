//! The journals of runs: written, read, and kept for a while.

mod journal;
mod keeping;

pub use journal::{Journal, ids, newest, read};
pub use keeping::{prune, referred};
