//! Packs with a beam search: the best fill of one batch may leave bad choices for the next, so
//! several partial packings are extended in parallel.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use super::fill::{SizeKey, best_fills};
use super::pack::{Packing, PackingProblem};

/// Bounds the beam width: number of states × number of pieces.
const BEAM_CELLS: usize = 16_000;
/// Number of fills to try for each batch.
const FILLS_PER_BATCH: usize = 4;

/// Search steps for each batch.
const FILL_STEPS: u32 = 100;

/// A partial packing.
#[derive(Clone)]
struct PartialPacking {
    /// Pieces whose dependencies are packed.
    ready: BTreeSet<SizeKey>,
    /// For each piece the number of dependencies that are not packed yet.
    open_dependencies: Vec<u32>,
    /// Total size of the pieces that are not packed yet.
    size_left: u128,
    /// The last batch, linked to the earlier ones.
    batches: Option<Rc<BatchList>>,
}

struct BatchList {
    batch: Vec<usize>,
    before: Option<Rc<BatchList>>,
}

/// Packs from the first batch on.
pub(super) fn pack(freight: &PackingProblem) -> Packing {
    let tails = freight.tails();
    let width = (BEAM_CELLS / freight.sizes.len().max(1)).clamp(8, 64);
    let mut states = vec![PartialPacking::new(freight)];
    loop {
        if let Some(done) = states.iter().find(|state| state.size_left == 0) {
            return done.packing();
        }
        let mut next: Vec<PartialPacking> =
            states.iter().flat_map(|state| state.successors(freight, &tails)).collect();
        next.sort_by_cached_key(|state| state.rank(freight, &tails));
        let mut seen = HashSet::new();
        next.retain(|state| seen.len() < width && seen.insert(state.ready.clone()));
        states = next;
    }
}

impl PartialPacking {
    fn new(freight: &PackingProblem) -> Self {
        let open_dependencies: Vec<u32> =
            freight.dependencies.iter().map(|before| before.len() as u32).collect();
        let first = (0..open_dependencies.len()).filter(|piece| open_dependencies[*piece] == 0);
        let ready = first.map(|piece| (Reverse(freight.sizes[piece]), piece)).collect();
        let size_left = freight.sizes.iter().map(|size| u128::from(*size)).sum();
        Self { ready, open_dependencies, size_left, batches: None }
    }

    /// Returns a lower bound for the batches still needed, and the size still to pack.
    fn rank(&self, freight: &PackingProblem, tails: &[usize]) -> (u128, u128) {
        let longest = self.ready.iter().map(|(_, piece)| tails[*piece] as u128 + 1).max();
        (
            self.size_left.div_ceil(u128::from(freight.room)).max(longest.unwrap_or(0)),
            self.size_left,
        )
    }

    /// Returns this state extended by one more batch, filled in several ways.
    fn successors(&self, freight: &PackingProblem, tails: &[usize]) -> Vec<Self> {
        let farthest =
            self.ready.iter().max_by_key(|(size, piece)| (tails[*piece], Reverse(*size)));
        let firsts = [self.ready.first(), farthest];
        let mut steps = Vec::new();
        for first in firsts.into_iter().flatten() {
            let mut others = self.ready.clone();
            others.remove(first);
            for fill in best_fills(&others, freight.room - first.0.0, FILLS_PER_BATCH, FILL_STEPS) {
                steps.push(self.with_batch(freight, std::iter::once(*first).chain(fill).collect()));
            }
        }
        steps
    }

    fn with_batch(&self, freight: &PackingProblem, keys: Vec<SizeKey>) -> Self {
        let mut state = self.clone();
        for key in &keys {
            state.ready.remove(key);
            state.size_left -= u128::from(key.0.0);
        }
        let batch: Vec<usize> = keys.into_iter().map(|(_, piece)| piece).collect();
        for behind in batch.iter().flat_map(|piece| &freight.dependents[*piece]) {
            state.open_dependencies[*behind] -= 1;
            if state.open_dependencies[*behind] == 0 {
                state.ready.insert((Reverse(freight.sizes[*behind]), *behind));
            }
        }
        state.batches = Some(Rc::new(BatchList { batch, before: self.batches.clone() }));
        state
    }

    fn packing(&self) -> Packing {
        let last =
            std::iter::successors(self.batches.as_deref(), |batches| batches.before.as_deref());
        let mut packing: Packing = last.map(|batches| batches.batch.clone()).collect();
        packing.reverse();
        packing
    }
}
