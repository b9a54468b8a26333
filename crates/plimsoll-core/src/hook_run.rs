//! Runs of hook commands, as transcripts record them.
//!
//! Agents do not record every run. Each agent's module documents which ones are missing.

mod command;

pub use self::command::Command;
use crate::entry::EntryId;

/// One run of one hook command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    /// The client's action for which it ran its hooks. Together with event and command it
    /// identifies the run, even if several records mention it.
    pub call: EntryId,
    /// The agent's name for the event.
    pub event: String,
    pub command: Command,
    /// `None` if the duration is not recorded.
    pub millis: Option<u64>,
    pub outcome: Outcome,
}

/// The outcome of a hook's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded, or no failure is recorded.
    Done,
    /// It refused the agent's action.
    Refused,
    /// It failed, and the agent continued.
    Failed,
    /// It was stopped: it exceeded its timeout, or the user did not wait for it.
    Stopped,
}

impl Outcome {
    pub const ALL: [Self; 4] = [Self::Done, Self::Refused, Self::Failed, Self::Stopped];

    /// Returns the name used in output and in the store.
    pub fn label(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}
