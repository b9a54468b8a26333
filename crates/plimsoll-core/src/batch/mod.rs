//! Work that fits: tasks, cut into pieces that a window holds and packed into batches.
//!
//! Everything here is a function of what it is given. Which files there are, what they weigh and
//! which of them change together is the engine's to find out; carrying a plan out is its conductor's.

pub mod calibration;
mod task;

use serde::{Deserialize, Serialize};

pub use self::task::{Kind, Piece, Task};
use crate::Tokens;

/// Batches in the order in which they run, each of pieces that do not wait for one another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What each batch may hold.
    pub available: Tokens,
    /// The batches.
    pub batches: Vec<Vec<Piece>>,
}

impl Plan {
    /// Every piece, in the order of the batches.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.batches.iter().flatten()
    }

    /// What is estimated for all of it.
    pub fn tokens(&self) -> Tokens {
        load(self.pieces())
    }
}

/// What is estimated for these pieces together.
pub fn load<'p>(pieces: impl IntoIterator<Item = &'p Piece>) -> Tokens {
    pieces.into_iter().fold(0, |sum, piece| sum.saturating_add(piece.tokens))
}
