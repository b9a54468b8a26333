//! The occasions on which checkpoints are made. Their contents are in `plimsoll-extract`.

use serde::Deserialize;

/// The occasion on which a checkpoint was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Occasion {
    /// A compaction, a threshold, the clock, or the end of the session.
    Auto,
    /// A user or a tool asked for it.
    Manual,
    /// The watcher asked for it.
    Watcher,
    /// A commit or a test run.
    Breakpoint,
    /// The end of a batch.
    Batch,
}

impl Occasion {
    /// Returns the name used in the front matter.
    pub fn label(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
            Self::Watcher => "watcher",
            Self::Breakpoint => "breakpoint",
            Self::Batch => "batch",
        }
    }
}
