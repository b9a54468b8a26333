//! Filling one batch from the pieces that wait for nothing any more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// A piece under its size: the largest comes first, of equals the first of the list.
pub(super) type Key = (Reverse<u64>, usize);

/// The pieces that wait for nothing any more, by class and size.
pub(super) struct Ready<'f> {
    sizes: &'f [u64],
    class_of: &'f [usize],
    classes: BTreeMap<usize, BTreeSet<Key>>,
    all: BTreeSet<Key>,
}

impl<'f> Ready<'f> {
    pub(super) fn new(sizes: &'f [u64], class_of: &'f [usize]) -> Self {
        Self { sizes, class_of, classes: BTreeMap::new(), all: BTreeSet::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn put(&mut self, piece: usize) {
        let key = (Reverse(self.sizes[piece]), piece);
        self.classes.entry(self.class_of[piece]).or_default().insert(key);
        self.all.insert(key);
    }

    fn take(&mut self, key: Key) -> usize {
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

    /// The largest piece of the first class from `from` to `to` that has one of at most `left`.
    fn next(&self, left: u64, from: usize, to: usize) -> Option<Key> {
        self.all.range(at_most(left)..).next()?;
        let mut classes = self.classes.range(from..=to).map(|(_, own)| own);
        classes.find_map(|own| own.range(at_most(left)..).next().copied())
    }

    /// A batch of what comes next and still fits.
    pub(super) fn fill(&mut self, room: u64) -> Vec<usize> {
        self.fill_up_to(room, usize::MAX)
    }

    fn fill_up_to(&mut self, room: u64, last_class: usize) -> Vec<usize> {
        let (mut batch, mut left, mut from) = (Vec::new(), room, 0);
        while let Some(key) = self.next(left, from, last_class) {
            // What did not fit before does not fit now.
            from = self.class_of[key.1];
            left -= key.0.0;
            batch.push(self.take(key));
        }
        batch
    }

    /// A batch of the piece that comes next and those others that fill it best.
    pub(super) fn fill_tightly(&mut self, room: u64) -> Vec<usize> {
        let next = self.next(room, 0, usize::MAX);
        let batch = next.map(|next| self.take(next)).into_iter().collect();
        self.fill_best(room, batch)
    }

    /// A batch of what has at least `to_come` batches behind it, or the largest piece, and those others
    /// that fill it best. Classes fall with what is behind.
    pub(super) fn fill_in_time(&mut self, room: u64, to_come: usize) -> Vec<usize> {
        let mut batch = self.fill_up_to(room, usize::MAX - to_come.max(1));
        if let (true, Some(largest)) = (batch.is_empty(), self.all.first().copied()) {
            batch.push(self.take(largest));
        }
        self.fill_best(room, batch)
    }

    fn fill_best(&mut self, room: u64, mut batch: Vec<usize>) -> Vec<usize> {
        let left = room - batch.iter().map(|piece| self.sizes[*piece]).sum::<u64>();
        const STEPS: u32 = 1_000;
        let best = fills(&self.all, left, 1, STEPS);
        batch.extend(best.into_iter().flatten().map(|key| self.take(key)));
        batch
    }
}

/// Where the pieces of at most that size begin.
fn at_most(size: u64) -> Key {
    (Reverse(size), 0)
}

/// The best ways to fill a room with these pieces, the best first: at most `most`, found in so many steps.
pub(super) fn fills(all: &BTreeSet<Key>, room: u64, most: usize, steps: u32) -> Vec<Vec<Key>> {
    let mut search = Search { all, most, steps, chosen: Vec::new(), found: Vec::new() };
    search.go_on(Bound::Unbounded, room);
    search.found.into_iter().map(|(_, keys)| keys).collect()
}

/// Looks for pieces that fill a room.
struct Search<'r> {
    all: &'r BTreeSet<Key>,
    most: usize,
    steps: u32,
    chosen: Vec<Key>,
    /// What was found, with what it leaves, the least first.
    found: Vec<(u64, Vec<Key>)>,
}

impl Search<'_> {
    /// Tries every size from `from` on as the next.
    fn go_on(&mut self, from: Bound<Key>, left: u64) {
        let mut from = later(from, at_most(left));
        let mut is_full = true;
        while let Some(key) = self.all.range((from, Bound::Unbounded)).next().copied() {
            is_full = false;
            if self.steps == 0 || self.is_over() {
                break;
            }
            self.steps -= 1;
            self.chosen.push(key);
            self.go_on(Bound::Excluded(key), left - key.0.0);
            self.chosen.pop();
            from = Bound::Included(at_most(key.0.0 - 1));
        }
        if is_full {
            self.note(left);
        }
    }

    fn note(&mut self, left: u64) {
        let at = self.found.partition_point(|(other, _)| *other <= left);
        if at < self.most {
            self.found.insert(at, (left, self.chosen.clone()));
            self.found.truncate(self.most);
        }
    }

    /// Whether nothing better can be found.
    fn is_over(&self) -> bool {
        self.found.len() == self.most && self.found.iter().all(|(left, _)| *left == 0)
    }
}

fn later(from: Bound<Key>, key: Key) -> Bound<Key> {
    match from {
        Bound::Included(own) | Bound::Excluded(own) if own >= key => from,
        _ => Bound::Included(key),
    }
}
