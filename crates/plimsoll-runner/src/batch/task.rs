//! Tasks as users write them.

use plimsoll_core::Tokens;

/// A task from a task file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Name given by the user, else its number in the list (`2`, or `2.1` for a subtask).
    pub id: String,
    pub description: String,
    /// Files that the task is about, as the user wrote them.
    pub files: Vec<String>,
    /// Number of files that the task may touch, if the user gave one.
    pub estimated_files: Option<u64>,
    /// Tokens that the task needs, if the user gave a figure. It overrides any estimate.
    pub tokens: Option<Tokens>,
    /// The task must not be split, whatever its size.
    pub whole: bool,
    /// The task is done: it is not planned, and other tasks do not wait for it.
    pub done: bool,
    /// Names of the tasks that must come first.
    pub after: Vec<String>,
    pub subtasks: Vec<Task>,
    /// Line in the task file; `None` if unknown.
    pub line: Option<u64>,
}
