//! Work that fits: tasks, cut into pieces that a window holds and packed into batches.
//!
//! Everything here is a function of what it is given. Which files there are, what they weigh and
//! which of them change together is the engine's to find out; carrying a plan out is its conductor's.

mod available;
mod beam;
mod bound;
pub mod calibration;
mod estimate;
mod fill;
mod forest;
mod groups;
mod pack;
mod prompt;
pub mod read;
mod refit;
mod split;
mod task;
mod told;
mod workflow;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use self::available::Room;
pub use self::estimate::{Estimator, Factors, UNKNOWN_FILE, works_on};
pub use self::forest::Problem;
pub use self::groups::Together;
pub use self::pack::{Freight, Packing};
pub use self::prompt::{in_a_line, prompt};
pub use self::split::TOO_LARGE;
pub use self::task::{Above, Kind, Piece, Task};
pub use self::told::told;
pub use self::workflow::{CHECKPOINT_PROMPT, Edge, Node, Workflow};
use crate::Tokens;
use crate::text::thousands;

/// The budget where nothing is known of the window.
pub const UNKNOWN_BUDGET: Tokens = 100_000;

/// On what terms tasks are planned.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// What each batch may hold.
    pub available: Tokens,
    /// Estimates what tasks take.
    pub estimator: Estimator,
    /// Which files change together.
    pub together: Together,
}

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
    estimate::sum(pieces.into_iter().map(|piece| piece.tokens))
}

/// A plan, and how few batches there can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// No plan of these pieces has fewer batches.
    pub bound: usize,
}

/// Cuts tasks into pieces that fit and packs them into as few batches as can be.
pub fn plan(tasks: &[Task], terms: &Terms) -> Result<Planned, Problem> {
    let split::Pieces { pieces, before } = split::split(tasks, terms)?;
    let Planned { plan, bound } = pack(pieces, before, terms.available)?;
    Ok(Planned { plan: Plan { done: split::done(tasks), ..plan }, bound })
}

/// Plans pieces anew, such as those that are left when the work takes more than was estimated: what does
/// not fit any more is split, and all are packed again, behind the batches that are `kept`. Names of these
/// are given to nothing else.
///
/// `together` is asked which of some files change together.
pub fn repack(
    kept: &[Vec<Piece>],
    pieces: Vec<Piece>,
    available: Tokens,
    together: &dyn Fn(&[String]) -> Together,
) -> Result<Planned, Problem> {
    let pieces = refit::refit(kept, pieces, available, together);
    let places: HashMap<&str, usize> =
        pieces.iter().enumerate().map(|(at, piece)| (piece.id.as_str(), at)).collect();
    let known =
        |piece: &Piece| piece.after.iter().filter_map(|id| places.get(&**id).copied()).collect();
    let before = pieces.iter().map(known).collect();
    let Planned { plan, bound } = pack(pieces, before, available)?;
    let batches = [kept, &plan.batches].concat();
    Ok(Planned { plan: Plan { batches, ..plan }, bound: kept.len() + bound })
}

fn pack(
    pieces: Vec<Piece>,
    before: Vec<Vec<usize>>,
    available: Tokens,
) -> Result<Planned, Problem> {
    let sizes: Vec<Tokens> = pieces.iter().map(|piece| piece.tokens).collect();
    let freight = Freight::new(&sizes, available, before).ok_or_else(|| Problem {
        line: None,
        what: "these tasks wait for one another".to_owned(),
    })?;
    let mut pieces: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
    let packing = freight.pack();
    let mut batch = |batch: &Vec<usize>| batch.iter().filter_map(|at| pieces[*at].take()).collect();
    let batches = packing.iter().map(&mut batch).collect();
    Ok(Planned { plan: Plan { available, batches, done: Vec::new() }, bound: freight.bound() })
}

#[cfg(test)]
mod tests;
