//! Secrets of the web: in addresses, `Authorization` and `Cookie` headers, webhooks.

use std::ops::Range;

use super::Secret;
use super::scan::{self, ALNUM, BASE64, DOTTED, HEX, TOKEN68, URL64, at, end_while, skip_blanks};
use super::value;

/// The password of `scheme://user:password@host`, or the token of `scheme://token@host`.
///
/// Here every password goes, also one that everybody knows: nothing else can stand in its place.
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
        None => value::is_random(secret, 16),
    };
    let kind = match scan::position(&authority[host..], "sentry").is_some() {
        true => "sentry-dsn",
        false => "password",
    };
    if is_secret {
        found.push(Secret { range: hit.end + host - secret.len()..hit.end + host, kind });
    }
}

/// `***`, `xxx`, `...`
fn is_masked(secret: &[u8]) -> bool {
    secret.iter().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'))
}

/// How much of a value is looked at before it is known for a secret.
const JUDGED: usize = 256;

/// The credentials of an `Authorization` header, in HTTP, JSON or code.
pub(super) fn authorization(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let Some(scheme) = header_value(text, hit.end) else { return };
    let end = ALNUM.with(b"-").run_within(text, scheme, JUDGED);
    let value = skip_blanks(text, end);
    if value == end {
        return credentials(text, scheme, "authorization", 16, found);
    }
    let is_basic = text[scheme..end].eq_ignore_ascii_case(b"basic");
    if is_basic {
        login(text, value..value, found);
    }
    let kind = if is_basic { "basic-auth" } else { "bearer-token" };
    credentials(text, value, kind, 8, found);
}

/// Takes what begins here, if it is random.
fn credentials(
    text: &[u8],
    from: usize,
    kind: &'static str,
    least: usize,
    found: &mut Vec<Secret>,
) {
    let judged = &text[from..TOKEN68.run_within(text, from, JUDGED)];
    let is_secret = value::is_random(judged, least) && !value::is_placeholder(judged);
    if is_secret {
        found.push(Secret { range: from..TOKEN68.run(text, from), kind });
    }
}

/// Where the value of a header begins: `Name: value`, `"Name": "value"`, `("Name", "value")`.
pub(super) fn header_value(text: &[u8], name: usize) -> Option<usize> {
    let closed = scan::skip_quote(text, name);
    let closed = end_while(text, closed, |byte| byte == b']');
    let sign = skip_blanks(text, closed);
    let end = end_while(text, sign, |byte| b":=,>".contains(&byte));
    let value = scan::skip_quote(text, skip_blanks(text, end));
    (end > sign).then_some(value)
}

/// `Bearer …` wherever it stands.
pub(super) fn bearer(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    credentials(text, hit.end, "bearer-token", 16, found);
}

/// `user:password` in base64 behind `Basic `.
pub(super) fn login(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    const MOST: usize = 1024;
    let end = BASE64.run_within(text, hit.end, MOST);
    push(found, hit.end..end, "basic-auth", is_login(&text[hit.end..end]));
}

/// The same as an entry `"auth"`, as in the files of container registries; the keyword ends in
/// the name's closing quote.
pub(super) fn auth_entry(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let Some(from) = header_value(text, hit.end) else { return };
    login(text, from..from, found);
}

/// Whether this is printable text with a colon, in base64.
fn is_login(given: &[u8]) -> bool {
    let Some(plain) = decoded(given) else { return false };
    plain.len() >= 5
        && plain.contains(&b':')
        && plain.iter().all(|byte| (b' '..=b'~').contains(byte))
}

fn decoded(given: &[u8]) -> Option<Vec<u8>> {
    if !given.len().is_multiple_of(4) {
        return None;
    }
    let digits = given.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let mut plain = Vec::with_capacity(digits);
    let (mut bits, mut held) = (0_u32, 0);
    for digit in &given[..digits] {
        bits = bits << 6 | sextet(*digit)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            plain.push((bits >> held) as u8);
        }
    }
    Some(plain)
}

fn sextet(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

/// The values of a `Cookie` or `Set-Cookie` header that are more than a preference.
pub(super) fn cookie(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    const MOST: usize = 2048;
    let Some(mut place) = header_value(text, hit.end) else { return };
    let most = text.len().min(place + MOST);
    loop {
        let name = skip_blanks(text, place);
        let sign = DOTTED.run(&text[..most], name);
        if at(text, sign) != b'=' {
            return;
        }
        let is_inside = |byte: u8| byte > b' ' && !b";,\"'`\\".contains(&byte);
        let judged = end_while(&text[..text.len().min(sign + JUDGED)], sign + 1, is_inside);
        let is_secret = is_cookie_secret(&text[name..sign], &text[sign + 1..judged]);
        let end = if is_secret { end_while(text, judged, is_inside) } else { judged };
        push(found, sign + 1..end, "cookie", is_secret);
        if at(text, end) != b';' {
            return;
        }
        place = end + 1;
    }
}

fn is_cookie_secret(name: &[u8], given: &[u8]) -> bool {
    let opens = |part: &&str| scan::position(name, part).is_some();
    let is_session = || ["sess", "sid", "auth", "token", "jwt"].iter().any(opens);
    let is_random = value::is_random(given, 16) || value::is_random(given, 8) && is_session();
    is_random && !value::stands_for_another(given)
}

/// The secret part of a webhook's address: all of the path behind what its service calls it.
pub(super) fn webhook(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let end = URL64.with(b"/@").run(text, hit.end);
    let given = &text[hit.end..end];
    push(
        found,
        hit.end..end,
        "webhook",
        value::is_random(given, 16) && !value::is_placeholder(given),
    );
}

/// A bot's token near the name of its service: three parts, the first the bot's number in base64.
pub(super) fn discord(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    near(text, hit, found, "discord-token", |word| {
        let lengths: Vec<_> = word.split(|byte| *byte == b'.').map(<[u8]>::len).collect();
        matches!(lengths[..], [23..=28, 6..=7, 27..=45])
    });
}

/// A key near the name of its service: `SK` and thirty-two hexadecimal digits.
pub(super) fn twilio(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    near(text, hit, found, "twilio-secret", |word| {
        word.len() == 34 && word.starts_with(b"SK") && HEX.run(word, 2) == word.len()
    });
}

/// Words behind the name of a service, in its line, that look like a token of it.
fn near(
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
        let end = DOTTED.run(&text[..line.end], place);
        push(found, place..end, kind, is_token(&text[place..end]));
        place = end + 1;
    }
}

fn push(found: &mut Vec<Secret>, range: Range<usize>, kind: &'static str, is_secret: bool) {
    found.extend((is_secret && !range.is_empty()).then_some(Secret { range, kind }));
}
