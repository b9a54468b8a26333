//! Decodes the bytes that a terminal sends into keys.

/// A key with a meaning in the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C, Ctrl-D, or end of input.
    Interrupt,
    Character(char),
}

const ESCAPE: char = '\x1b';

/// Decodes bytes into keys and skips unknown sequences.
pub(crate) fn parse(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let (mut keys, mut rest) = (Vec::new(), &*text);
    while let Some(first) = rest.chars().next() {
        let (key, length) = match sequence(rest) {
            Some((sequence, length)) => (special(sequence), length),
            None => (plain(first), first.len_utf8()),
        };
        keys.extend(key);
        rest = &rest[length..];
    }
    keys
}

/// Whether these bytes end within a key sequence.
pub(crate) fn is_incomplete(bytes: &[u8]) -> bool {
    let Some(at) = bytes.iter().rposition(|byte| *byte == ESCAPE as u8) else { return false };
    match &bytes[at + 1..] {
        [] => true,
        [b'[' | b'O', rest @ ..] => !rest.iter().any(|byte| is_final_byte((*byte).into())),
        _ => false,
    }
}

/// Returns the escape sequence at the start of a text without its prefix, and its total length.
fn sequence(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix(ESCAPE)?;
    let rest = rest.strip_prefix(['[', 'O'])?;
    // An incomplete sequence extends to the end of the text.
    let end = rest.find(is_final_byte).map_or(rest.len(), |end| end + 1);
    Some((&rest[..end], 2 + end))
}

fn is_final_byte(character: char) -> bool {
    ('@'..='~').contains(&character)
}

fn special(sequence: &str) -> Option<Key> {
    Some(match sequence {
        "A" => Key::Up,
        "B" => Key::Down,
        "H" | "1~" | "7~" => Key::Home,
        "F" | "4~" | "8~" => Key::End,
        "5~" => Key::PageUp,
        "6~" => Key::PageDown,
        "M" => Key::Enter,
        _ => return None,
    })
}

fn plain(character: char) -> Option<Key> {
    Some(match character {
        ESCAPE => Key::Escape,
        '\r' | '\n' => Key::Enter,
        '\x7f' | '\x08' => Key::Backspace,
        '\x03' | '\x04' => Key::Interrupt,
        char::REPLACEMENT_CHARACTER => return None,
        other if other.is_control() => return None,
        other => Key::Character(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_decoded_into_keys() {
        let check = |bytes: &[u8], keys: &[Key]| assert_eq!(parse(bytes), keys, "{bytes:?}");
        check(b"q\r\x7f\x03", &[Key::Character('q'), Key::Enter, Key::Backspace, Key::Interrupt]);
        check(b"\x1b[A\x1bOB\x1b[5~\x1b[6~", &[Key::Up, Key::Down, Key::PageUp, Key::PageDown]);
        check(b"\x1b[H\x1b[4~", &[Key::Home, Key::End]);
        check(b"\x1b", &[Key::Escape]);
        check(b"\x1bq", &[Key::Escape, Key::Character('q')]);
        check("ü/".as_bytes(), &[Key::Character('ü'), Key::Character('/')]);
        check(b"\x1b[1;5C\x01\xff", &[]);
        check(b"\x1b[1;", &[]);
    }

    #[test]
    fn an_incomplete_sequence_is_detected() {
        for torn in [&b"\x1b"[..], b"q\x1b[", b"\x1bO", b"\x1b[5"] {
            assert!(is_incomplete(torn), "{torn:?}");
        }
        for whole in [&b""[..], b"q", b"\x1b[A", b"\x1b[5~", b"\x1bq"] {
            assert!(!is_incomplete(whole), "{whole:?}");
        }
    }
}
