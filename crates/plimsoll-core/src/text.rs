//! Formats numbers and durations for sentences, and finds words in a text.

use std::ops::Range;

/// Formats a number with thousands separators: `167,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a duration in its two largest units.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// Finds the words of a query in a text: at the beginnings of words, or anywhere if no word begins
/// with one. The ranges do not overlap.
pub fn places(text: &str, query: &str) -> Vec<Range<usize>> {
    let words = || query.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let begins = |at: usize| !text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    let there = |at: usize| {
        words().map(|word| at..at + word.len()).zip(words()).find_map(|(place, word)| {
            let there = text.get(place.clone())?;
            there.eq_ignore_ascii_case(word).then_some(place)
        })
    };
    let all = |is_asked: &dyn Fn(usize) -> bool| {
        let mut places: Vec<Range<usize>> = Vec::new();
        for (at, _) in text.char_indices().filter(|(at, _)| is_asked(*at)) {
            let is_free = places.last().is_none_or(|last| last.end <= at);
            places.extend(there(at).filter(|_| is_free));
        }
        places
    };
    let beginnings = all(&begins);
    if beginnings.is_empty() { all(&|_| true) } else { beginnings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_one_begins_with_them_else_inside() {
        let found = |text: &'static str, query: &str| {
            places(text, query).into_iter().map(|place| &text[place]).collect::<Vec<_>>()
        };
        assert_eq!(found("A leak in the Leaky hull, bleak", "leak HULL"), ["leak", "Leak", "hull"]);
        assert_eq!(found("src/load_line.rs, überladen", "line überl"), ["line", "überl"]);
        assert_eq!(found("exchange_code", "xchange_cod"), ["cod"]);
        assert_eq!(found("backoff", "ckoff"), ["ckoff"]);
        assert_eq!(found("a text", " -- "), [""; 0]);
    }

    #[test]
    fn large_numbers_are_easy_to_read() {
        let read = [0, 999, 1000, 167_000, 1_000_000].map(thousands);
        assert_eq!(read, ["0", "999", "1,000", "167,000", "1,000,000"]);
    }

    #[test]
    fn a_stretch_of_time_is_told_in_two_units() {
        let read = [59, 61, 3700, 90_000].map(duration);
        assert_eq!(read, ["59 s", "1 min", "1 h 1 min", "1 d 1 h"]);
    }
}
