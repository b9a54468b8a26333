//! Packing pieces into as few batches as can be.
//!
//! Batches run one after the other, and a piece that waits for another is in a later batch. Fewest
//! batches is a hard question in general, so several ways are tried, each quick and always the same,
//! until one meets the bound ([`Freight::bound`]) that no packing can be under.

use super::bound;
use super::fill::Ready;

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

/// A way of choosing what goes into a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// In the order of the list.
    InOrder,
    /// The largest first.
    LargestFirst,
    /// What most waits for first.
    LongestFirst,
    /// What must not wait any longer first, then whatever fills the batch best.
    Tightest,
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
        let mut best = self.pack_by(Way::InOrder, bound);
        let turned = self.turned();
        for way in [Way::LargestFirst, Way::LongestFirst, Way::Tightest] {
            for freight in [self, &turned] {
                if best.len() <= bound {
                    break;
                }
                let mut packing = freight.pack_by(way, bound);
                if std::ptr::eq(freight, &turned) {
                    packing.reverse();
                }
                if packing.len() < best.len() {
                    best = packing;
                }
            }
        }
        best.iter_mut().for_each(|batch| batch.sort_unstable());
        best
    }

    /// The same from its end: what came before comes behind.
    fn turned(&self) -> Self {
        let Self { sizes, room, before, behind, order } = self.clone();
        let order = order.into_iter().rev().collect();
        Self { sizes, room, before: behind, behind: before, order }
    }

    /// Packs one way; `target` is how many batches it is hoped to come to.
    fn pack_by(&self, way: Way, target: usize) -> Packing {
        let tails = self.tails();
        let class = |piece: usize| match way {
            Way::InOrder => piece,
            Way::LargestFirst => 0,
            Way::LongestFirst | Way::Tightest => usize::MAX - tails[piece],
        };
        let mut waits: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut ready = Ready::new(&self.sizes);
        let first = (0..self.sizes.len()).filter(|piece| waits[*piece] == 0);
        first.for_each(|piece| ready.put(piece, class(piece)));
        let mut packing = Packing::new();
        while !ready.is_empty() {
            // Behind this batch there are so many to come.
            let to_come = target.saturating_sub(packing.len() + 1);
            let batch = match way {
                Way::Tightest => ready.fill_tightly(self.room, usize::MAX - to_come.max(1)),
                _ => ready.fill(self.room, usize::MAX),
            };
            for behind in batch.iter().flat_map(|piece| &self.behind[*piece]) {
                waits[*behind] -= 1;
                if waits[*behind] == 0 {
                    ready.put(*behind, class(*behind));
                }
            }
            packing.push(batch);
        }
        packing
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
