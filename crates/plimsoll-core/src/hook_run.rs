//! A run of somebody's hook, as a transcript tells of it.
//!
//! What agents record is not every run; each adapter says what its agent leaves out.

mod command;

pub use self::command::Command;
use crate::entry::EntryId;

/// One run of one hook command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    /// What the client was about when it ran its hooks. Together with event and command this names
    /// the run, however many records tell of it.
    pub call: EntryId,
    /// The agent's name for the event.
    pub event: String,
    /// The command.
    pub command: Command,
    /// How long it took, where that is recorded.
    pub millis: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a hook's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ended well, or nobody says otherwise.
    Done,
    /// It refused what the agent was about to do.
    Refused,
    /// It failed, and the agent went on.
    Failed,
    /// It was stopped: it ran longer than it may, or the user went on without it.
    Stopped,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Done, Self::Refused, Self::Failed, Self::Stopped];

    /// As it is written in output and in the store.
    pub fn label(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}
