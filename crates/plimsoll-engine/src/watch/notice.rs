//! What a watcher tells.

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

/// A change in a session, or in one of its subagents.
#[derive(Clone, Debug)]
pub struct Notice {
    /// When it was noticed, in milliseconds since the epoch; of what stands in a transcript, when that
    /// was last written to.
    pub at: u64,
    /// Whose it is.
    pub owner: Owner,
    /// What has changed.
    pub change: Change,
}

/// What may change.
#[derive(Clone, Debug)]
pub enum Change {
    /// It has begun, or goes on after it was over.
    Started,
    /// Its window holds more, or less, or is another.
    Read(Box<Standing>),
    /// The client has compacted it.
    Compacted(Boundary),
    /// It was asked for a checkpoint.
    Asked(Reason),
    /// It has written nothing for a while.
    Idle,
    /// It is over.
    Ended,
    /// Its process is gone, and nobody has said that it is over.
    Died,
}

/// How a window stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How full it is.
    pub reading: Reading,
    /// Its size.
    pub window: Window,
    /// Where the client compacts it.
    pub trigger: Trigger,
    /// Where a checkpoint is due.
    pub checkpoint: Tokens,
    /// What was done since it was last emptied.
    pub counts: Counts,
    /// When the session's last checkpoint was sealed, in milliseconds since the epoch.
    pub sealed: Option<u64>,
    /// Whether that was since the window has crossed the checkpoint line, if it has.
    pub is_kept: bool,
    /// Whether anything is recommended in its project (`auto_context.enabled`).
    pub advises: bool,
    /// The model that answered last.
    pub model: Option<String>,
    /// The folder the agent was started in.
    pub project: PathBuf,
    /// When the session began, in milliseconds since the epoch, if its transcript tells.
    pub started: Option<u64>,
}

impl Standing {
    /// Whether a checkpoint is due. At the client's trigger it is not: the compaction follows at once,
    /// and makes its own checkpoint. A reading that is only estimated, not counted, does not show that
    /// the trigger is reached.
    pub fn is_over_line(&self) -> bool {
        let used = self.reading.used;
        let compacts = |trigger: Tokens| self.reading.anchor.is_some() && used >= trigger;
        used >= self.checkpoint && !self.trigger.tokens().is_some_and(compacts)
    }

    /// What is to be done about it.
    pub fn status(&self) -> ContextStatus {
        match self.is_over_line() {
            false => ContextStatus::Normal,
            true if self.is_kept || !self.advises => ContextStatus::Kept,
            true => ContextStatus::High,
        }
    }

    /// How its context stands, in short.
    pub fn metrics(&self) -> ContextMetrics {
        ContextMetrics {
            estimated_usage: (self.usage() * 1000.0).round() / 1000.0,
            message_count: self.counts.messages,
            tool_calls: self.counts.tool_calls,
            last_checkpoint: self.sealed.map(|at| utc(at as i64)),
        }
    }

    /// The share of the window that is used, at most 1.
    fn usage(&self) -> f64 {
        (self.reading.used as f64 / self.window.tokens.max(1) as f64).min(1.0)
    }
}
