//! Finds names in a text: files, symbols, references. Hand-written in one pass, because a regex
//! would cost more than all the rest.

mod files;
mod references;

use serde::{Deserialize, Serialize};

pub(super) use files::is_file;
use references::UUID;
pub(super) use references::{is_hash, is_reference};

/// Kind of a name in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum NameKind {
    /// A file, by its path or base name.
    File,
    /// A name in code.
    Symbol,
    /// An issue, a hash, a version or a URL: something to look up elsewhere.
    Reference,
}

/// The classes of bytes, one bit each. They only serve to rule out words quickly.
mod class {
    /// Between words, or the first byte of a character that may be.
    pub(super) const GAP: u8 = 1 << 0;
    pub(super) const UPPER: u8 = 1 << 1;
    pub(super) const DIGIT: u8 = 1 << 2;
    pub(super) const UNDERSCORE: u8 = 1 << 3;
    pub(super) const DOT: u8 = 1 << 4;
    pub(super) const DASH: u8 = 1 << 5;
    pub(super) const COLON: u8 = 1 << 6;
    /// Another character that joins words.
    pub(super) const JOINT: u8 = 1 << 7;
    /// All classes of joining characters.
    pub(super) const JOINTS: u8 = COLON | JOINT;
}

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r'
            | b' '
            | b'"'
            | b'\''
            | b'`'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'{'
            | b'}'
            | b','
            | b';'
            | b'|'
            | b'='
            | b'*'
            | b'!' => class::GAP,
            // The first bytes of all blanks beyond ASCII.
            0xC2 | 0xE1..=0xE3 => class::GAP,
            b'A'..=b'Z' => class::UPPER,
            b'0'..=b'9' => class::DIGIT,
            b'_' => class::UNDERSCORE,
            b'.' => class::DOT,
            b'-' => class::DASH,
            b':' => class::COLON,
            b'/' | b'@' | b'[' | b']' | b'&' => class::JOINT,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

/// A piece of text between gaps, with the classes of its bytes.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    first: u8,
    rest: u8,
    /// Whether the word follows the star of a pattern, as `_test.go` in `*_test.go`.
    after_star: bool,
}

/// Passes every name in `text` to `take`.
pub(super) fn scan<'a>(text: &'a str, mut take: impl FnMut(NameKind, &'a str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let first = class(*byte);
        if first & class::GAP != 0
            && let Some(gap) = gap(text, at)
        {
            at += gap;
            continue;
        }
        let (mut end, rest) = word_end(text, at + 1);
        if may_name(first, rest, end - at) {
            if rest & class::COLON != 0 && is_address(&bytes[at..end]) {
                end = address_end(text, end);
            }
            let after_star = at > 0 && bytes[at - 1] == b'*';
            Word { text: &text[at..end], first, rest, after_star }.names(&mut take);
        }
        at = end;
    }
}

/// Returns the length of the gap at a position whose class allows one.
#[inline]
fn gap(text: &str, at: usize) -> Option<usize> {
    if text.as_bytes()[at].is_ascii() { Some(1) } else { wide_gap(text, at) }
}

#[cold]
fn wide_gap(text: &str, at: usize) -> Option<usize> {
    let character = text[at..].chars().next()?;
    // Tools that show a file write an arrow after the line number.
    (character.is_whitespace() || character == '→').then(|| character.len_utf8())
}

/// Returns the end of the word that continues at `from`, and the classes of its bytes from there
/// on.
#[inline]
fn word_end(text: &str, from: usize) -> (usize, u8) {
    let mut seen = 0;
    for (at, byte) in text.as_bytes()[from..].iter().enumerate() {
        let class = class(*byte);
        if class & class::GAP != 0 && gap(text, from + at).is_some() {
            return (from + at, seen);
        }
        seen |= class;
    }
    (text.len(), seen)
}

/// Returns whether a word of these classes can contain a name: most words cannot.
#[inline]
fn may_name(first: u8, rest: u8, length: usize) -> bool {
    let seen = first | rest;
    rest & (class::UPPER | class::UNDERSCORE | class::DOT) != 0
        || seen & class::DIGIT != 0 && length > 1
        || seen & class::COLON != 0 && seen & class::JOINT != 0
        || seen & class::DASH != 0 && length >= UUID
}

