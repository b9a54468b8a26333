//! Finds secrets in HTTP headers: `Authorization` credentials, cookies, sessions and signatures.
//!
//! A header can be written as in HTTP, as an object member, or as two arguments of a call. `assign`
//! handles headers named after a key, a token or a secret.

use std::ops::Range;

use super::Secret;
use super::names;
use super::scan::{
    self, ALNUM, BASE64, DOTTED, TOKEN68, URL64, at, end_while, quote, skip_blanks, skip_quote,
};
use super::value;

/// How many bytes of a value are examined to decide whether it is a secret.
const MAX_EXAMINED: usize = 256;

/// Returns the start of a header's value: `Name: value`, `"Name": "value"`, `("Name", "value")`.
pub(super) fn value_of(text: &[u8], name: usize) -> Option<usize> {
    let closed = skip_quote(text, name);
    let closed = end_while(text, closed, |byte| byte == b']');
    let sign = skip_blanks(text, closed);
    let end = end_while(text, sign, |byte| b":=,>".contains(&byte));
    let start = skip_spaces(text, end);
    let prefix = end_while(text, start, |byte| b"bfru".contains(&byte));
    let opened = quote(text, start).or_else(|| quote(text, prefix).filter(|_| prefix < start + 3));
    (end > sign).then(|| opened.map_or(start, |(_, inside)| inside))
}

/// Skips blanks, also escaped ones as in the shell's `Authorization:\ Bearer`.
fn skip_spaces(text: &[u8], from: usize) -> usize {
    let place = skip_blanks(text, from);
    let escaped = end_while(text, place, |byte| byte == b'\\');
    match escaped > place && at(text, escaped) == b' ' {
        true => skip_blanks(text, escaped),
        false => place,
    }
}

/// Schemes that only a credential can follow. Any other word may start a sentence.
const SCHEMES: &[&str] = &[
    "apikey", "api-key", "basic", "bearer", "bot", "dpop", "jwt", "key", "oauth", "ssws", "token",
];

/// Adds the credentials of an `Authorization` header: `scheme credentials`, `scheme name=value, …`,
/// or a single value.
pub(super) fn authorization(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let Some(start) = value_of(text, hit.end) else { return };
    let end = ALNUM.with(b"-").run_end_within(text, start, MAX_EXAMINED);
    let scheme = &text[start..end];
    let from = skip_spaces(text, end);
    if from == end || value::is_hash(scheme) {
        return add_credentials(text, start, "authorization", 16, found);
    }
    if is_parameter(text, from) {
        return add_parameters(text, from, found);
    }
    let is_scheme = |known: &&str| scheme.eq_ignore_ascii_case(known.as_bytes());
    let is_basic = is_scheme(&"basic");
    if is_basic {
        login(text, from..from, found);
    }
    let kind = if is_basic { "basic-auth" } else { "bearer-token" };
    match SCHEMES.iter().any(is_scheme) {
        true => add_expected_credentials(text, from, kind, found),
        false => add_credentials(text, from, kind, 8, found),
    }
}

/// Characters of credentials; a colon separates a name from its key.
const CREDENTIALS: scan::Alphabet = TOKEN68.with(b":");

/// Adds the credentials that start here, if they look random or are a hash.
fn add_credentials(
    text: &[u8],
    from: usize,
    kind: &'static str,
    least: usize,
    found: &mut Vec<Secret>,
) {
    let judged = &text[from..CREDENTIALS.run_end_within(text, from, MAX_EXAMINED)];
    let is_secret = value::is_random(judged, least) || judged.split(is_colon).any(value::is_hash);
    let range = from..CREDENTIALS.run_end(text, from);
    add_if_secret(found, range, kind, is_secret && !value::is_placeholder(judged));
}

fn is_colon(byte: &u8) -> bool {
    *byte == b':'
}

