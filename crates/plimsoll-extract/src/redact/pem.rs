//! Finds private keys that span many lines.

use std::ops::Range;

use super::Secret;
use super::scan::{self, Alphabet, BASE64, end_while};

/// Longest private key in use.
const LONGEST: usize = 32 * 1024;

const DASH: Alphabet = Alphabet::of(b"-");
/// Number of dashes on each side of a heading.
const DASHES: usize = 5;

/// Adds the block from `-----BEGIN … PRIVATE KEY` to its end, or as much of it as there is.
///
/// Code that only searches for such a line stays, because no key follows it.
pub(super) fn block(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let start = DASH.run_start(text, hit.start, DASHES - 1);
    let Some(body) = end_of_heading(text, hit.end) else { return };
    let rest = &text[body..text.len().min(body + LONGEST)];
    let end = match scan::position(rest, "-----") {
        Some(end) if is_body(&rest[..end]) => end_of_heading(text, body + end + "-----END".len()),
        _ => body_end(text, body),
    };
    found.extend(end.map(|end| Secret { range: start..end, kind: "private-key" }));
}

/// Returns the end of `… PRIVATE KEY-----`.
fn end_of_heading(text: &[u8], from: usize) -> Option<usize> {
    const LONGEST: usize = 64;
    let most = text.len().min(from + LONGEST);
    let words = end_while(&text[..most], from, |byte| byte == b' ' || byte.is_ascii_uppercase());
    let is_private = scan::position(&text[from..words], "PRIVATE KEY").is_some();
    let end = end_while(&text[..most], words, |byte| byte == b'-');
    (is_private && end >= words + DASHES).then_some(end)
}

/// Returns whether this is mostly base64 in long runs.
fn is_body(text: &[u8]) -> bool {
    let solid = text.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    let in_runs: usize = runs(text).filter(|run| run.len() >= 16).map(<[u8]>::len).sum();
    in_runs >= 16 && in_runs * 2 > solid
}

fn runs(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !BASE64.has(*byte))
}

/// Returns the end of a key body that has no closing line. A line number, a quote or an escaped `
/// ` may separate its lines; headers may precede the first.
fn body_end(text: &[u8], from: usize) -> Option<usize> {
    const HEADERS: usize = 160;
    const GAP: usize = 24;
    const LINE: usize = 40;
    let mut end = None;
    let mut place = from;
    while place < text.len().min(end.map_or(from + HEADERS, |end| end + GAP)) {
        let run = BASE64.run_end(text, place);
        if run - place >= LINE {
            end = Some(run);
        }
        place = run + 1;
    }
    end
}

/// Adds a PuTTY key: its private lines and their checksum.
pub(super) fn putty(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let start = end_while(text, hit.end, |byte| byte == b' ' || byte.is_ascii_digit());
    let end = body_end(text, start);
    found.extend(end.map(|end| Secret { range: start..end, kind: "putty-key" }));
}

/// Adds the body of a private key without a heading, recognized by the base64 of its first bytes.
pub(super) fn bare_body(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let start = BASE64.run_start(text, hit.start, 8);
    let is_whole =
        text[start..].starts_with(b"MII") || text[hit.start..].starts_with(b"b3BlbnNzaC1rZXktdjE");
    let end = if is_whole { body_end(text, start) } else { None };
    found.extend(end.map(|end| Secret { range: start..end, kind: "private-key" }));
}