impl<'a> Word<'a> {
    /// Returns whether the word has a byte of one of these classes.
    fn has(&self, classes: u8) -> bool {
        (self.first | self.rest) & classes != 0
    }

    #[inline(never)]
    fn names(&self, take: &mut impl FnMut(NameKind, &'a str)) {
        if self.has(class::COLON)
            && self.has(class::JOINT)
            && let Some(at) = self.text.as_bytes().windows(3).position(|three| three == b"://")
        {
            return address(self.text, at, take);
        }
        let trimmed = trim(self.text);
        if trimmed.len() < 2 {
            return;
        }
        let is_end = self.after_star && trimmed.starts_with(['.', '_', '-', '/']);
        if self.has(class::DOT) && !is_end && is_file(self.without_place(trimmed)) {
            take(NameKind::File, self.without_place(trimmed));
        } else if self.has(class::DIGIT | class::DASH) {
            if is_reference(trimmed) {
                return take(NameKind::Reference, trimmed);
            }
            if self.has(class::JOINTS) {
                parts(trimmed, |part| take(NameKind::Reference, part));
            }
        }
        if self.rest & (class::UPPER | class::UNDERSCORE) != 0 {
            symbols(trimmed, take);
        }
    }

    /// Strips the line and column that compilers append to a path.
    fn without_place(&self, trimmed: &'a str) -> &'a str {
        if !self.has(class::COLON) {
            return trimmed;
        }
        match trimmed.split_once(':') {
            Some((path, rest))
                if path.len() > 1 && rest.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                path
            }
            _ => trimmed,
        }
    }
}

/// Strips the punctuation around a word.
fn trim(word: &str) -> &str {
    let bytes = word.as_bytes();
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    if is_plain(bytes.first()) && is_plain(bytes.last()) {
        return word;
    }
    let is_sign = |c: char| matches!(c, '.' | ':' | '?' | '[' | ']' | '…');
    let word = word.trim_end_matches(is_sign);
    let bare = word.trim_start_matches(is_sign);
    // `.github`, `./run.sh` and `../lib.rs` start with dots of their own.
    let is_own = |dots: &&str| match *dots {
        "." => bare.starts_with(|c: char| c == '/' || c.is_ascii_alphanumeric()),
        ".." => bare.starts_with('/'),
        _ => false,
    };
    let signs = &word[..word.len() - bare.len()];
    let dots = &signs[signs.trim_end_matches('.').len()..];
    &word[signs.len() - Some(dots).filter(is_own).map_or(0, str::len)..]
}

fn is_address(word: &[u8]) -> bool {
    word.array_windows().any(|three| three == b"://")
}

/// Returns the end of the URL whose first part ends here. Characters that are gaps elsewhere join
/// its parts.
#[cold]
fn address_end(text: &str, mut end: usize) -> usize {
    let bytes = text.as_bytes();
    while matches!(bytes.get(end), Some(b'=' | b',' | b';' | b'*' | b'!'))
        && bytes.get(end + 1).is_some_and(|next| class(*next) & class::GAP == 0)
    {
        end = word_end(text, end + 1).0;
    }
    end
}

fn address<'a>(word: &'a str, at: usize, take: &mut impl FnMut(NameKind, &'a str)) {
    if !matches!(&word[..at], "http" | "https") {
        return;
    }
    const LONGEST: usize = 240;
    let end = word.find(['[', ']', '\\']).unwrap_or(word.len());
    // Drop the query of a URL that is too long for a line.
    let end = match word[..end].find('?') {
        Some(question) if end > LONGEST => question,
        _ => end,
    };
    let address = word[..end].trim_end_matches(['.', ':', '?', '&', '=']);
    if address.len() > at + 3 + 4 {
        take(NameKind::Reference, address);
    }
}

/// Passes the references among the joined parts of a word to `take`.
fn parts<'a>(word: &'a str, mut take: impl FnMut(&'a str)) {
    let bytes = word.as_bytes();
    let is_joint = |byte: &u8| class(*byte) & class::JOINTS != 0;
    let mut from = 0;
    while from < bytes.len() {
        let end = bytes[from..].iter().position(is_joint).map_or(bytes.len(), |at| from + at);
        if end > from && end - from < bytes.len() {
            let part = word[from..end].trim_matches('.');
            if is_reference(part) {
                take(part);
            }
        }
        from = end + 1;
    }
}

/// Passes the symbols in a word to `take`.
fn symbols<'a>(word: &'a str, take: &mut impl FnMut(NameKind, &'a str)) {
    let bytes = word.as_bytes();
    let mut from = 0;
    while from < bytes.len() {
        let mut end = from;
        while let Some(length) = letter(&bytes[end..]) {
            end += length;
        }
        if end - from >= SHORTEST_SYMBOL && is_symbol(&bytes[from..end]) {
            take(NameKind::Symbol, &word[from..end]);
        }
        from = end + 1;
    }
}

/// Returns the length of the letter at the start of a text. Accented Latin letters count.
#[inline]
fn letter(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'_' | b'$' => Some(1),
        byte if byte.is_ascii_alphanumeric() => Some(1),
        0xC3..=0xC9 => Some(2),
        _ => None,
    }
}