/// Adds the credentials that start here, in a place for nothing else: a quoted word counts too.
fn add_expected_credentials(text: &[u8], from: usize, kind: &'static str, found: &mut Vec<Secret>) {
    let end = CREDENTIALS.run_end(text, from);
    let judged = &text[from..end.min(from + MAX_EXAMINED)];
    let is_quoted = quote(text, end).is_some();
    let is_word = is_quoted && judged.len() >= 8 && !value::is_harmless(judged);
    let is_credential = |part: &[u8]| value::is_credential(part, 6);
    add_if_secret(found, from..end, kind, is_word || judged.split(is_colon).any(is_credential));
}

/// Adds the token of `Bearer …`, anywhere in a text.
pub(super) fn bearer(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    add_credentials(text, hit.end, "bearer-token", 16, found);
}

/// Adds a session id in its own header. The id is enough to log in.
pub(super) fn session(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let Some(from) = value_of(text, hit.end) else { return };
    add_credentials(text, from, "token", 16, found);
}

/// Adds the signature in an application's own header: `X-Hub-Signature-256: sha256=…`. `web`
/// handles a signature after `=`, in a URL query.
pub(super) fn signature(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    const LONGEST_SCHEME: usize = 8;
    let Some(name) = names::name_around(text, hit.clone()) else { return };
    let version = &text[hit.end..name.end];
    let is_header = scan::matches_at(text, name.start, "x-")
        && (version.is_empty() || version.iter().any(u8::is_ascii_digit))
        && at(text, name.end) != b'=';
    let Some(start) = value_of(text, name.end).filter(|_| is_header) else { return };
    let scheme = ALNUM.run_end_within(text, start, LONGEST_SCHEME);
    let from = if at(text, scheme) == b'=' { scheme + 1 } else { start };
    add_credentials(text, from, "signature", 16, found);
}

/// Parameters of `Authorization` that are not secret.
const PUBLIC: &[&str] = &[
    "algorithm",
    "charset",
    "created",
    "expires",
    "headers",
    "id",
    "keyid",
    "nc",
    "oauth_signature_method",
    "oauth_timestamp",
    "oauth_version",
    "qop",
    "realm",
    "signedheaders",
    "ts",
    "uri",
    "username",
    "version",
];

/// Returns whether `name=value` starts here. The `=` padding of base64 has no value after it.
fn is_parameter(text: &[u8], from: usize) -> bool {
    let sign = URL64.run_end_within(text, from, MAX_EXAMINED);
    let value = at(text, sign + 1);
    sign > from
        && at(text, sign) == b'='
        && (BASE64.has(value) && value != b'=' || quote(text, sign + 1).is_some())
}

/// Adds the secret values among the parameters that start here.
fn add_parameters(text: &[u8], from: usize, found: &mut Vec<Secret>) {
    const MOST: usize = 32;
    let mut name = from;
    for _ in 0..MOST {
        if !is_parameter(text, name) {
            return;
        }
        let sign = URL64.run_end(text, name);
        let given = parameter(text, sign + 1);
        let is_public =
            PUBLIC.iter().any(|public| text[name..sign].eq_ignore_ascii_case(public.as_bytes()));
        let judged = &text[given.start..given.end.min(given.start + MAX_EXAMINED)];
        let is_secret = !is_public && value::is_credential(judged, 6);
        let end = skip_quote(text, given.end);
        add_if_secret(found, given, "authorization", is_secret);
        name = end_while(text, end, |byte| matches!(byte, b' ' | b'\t' | b','));
    }
}

/// Returns the range of a parameter's value.
fn parameter(text: &[u8], from: usize) -> Range<usize> {
    match quote(text, from) {
        Some((quote, from)) => from..quote.closing_position(text, from),
        None => from..end_while(text, from, |byte| byte > b' ' && !b"\"'`\\,".contains(&byte)),
    }
}

/// Adds `user:password` in base64 after `Basic `.
pub(super) fn login(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    const MOST: usize = 1024;
    let end = BASE64.run_end_within(text, hit.end, MOST);
    add_if_secret(found, hit.end..end, "basic-auth", is_login(&text[hit.end..end]));
}

