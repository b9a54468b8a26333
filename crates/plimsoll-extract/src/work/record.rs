//! A transcript record in plimsoll's own terms, independent of the agent.

use std::borrow::Cow;
use std::fmt;

use plimsoll_core::Millis;
use plimsoll_core::entry::{EntryId, Follows, Place};
use serde::{Deserialize, Serialize};

/// A transcript record, reduced to what it says about the work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkRecord<'a> {
    /// Position in the transcript, set by the reader of the file.
    pub place: Place,
    /// Id that later records refer to.
    pub id: Option<EntryId>,
    /// The record that this one continues.
    pub follows: Follows,
    /// Whether this is input in the user's role, also from a command or the client: not a tool
    /// result and not a summary.
    pub is_prompt: bool,
    /// Whether the conversation advanced: the user, the model or a tool said or did something. A
    /// summary and the client's own commands do not count.
    pub advances: bool,
    /// The model's message that this record is part of.
    pub message: Option<EntryId>,
    /// Time of writing.
    pub time: Option<Millis>,
    /// The agent's working folder.
    pub folder: Option<Cow<'a, str>>,
    /// The checked-out branch.
    pub branch: Option<Cow<'a, str>>,
    pub events: Vec<WorkEvent<'a>>,
}

/// One event in a record.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkEvent<'a> {
    /// A prompt in the user's own words.
    UserPrompt(Cow<'a, str>),
    /// A text of the model.
    ModelText(Cow<'a, str>),
    /// A tool call.
    ToolCall {
        /// Id that the result refers to.
        call: &'a str,
        tool: ToolUse<'a>,
    },
    /// A tool result.
    ToolResult {
        call: &'a str,
        failed: bool,
        /// Output.
        said: ToolOutput<'a>,
        /// Changed files, if the agent recorded them.
        changes: Vec<FileChange<'a>>,
        /// Name of the plan step that the call added.
        step: Option<Cow<'a, str>>,
    },
    /// A call without a result: it was refused, or it runs in the background.
    CallDropped {
        /// Id of the call.
        call: &'a str,
    },
    /// The user's answer to a question of the agent.
    QuestionAnswered {
        /// The agent's question.
        question: Cow<'a, str>,
        answer: Cow<'a, str>,
    },
    /// A step of a task list that the agent printed.
    StepShown {
        /// Name of the step.
        step: Cow<'a, str>,
        /// The task.
        text: Cow<'a, str>,
        state: StepState,
    },
    /// A plan that was written or approved.
    PlanWritten(Cow<'a, str>),
    /// The result of a background subagent.
    SubagentReport {
        /// The task in one line.
        task: Cow<'a, str>,
        /// The answer.
        text: Cow<'a, str>,
    },
    /// A summary replaced the conversation.
    Compaction,
}

type OutputDecoder = fn(&[u8]) -> Cow<'_, str>;

/// A tool's output in its transcript form. It is decoded on demand, because most output is never
/// read.
#[derive(Clone, Copy)]
pub struct ToolOutput<'a> {
    bytes: &'a [u8],
    read: OutputDecoder,
}

impl<'a> ToolOutput<'a> {
    /// Wraps bytes that `read` can decode.
    pub fn new(bytes: &'a [u8], read: OutputDecoder) -> Self {
        Self { bytes, read }
    }

    /// Decodes the text, as far as `read` does.
    pub fn text(&self) -> Cow<'a, str> {
        (self.read)(self.bytes)
    }
}

impl PartialEq for ToolOutput<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for ToolOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// A tool call by its effect.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolUse<'a> {
    /// Changes part of a file.
    Edit {
        path: Cow<'a, str>,
        /// Replaced texts.
        old: Vec<Cow<'a, str>>,
        /// New texts.
        new: Vec<Cow<'a, str>>,
    },
    /// Writes a whole file.
    Write {
        path: Cow<'a, str>,
        /// New content of the file.
        text: Cow<'a, str>,
    },
    /// Reads a file.
    Read {
        path: Cow<'a, str>,
        /// First line, if given.
        from: Option<u32>,
        /// Number of lines, if given.
        lines: Option<u32>,
    },
    /// Runs a command line.
    Shell {
        /// The command as typed.
        command: Cow<'a, str>,
    },
    /// Gives a task to a subagent.
    Delegate {
        /// The task in one line.
        task: Cow<'a, str>,
        /// The full prompt.
        text: Cow<'a, str>,
    },
    /// Replaces the task list.
    Plan(Vec<PlanStep<'a>>),
    /// Adds a step to the task list.
    AddStep {
        /// The task in one line.
        text: Cow<'a, str>,
        /// The full description.
        about: Cow<'a, str>,
    },
    /// Changes a step of the task list.
    SetStep {
        /// Name of the step.
        step: Cow<'a, str>,
        /// The new text, if it changed.
        text: Option<Cow<'a, str>>,
        /// The new state, if it changed.
        state: Option<StepState>,
    },
    /// Any other tool.
    Other {
        name: &'a str,
        /// A file or folder that the tool reads.
        path: Option<Cow<'a, str>>,
        /// Text arguments.
        texts: Vec<Cow<'a, str>>,
    },
}

impl ToolUse<'_> {
    /// Returns the text written to a file, together with the text it replaces.
    pub(super) fn written(&self) -> Option<String> {
        match self {
            Self::Edit { old, new, .. } => {
                let all: Vec<&str> = old.iter().chain(new).map(|text| &**text).collect();
                Some(all.join("\n"))
            }
            Self::Write { text, .. } => Some(text.to_string()),
            _ => None,
        }
    }
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep<'a> {
    pub text: Cow<'a, str>,
    pub done: bool,
}

/// State of a plan step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    Open,
    Done,
    /// No longer wanted.
    Dropped,
}

/// The effect of a call on one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileChange<'a> {
    /// Path of the file; `None` means the file named in the call.
    pub path: Option<Cow<'a, str>>,
    /// How the file changed, if known.
    pub change: Option<ChangeKind>,
    /// Changed line ranges: first line and count.
    pub lines: Vec<(u32, u32)>,
    /// The file's content before the change, if the agent recorded it.
    pub original: Option<ToolOutput<'a>>,
}

/// How a file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// Part of the content changed.
    Edited,
    /// The whole content was replaced or created; which of the two is unknown.
    Written,
    /// The file did not exist before.
    Created,
    /// The file existed before.
    Overwritten,
    /// The file was moved to this path.
    Moved,
    /// The file was deleted.
    Deleted,
}
