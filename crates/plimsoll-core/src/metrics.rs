//! What a watcher tells of a session's context, in the words of those who ask for it.

use serde::Serialize;

use crate::Tokens;
use crate::reading::{Reading, ReadingSource};

/// What a session has done since its window was last emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Prompts, and answers of the model.
    pub messages: u64,
    /// Files that were read.
    pub file_reads: u64,
    /// Files that were written or changed.
    pub file_edits: u64,
    /// Calls of any tool.
    pub tool_calls: u64,
    /// Subagents that were given a task.
    pub subagent_spawns: u64,
}

impl Counts {
    /// The share of a window that this is likely to fill, from 0 to 1: a weight for each thing done.
    ///
    /// On real sessions it is off by a factor of two in either direction, so it is asked only where
    /// the service has counted nothing.
    pub fn estimate(&self) -> f64 {
        self.ten_thousandths() as f64 / 10_000.0
    }

    /// The reading that this comes to in a window of `window` tokens, for a transcript of `bytes` bytes.
    /// A transcript larger than any that fits a window counts as full.
    pub fn reading(&self, bytes: u64, window: Tokens) -> Reading {
        const FITS_NO_WINDOW: u64 = 32 << 20;
        let used = match bytes > FITS_NO_WINDOW {
            true => window,
            false => window.saturating_mul(self.ten_thousandths()).div_ceil(10_000),
        };
        Reading { used, source: ReadingSource::Estimated, anchor: None }
    }

    /// The estimate as a whole number: so the sum is exact.
    fn ten_thousandths(&self) -> u64 {
        let weighted = self.messages * 100
            + self.file_reads * 200
            + self.file_edits * 150
            + self.tool_calls * 50
            + self.subagent_spawns * 500;
        weighted.min(10_000)
    }
}

/// How a session's context stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextMetrics {
    /// The share of the window that is used, from 0 to 1.
    pub estimated_usage: f64,
    /// Prompts, and answers of the model, since the window was last emptied.
    pub message_count: u64,
    /// Calls of tools since then.
    pub tool_calls: u64,
    /// When the last checkpoint was sealed, in UTC.
    pub last_checkpoint: Option<String>,
}

/// What is to be done about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextStatus {
    /// Nothing.
    Normal,
    /// Its window is over the checkpoint line, and there was no checkpoint since.
    High,
    /// Its window is over the checkpoint line, and there was one, or none is wanted.
    Kept,
}

impl ContextStatus {
    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::High | Self::Kept => "context_high",
        }
    }

    /// What is recommended.
    pub fn action(self) -> &'static str {
        match self {
            Self::Normal | Self::Kept => "none",
            Self::High => "trigger_checkpoint",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighted_counts_give_the_known_figures() {
        let some = Counts { messages: 50, file_reads: 10, ..Counts::default() };
        assert_eq!(some.estimate(), 0.7);
        assert_eq!(Counts { file_edits: 2, ..Counts::default() }.estimate(), 0.03);
        assert_eq!(Counts { tool_calls: 3, ..Counts::default() }.estimate(), 0.015);
        assert_eq!(Counts { subagent_spawns: 1, ..Counts::default() }.estimate(), 0.05);
        assert_eq!(Counts::default().estimate(), 0.0);
        assert_eq!(Counts { messages: 500, ..Counts::default() }.estimate(), 1.0);
        let many = Counts { messages: 500, ..Counts::default() };
        assert_eq!(some.reading(1_000, 200_000).used, 140_000);
        assert_eq!(many.reading(1_000, 200_000).used, 200_000);
        assert_eq!(some.reading(33 << 20, 200_000).used, 200_000);
    }
}
