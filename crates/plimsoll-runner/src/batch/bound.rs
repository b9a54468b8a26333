//! How many batches pieces take at least.

use super::pack::Freight;

/// The most that can be said: no packing has fewer batches.
///
/// A piece whose head is `h` cannot be in the first `h` batches, one whose tail is `t` not in the last
/// `t`. So all whose head and tail are at least that need `h + t` batches beside those that they fill
/// themselves.
pub(super) fn bound(freight: &Freight) -> usize {
    let (heads, tails) = (freight.heads(), freight.tails());
    let longest = heads.iter().zip(&tails).map(|(head, tail)| head + tail + 1).max();
    let by_head = by_sums(&freight.sizes, freight.room, &heads);
    let by_tail = by_sums(&freight.sizes, freight.room, &tails);
    let bound = longest.unwrap_or(0).max(by_head).max(by_tail);
    bound.max(by_halves(freight, &heads, &tails))
}

impl Freight {
    /// How many batches lie before each piece at least.
    pub(super) fn heads(&self) -> Vec<usize> {
        heads(self.order.iter().copied(), &self.before, &self.sizes, self.room)
    }

    /// How many batches lie behind each piece at least.
    pub(super) fn tails(&self) -> Vec<usize> {
        heads(self.order.iter().rev().copied(), &self.behind, &self.sizes, self.room)
    }
}

/// Pieces before a piece that themselves have at least `h` batches before them fill batches of their
/// own, after those `h`.
fn heads(
    order: impl Iterator<Item = usize>,
    before: &[Vec<usize>],
    sizes: &[u64],
    room: u64,
) -> Vec<usize> {
    let mut heads = vec![0; before.len()];
    for piece in order {
        let mut earlier: Vec<usize> = before[piece].clone();
        earlier.sort_unstable_by_key(|piece| std::cmp::Reverse(heads[*piece]));
        let mut filled = Filled::default();
        heads[piece] = earlier.iter().fold(0, |head, earlier| {
            head.max(heads[*earlier] + filled.with(sizes[*earlier], room))
        });
    }
    heads
}

/// What the pieces of each head and above come to by their sizes alone.
fn by_sums(sizes: &[u64], room: u64, heads: &[usize]) -> usize {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_unstable_by_key(|piece| std::cmp::Reverse(heads[*piece]));
    let mut filled = Filled::default();
    order.iter().fold(0, |bound, piece| bound.max(heads[*piece] + filled.with(sizes[*piece], room)))
}

/// Pieces, and how many batches they fill at least: two of more than half the room never share one.
#[derive(Default)]
struct Filled {
    sum: u128,
    large: usize,
}

impl Filled {
    fn with(&mut self, size: u64, room: u64) -> usize {
        self.sum += u128::from(size);
        self.large += usize::from(size > room / 2);
        self.large.max(self.sum.div_ceil(u128::from(room)) as usize)
    }
}

/// How many pieces are looked at for all cuts together.
const LOOKED_AT: usize = 4_000_000;

/// What the pieces of some heads and tails come to by [`of_sizes`].
fn by_halves(freight: &Freight, heads: &[usize], tails: &[usize]) -> usize {
    let mut by_size: Vec<usize> = (0..freight.sizes.len()).collect();
    by_size.sort_unstable_by_key(|piece| std::cmp::Reverse(freight.sizes[*piece]));
    let most = (LOOKED_AT / by_size.len().max(1)).isqrt().clamp(8, 128);
    let mut best = 0;
    for head in cuts(heads, most) {
        for tail in cuts(tails, most) {
            let within = |piece: &&usize| heads[**piece] >= head && tails[**piece] >= tail;
            let sizes = by_size.iter().filter(within).map(|piece| freight.sizes[*piece]);
            let sizes: Vec<u64> = sizes.collect();
            if !sizes.is_empty() {
                best = best.max(head + tail + of_sizes(&sizes, freight.room));
            }
        }
    }
    best
}

/// Some of the values that occur, at most so many, spread evenly, the least among them.
fn cuts(values: &[usize], most: usize) -> Vec<usize> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    let step = values.len().div_ceil(most).max(1);
    values.into_iter().step_by(step).collect()
}

/// The bound L2 of Martello and Toth for sizes in falling order that wait for nothing.
///
/// Pieces above half the room take a batch each. For each size up to the half: what is at least so
/// large, and no larger than the half, goes beside those of them that leave so much, or takes batches
/// of its own.
pub(super) fn of_sizes(sizes: &[u64], room: u64) -> usize {
    let sums: Vec<u128> = std::iter::once(0)
        .chain(sizes.iter().scan(0, |sum, size| {
            *sum += u128::from(*size);
            Some(*sum)
        }))
        .collect();
    let large = sizes.partition_point(|size| *size > room / 2);
    let mut best = large.max(sums[sizes.len()].div_ceil(u128::from(room)) as usize);
    let mut from = large;
    while from < sizes.len() {
        let least = sizes[from];
        let alone = sizes[..large].partition_point(|size| *size > room - least);
        let to = sizes.partition_point(|size| *size >= least);
        let beside = (large - alone) as u128 * u128::from(room) - (sums[large] - sums[alone]);
        let over = (sums[to] - sums[large]).saturating_sub(beside);
        best = best.max(large + over.div_ceil(u128::from(room)) as usize);
        from = to;
    }
    best
}
