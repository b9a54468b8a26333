//! The context metrics that the watcher reports, with the field names that its clients expect.

use serde::Serialize;

use crate::Tokens;
use crate::reading::{Reading, ReadingSource};

/// A session's activity since its window was last emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Prompts and model responses.
    pub messages: u64,
    pub file_reads: u64,
    pub file_edits: u64,
    pub tool_calls: u64,
    pub subagent_spawns: u64,
}

impl Counts {
    /// Estimates the used share of the window, from 0 to 1, as a weighted sum of the counts.
    ///
    /// On real sessions the estimate is off by a factor of two in either direction, so it is used
    /// only if the service has counted nothing.
    pub fn estimate(&self) -> f64 {
        self.ten_thousandths() as f64 / 10_000.0
    }

    /// Returns the estimated reading for a window of `window` tokens and a transcript of `bytes`
    /// bytes. A transcript too large for any window counts as full.
    pub fn reading(&self, bytes: u64, window: Tokens) -> Reading {
        const FITS_NO_WINDOW: u64 = 32 << 20;
        let used = match bytes > FITS_NO_WINDOW {
            true => window,
            false => window.saturating_mul(self.ten_thousandths()).div_ceil(10_000),
        };
        Reading { used, source: ReadingSource::Estimated, anchor: None }
    }

    /// Computes the estimate as an integer, so that the sum is exact.
    fn ten_thousandths(&self) -> u64 {
        let weighted = self.messages * 100
            + self.file_reads * 200
            + self.file_edits * 150
            + self.tool_calls * 50
            + self.subagent_spawns * 500;
        weighted.min(10_000)
    }
}

/// The context metrics of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextMetrics {
    /// The used share of the window, from 0 to 1.
    pub estimated_usage: f64,
    /// Prompts and model responses since the window was last emptied.
    pub message_count: u64,
    /// Tool calls since the window was last emptied.
    pub tool_calls: u64,
    /// The time of the last checkpoint, in UTC.
    pub last_checkpoint: Option<String>,
}

/// The action that a session needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextStatus {
    Normal,
    /// The window is above the checkpoint threshold, and no checkpoint was made since.
    High,
    /// The window is above the checkpoint threshold, but a checkpoint was made or none is wanted.
    Kept,
}

impl ContextStatus {
    pub fn label(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::High | Self::Kept => "context_high",
        }
    }

    /// Returns the recommended action.
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
