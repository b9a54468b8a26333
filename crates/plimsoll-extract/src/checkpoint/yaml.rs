//! Writes YAML scalars that every parser reads as the same text.

use std::fmt::Write as _;

/// Returns a text as a scalar: bare if it is unambiguous, otherwise quoted.
pub(super) fn scalar(text: &str) -> String {
    if is_bare(text) { text.to_owned() } else { quoted(text) }
}

pub(super) fn optional(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), scalar)
}

fn is_bare(text: &str) -> bool {
    const RESERVED: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte);
    let begins = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'/';
    text.as_bytes().first().is_some_and(begins)
        && text.bytes().all(fits)
        && !RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word))
}

pub(super) fn quoted(text: &str) -> String {
    let mut scalar = String::with_capacity(text.len() + 2);
    scalar.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => scalar.extend(['\\', character]),
            '\n' => scalar.push_str("\\n"),
            '\t' => scalar.push_str("\\t"),
            character if is_printable(character) => scalar.push(character),
            // Writing to a `String` cannot fail.
            character => drop(write!(scalar, "\\U{:08x}", u32::from(character))),
        }
    }
    scalar.push('"');
    scalar
}

/// Returns whether YAML allows a character unescaped and it does not break a line.
fn is_printable(character: char) -> bool {
    let breaks =
        matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    !character.is_control() && !breaks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_texts_are_quoted() {
        for bare in ["main", "/path/to/my-project", "a1", "feature/x_y.z"] {
            assert_eq!(scalar(bare), bare);
        }
        for text in ["", "1", "1e3", "-", "~", "Null", "yes", ".inf", "a b", "a:", "#x", "é", "*a"]
        {
            assert_eq!(scalar(text), format!("\"{text}\""));
        }
        assert_eq!(scalar("a\"\\\n\u{1b}"), "\"a\\\"\\\\\\n\\U0000001b\"");
    }
}
