//! Packing pieces into as few batches as can be.
//!
//! Batches run one after the other, and a piece that waits for another is in a later batch. Fewest
//! batches is a hard question in general, so several ways are tried, each quick and always the same,
//! until one meets the bound ([`Freight::bound`]) that no packing can be under.

use super::fill::Ready;
use super::{beam, bound};

/// Pieces by size, and which of them come before which.
#[derive(Clone, Debug)]
pub struct Freight {
    /// Never zero, and never more than the room: what does not fit takes all of it.
    pub(super) sizes: Vec<u64>,
    pub(super) room: u64,
    pub(super) before: Vec<Vec<usize>>,
    pub(super) behind: Vec<Vec<usize>>,
    /// Every piece after those that come before it.
    pub(super) order: Vec<usize>,
}

/// Batches of pieces, by their places in the list.
pub type Packing = Vec<Vec<usize>>;

/// A way of packing.
struct Way {
    /// Of the pieces that can be next, those of the lowest class come first, and of these the largest.
    classes: Vec<usize>,
    fill: Fill,
}

/// How a batch is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    /// With what comes next and fits.
    InTurn,
    /// With the piece that comes next, and with whatever fills it best.
    Tightly,
    /// With pieces that cannot wait any longer if there are to be so many batches, and with whatever
    /// fills it best.
    InTime(usize),
}

impl Freight {
    /// Pieces of these sizes for batches of `room`; `before` names for each the pieces that come before
    /// it. Nothing if they wait for one another in a circle.
    pub fn new(sizes: &[u64], room: u64, before: Vec<Vec<usize>>) -> Option<Self> {
        let room = room.max(1);
        let sizes = sizes.iter().map(|size| (*size).clamp(1, room)).collect();
        let behind = turned(&before);
        let order = order(&before, &behind);
        (order.len() == before.len()).then_some(Self { sizes, room, before, behind, order })
    }

    /// How many batches it takes at least.
    pub fn bound(&self) -> usize {
        bound::bound(self)
    }

    /// Packs. The order of the list is kept where that costs no batch.
    pub fn pack(&self) -> Packing {
        let bound = self.bound();
        let in_order = Way { classes: (0..self.sizes.len()).collect(), fill: Fill::InTurn };
        let mut best = self.pack_by(&in_order);
        let (ahead, turned) = (Ways::of(self, bound), self.turned());
        let back = Ways::of(&turned, bound);
        for round in 0..self.rounds() {
            if best.len() <= bound {
                break;
            }
            best = better(best, self.pack_by(&ahead.way(round)));
            if self.is_ordered() {
                let packing = turned.pack_by(&back.way(round));
                best = better(best, packing.into_iter().rev().collect());
            }
        }
        if is_far(best.len(), bound) && self.sizes.len() <= MOST_IN_MIND {
            let packings = [beam::pack(self), beam::pack(&turned).into_iter().rev().collect()];
            best = packings.into_iter().fold(best, better);
        }
        best.iter_mut().for_each(|batch| batch.sort_unstable());
        best
    }

    /// Whether any piece waits for another: without that both ends are the same.
    fn is_ordered(&self) -> bool {
        self.before.iter().any(|before| !before.is_empty())
    }

    /// How often it is tried from both ends: a long list leaves little to chance, and takes longer.
    fn rounds(&self) -> u64 {
        const PLACED: usize = 10_000;
        (PLACED / self.sizes.len().max(1)).clamp(3, 60) as u64
    }

    /// The same from its end: what came before comes behind.
    fn turned(&self) -> Self {
        let Self { sizes, room, before, behind, order } = self.clone();
        let order = order.into_iter().rev().collect();
        Self { sizes, room, before: behind, behind: before, order }
    }

    /// Packs one way.
    fn pack_by(&self, way: &Way) -> Packing {
        let mut waits: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut ready = Ready::new(&self.sizes, &way.classes);
        let first = (0..self.sizes.len()).filter(|piece| waits[*piece] == 0);
        first.for_each(|piece| ready.put(piece));
        let mut packing = Packing::new();
        while !ready.is_empty() {
            let batch = match way.fill {
                Fill::InTurn => ready.fill(self.room),
                Fill::Tightly => ready.fill_tightly(self.room),
                Fill::InTime(target) => {
                    ready.fill_in_time(self.room, target.saturating_sub(packing.len() + 1))
                }
            };
            for behind in batch.iter().flat_map(|piece| &self.behind[*piece]) {
                waits[*behind] -= 1;
                if waits[*behind] == 0 {
                    ready.put(*behind);
                }
            }
            packing.push(batch);
        }
        packing
    }
}

/// Of longer lists it would take too long to keep several packings in mind.
const MOST_IN_MIND: usize = 1_000;

/// Whether packings that take longer to find may be worth it.
fn is_far(batches: usize, bound: usize) -> bool {
    const PERCENT: usize = 3;
    batches * 100 > bound * (100 + PERCENT)
}

fn better(best: Packing, packing: Packing) -> Packing {
    if packing.len() < best.len() { packing } else { best }
}

/// The ways that are tried, one a round.
struct Ways {
    /// How many batches lie behind each piece.
    tails: Vec<usize>,
    /// What lies behind each piece at most on one way to the end, and itself.
    reach: Vec<u64>,
    target: usize,
}

impl Ways {
    fn of(freight: &Freight, target: usize) -> Self {
        let mut reach = vec![0; freight.sizes.len()];
        for piece in freight.order.iter().rev() {
            let behind = freight.behind[*piece].iter().map(|behind| reach[*behind]).max();
            reach[*piece] = freight.sizes[*piece].saturating_add(behind.unwrap_or(0));
        }
        Self { tails: freight.tails(), reach, target }
    }

    fn way(&self, round: u64) -> Way {
        let by_tail = || self.tails.iter().map(|tail| usize::MAX - tail).collect();
        match round {
            0 => Way { classes: vec![0; self.tails.len()], fill: Fill::InTurn },
            1 => Way { classes: by_tail(), fill: Fill::InTurn },
            2 => Way { classes: by_tail(), fill: Fill::InTime(self.target) },
            _ => self.shaken(round),
        }
    }

    /// The farthest first, each taken for somewhat more or less far than it is.
    fn shaken(&self, round: u64) -> Way {
        let mut chance = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let class = |reach: &u64| {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            let factor = if round < 5 { 128 } else { 64 + chance % 128 };
            usize::MAX - (u128::from(*reach) * u128::from(factor) / 128) as usize
        };
        let fill = if round.is_multiple_of(2) { Fill::InTurn } else { Fill::Tightly };
        Way { classes: self.reach.iter().map(class).collect(), fill }
    }
}

/// For each piece those that it comes before.
pub(super) fn turned(before: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut behind = vec![Vec::new(); before.len()];
    for (piece, before) in before.iter().enumerate() {
        before.iter().for_each(|earlier| behind[*earlier].push(piece));
    }
    behind
}

/// Every piece after those that come before it; pieces in a circle, and what waits for them, are missing.
pub(super) fn order(before: &[Vec<usize>], behind: &[Vec<usize>]) -> Vec<usize> {
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
