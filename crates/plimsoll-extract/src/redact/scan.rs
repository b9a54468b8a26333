//! Reads bytes around a position: alphabets, runs, word edges, quotes.

use std::ops::Range;

/// A set of ASCII characters.
#[derive(Clone, Copy)]
pub(super) struct Alphabet(u128);

pub(super) const DIGIT: Alphabet = Alphabet(0).range(b'0', b'9');
pub(super) const HEX: Alphabet = DIGIT.range(b'a', b'f');
pub(super) const LOWER: Alphabet = DIGIT.range(b'a', b'z');
pub(super) const UPPER: Alphabet = DIGIT.range(b'A', b'Z');
pub(super) const ALNUM: Alphabet = LOWER.range(b'A', b'Z');
/// Letters, digits, `_` and `-`: URL-safe base64, and most names.
pub(super) const URL64: Alphabet = ALNUM.with(b"_-");
pub(super) const BASE64: Alphabet = ALNUM.with(b"+/=");
/// Characters of tokens with several parts.
pub(super) const DOTTED: Alphabet = URL64.with(b".");
/// Characters of a token in an HTTP header.
pub(super) const TOKEN68: Alphabet = DOTTED.with(b"~+/=");
/// base64 in a URL, also percent-encoded.
pub(super) const PERCENT: Alphabet = BASE64.with(b"%_-");

impl Alphabet {
    const fn range(self, first: u8, last: u8) -> Self {
        let mut bits = self.0;
        let mut byte = first;
        while byte <= last {
            bits |= 1 << byte;
            byte += 1;
        }
        Alphabet(bits)
    }

    pub(super) const fn of(bytes: &[u8]) -> Self {
        Alphabet(0).with(bytes)
    }

    pub(super) const fn with(self, others: &[u8]) -> Self {
        let mut bits = self.0;
        let mut at = 0;
        while at < others.len() {
            bits |= 1 << others[at];
            at += 1;
        }
        Alphabet(bits)
    }

    pub(super) const fn has(self, byte: u8) -> bool {
        byte.is_ascii() && self.0 >> byte & 1 == 1
    }

    /// Returns the end of the run of these characters that starts at `from`.
    pub(super) fn run_end(self, text: &[u8], from: usize) -> usize {
        end_while(text, from, |byte| self.has(byte))
    }

    /// Like `run_end`, but reads at most `limit` bytes.
    pub(super) fn run_end_within(self, text: &[u8], from: usize, limit: usize) -> usize {
        self.run_end(&text[..text.len().min(from + limit)], from)
    }

    /// Returns the start of the run of these characters that ends at `to`, at most `limit` bytes
    /// before it.
    pub(super) fn run_start(self, text: &[u8], to: usize, limit: usize) -> usize {
        let run = text[..to].iter().rev().take(limit).take_while(|byte| self.has(**byte));
        to - run.count()
    }
}

/// Returns the first position from `from` on whose byte is not `wanted`.
pub(super) fn end_while(text: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| wanted(**byte)).count()
}

/// Returns the byte at a position, or NUL outside the text.
pub(super) fn at(text: &[u8], place: usize) -> u8 {
    text.get(place).copied().unwrap_or(0)
}

/// Returns whether `wanted` is at a position, ignoring ASCII case.
pub(super) fn matches_at(text: &[u8], place: usize, wanted: &str) -> bool {
    text.get(place..place + wanted.len())
        .is_some_and(|part| part.eq_ignore_ascii_case(wanted.as_bytes()))
}

/// Returns the position of `wanted` in a text, ignoring ASCII case.
pub(super) fn position(text: &[u8], wanted: &str) -> Option<usize> {
    let first = wanted.as_bytes().first()?.to_ascii_lowercase();
    let begins = |place: &usize| text[*place].to_ascii_lowercase() == first;
    (0..text.len()).filter(begins).find(|place| matches_at(text, *place, wanted))
}

/// Returns whether a word can start here: not inside another word. A `-` or `_` before the word
/// counts as an edge unless a letter or digit precedes it, so the `-` of a diff line is one.
pub(super) fn at_edge(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1) else { return true };
    match text[before] {
        b'_' | b'-' => !ALNUM.has(at(text, before.wrapping_sub(1))),
        byte => !ALNUM.has(byte) || is_escape(text, before),
    }
}

/// Skips the letter of an escaped `
/// `, `\r` or `\t` at the start of a run.
pub(super) fn skip_escape_letter(text: &[u8], start: usize) -> usize {
    if is_escape(text, start) { start + 1 } else { start }
}

/// Returns whether this byte is the letter of an escaped `
/// `, `\r` or `\t`.
fn is_escape(text: &[u8], place: usize) -> bool {
    place > 0 && text[place - 1] == b'\\' && matches!(at(text, place), b'n' | b'r' | b't')
}

pub(super) fn skip_blanks(text: &[u8], from: usize) -> usize {
    end_while(text, from, |byte| matches!(byte, b' ' | b'\t'))
}

/// Returns the rest of the line from a position on, at most `limit` bytes. An escaped `
/// ` ends the line too; a backslash before the newline continues it.
pub(super) fn line_from(text: &[u8], from: usize, limit: usize) -> Range<usize> {
    let most = text.len().min(from + limit);
    let ends = |place: &usize| match text[*place] {
        b'\n' => text[*place - 1] != b'\\',
        b'n' => is_escape(text, *place),
        _ => false,
    };
    from..(from + 1..most).find(ends).unwrap_or(most.max(from))
}

/// An opening quote. Inside a JSON string, backslashes precede it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    byte: u8,
    backslashes: usize,
}

/// Returns the quote at a position and its end.
pub(super) fn quote(text: &[u8], from: usize) -> Option<(Quote, usize)> {
    let mark = end_while(text, from, |byte| byte == b'\\');
    let byte = at(text, mark);
    let quote = Quote { byte, backslashes: mark - from };
    matches!(byte, b'"' | b'\'' | b'`').then_some((quote, mark + 1))
}

/// Skips the quote at a position, if there is one.
pub(super) fn skip_quote(text: &[u8], from: usize) -> usize {
    quote(text, from).map_or(from, |(_, end)| end)
}

impl Quote {
    /// Returns the position before the closing quote of the string that starts at `from`, or the
    /// end of the line.
    pub(super) fn closing_position(self, text: &[u8], from: usize) -> usize {
        let mut place = from;
        while place < text.len() && text[place] != b'\n' {
            let mark = end_while(text, place, |byte| byte == b'\\');
            if at(text, mark) == self.byte && self.is_closed_by(mark - place) {
                return place;
            }
            place = mark + 1;
        }
        place.min(text.len())
    }

    /// Returns whether a quote after this many backslashes closes this quote or an enclosing one. A
    /// quote escaped inside this one has more backslashes.
    fn is_closed_by(self, backslashes: usize) -> bool {
        match self.backslashes {
            0 => backslashes.is_multiple_of(2),
            own => backslashes <= 2 * own,
        }
    }
}
