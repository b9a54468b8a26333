//! What checkpoints are made for. What stands in one is for `plimsoll-extract` to say.

use serde::Deserialize;

/// What a checkpoint was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Occasion {
    /// A compaction, a line, the clock, or the session's end.
    Auto,
    /// Somebody asked for it.
    Manual,
    /// The watcher asked for it.
    Watcher,
    /// A commit or a test run.
    Breakpoint,
    /// The end of a batch.
    Batch,
}

impl Occasion {
    /// What it is called in the front matter.
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