const SHORTEST_SYMBOL: usize = 5;
const LONGEST_SYMBOL: usize = 80;

/// Returns whether a word is an invented name: several words joined by case or underscore.
fn is_symbol(word: &[u8]) -> bool {
    let is_edge = |byte: &u8| matches!(byte, b'_' | b'$');
    let Some(from) = word.iter().position(|byte| !is_edge(byte)) else { return false };
    let to = word.iter().rposition(|byte| !is_edge(byte)).map_or(0, |last| last + 1);
    let core = &word[from..to];
    (SHORTEST_SYMBOL..=LONGEST_SYMBOL).contains(&core.len())
        && !core[0].is_ascii_digit()
        && (core.contains(&b'_') || has_humps(core))
        && core.iter().any(u8::is_ascii_alphabetic)
}

/// Returns whether a word has an inner word that starts with a capital: `aWord`, `URLOf`.
fn has_humps(word: &[u8]) -> bool {
    let hump = |pair: &[u8; 2]| !pair[0].is_ascii_uppercase() && pair[1].is_ascii_uppercase();
    let acronym = |three: &[u8; 3]| {
        three[0].is_ascii_uppercase()
            && three[1].is_ascii_uppercase()
            && three[2].is_ascii_lowercase()
    };
    word.array_windows().any(hump) || word.array_windows().any(acronym)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: NameKind, text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        scan(text, |of, name| found.extend((of == kind).then_some(name)));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn paths_keep_the_dots_that_they_begin_with() {
        for path in [".github/dependabot.yml", ".golangci.yaml", "./scripts/run.sh", "../a/lib.rs"]
        {
            for text in [format!("see \"{path}\""), format!("{path}:3:4: x"), format!("[{path}].")]
            {
                check(NameKind::File, &text, &[path]);
            }
        }
        check(NameKind::File, "and so on ...main.rs ..other.rs", &["main.rs", "other.rs"]);
        check(NameKind::File, "    74→./run.sh", &["./run.sh"]);
    }

    #[test]
    fn patterns_and_calls_are_not_files() {
        check(NameKind::File, "ls *_test.go **/*.spec.ts **src/a.rs**", &["src/a.rs"]);
        check(NameKind::File, "console.log(x); process.env.X = process.env", &[]);
    }

    #[test]
    fn names_may_have_accented_letters() {
        check(
            NameKind::Symbol,
            "ÄrgerParser →fooBar naïveCase_x",
            &["ÄrgerParser", "fooBar", "naïveCase_x"],
        );
    }

    #[test]
    fn urls_are_complete() {
        for address in
            ["https://docs.rs/serde/1.0.0/serde/?search=foo&x=2", "https://example.org/a,b;c=1"]
        {
            for text in
                [format!("see {address}."), format!("<{address}>, x"), format!("({address})")]
            {
                check(NameKind::Reference, &text, &[address]);
            }
        }
        let long = format!("https://example.org/a?b={}", "c".repeat(300));
        check(NameKind::Reference, &long, &["https://example.org/a"]);
    }
}
