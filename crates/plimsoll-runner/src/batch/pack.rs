//! Packs pieces into as few batches as possible.
//!
//! Batches run one after another, and a piece comes in a later batch than its dependencies. Finding
//! the minimum is a hard problem (bin packing with precedence). So several fast, deterministic
//! strategies are tried until one reaches the lower bound ([`PackingProblem::bound`]).

use super::fill::ReadyPieces;
use super::{beam, bound};

/// A packing problem: sizes of pieces and their dependencies.
#[derive(Clone, Debug)]
pub struct PackingProblem {
    /// Between 1 and `room`: a piece that does not fit takes a whole batch.
    pub(super) sizes: Vec<u64>,
    pub(super) room: u64,
    pub(super) dependencies: Vec<Vec<usize>>,
    pub(super) dependents: Vec<Vec<usize>>,
    /// Topological order: each piece after its dependencies.
    pub(super) order: Vec<usize>,
}

/// Batches of pieces, by index.
pub type Packing = Vec<Vec<usize>>;

/// A packing strategy.
struct Strategy {
    /// Among the pieces that are ready, those of the lowest class come first, then the largest.
    classes: Vec<usize>,
    fill: FillMode,
}

/// How to fill a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FillMode {
    /// With the next pieces that fit.
    InOrder,
    /// With the next piece and the combination of others that fits best.
    BestFit,
    /// With pieces that must come now for a total of this many batches, and the combination of
    /// others that fits best.
    Deadline(usize),
}

impl PackingProblem {
    /// Returns the problem of packing these sizes into batches of `room`; `before` lists the
    /// dependencies of each piece. `None` if the dependencies form a cycle.
    pub fn new(sizes: &[u64], room: u64, before: Vec<Vec<usize>>) -> Option<Self> {
        let room = room.max(1);
        let sizes = sizes.iter().map(|size| (*size).clamp(1, room)).collect();
        let behind = dependents(&before);
        let order = topological_order(&before, &behind);
        (order.len() == before.len()).then_some(Self {
            sizes,
            room,
            dependencies: before,
            dependents: behind,
            order,
        })
    }

    /// Returns a lower bound for the number of batches.
    pub fn bound(&self) -> usize {
        bound::lower_bound(self)
    }

    /// Packs the pieces. Preserves the order of the list if that costs no batch.
    pub fn pack(&self) -> Packing {
        let bound = self.bound();
        let in_order =
            Strategy { classes: (0..self.sizes.len()).collect(), fill: FillMode::InOrder };
        let mut best = self.pack_with(&in_order);
        let (ahead, turned) = (Strategies::of(self, bound), self.reversed());
        let back = Strategies::of(&turned, bound);
        for round in 0..self.rounds() {
            if best.len() <= bound {
                break;
            }
            best = fewer_batches(best, self.pack_with(&ahead.strategy(round)));
            if self.has_dependencies() {
                let packing = turned.pack_with(&back.strategy(round));
                best = fewer_batches(best, packing.into_iter().rev().collect());
            }
        }
        if is_far_from_bound(best.len(), bound) && self.sizes.len() <= MAX_BEAM_PIECES {
            let packings = [beam::pack(self), beam::pack(&turned).into_iter().rev().collect()];
            best = packings.into_iter().fold(best, fewer_batches);
        }
        best.iter_mut().for_each(|batch| batch.sort_unstable());
        best
    }

    /// Whether any piece has dependencies. Without any, packing backwards gives nothing new.
    fn has_dependencies(&self) -> bool {
        self.dependencies.iter().any(|before| !before.is_empty())
    }

    /// Returns the number of rounds. Long lists get fewer: each round takes longer, and chance
    /// matters less.
    fn rounds(&self) -> u64 {
        const PLACED: usize = 10_000;
        (PLACED / self.sizes.len().max(1)).clamp(3, 60) as u64
    }

    /// Returns the reversed problem, in which dependencies point the other way.
    fn reversed(&self) -> Self {
        let Self { sizes, room, dependencies: before, dependents: behind, order } = self.clone();
        let order = order.into_iter().rev().collect();
        Self { sizes, room, dependencies: behind, dependents: before, order }
    }

