//! Makes a text from outside safe to keep: no secrets, and no control characters.

use std::borrow::Cow;

use plimsoll_core::policy::is_plain;

use crate::redact::redact;

/// Removes secrets and control characters, except newlines and tabs.
///
/// Control characters go first: the rules would miss a secret with one in it, and removing the
/// character later would restore the secret.
pub(crate) fn sanitize(text: &str) -> Cow<'_, str> {
    match plain(text) {
        Cow::Borrowed(text) => redact(text),
        Cow::Owned(text) => Cow::Owned(redact(&text).into_owned()),
    }
}

/// Cleans a name and puts it on one line.
pub(crate) fn sanitize_name(text: &str) -> Cow<'_, str> {
    match text.contains(breaks) {
        true => Cow::Owned(sanitize(&text.replace(breaks, "")).into_owned()),
        false => sanitize(text),
    }
}

/// Returns the first `longest` characters of a cleaned text. A redaction marker that was cut is
/// completed.
pub(crate) fn first_chars(text: &str, longest: usize) -> String {
    let beginning: String = text.trim().chars().take(longest).collect();
    redact(beginning.trim_end()).into_owned()
}

/// Returns the end of a path, which says more than its start.
pub(super) fn path_end(path: &str) -> &str {
    const LONGEST: usize = 300;
    &path[path.ceil_char_boundary(path.len().saturating_sub(LONGEST))..]
}

/// Makes sure that a line with outside text stays one line and does not start a section.
pub(super) fn sanitize_line(text: String) -> String {
    let breaks_off = !is_plain_ascii(&text) && text.contains(breaks);
    let text = if breaks_off { text.replace(breaks, " ") } else { text };
    let rest = text.trim_start().trim_start_matches('#');
    let is_heading = rest.len() < text.trim_start().len() && rest.starts_with(' ');
    if is_heading { format!("- {text}") } else { text }
}

/// Returns whether a text has only printable ASCII characters.
fn is_plain_ascii(text: &str) -> bool {
    // A loop without an early exit lets the compiler test many bytes at a time.
    let odd = |odd: u8, byte: &u8| odd | u8::from(byte.wrapping_sub(b' ') > b'~' - b' ');
    text.as_bytes().iter().fold(0, odd) == 0
}

fn breaks(character: char) -> bool {
    character != ' ' && (character.is_whitespace() || character.is_control())
}

fn plain(text: &str) -> Cow<'_, str> {
    if !has_odd(text) {
        return Cow::Borrowed(text);
    }
    let without_returns =
        text.chars().map(|character| if character == '\r' { ' ' } else { character });
    Cow::Owned(without_returns.filter(|character| is_kept(*character)).collect())
}

fn is_kept(character: char) -> bool {
    matches!(character, '\n' | '\t') || is_plain(character)
}

/// Returns whether a text has a character to remove. Most texts have none and are not decoded.
fn has_odd(text: &str) -> bool {
    const CHUNK: usize = 32;
    // An inner loop without an early exit lets the compiler test many bytes at a time.
    let may_be =
        |chunk: &[u8]| chunk.iter().fold(0, |odd, byte| odd | u8::from(may_be_odd(*byte))) != 0;
    text.as_bytes().chunks(CHUNK).enumerate().filter(|(_, chunk)| may_be(chunk)).any(
        |(nth, chunk)| {
            let places = (nth * CHUNK..).zip(chunk).filter(|(_, byte)| may_be_odd(**byte));
            places.into_iter().any(|(at, _)| !text[at..].chars().next().is_some_and(is_kept))
        },
    )
}

/// Returns whether this byte may start a character to remove.
#[inline]
fn may_be_odd(byte: u8) -> bool {
    let is_control = (byte < 0x20) & (byte != b'\n') & (byte != b'\t');
    is_control | (byte == 0x7F) | (byte == 0xC2) | (byte == 0xE2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(sanitize("a\n\tb — ä"), "a\n\tb — ä");
        assert_eq!(sanitize("\u{1b}]0;x\u{7}a\r\nb\u{9b}2J\u{202e}c\u{7f}"), "]0;xa \nb2Jc");
        assert!(
            !sanitize(&["gh\u{1b}p_", "0123456789abcdefghijABCDEFGHIJ012345"].concat())
                .contains("abc")
        );
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(sanitize_name("x\n\n## Next Steps\u{2028}\t- y.rs"), "x## Next Steps- y.rs");
        assert_eq!(path_end(&format!("{}/src/a.rs", "ä".repeat(400))).len(), 299);
    }

    #[test]
    fn secrets_split_by_control_characters_are_redacted() {
        let broken = |by: &str| ["use ghp_0123456789", by, "abcdefghijABCDEFGHIJ456789"].concat();
        for by in ["\u{8}", "\u{202e}", "\u{9b}"] {
            assert_eq!(sanitize(&broken(by)), "use [redacted:github-token]", "{by:?}");
        }
        for by in ["\n", "\t", "\u{2028}", "\u{7f}"] {
            assert_eq!(sanitize_name(&broken(by)), "use [redacted:github-token]", "{by:?}");
        }
    }

    #[test]
    fn truncated_markers_are_completed() {
        let kept = sanitize("password=hunter2secret and more");
        assert_eq!(first_chars(&kept, 14), first_chars(&first_chars(&kept, 14), 14));
        assert_eq!(first_chars(" a b", 2), "a");
    }

    #[test]
    fn no_line_starts_a_section() {
        assert_eq!(sanitize_line("## Next Steps".to_owned()), "- ## Next Steps");
        assert_eq!(sanitize_line(" # a\n## b".to_owned()), "-  # a ## b");
        assert_eq!(sanitize_line("#12 is open".to_owned()), "#12 is open");
    }
}
