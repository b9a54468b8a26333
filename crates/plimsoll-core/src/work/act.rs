//! What a transcript line tells of the work, in our words.

use std::borrow::Cow;

use crate::Millis;
use crate::entry::EntryId;

/// A line of a transcript, as far as it tells of the work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record<'a> {
    /// What its successors call it.
    pub id: Option<EntryId>,
    /// The record it follows.
    pub parent: Option<EntryId>,
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
        /// What it said; the middle of a long text is left out.
        text: Cow<'a, str>,
        /// Lines of a file that it changed: the first, and how many.
        changed: Vec<(u32, u32)>,
    },
    /// The conversation was replaced by a summary.
    Compacted,
}

/// A tool, by what it does.
#[derive(Clone, Debug, PartialEq)]
pub enum Tool<'a> {
    /// Changes a part of a file.
    Edit {
        /// The file.
        path: Cow<'a, str>,
        /// What it was, and what it became.
        texts: Vec<Cow<'a, str>>,
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
    /// Keeps a list of steps.
    Plan(Vec<Step<'a>>),
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

/// A step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<'a> {
    /// What is to be done.
    pub text: Cow<'a, str>,
    /// Whether it is done.
    pub done: bool,
}
