//! A lower bound for the number of batches.

use super::pack::PackingProblem;

/// Returns a number of batches that no packing can undercut.
///
/// A piece with head `h` cannot be in the first `h` batches, and a piece with tail `t` cannot be in
/// the last `t`. Pieces whose head and tail are at least `h` and `t` therefore need `h + t` batches
/// besides those that they fill.
pub(super) fn lower_bound(freight: &PackingProblem) -> usize {
    let (heads, tails) = (freight.heads(), freight.tails());
    let longest = heads.iter().zip(&tails).map(|(head, tail)| head + tail + 1).max();
    let by_head = bound_by_sums(&freight.sizes, freight.room, &heads);
    let by_tail = bound_by_sums(&freight.sizes, freight.room, &tails);
    let bound = longest.unwrap_or(0).max(by_head).max(by_tail);
    bound.max(bound_by_large_pieces(freight, &heads, &tails))
}

impl PackingProblem {
    /// Returns for each piece the minimum number of batches before it.
    pub(super) fn heads(&self) -> Vec<usize> {
        heads(self.order.iter().copied(), &self.dependencies, &self.sizes, self.room)
    }

    /// Returns for each piece the minimum number of batches after it.
    pub(super) fn tails(&self) -> Vec<usize> {
        heads(self.order.iter().rev().copied(), &self.dependents, &self.sizes, self.room)
    }
}

/// Computes heads in the given order. Dependencies with a head of at least `h` fill batches of
/// their own after the first `h`.
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
        let mut filled = BatchCount::default();
        heads[piece] = earlier.iter().fold(0, |head, earlier| {
            head.max(heads[*earlier] + filled.with(sizes[*earlier], room))
        });
    }
    heads
}

/// Bounds the batches by the sizes of all pieces with at least a given head.
fn bound_by_sums(sizes: &[u64], room: u64, heads: &[usize]) -> usize {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_unstable_by_key(|piece| std::cmp::Reverse(heads[*piece]));
    let mut filled = BatchCount::default();
    order.iter().fold(0, |bound, piece| bound.max(heads[*piece] + filled.with(sizes[*piece], room)))
}

/// Accumulates pieces and counts the batches that they need at least: two pieces of more than half
/// the room never share a batch.
#[derive(Default)]
struct BatchCount {
    sum: u128,
    large: usize,
}

impl BatchCount {
    fn with(&mut self, size: u64, room: u64) -> usize {
        self.sum += u128::from(size);
        self.large += usize::from(size > room / 2);
        self.large.max(self.sum.div_ceil(u128::from(room)) as usize)
    }
}

/// Maximum number of pieces to examine over all cuts.
const MAX_EXAMINED: usize = 4_000_000;

/// Bounds the batches by [`martello_toth_l2`] of all pieces with at least a given head and tail.
fn bound_by_large_pieces(freight: &PackingProblem, heads: &[usize], tails: &[usize]) -> usize {
    let mut by_size: Vec<usize> = (0..freight.sizes.len()).collect();
    by_size.sort_unstable_by_key(|piece| std::cmp::Reverse(freight.sizes[*piece]));
    let most = (MAX_EXAMINED / by_size.len().max(1)).isqrt().clamp(8, 128);
    let mut best = 0;
    for head in cuts(heads, most) {
        for tail in cuts(tails, most) {
            let within = |piece: &&usize| heads[**piece] >= head && tails[**piece] >= tail;
            let sizes = by_size.iter().filter(within).map(|piece| freight.sizes[*piece]);
            let sizes: Vec<u64> = sizes.collect();
            if !sizes.is_empty() {
                best = best.max(head + tail + martello_toth_l2(&sizes, freight.room));
            }
        }
    }
    best
}

/// Returns at most `most` of the distinct values, evenly spread and including the smallest.
fn cuts(values: &[usize], most: usize) -> Vec<usize> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    let step = values.len().div_ceil(most).max(1);
    values.into_iter().step_by(step).collect()
}

/// Returns the bound L2 of Martello and Toth for independent pieces, sizes in falling order.
///
/// Pieces larger than half the room take one batch each. For each size up to half the room, the
/// pieces between that size and half the room go beside a large piece that leaves enough space, or
/// into further batches.
pub(super) fn martello_toth_l2(sizes: &[u64], room: u64) -> usize {
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
