//! Finds tokens of chat services: bots and webhooks.

use std::ops::Range;

use super::Secret;
use super::header::add_if_secret;
use super::scan::{self, DIGIT, URL64, at};
use super::{value, web};

/// Adds the secret part of a webhook URL: the whole path after the fixed prefix.
pub(super) fn webhook(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let end = URL64.with(b"/@").run_end(text, hit.end);
    let given = &text[hit.end..end];
    let has_hash = || given.split(|byte| b"/@".contains(byte)).any(value::is_hash);
    let is_secret = value::is_random(given, 16) || has_hash();
    add_if_secret(found, hit.end..end, "webhook", is_secret && !value::is_placeholder(given));
}

/// Adds a Telegram bot's token in a URL: `/bot<number>:<key>`.
pub(super) fn telegram(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let colon = DIGIT.run_end(text, hit.end);
    let end = URL64.run_end(text, colon + 1);
    if colon < hit.end + 6 || at(text, colon) != b':' || end < colon + 16 {
        return;
    }
    let range = hit.end..end;
    let is_token = !value::is_placeholder(&text[range.clone()]);
    add_if_secret(found, range, "telegram-token", is_token);
}

/// Adds a Discord bot's token near the service's name.
pub(super) fn discord(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    web::add_tokens_near(text, hit, found, "discord-token", |word| token_parts(word).is_some());
}

/// Splits a Discord token into its parts: the bot's number in base64, the time, a signature.
fn token_parts(word: &[u8]) -> Option<[&[u8]; 3]> {
    let mut parts = word.split(|byte| *byte == b'.');
    let three = [parts.next()?, parts.next()?, parts.next()?];
    let lengths = three.map(<[u8]>::len);
    (parts.next().is_none() && matches!(lengths, [23..=28, 6..=7, 27..=45])).then_some(three)
}

/// Adds the Discord bot tokens anywhere in a text. They have no keyword, so the search looks for
/// their two dots, six characters apart.
pub(super) fn discord_tokens(text: &[u8], found: &mut Vec<Secret>) {
    const SHORTEST: usize = 23 + 1 + 6 + 1 + 27;
    const CHUNK: usize = 128;
    const NEXT: usize = 7;
    if text.len() < SHORTEST {
        return;
    }
    let is_pair = |part: &[u8], at: usize| (part[at] == b'.') & (part[at + NEXT] == b'.');
    let mut take = |dots: Range<usize>| {
        dots.filter(|dot| is_pair(text, *dot)).for_each(|dot| discord_token(text, dot, found));
    };
    let mut start = 0;
    while let Some(part) = text[start..].first_chunk::<{ CHUNK + NEXT }>() {
        // A loop without an early exit lets the compiler test many bytes at a time.
        if (0..CHUNK).fold(false, |any, at| any | is_pair(part, at)) {
            take(start..start + CHUNK);
        }
        start += CHUNK;
    }
    take(start..text.len() - NEXT);
}

/// Adds the Discord token whose first dot is here.
fn discord_token(text: &[u8], dot: usize, found: &mut Vec<Secret>) {
    const LONGEST: usize = 46;
    let start = scan::skip_escape_letter(text, URL64.run_start(text, dot, LONGEST)).min(dot);
    let second = URL64.run_end_within(text, dot + 1, LONGEST);
    if at(text, second) != b'.' {
        return;
    }
    let end = URL64.run_end_within(text, second + 1, LONGEST);
    let is_token = token_parts(&text[start..end]).is_some_and(|[number, _, signature]| {
        let is_drawn = || {
            matches!(number[0], b'M' | b'N' | b'O')
                && [number, signature].into_iter().all(value::has_mixed_character_classes)
        };
        is_number(number) || is_drawn()
    });
    add_if_secret(
        found,
        start..end,
        "discord-token",
        is_token && !value::is_placeholder(&text[start..end]),
    );
}

/// Returns whether this is a decimal number encoded in base64.
fn is_number(part: &[u8]) -> bool {
    part.chunks(4).all(|group| {
        let [first, second, rest @ ..] = group else { return false };
        matches!(first, b'M' | b'N' | b'O')
            && matches!(second, b'D' | b'T' | b'j' | b'z' | b'A' | b'Q' | b'g' | b'w')
            && rest.first().is_none_or(|third| b"AEIMQUYcgk".contains(third))
            && rest.get(1).is_none_or(|fourth| b"wxyz012345".contains(fourth))
    })
}
