//! Tasks as users name them, and the pieces that they are planned as.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Tokens;
use crate::settings::is_default;

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

/// A task, or a part of one, as it is planned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Its name in the plan: the task's, or for a part of it `2.1`.
    pub id: String,
    /// What is to be done.
    pub description: String,
    /// The files it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What it is estimated to take.
    pub tokens: Tokens,
    /// What the formula alone gives for it, where experience makes another figure of that.
    #[serde(default, skip_serializing_if = "is_default")]
    pub formula: Option<Tokens>,
    /// The user has said what it takes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub given: bool,
    /// The keyword that it goes by.
    #[serde(default)]
    pub kind: Kind,
    /// The pieces that come before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The task that it is a part of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub of: Option<String>,
    /// The tasks that it is a subtask of, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Above>,
    /// What each of its files costs, where it can be split by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Tokens>,
    /// Its subtasks, where they can be planned in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Piece>,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warning: Option<String>,
}

/// A task that a piece is a part of: told with the piece, for whoever does it to know what it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Above {
    /// Its name.
    pub id: String,
    /// What is to be done in all.
    pub description: String,
    /// The files it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl Piece {
    /// Calls `with` with every text in it that the user has written, for whoever must not keep secrets.
    pub fn for_each_text(&mut self, with: &mut dyn FnMut(&mut String)) {
        with(&mut self.description);
        self.above.iter_mut().for_each(|above| with(&mut above.description));
        self.parts.iter_mut().for_each(|part| part.for_each_text(with));
    }
}

/// The keyword that a task goes by: of those in its description the one that costs most.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It turns over what is there.
    Refactor,
    /// It makes something new.
    Implement,
    /// It adds to what is there.
    Add,
    /// It mends.
    Fix,
    /// It brings up to date.
    Update,
    /// None of these words.
    #[default]
    Other,
}

impl Kind {
    /// Every kind, the dearest first.
    pub const ALL: [Self; 6] =
        [Self::Refactor, Self::Implement, Self::Add, Self::Fix, Self::Update, Self::Other];

    /// The kind of a task by its description. Case does not matter, and a word may hold the keyword.
    pub fn of(description: &str) -> Self {
        let text = description.to_lowercase();
        let mut kinds = Self::ALL.into_iter().filter(|kind| *kind != Self::Other);
        kinds.find(|kind| text.contains(kind.word())).unwrap_or_default()
    }

    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Self::Refactor => "refactor",
            Self::Implement => "implement",
            Self::Add => "add",
            Self::Fix => "fix",
            Self::Update => "update",
            Self::Other => "other",
        }
    }

    /// What a task of this kind takes, as a multiple of its words and files.
    pub fn multiplier(self) -> f64 {
        match self {
            Self::Refactor => 2.0,
            Self::Implement => 1.5,
            Self::Add => 1.2,
            Self::Fix | Self::Update | Self::Other => 1.0,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
