//! Truncates long texts to their beginning and end, without leaking secrets.
//!
//! A secret is recognized by its beginning, by the words before it, or by the lines around it. A
//! cut could remove those and leave the rest of the secret. So this module reads more than it
//! keeps, and redacts before it cuts.

use std::borrow::Cow;

use plimsoll_extract::redact::redact;

use crate::json::Json;

/// The number of bytes that remain of the beginning and of the end.
const HEAD: usize = 12 << 10;
const TAIL: usize = 4 << 10;
/// The number of bytes that are read beyond each cut.
const MARGIN: usize = 4 << 10;

/// Decodes the inside of a JSON string. Of a long string, returns the beginning and the end,
/// redacted.
pub(crate) fn ends(inside: &[u8]) -> Cow<'_, str> {
    if inside.len() <= HEAD + TAIL {
        return Json::decoded(inside);
    }
    let head = Json::decoded(&inside[..HEAD + MARGIN]);
    let tail = Json::decoded(&inside[inside.len() - TAIL - MARGIN..]);
    let tail = match behind_key(&tail) {
        Some(rest) => redact(rest),
        None => Cow::Owned(end(&redact(&tail)).to_owned()),
    };
    Cow::Owned(format!("{}\n{tail}", beginning(&redact(&head))))
}

/// Removes the margin at the end of the text. Cuts at the end of a line, or at least of a word.
fn beginning(text: &str) -> &str {
    let kept = &text[..text.floor_char_boundary(text.len().saturating_sub(MARGIN))];
    let from = kept.floor_char_boundary(kept.len().saturating_sub(LONG_LINE));
    let cut = kept[from..].rfind('\n').map(|at| from + at);
    &kept[..cut.or_else(|| kept.rfind(is_gap)).unwrap_or(0)]
}

/// Removes the margin at the start of the text. Cuts at the start of a line, or at least of a word.
fn end(text: &str) -> &str {
    let kept = &text[text.ceil_char_boundary(MARGIN.min(text.len()))..];
    let near = &kept[..kept.floor_char_boundary(LONG_LINE)];
    let cut = near.find('\n').or_else(|| kept.find(is_gap));
    &kept[cut.unwrap_or(kept.len())..]
}

/// A line longer than this is not dropped as a whole.
const LONG_LINE: usize = 1 << 10;

fn is_gap(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | ',' | ';')
}

/// Returns the text after a private key that begins before the text; the lines of such a key cannot
/// be recognized. `None` if there is no such key.
fn behind_key(text: &str) -> Option<&str> {
    let (before, key) = text.split_once("-----END ")?;
    let rest = key.split_once("-----").map_or("", |(_, rest)| rest);
    (!before.contains("-----BEGIN ")).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Truncates a long text with `part` at a position counted from its start or its end.
    fn around(part: &str, before: usize, after: usize) -> String {
        let filler = |length: usize| "some plain words of a log\n".repeat(length / 26 + 1);
        let (before, after) = (filler(before), filler(after));
        let text = format!("{before}{part}\n{after}");
        ends(text.replace('\n', "\\n").as_bytes()).into_owned()
    }

    fn key() -> String {
        let row = |number: u64| {
            let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let letter = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(
                    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789+/"
                        [(state >> 33) as usize % 48],
                )
            };
            (0..64).map(letter).collect::<String>() + "\n"
        };
        let rows: String = (0..100).map(row).collect();
        ["-----BEGIN RSA PRIV", "ATE KEY-----\n", &rows, "-----END RSA PRIV", "ATE KEY-----"]
            .concat()
    }

    #[test]
    fn of_a_key_across_a_cut_nothing_is_left() {
        let key = key();
        let rows: Vec<&str> = key.lines().filter(|row| row.len() == 64).collect();
        for step in 0..60 {
            for (before, after) in [(6_000 + step * 200, 40_000), (40_000, step * 200)] {
                let text = around(&key, before, after);
                let left = rows.iter().flat_map(|row| [&row[..12], &row[52..]]);
                let left: Vec<_> = left.filter(|part| text.contains(part)).collect();
                assert!(left.is_empty(), "{before}, {after}: {left:?}");
                assert!(text.contains("plain words") || after == 0);
            }
        }
    }

    #[test]
    fn of_a_secret_across_a_cut_nothing_is_left() {
        let token = "0123456789abcdefghijABCDEFGHIJ012345";
        for secret in [["ghp", "_"].concat(), "DB_PASSWORD=\"".to_owned()] {
            let secret = format!("{secret}{token}\"");
            for step in 0..120 {
                for (before, after) in [(HEAD - 90 + step, 40_000), (40_000, TAIL - 90 + step)] {
                    let line = |length: usize| "word ".repeat(length / 5) + &"x".repeat(length % 5);
                    let text = format!("{}{secret} {}", line(before), line(after));
                    let text = ends(text.replace('"', "\\\"").as_bytes()).into_owned();
                    let is_left = token
                        .as_bytes()
                        .windows(12)
                        .any(|part| text.as_bytes().windows(12).any(|window| window == part));
                    assert!(!is_left, "{before}, {after}");
                    assert!(text.len() > HEAD + TAIL - 200);
                }
            }
        }
    }

    #[test]
    fn a_cut_leaves_whole_lines() {
        let text = around("", 40_000, 40_000);
        assert!(
            text.lines().all(|line| matches!(line, "" | "some plain words of a log")),
            "{text}"
        );
    }
}
