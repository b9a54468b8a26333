//! Tasks as users name them.

use plimsoll_core::Tokens;

/// What a task file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// What others call it: its own name, else its number in the list (`2`, and `2.1` for a part of it).
    pub id: String,
    /// What is to be done.
    pub description: String,
    /// The files it is about, as the user writes them.
    pub files: Vec<String>,
    /// How many files it may touch, where that is known better than their names.
    pub estimated_files: Option<u64>,
    /// What it takes, where the user knows better than any estimate.
    pub tokens: Option<Tokens>,
    /// It is not to be split, whatever it takes.
    pub whole: bool,
    /// It is done: nothing is planned for it, and nobody waits for it.
    pub done: bool,
    /// The tasks that come before it.
    pub after: Vec<String>,
    /// What it consists of.
    pub subtasks: Vec<Task>,
    /// Where it stands in its file, if that is known.
    pub line: Option<u64>,
}
