//! Recognizes things to look up elsewhere: issues, hashes, versions, error codes.

/// Returns whether a word is something to look up elsewhere.
pub(in super::super) fn is_reference(word: &str) -> bool {
    const LONGEST: usize = 40;
    /// Minimum length of references that start with neither `#` nor a capital: `1.2.3`.
    const SHORTEST: usize = 5;
    let bytes = word.as_bytes();
    let Some(first) = bytes.first().filter(|_| bytes.len() <= LONGEST) else { return false };
    match first {
        b'#' => (2..=7).contains(&bytes.len()) && bytes[1..].iter().all(u8::is_ascii_digit),
        b'A'..=b'Z' => is_ticket(word) || is_code(bytes) || is_uuid(bytes),
        _ if bytes.len() < SHORTEST => false,
        b'0'..=b'9' | b'a'..=b'f' | b'v' => is_hash(bytes) || is_version(word) || is_uuid(bytes),
        _ => false,
    }
}

/// Returns whether this is a commit hash, abbreviated or full.
pub(in super::super) fn is_hash(bytes: &[u8]) -> bool {
    let hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (7..=12).contains(&bytes.len()) | (bytes.len() == 40)
        && bytes.iter().all(hex)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_alphabetic)
}

/// Length of a UUID.
pub(super) const UUID: usize = 36;

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == UUID
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Recognizes `1.2.3`, `v2.0.0-rc.1`.
fn is_version(word: &str) -> bool {
    let word = word.strip_prefix('v').unwrap_or(word);
    let (numbers, _) = word.split_once('-').unwrap_or((word, ""));
    let mut count = 0;
    for number in numbers.split('.') {
        if number.is_empty() || number.len() > 5 || !number.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        count += 1;
    }
    count == 3 && word.len() <= 24
}

/// Recognizes `PROJ-123`.
fn is_ticket(word: &str) -> bool {
    let Some((project, number)) = word.split_once('-') else { return false };
    (2..=10).contains(&project.len())
        && project.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && project.starts_with(|c: char| c.is_ascii_uppercase())
        && (1..=6).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
}

/// Recognizes the error code of a compiler or linter: letters, then digits.
fn is_code(bytes: &[u8]) -> bool {
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let digits = bytes[letters..].iter().filter(|byte| byte.is_ascii_digit()).count();
    letters + digits == bytes.len()
        && ((letters == 1 && bytes[0] == b'E' && digits == 4)
            || ((2..=5).contains(&letters) && (3..=5).contains(&digits)))
}
