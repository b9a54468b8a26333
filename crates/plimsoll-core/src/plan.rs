//! A plan: the pieces that tasks are cut into, in batches. How it is made is for `plimsoll-runner` to say.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::settings::is_default;
use crate::text::thousands;
use crate::{Millis, Tokens};

/// Batches in the order in which they run, each of pieces that do not wait for one another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What each batch may hold.
    pub available: Tokens,
    /// The batches.
    pub batches: Vec<Vec<Piece>>,
    /// What was done before: nothing is planned for it, and the sessions are told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<Piece>,
}

impl Plan {
    /// Every piece, in the order of the batches.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.batches.iter().flatten()
    }

    /// Calls `with` with every text in it that the user has written, for whoever must not keep secrets.
    pub fn for_each_text(&mut self, mut with: impl FnMut(&mut String)) {
        let pieces = self.batches.iter_mut().flatten().chain(&mut self.done);
        pieces.for_each(|piece| piece.for_each_text(&mut with));
    }

    /// How much it is, in words.
    pub fn extent(&self) -> String {
        let counted = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{} {many}", thousands(count as u64)),
        };
        let tasks = counted(self.pieces().count(), "task", "tasks");
        format!("{tasks} in {}", counted(self.batches.len(), "batch", "batches"))
    }

    /// What is estimated for all of it.
    pub fn tokens(&self) -> Tokens {
        load(self.pieces())
    }
}

/// What is estimated for these pieces together.
pub fn load<'p>(pieces: impl IntoIterator<Item = &'p Piece>) -> Tokens {
    sum(pieces.into_iter().map(|piece| piece.tokens))
}

/// These together.
pub fn sum(tokens: impl IntoIterator<Item = Tokens>) -> Tokens {
    tokens.into_iter().fold(0, Tokens::saturating_add)
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

/// Past work of which both is known: what the formula said, and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// When it was done.
    pub at: Millis,
    /// The keyword that it goes by.
    pub kind: Kind,
    /// What the formula gives for it.
    pub predicted: Tokens,
    /// What it has put into windows.
    pub measured: Tokens,
}

impl Case {
    /// Whether it is of that kind and tells something.
    pub fn is(&self, kind: Kind) -> bool {
        self.kind == kind && self.predicted > 0 && self.measured > 0
    }

    /// What it took, as a multiple of what the formula gives.
    pub fn ratio(&self) -> f64 {
        self.measured as f64 / self.predicted as f64
    }
}
