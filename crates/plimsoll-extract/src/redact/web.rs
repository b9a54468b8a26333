//! Finds secrets in URLs, in their queries, and in logins in code.

use std::ops::Range;

use super::Secret;
use super::header::add_if_secret;
use super::scan::{
    self, ALNUM, Alphabet, DOTTED, HEX, PERCENT, URL64, at, end_while, quote, skip_blanks,
};
use super::value;

/// Adds the password of `scheme://user:password@host`, or the token of `scheme://token@host`.
///
/// Even a well-known password is redacted here, because nothing else can be in its place.
pub(super) fn address(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    const MOST: usize = 512;
    let is_inside = |byte: u8| byte > b' ' && !b"\"'`<>\\/?#".contains(&byte);
    let most = text.len().min(hit.end + MOST);
    let end = end_while(&text[..most], hit.end, is_inside);
    let authority = &text[hit.end..end];
    let Some(host) = authority.iter().rposition(|byte| *byte == b'@') else { return };
    let user = &authority[..host];
    let colon = user.iter().position(|byte| *byte == b':');
    let secret = &user[colon.map_or(0, |colon| colon + 1)..];
    let is_secret = match colon {
        Some(_) => !value::is_reference(secret) && !is_masked(secret),
        None => value::is_random(secret, 16) || value::is_hash(secret),
    };
    let kind = match scan::position(&authority[host..], "sentry").is_some() {
        true => "sentry-dsn",
        false => "password",
    };
    if is_secret {
        found.push(Secret { range: hit.end + host - secret.len()..hit.end + host, kind });
    }
}

/// Returns whether a password is already masked: `***`, `xxx`, `...`.
fn is_masked(secret: &[u8]) -> bool {
    secret.iter().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'))
}

/// Adds a key, a code or a signature in a URL query, after a name that means little elsewhere. The
/// keyword is the name and its `=`, sometimes with the separator before it.
pub(super) fn query(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let sign = usize::from(!ALNUM.has(text[hit.start]));
    let name = hit.start + sign;
    if scan::matches_at(text, name, "sig") {
        return signature(text, name..hit.end, found);
    }
    let given = query_value(text, hit.end);
    let is_one_piece = given.iter().all(|byte| ALNUM.has(*byte) || matches!(byte, b'%' | b'='));
    let is_secret = value::is_hash(given) || is_one_piece && value::is_random(given, 20);
    let kind = if scan::matches_at(text, name, "key") { "key" } else { "token" };
    add_query_value(text, hit.end, kind, is_in_query(text, name) && is_secret, found);
}

/// Adds a session id or a ticket in a URL query, because the URL is enough to log in. Elsewhere they
/// are only names.
pub(super) fn session(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let given = query_value(text, hit.end);
    let is_secret = value::is_hash(given) || value::is_random(given, 16);
    add_query_value(text, hit.end, "token", is_in_query(text, hit.start) && is_secret, found);
}

/// Adds a signature: `sig=`, `X-Amz-Signature=`. A long one is recognized outside a query too.
fn signature(text: &[u8], word: Range<usize>, found: &mut Vec<Secret>) {
    const LONGEST_NAME: usize = 40;
    const LONG: usize = 40;
    let name = URL64.run_start(text, word.start, LONGEST_NAME);
    let given = query_value(text, word.end);
    let is_long = given.len() >= LONG;
    let is_placed = is_in_query(text, name) || is_long && scan::at_edge(text, name);
    let is_secret = is_long || value::is_hash(given) || value::is_random(given, 16);
    add_query_value(text, word.end, "signature", is_placed && is_secret, found);
}

/// Characters of values in a query.
const QUERY_VALUE: Alphabet = PERCENT.with(b".~");

/// Returns the part of a query value that is examined to decide whether it is a secret.
fn query_value(text: &[u8], from: usize) -> &[u8] {
    const JUDGED: usize = 256;
    &text[from..QUERY_VALUE.run_end_within(text, from, JUDGED)]
}

/// Adds the whole value of a query parameter, unless it is a reference, a placeholder or a word.
fn add_query_value(
    text: &[u8],
    from: usize,
    kind: &'static str,
    is_secret: bool,
    found: &mut Vec<Secret>,
) {
    let is_secret = is_secret && !value::is_harmless(query_value(text, from));
    add_if_secret(found, from..QUERY_VALUE.run_end(text, from), kind, is_secret);
}

/// Returns whether a name that starts here is in a URL query: after `?`, `&`, `#` or an escaped
/// `&`.
pub(super) fn is_in_query(text: &[u8], name: usize) -> bool {
    let before = name.checked_sub(1).map_or(0, |before| text[before]);
    let is_escaped = before == b'\\' && scan::matches_at(text, name, "u0026");
    let ends_escape = ["\\u0026", "&amp;"].iter().any(|end| text[..name].ends_with(end.as_bytes()));
    matches!(before, b'?' | b'&' | b'#') || is_escaped || ends_escape
}

/// Adds the password of a login given as two arguments: `auth=("user", "password")`.
pub(super) fn login(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let Some((opened, user)) = quote(text, skip_blanks(text, hit.end)) else { return };
    let closed = scan::skip_quote(text, opened.closing_position(text, user));
    let comma = skip_blanks(text, closed);
    let argument = skip_blanks(text, comma + 1);
    let argument = if scan::matches_at(text, argument, "some(") { argument + 5 } else { argument };
    let Some((opened, from)) = quote(text, argument).filter(|_| at(text, comma) == b',') else {
        return;
    };
    let range = from..opened.closing_position(text, from);
    let given = &text[range.clone()];
    let is_secret = given.len() >= 4 && !value::is_harmless(given);
    add_if_secret(found, range, "password", is_secret);
}

/// Adds a Twilio key near the service's name: `SK` and thirty-two hexadecimal digits.
pub(super) fn twilio(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    add_tokens_near(text, hit, found, "twilio-secret", |word| {
        word.len() == 34 && word.starts_with(b"SK") && HEX.run_end(word, 2) == word.len()
    });
}

/// Adds the words after a service's name, on the same line, that look like its token.
pub(super) fn add_tokens_near(
    text: &[u8],
    hit: Range<usize>,
    found: &mut Vec<Secret>,
    kind: &'static str,
    is_token: fn(&[u8]) -> bool,
) {
    const NEAR: usize = 200;
    let line = scan::line_from(text, hit.end, NEAR);
    let mut place = line.start;
    while place < line.end {
        let end = DOTTED.run_end(&text[..line.end], place);
        add_if_secret(found, place..end, kind, is_token(&text[place..end]));
        place = end + 1;
    }
}
