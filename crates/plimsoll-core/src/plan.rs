//! Plans: tasks cut into pieces and packed into batches. `plimsoll-runner` makes and runs them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::settings::is_default;
use crate::text::thousands;
use crate::{Millis, Tokens};

/// Batches in the order in which they run. The pieces of a batch do not depend on each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Tokens available to each batch.
    pub available: Tokens,
    pub batches: Vec<Vec<Piece>>,
    /// Pieces that were completed before. They are not planned again, but sessions are informed of
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<Piece>,
}

impl Plan {
    /// Returns every piece, in the order of the batches.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.batches.iter().flatten()
    }

    /// Calls `with` for every text that the user has written, so that secrets can be redacted.
    pub fn for_each_text(&mut self, mut with: impl FnMut(&mut String)) {
        let pieces = self.batches.iter_mut().flatten().chain(&mut self.done);
        pieces.for_each(|piece| piece.for_each_text(&mut with));
    }

    /// Describes the plan's size in words.
    pub fn extent(&self) -> String {
        let counted = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{} {many}", thousands(count as u64)),
        };
        let tasks = counted(self.pieces().count(), "task", "tasks");
        format!("{tasks} in {}", counted(self.batches.len(), "batch", "batches"))
    }

    /// Returns the estimated tokens of the whole plan.
    pub fn tokens(&self) -> Tokens {
        load(self.pieces())
    }
}

/// Returns the estimated tokens of these pieces together.
pub fn load<'p>(pieces: impl IntoIterator<Item = &'p Piece>) -> Tokens {
    sum(pieces.into_iter().map(|piece| piece.tokens))
}

/// Adds token counts, saturating at the maximum.
pub fn sum(tokens: impl IntoIterator<Item = Tokens>) -> Tokens {
    tokens.into_iter().fold(0, Tokens::saturating_add)
}

/// A task, or part of a task, in a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The task's id, or `2.1` for a part of task 2.
    pub id: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The estimated tokens.
    pub tokens: Tokens,
    /// The estimate of the formula alone, if past runs have corrected it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub formula: Option<Tokens>,
    /// Whether the user gave the estimate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub given: bool,
    /// The keyword that decides the estimate.
    #[serde(default)]
    pub kind: Kind,
    /// The ids of the pieces that must be done first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The task that this piece is a part of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub of: Option<String>,
    /// The tasks that contain this one, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Above>,
    /// The tokens of each file, if the piece can be split by files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Tokens>,
    /// Its subtasks, if they can be planned in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Piece>,
    /// A problem with the piece, as a sentence for the user.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warning: Option<String>,
}

/// A task that contains a piece. The session that works on the piece sees it as context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Above {
    pub id: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl Piece {
    /// Calls `with` for every text that the user has written, so that secrets can be redacted.
    pub fn for_each_text(&mut self, with: &mut dyn FnMut(&mut String)) {
        with(&mut self.description);
        self.above.iter_mut().for_each(|above| with(&mut above.description));
        self.parts.iter_mut().for_each(|part| part.for_each_text(with));
    }
}

/// The keyword of a task: the most expensive one in its description.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Refactor,
    Implement,
    Add,
    Fix,
    Update,
    /// No keyword occurs.
    #[default]
    Other,
}

impl Kind {
    /// All kinds, most expensive first.
    pub const ALL: [Self; 6] =
        [Self::Refactor, Self::Implement, Self::Add, Self::Fix, Self::Update, Self::Other];

    /// Finds the kind of a task in its description. Ignores case, and matches keywords inside
    /// words.
    pub fn of(description: &str) -> Self {
        let text = description.to_lowercase();
        let mut kinds = Self::ALL.into_iter().filter(|kind| *kind != Self::Other);
        kinds.find(|kind| text.contains(kind.word())).unwrap_or_default()
    }

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

    /// Returns the factor by which the formula multiplies words and files.
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

/// Past work with both its estimate and its measured tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// When it was completed.
    pub at: Millis,
    pub kind: Kind,
    /// The estimate of the formula.
    pub predicted: Tokens,
    /// The tokens that it really added to windows.
    pub measured: Tokens,
}

impl Case {
    /// Returns whether the case is of this kind and both its figures are known.
    pub fn is(&self, kind: Kind) -> bool {
        self.kind == kind && self.predicted > 0 && self.measured > 0
    }

    /// Returns the measured tokens as a multiple of the estimate.
    pub fn ratio(&self) -> f64 {
        self.measured as f64 / self.predicted as f64
    }
}
