//! Journals of runs: writing, reading and retention.

mod journal;
mod keeping;

pub use journal::{Journal, ids, newest, read};
pub use keeping::{prune, referred};
