//! What a search asks for and comes to.

use plimsoll_core::save::{Environment, Save};

use super::CheckpointRow;

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The checkpoints, best first.
    pub hits: Vec<Hit>,
    /// How they fit.
    pub by: Match,
}

/// How what was found fits what was searched for, the closest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// All words are in each, or beginnings of them.
    Words,
    /// All are in each as parts of words.
    Parts,
    /// All are in each, after words that occur nowhere were replaced: by what.
    Corrected(Vec<(String, String)>),
    /// Some of the words are in each.
    Some,
}

impl Match {
    /// How far from what was searched for it is.
    pub fn distance(&self) -> u8 {
        match self {
            Self::Words => 0,
            Self::Parts => 1,
            Self::Corrected(_) => 2,
            Self::Some => 3,
        }
    }
}

/// Which saves are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveFilter<'a> {
    /// Of this environment only.
    pub environment: Option<&'a Environment>,
    /// Of this project only.
    pub project: Option<&'a str>,
    /// Of these kinds only.
    pub kinds: SaveKinds,
}

/// Which kinds of saves are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SaveKinds {
    /// Every kind.
    #[default]
    All,
    /// Manual saves and auto-saves: the states of work that a user restores.
    Restorable,
}

/// What a search for saves came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSaves {
    /// The saves, best first.
    pub saves: Vec<Save>,
    /// How they fit.
    pub by: Match,
}

/// A checkpoint that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The checkpoint.
    pub checkpoint: CheckpointRow,
    /// The section it fits in.
    pub section: String,
    /// The line that fits best.
    pub line: Vec<Piece>,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it says.
    pub text: String,
    /// Whether it is what was searched for, or stands around that.
    pub fits: bool,
}