/// Adds a base64 login in an `"auth"` entry, as in the config files of container registries. The
/// keyword includes the closing quote of the name.
pub(super) fn auth_entry(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let Some(from) = value_of(text, hit.end) else { return };
    login(text, from..from, found);
}

/// Returns whether this is base64 of printable text with a colon.
fn is_login(given: &[u8]) -> bool {
    let Some(plain) = decode_base64(given) else { return false };
    plain.len() >= 5
        && plain.contains(&b':')
        && plain.iter().all(|byte| (b' '..=b'~').contains(byte))
}

fn decode_base64(given: &[u8]) -> Option<Vec<u8>> {
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

/// Adds the secret values of a `Cookie` or `Set-Cookie` header, or of a `cookies` object.
pub(super) fn cookie(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let name = if at(text, hit.end) == b's' { hit.end + 1 } else { hit.end };
    let Some(start) = value_of(text, name) else { return option(text, hit, found) };
    match at(text, start) {
        b'{' => add_members(text, start, found),
        _ => add_cookies(text, start, found),
    }
}

/// Adds the secret values of `--cookie "name=value"`.
fn option(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    if text[..hit.start].ends_with(b"--") {
        add_cookies(text, skip_quote(text, skip_blanks(text, hit.end)), found);
    }
}

/// How many bytes of a header are read.
const LONGEST: usize = 2048;

/// Adds the secret values among the cookies that start here: `name=value; name=value`.
pub(super) fn add_cookies(text: &[u8], from: usize, found: &mut Vec<Secret>) {
    let most = text.len().min(from + LONGEST);
    let mut place = from;
    loop {
        let name = skip_blanks(text, place);
        let sign = DOTTED.run_end(&text[..most], name);
        if at(text, sign) != b'=' {
            return;
        }
        let end = add_cookie_value(text, name..sign, sign + 1, found);
        if at(text, end) != b';' {
            return;
        }
        place = end + 1;
    }
}

/// Adds the secret values among an object's members: `{"name": "value"}`.
fn add_members(text: &[u8], object: usize, found: &mut Vec<Secret>) {
    let most = text.len().min(object + LONGEST);
    let mut place = object;
    while place < most && matches!(at(text, place), b'{' | b',') {
        let name = end_while(text, place + 1, |byte| byte.is_ascii_whitespace());
        let name = skip_quote(text, name);
        let end = DOTTED.run_end(&text[..most], name);
        let Some(start) = value_of(text, end) else { return };
        place = skip_quote(text, add_cookie_value(text, name..end, start, found));
    }
}

/// Adds the value that starts here if it is a secret, and returns its end.
fn add_cookie_value(
    text: &[u8],
    name: Range<usize>,
    from: usize,
    found: &mut Vec<Secret>,
) -> usize {
    let is_inside = |byte: u8| byte > b' ' && !b";,\"'`\\".contains(&byte);
    let judged = end_while(&text[..text.len().min(from + MAX_EXAMINED)], from, is_inside);
    let is_secret = is_cookie_secret(&text[name], &text[from..judged]);
    let end = if is_secret { end_while(text, judged, is_inside) } else { judged };
    add_if_secret(found, from..end, "cookie", is_secret);
    end
}

fn is_cookie_secret(name: &[u8], given: &[u8]) -> bool {
    let opens = |part: &&str| scan::position(name, part).is_some();
    let is_session = || ["sess", "sid", "auth", "token", "jwt"].iter().any(opens);
    let is_credential = || is_session() && value::is_credential(given, 8);
    let is_random = value::is_random(given, 16) || value::is_hash(given) || is_credential();
    is_random && !value::is_harmless(given)
}

pub(super) fn add_if_secret(
    found: &mut Vec<Secret>,
    range: Range<usize>,
    kind: &'static str,
    is_secret: bool,
) {
    found.extend((is_secret && !range.is_empty()).then_some(Secret { range, kind }));
}
