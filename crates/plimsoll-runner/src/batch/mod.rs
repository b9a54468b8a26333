//! Plans work that fits: divides tasks into pieces that fit into a window, and packs the pieces
//! into batches.
//!
//! Everything here is pure. [`task_files`](crate::task_files) measures files and finds those that
//! change together; [`runner`](crate::runner) carries plans out.

mod beam;
mod bound;
pub mod calibration;
mod estimate;
mod file_groups;
mod fill;
mod pack;
pub mod parse;
mod plan_checkpoint;
mod prompt;
mod refit;
mod room;
mod split;
mod task;
mod task_tree;
mod workflow;

use std::collections::HashMap;

use plimsoll_core::Tokens;
use plimsoll_core::plan::{Piece, Plan};

pub use self::estimate::{Estimator, Factors, UNKNOWN_FILE_TOKENS, files_to_work_on};
pub use self::file_groups::CoChanges;
pub use self::pack::{Packing, PackingProblem};
pub use self::plan_checkpoint::plan_checkpoint;
pub use self::prompt::{prompt, summary};
pub use self::room::Room;
pub use self::split::TOO_LARGE_WARNING;
pub use self::task::Task;
pub use self::task_tree::PlanError;
pub use self::workflow::{CHECKPOINT_PROMPT, Workflow, WorkflowEdge, WorkflowNode};

/// Budget if the window size is unknown.
pub const UNKNOWN_BUDGET: Tokens = 100_000;

/// Conditions for planning tasks.
#[derive(Clone, Debug, Default)]
pub struct PlanningTerms {
    /// Room in each batch.
    pub available: Tokens,
    pub estimator: Estimator,
    pub co_changes: CoChanges,
}

/// A plan, and a lower bound for its number of batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanWithBound {
    pub plan: Plan,
    /// No plan of these pieces has fewer batches.
    pub bound: usize,
}

/// Divides tasks into pieces that fit and packs them into as few batches as possible.
pub fn plan(tasks: &[Task], terms: &PlanningTerms) -> Result<PlanWithBound, PlanError> {
    let split::OrderedPieces { pieces, before } = split::split(tasks, terms)?;
    let PlanWithBound { plan, bound } = pack(pieces, before, terms.available)?;
    Ok(PlanWithBound { plan: Plan { done: split::finished_tasks(tasks), ..plan }, bound })
}

/// Packs pieces again, for example the rest of a plan after work took more than estimated. Splits
/// pieces that no longer fit, and packs all of them after the batches that are `kept`. No new piece
/// gets a name used in those.
///
/// `together` returns which of the given files change together.
pub fn repack(
    kept: &[Vec<Piece>],
    pieces: Vec<Piece>,
    available: Tokens,
    together: &dyn Fn(&[String]) -> CoChanges,
) -> Result<PlanWithBound, PlanError> {
    let pieces = refit::refit(kept, pieces, available, together);
    let places: HashMap<&str, usize> =
        pieces.iter().enumerate().map(|(at, piece)| (piece.id.as_str(), at)).collect();
    let known =
        |piece: &Piece| piece.after.iter().filter_map(|id| places.get(&**id).copied()).collect();
    let before = pieces.iter().map(known).collect();
    let PlanWithBound { plan, bound } = pack(pieces, before, available)?;
    let batches = [kept, &plan.batches].concat();
    Ok(PlanWithBound { plan: Plan { batches, ..plan }, bound: kept.len() + bound })
}

fn pack(
    pieces: Vec<Piece>,
    before: Vec<Vec<usize>>,
    available: Tokens,
) -> Result<PlanWithBound, PlanError> {
    let sizes: Vec<Tokens> = pieces.iter().map(|piece| piece.tokens).collect();
    let freight = PackingProblem::new(&sizes, available, before).ok_or_else(|| PlanError {
        line: None,
        message: "these tasks wait for one another".to_owned(),
    })?;
    let mut pieces: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
    let packing = freight.pack();
    let mut batch = |batch: &Vec<usize>| batch.iter().filter_map(|at| pieces[*at].take()).collect();
    let batches = packing.iter().map(&mut batch).collect();
    Ok(PlanWithBound {
        plan: Plan { available, batches, done: Vec::new() },
        bound: freight.bound(),
    })
}

#[cfg(test)]
mod tests;
