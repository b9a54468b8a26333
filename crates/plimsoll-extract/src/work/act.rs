//! What a transcript line tells of the work, in our words.

use std::borrow::Cow;
use std::fmt;

use plimsoll_core::Millis;
use plimsoll_core::entry::{EntryId, Place};
use serde::{Deserialize, Serialize};

/// A line of a transcript, as far as it tells of the work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record<'a> {
    /// Where it stands; whoever reads the file knows.
    pub place: Place,
    /// What its successors call it.
    pub id: Option<EntryId>,
    /// The record it follows.
    pub parent: Option<EntryId>,
    /// Whether somebody speaks in the user's place, be it a command or the client: not a tool, and no
    /// summary.
    pub is_prompt: bool,
    /// Whether the conversation went on with it: somebody said or did something, be it the user, the
    /// model or a tool. A summary and the client's own commands do not count.
    pub advances: bool,
    /// The message of the model's that it is a part of.
    pub message: Option<EntryId>,
    /// When it was written.
    pub time: Option<Millis>,
    /// The folder the agent worked in.
    pub folder: Option<Cow<'a, str>>,
    /// The branch that was checked out.
    pub branch: Option<Cow<'a, str>>,
    /// What happened.
    pub acts: Vec<Act<'a>>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Act<'a> {
    /// The user's own words.
    Asked(Cow<'a, str>),
    /// The model's own words.
    Said(Cow<'a, str>),
    /// The agent used a tool.
    Called {
        /// What the result will call it.
        call: &'a str,
        /// What it does.
        tool: Tool<'a>,
    },
    /// A tool gave something back.
    Returned {
        /// The call.
        call: &'a str,
        /// Whether it failed.
        failed: bool,
        /// What it said.
        said: Output<'a>,
        /// The files that it changed, as far as the agent tells.
        changes: Vec<FileChange<'a>>,
        /// What a step that it added to the plan is called.
        step: Option<Cow<'a, str>>,
    },
    /// A call came to nothing: it was refused, or it goes on and nobody waits for it.
    Dropped {
        /// The call.
        call: &'a str,
    },
    /// The user answered a question of the agent's.
    Answered {
        /// The question.
        question: Cow<'a, str>,
        /// The answer.
        answer: Cow<'a, str>,
    },
    /// The list of steps was shown, this one in it.
    Shown {
        /// What it is called.
        step: Cow<'a, str>,
        /// What is to be done.
        text: Cow<'a, str>,
        /// How it stands.
        state: StepState,
    },
    /// A plan was written down, or agreed to.
    Planned(Cow<'a, str>),
    /// A subagent that nobody waited for gave something back.
    Reported {
        /// What it was about, in a line.
        task: Cow<'a, str>,
        /// What it said.
        text: Cow<'a, str>,
    },
    /// The conversation was replaced by a summary.
    Compacted,
}

type Reader = fn(&[u8]) -> Cow<'_, str>;

/// What a tool said, as it stands in the transcript: most of it is never read.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    bytes: &'a [u8],
    read: Reader,
}

impl<'a> Output<'a> {
    /// What `read` makes of some bytes.
    pub fn new(bytes: &'a [u8], read: Reader) -> Self {
        Self { bytes, read }
    }

    /// The text, as far as `read` takes it.
    pub fn text(&self) -> Cow<'a, str> {
        (self.read)(self.bytes)
    }
}

impl PartialEq for Output<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// A tool, by what it does.
#[derive(Clone, Debug, PartialEq)]
pub enum Tool<'a> {
    /// Changes a part of a file.
    Edit {
        /// The file.
        path: Cow<'a, str>,
        /// What it was.
        old: Vec<Cow<'a, str>>,
        /// What it became.
        new: Vec<Cow<'a, str>>,
    },
    /// Writes a file.
    Write {
        /// The file.
        path: Cow<'a, str>,
        /// Its text.
        text: Cow<'a, str>,
    },
    /// Reads a file.
    Read {
        /// The file.
        path: Cow<'a, str>,
        /// From which line, where that is said.
        from: Option<u32>,
        /// How many lines, where that is said.
        lines: Option<u32>,
    },
    /// Runs a command line.
    Shell {
        /// As it was typed.
        command: Cow<'a, str>,
    },
    /// Gives a task to a subagent.
    Delegate {
        /// What it is about, in a line.
        task: Cow<'a, str>,
        /// The whole of it.
        text: Cow<'a, str>,
    },
    /// Replaces the list of steps.
    Plan(Vec<Step<'a>>),
    /// Adds a step to the list.
    AddStep {
        /// What is to be done, in a line.
        text: Cow<'a, str>,
        /// The whole of it.
        about: Cow<'a, str>,
    },
    /// Changes a step of the list.
    SetStep {
        /// What it is called.
        step: Cow<'a, str>,
        /// What is to be done, where that is said.
        text: Option<Cow<'a, str>>,
        /// How it stands, where that is said.
        state: Option<StepState>,
    },
    /// Anything else, with the texts it was given.
    Other {
        /// The tool's name.
        name: &'a str,
        /// A file or folder it looks into.
        path: Option<Cow<'a, str>>,
        /// What it was given.
        texts: Vec<Cow<'a, str>>,
    },
}

impl Tool<'_> {
    /// What it writes into a file, with what was there before.
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
pub struct Step<'a> {
    /// What is to be done.
    pub text: Cow<'a, str>,
    /// Whether it is done.
    pub done: bool,
}

/// How a step of a plan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// It is still to be done.
    Open,
    /// It is done.
    Done,
    /// It is not wanted any more.
    Dropped,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileChange<'a> {
    /// The file; the one that the call named where none is told.
    pub path: Option<Cow<'a, str>>,
    /// How it was changed, where that is told.
    pub change: Option<Change>,
    /// The lines that were changed: the first, and how many.
    pub lines: Vec<(u32, u32)>,
    /// The file's content before the change, if the agent recorded it.
    pub original: Option<Output<'a>>,
}

/// How a file was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// A part of it.
    Edited,
    /// The whole of it; whether it was there before is not known.
    Written,
    /// It was not there before.
    Created,
    /// It was there before.
    Overwritten,
    /// It has this name now.
    Moved,
    /// It is gone.
    Deleted,
}
