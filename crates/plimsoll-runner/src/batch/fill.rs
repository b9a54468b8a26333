//! Fills one batch with pieces whose dependencies are packed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// Sort key of a piece: largest first, then in the order of the list.
pub(super) type SizeKey = (Reverse<u64>, usize);

/// Pieces whose dependencies are packed, by class and size.
pub(super) struct ReadyPieces<'f> {
    sizes: &'f [u64],
    class_of: &'f [usize],
    classes: BTreeMap<usize, BTreeSet<SizeKey>>,
    all: BTreeSet<SizeKey>,
}

impl<'f> ReadyPieces<'f> {
    pub(super) fn new(sizes: &'f [u64], class_of: &'f [usize]) -> Self {
        Self { sizes, class_of, classes: BTreeMap::new(), all: BTreeSet::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn insert(&mut self, piece: usize) {
        let key = (Reverse(self.sizes[piece]), piece);
        self.classes.entry(self.class_of[piece]).or_default().insert(key);
        self.all.insert(key);
    }

    fn remove(&mut self, key: SizeKey) -> usize {
        let class = self.class_of[key.1];
        self.all.remove(&key);
        if let Some(own) = self.classes.get_mut(&class) {
            own.remove(&key);
            if own.is_empty() {
                self.classes.remove(&class);
            }
        }
        key.1
    }

    /// Returns the largest piece that fits into `left`, from the first class between `from` and
    /// `to` that has one.
    fn next(&self, left: u64, from: usize, to: usize) -> Option<SizeKey> {
        self.all.range(first_key_of_size(left)..).next()?;
        let mut classes = self.classes.range(from..=to).map(|(_, own)| own);
        classes.find_map(|own| own.range(first_key_of_size(left)..).next().copied())
    }

    /// Fills a batch in class order with pieces that fit.
    pub(super) fn fill_in_order(&mut self, room: u64) -> Vec<usize> {
        self.fill_up_to(room, usize::MAX)
    }

    fn fill_up_to(&mut self, room: u64, last_class: usize) -> Vec<usize> {
        let (mut batch, mut left, mut from) = (Vec::new(), room, 0);
        while let Some(key) = self.next(left, from, last_class) {
            // Earlier classes have no piece that fits into the smaller rest.
            from = self.class_of[key.1];
            left -= key.0.0;
            batch.push(self.remove(key));
        }
        batch
    }

    /// Fills a batch with the next piece and the combination of others that fits best.
    pub(super) fn fill_tightly(&mut self, room: u64) -> Vec<usize> {
        let next = self.next(room, 0, usize::MAX);
        let batch = next.map(|next| self.remove(next)).into_iter().collect();
        self.fill_best(room, batch)
    }

    /// Fills a batch with pieces that have at least `to_come` batches behind them, or with the
    /// largest piece. Adds the combination of others that fits best. The more batches a piece has
    /// behind it, the lower its class.
    pub(super) fn fill_in_time(&mut self, room: u64, to_come: usize) -> Vec<usize> {
        let mut batch = self.fill_up_to(room, usize::MAX - to_come.max(1));
        if let (true, Some(largest)) = (batch.is_empty(), self.all.first().copied()) {
            batch.push(self.remove(largest));
        }
        self.fill_best(room, batch)
    }

    fn fill_best(&mut self, room: u64, mut batch: Vec<usize>) -> Vec<usize> {
        let left = room - batch.iter().map(|piece| self.sizes[*piece]).sum::<u64>();
        const STEPS: u32 = 1_000;
        let best = best_fills(&self.all, left, 1, STEPS);
        batch.extend(best.into_iter().flatten().map(|key| self.remove(key)));
        batch
    }
}

/// Returns the key at which pieces of at most this size begin.
fn first_key_of_size(size: u64) -> SizeKey {
    (Reverse(size), 0)
}

/// Returns up to `most` ways to fill a room with these pieces, the best first, searching at most
/// `steps` steps.
pub(super) fn best_fills(
    all: &BTreeSet<SizeKey>,
    room: u64,
    most: usize,
    steps: u32,
) -> Vec<Vec<SizeKey>> {
    let mut search = FillSearch { all, most, steps, chosen: Vec::new(), found: Vec::new() };
    search.search_from(Bound::Unbounded, room);
    search.found.into_iter().map(|(_, keys)| keys).collect()
}

/// Searches for combinations of pieces that fill a room.
struct FillSearch<'r> {
    all: &'r BTreeSet<SizeKey>,
    most: usize,
    steps: u32,
    chosen: Vec<SizeKey>,
    /// The best combinations so far with the room that they leave, least first.
    found: Vec<(u64, Vec<SizeKey>)>,
}

impl FillSearch<'_> {
    /// Tries each size from `from` on as the next piece.
    fn search_from(&mut self, from: Bound<SizeKey>, left: u64) {
        let mut from = later_bound(from, first_key_of_size(left));
        let mut is_full = true;
        while let Some(key) = self.all.range((from, Bound::Unbounded)).next().copied() {
            is_full = false;
            if self.steps == 0 || self.is_optimal() {
                break;
            }
            self.steps -= 1;
            self.chosen.push(key);
            self.search_from(Bound::Excluded(key), left - key.0.0);
            self.chosen.pop();
            from = Bound::Included(first_key_of_size(key.0.0 - 1));
        }
        if is_full {
            self.add_result(left);
        }
    }

    fn add_result(&mut self, left: u64) {
        let at = self.found.partition_point(|(other, _)| *other <= left);
        if at < self.most {
            self.found.insert(at, (left, self.chosen.clone()));
            self.found.truncate(self.most);
        }
    }

    /// Whether no better combination is possible.
    fn is_optimal(&self) -> bool {
        self.found.len() == self.most && self.found.iter().all(|(left, _)| *left == 0)
    }
}

fn later_bound(from: Bound<SizeKey>, key: SizeKey) -> Bound<SizeKey> {
    match from {
        Bound::Included(own) | Bound::Excluded(own) if own >= key => from,
        _ => Bound::Included(key),
    }
}
