//! An index from texts to positions in a list, without a second copy of the texts.
//!
//! A map with its own texts would have to be rebuilt text by text whenever a stored list is loaded,
//! and its collision-resistant hash would cost more than the lookup itself. Here hostile texts only
//! make a lookup scan more of the bounded list.

/// Positions of a list's items, by the hash of their texts.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemIndex {
    /// A power of two of slots, at least half of them free. The high bits are the hash, the low
    /// bits the position; no item has position `u32::MAX`.
    slots: Vec<u64>,
    count: usize,
}

const FREE: u64 = u64::MAX;
const FEWEST_SLOTS: usize = 64;

impl ItemIndex {
    /// Builds the index of these texts, in order.
    pub(super) fn of<'t>(texts: impl ExactSizeIterator<Item = &'t str>) -> Self {
        let size = (2 * texts.len()).next_power_of_two().max(FEWEST_SLOTS);
        let mut index = Self { slots: vec![FREE; size], count: texts.len() };
        for (place, text) in texts.enumerate() {
            index.enter(slot(hash(text), place as u32));
        }
        index
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Adds the text of the item at `place`.
    pub(super) fn add(&mut self, text: &str, place: u32) {
        self.count += 1;
        if 2 * self.count > self.slots.len() {
            self.grow();
        }
        self.enter(slot(hash(text), place));
    }

    /// Makes room for `more` items.
    pub(super) fn reserve(&mut self, more: usize) {
        while 2 * (self.count + more) > self.slots.len() {
            self.grow();
        }
    }

    /// Returns the first position whose item has this text's hash and satisfies `is_it`.
    #[inline]
    pub(super) fn find(&self, text: &str, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let hash = hash(text);
        let mut at = hash as usize & mask;
        while self.slots[at] != FREE {
            let place = self.slots[at] as u32;
            if (self.slots[at] >> u32::BITS) as u32 == hash && is_it(place) {
                return Some(place);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(FEWEST_SLOTS);
        let mut slots = std::mem::replace(&mut self.slots, vec![FREE; size]);
        slots.retain(|slot| *slot != FREE);
        // Insert in list order, so that of several items with the same text the first is found
        // first.
        slots.sort_unstable_by_key(|slot| *slot as u32);
        slots.into_iter().for_each(|slot| self.enter(slot));
    }

    fn enter(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = (slot >> u32::BITS) as usize & mask;
        while self.slots[at] != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

fn slot(hash: u32, place: u32) -> u64 {
    u64::from(hash) << u32::BITS | u64::from(place)
}

/// Hashes a text, eight bytes at a time. The last eight overlap the ones before.
#[inline]
fn hash(text: &str) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let bytes = text.as_bytes();
    let mut hash = bytes.len() as u64;
    let mut rest = bytes;
    while let Some((eight, more)) = rest.split_first_chunk() {
        hash = mix(hash, u64::from_le_bytes(*eight));
        rest = more;
    }
    let last = match bytes.last_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    (mix(hash, last) >> u32::BITS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_at_their_first_place() {
        let texts: Vec<String> =
            (0..1_000).map(|number| format!("name_{}", number % 700)).collect();
        let mut grown = ItemIndex::default();
        for (place, text) in texts.iter().enumerate() {
            grown.add(text, place as u32);
        }
        for index in [grown, ItemIndex::of(texts.iter().map(String::as_str))] {
            for (place, text) in texts.iter().enumerate().take(700) {
                let is_it = |place: u32| texts[place as usize] == *text;
                assert_eq!(index.find(text, is_it), Some(place as u32));
            }
            assert_eq!(index.find("name_701", |place| texts[place as usize] == "name_701"), None);
        }
        assert_eq!(ItemIndex::default().find("name", |_| true), None);
    }
}
