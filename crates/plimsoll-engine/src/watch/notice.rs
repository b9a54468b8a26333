//! Notices that a watcher reports.

use std::path::PathBuf;

use plimsoll_agents::Owner;
use plimsoll_core::Tokens;
use plimsoll_core::board::Reason;
use plimsoll_core::entry::Boundary;
use plimsoll_core::metrics::{ContextMetrics, ContextStatus, Counts};
use plimsoll_core::reading::Reading;
use plimsoll_core::time::utc;
use plimsoll_core::trigger::Trigger;
use plimsoll_core::window::Window;

/// A change in a session or in one of its subagents.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Time of observation in milliseconds since the epoch; for changes in a transcript, its
    /// modification time.
    pub at: u64,
    pub owner: Owner,
    pub change: Change,
}

#[derive(Clone, Debug)]
pub enum Change {
    /// It has begun, or continues after its end.
    Started,
    /// Its window has a new reading.
    Read(Box<Standing>),
    /// The client compacted it.
    Compacted(Boundary),
    /// A checkpoint was requested.
    Asked(Reason),
    /// It has written nothing for a while.
    Idle,
    Ended,
    /// Its process has ended without the client reporting the end.
    Died,
}

/// State of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub reading: Reading,
    pub window: Window,
    /// Where the client compacts the window.
    pub trigger: Trigger,
    /// Checkpoint threshold in tokens.
    pub checkpoint: Tokens,
    /// Activity since the last compaction.
    pub counts: Counts,
    /// Time of the session's last checkpoint, in milliseconds since the epoch.
    pub sealed: Option<u64>,
    /// Whether that checkpoint was made after the window crossed the threshold.
    pub is_kept: bool,
    /// Whether advice is enabled in the project (`auto_context.enabled`).
    pub advises: bool,
    /// Model of the last response.
    pub model: Option<String>,
    /// Folder in which the agent was started.
    pub project: PathBuf,
    /// Start of the session in milliseconds since the epoch, if known.
    pub started: Option<u64>,
}

impl Standing {
    /// Reports whether a checkpoint is due. At the client's trigger it is not, because the
    /// compaction that follows makes its own checkpoint. A reading that is only estimated does not
    /// prove that the trigger is reached.
    pub fn is_over_line(&self) -> bool {
        let used = self.reading.used;
        let compacts = |trigger: Tokens| self.reading.anchor.is_some() && used >= trigger;
        used >= self.checkpoint && !self.trigger.tokens().is_some_and(compacts)
    }

    /// Returns the recommendation.
    pub fn status(&self) -> ContextStatus {
        match self.is_over_line() {
            false => ContextStatus::Normal,
            true if self.is_kept || !self.advises => ContextStatus::Kept,
            true => ContextStatus::High,
        }
    }

    /// Returns the figures for the JSON output.
    pub fn metrics(&self) -> ContextMetrics {
        ContextMetrics {
            estimated_usage: (self.usage() * 1000.0).round() / 1000.0,
            message_count: self.counts.messages,
            tool_calls: self.counts.tool_calls,
            last_checkpoint: self.sealed.map(|at| utc(at as i64)),
        }
    }

    /// Returns the used share of the window, at most 1.
    fn usage(&self) -> f64 {
        (self.reading.used as f64 / self.window.tokens.max(1) as f64).min(1.0)
    }
}
