//! Search filters and results.

use plimsoll_extract::save::{Save, SaveEnvironment};

use super::CheckpointRow;

/// The result of a search for checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCheckpoints {
    /// The matching checkpoints, best first.
    pub hits: Vec<CheckpointHit>,
    /// How the checkpoints match.
    pub matched_by: MatchKind,
}

/// How the results match the query, from closest to loosest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchKind {
    /// Each result contains all words, or longer words that begin with them.
    AllWords,
    /// Each result contains all words as parts of its words.
    WordParts,
    /// Each result contains all words after spelling correction. The pairs are (typed word,
    /// replacement).
    Corrected(Vec<(String, String)>),
    /// Each result contains some of the words.
    SomeWords,
}

impl MatchKind {
    /// Returns the distance from the query: 0 for the closest kind of match.
    pub fn distance(&self) -> u8 {
        match self {
            Self::AllWords => 0,
            Self::WordParts => 1,
            Self::Corrected(_) => 2,
            Self::SomeWords => 3,
        }
    }
}

/// The conditions that listed or found saves must meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveFilter<'a> {
    /// Only saves of this environment.
    pub environment: Option<&'a SaveEnvironment>,
    /// Only saves of this project.
    pub project: Option<&'a str>,
    /// Only saves of these kinds.
    pub kinds: SaveKinds,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SaveKinds {
    #[default]
    All,
    /// Manual saves and auto-saves: the states of work that a user can restore.
    Restorable,
}

/// The result of a search for saves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSaves {
    /// The matching saves, best first.
    pub saves: Vec<Save>,
    /// How the saves match.
    pub matched_by: MatchKind,
}

/// A checkpoint that matches a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointHit {
    pub checkpoint: CheckpointRow,
    /// The title of the section that `line` is in.
    pub section: String,
    /// The line with the most matches.
    pub line: Vec<LinePiece>,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePiece {
    pub text: String,
    /// Whether the piece matches the query.
    pub is_match: bool,
}