    /// Packs with one strategy.
    fn pack_with(&self, way: &Strategy) -> Packing {
        let mut waits: Vec<usize> = self.dependencies.iter().map(Vec::len).collect();
        let mut ready = ReadyPieces::new(&self.sizes, &way.classes);
        let first = (0..self.sizes.len()).filter(|piece| waits[*piece] == 0);
        first.for_each(|piece| ready.insert(piece));
        let mut packing = Packing::new();
        while !ready.is_empty() {
            let batch = match way.fill {
                FillMode::InOrder => ready.fill_in_order(self.room),
                FillMode::BestFit => ready.fill_tightly(self.room),
                FillMode::Deadline(target) => {
                    ready.fill_in_time(self.room, target.saturating_sub(packing.len() + 1))
                }
            };
            for behind in batch.iter().flat_map(|piece| &self.dependents[*piece]) {
                waits[*behind] -= 1;
                if waits[*behind] == 0 {
                    ready.insert(*behind);
                }
            }
            packing.push(batch);
        }
        packing
    }
}

/// Beam search would take too long on longer lists.
const MAX_BEAM_PIECES: usize = 1_000;

/// Whether a packing is far enough from the bound to justify a slower search.
fn is_far_from_bound(batches: usize, bound: usize) -> bool {
    const PERCENT: usize = 3;
    batches * 100 > bound * (100 + PERCENT)
}

fn fewer_batches(best: Packing, packing: Packing) -> Packing {
    if packing.len() < best.len() { packing } else { best }
}

/// The strategies to try, one per round.
struct Strategies {
    /// Minimum number of batches after each piece.
    tails: Vec<usize>,
    /// Total size of the longest chain that starts with each piece.
    chain_size: Vec<u64>,
    target: usize,
}

impl Strategies {
    fn of(freight: &PackingProblem, target: usize) -> Self {
        let mut chain_size = vec![0; freight.sizes.len()];
        for piece in freight.order.iter().rev() {
            let behind = freight.dependents[*piece].iter().map(|behind| chain_size[*behind]).max();
            chain_size[*piece] = freight.sizes[*piece].saturating_add(behind.unwrap_or(0));
        }
        Self { tails: freight.tails(), chain_size, target }
    }

    fn strategy(&self, round: u64) -> Strategy {
        let by_tail = || self.tails.iter().map(|tail| usize::MAX - tail).collect();
        match round {
            0 => Strategy { classes: vec![0; self.tails.len()], fill: FillMode::InOrder },
            1 => Strategy { classes: by_tail(), fill: FillMode::InOrder },
            2 => Strategy { classes: by_tail(), fill: FillMode::Deadline(self.target) },
            _ => self.jittered(round),
        }
    }

    /// Longest remaining chain first, with random jitter in later rounds.
    fn jittered(&self, round: u64) -> Strategy {
        let mut chance = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let class = |reach: &u64| {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            let factor = if round < 5 { 128 } else { 64 + chance % 128 };
            usize::MAX - (u128::from(*reach) * u128::from(factor) / 128) as usize
        };
        let fill = if round.is_multiple_of(2) { FillMode::InOrder } else { FillMode::BestFit };
        Strategy { classes: self.chain_size.iter().map(class).collect(), fill }
    }
}

/// Returns for each piece the pieces that depend on it.
pub(super) fn dependents(before: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut behind = vec![Vec::new(); before.len()];
    for (piece, before) in before.iter().enumerate() {
        before.iter().for_each(|earlier| behind[*earlier].push(piece));
    }
    behind
}

/// Returns a topological order. Pieces in a cycle, and those that depend on them, are missing.
pub(super) fn topological_order(before: &[Vec<usize>], behind: &[Vec<usize>]) -> Vec<usize> {
    let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..before.len()).filter(|piece| waits[*piece] == 0).collect();
    let mut next = 0;
    while let Some(piece) = order.get(next).copied() {
        next += 1;
        for behind in &behind[piece] {
            waits[*behind] -= 1;
            if waits[*behind] == 0 {
                order.push(*behind);
            }
        }
    }
    order
}
