//! Finds the keywords of all rules in one pass over a text.
//!
//! Three case-folded bytes select a slot; a slot chains the rules whose keywords start with these
//! bytes. Nearly all slots are empty, so most bytes cost one lookup. The compiler builds the table:
//! a general automaton for this many keywords takes longer to build than a checkpoint may take, and
//! is slower afterwards.

use std::ops::Range;

use super::rules::{RULES, Rule};
use super::scan;

const SLOT_BITS: u32 = 13;

/// The first rule of each slot and the successor of each rule. Rules are numbered from 1; 0 ends a
/// chain.
struct KeywordIndex {
    first: [u8; 1 << SLOT_BITS],
    next: [u8; RULES.len() + 1],
}

static INDEX: KeywordIndex = index();

const fn index() -> KeywordIndex {
    let mut index = KeywordIndex { first: [0; 1 << SLOT_BITS], next: [0; RULES.len() + 1] };
    let mut number = RULES.len();
    assert!(number < u8::MAX as usize);
    while number > 0 {
        let keyword = RULES[number - 1].keyword.as_bytes();
        let slot = slot([keyword[0], keyword[1], keyword[2]]);
        index.next[number] = index.first[slot];
        index.first[slot] = number as u8;
        number -= 1;
    }
    index
}

const fn slot([first, second, third]: [u8; 3]) -> usize {
    slot_of(u32::from_le_bytes([first, second, third, 0]))
}

/// Returns the slot of the three low bytes.
const fn slot_of(bytes: u32) -> usize {
    const FOLD: u32 = 0x20_20_20;
    let three = bytes & 0xFF_FF_FF | FOLD;
    (three.wrapping_mul(0x9E37_79B1) >> (u32::BITS - SLOT_BITS)) as usize
}

/// Calls `found` for every occurrence of every rule's keyword, ignoring ASCII case.
pub(super) fn for_each_match(text: &[u8], mut found: impl FnMut(&'static Rule, Range<usize>)) {
    let mut start = 0;
    // Eight bytes contain six triples.
    while let Some(eight) = text.get(start..).and_then(<[u8]>::first_chunk::<8>) {
        let eight = u64::from_le_bytes(*eight);
        let numbers: [u8; 6] =
            std::array::from_fn(|at| INDEX.first[slot_of((eight >> (8 * at)) as u32)]);
        if numbers != [0; 6] {
            let hits = numbers.iter().enumerate().filter(|(_, number)| **number != 0);
            hits.for_each(|(at, number)| match_slot(text, start + at, *number, &mut found));
        }
        start += numbers.len();
    }
    let rest = text.get(start..).unwrap_or_default();
    for (at, three) in rest.array_windows().enumerate() {
        match_slot(text, start + at, INDEX.first[slot(*three)], &mut found);
    }
}

/// Reports the rules in a slot whose keyword is at `start`.
#[inline(never)]
fn match_slot(
    text: &[u8],
    start: usize,
    mut number: u8,
    found: &mut impl FnMut(&'static Rule, Range<usize>),
) {
    while number != 0 {
        let rule = &RULES[usize::from(number) - 1];
        if scan::matches_at(text, start, rule.keyword) {
            found(rule, start..start + rule.keyword.len());
        }
        number = INDEX.next[usize::from(number)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_found_at_any_position_and_in_any_case() {
        for rule in RULES {
            let text = format!("é{}{}é", rule.keyword.to_uppercase(), rule.keyword);
            let length = rule.keyword.len();
            let mut places = Vec::new();
            for_each_match(text.as_bytes(), |hit, place| {
                if hit.keyword == rule.keyword {
                    places.push(place.start);
                }
            });
            places.dedup();
            assert!(places.contains(&2) && places.contains(&(2 + length)), "{}", rule.keyword);
        }
    }
}
