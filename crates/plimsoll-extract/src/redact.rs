//! Removes secrets from a text before anything of it is stored.
//!
//! One pass looks for the keywords of all rules. A rule runs only at its keyword and looks only
//! around it, so a text without keywords costs one pass and is not copied. The rules are tables
//! (`rules`, `names`) and small hand-written readers: compiling a regex per rule would cost more
//! time and code than all of this module.
//!
//! `value` documents which values are references or placeholders and stay; `names` documents which
//! names announce a secret.

mod assign;
mod chat;
mod header;
mod keywords;
mod kube;
mod names;
mod pem;
mod rules;
mod scan;
mod shell;
mod token;
mod value;
mod web;

use std::borrow::Cow;
use std::ops::Range;

/// Start of the marker that replaces a secret; the secret's kind and `]` follow.
const MARKER: &str = "[redacted:";

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// The kind named in the redacted text, such as `github-token`.
    pub kind: &'static str,
}

/// Replaces every secret in a text with `[redacted:<kind>]`.
///
/// In an assignment, a header or a URL only the value is replaced, so that the text stays readable.
/// The function repeats until it finds no more secrets, so redacting its result changes nothing.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut redacted = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        let secrets = secrets(&redacted);
        if secrets.is_empty() {
            break;
        }
        redacted = Cow::Owned(replace_secrets(&redacted, &secrets));
    }
    redacted
}

/// Redacts the value of an object member. The name can mark a value as a secret that looks harmless
/// on its own.
pub fn redact_member<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    let mut announces = false;
    keywords::for_each_match(name.as_bytes(), |_, _| announces = true);
    if !announces {
        return redact(value);
    }
    let before = format!("\"{name}\": \"");
    let member = format!("{before}{value}\"");
    let redacted = redact(&member);
    let inside = redacted.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix('"'));
    Cow::Owned(redact(inside.unwrap_or(value)).into_owned())
}

/// Limit on the passes of [`redact`]. A second pass finds something only if removing one secret
/// exposed another; only a text built to waste time needs more than a few.
const MAX_PASSES: usize = 8;

/// Returns the secrets of a text, in order and without overlaps.
pub fn secrets(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    keywords::for_each_match(bytes, |rule, hit| {
        if !is_in_specific_secret(&found, hit.start) {
            rule.find(bytes, hit, &mut found);
        }
    });
    chat::discord_tokens(bytes, &mut found);
    merge_overlaps(bytes, found)
}

/// Returns whether a position is inside the last secret and that secret's kind is specific.
/// Examining every keyword inside a long secret would take quadratic time.
fn is_in_specific_secret(found: &[Secret], place: usize) -> bool {
    found.last().is_some_and(|last| place < last.range.end && !names::is_class_kind(last.kind))
}

/// Merges overlapping secrets into one with the most specific kind, and drops those that start with
/// a redaction marker.
fn merge_overlaps(text: &[u8], mut found: Vec<Secret>) -> Vec<Secret> {
    found.retain(|secret| !text[secret.range.clone()].starts_with(MARKER.as_bytes()));
    found.sort_by_key(|secret| (secret.range.start, secret.range.end));
    let mut apart: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match apart.last_mut().filter(|last| secret.range.start < last.range.end) {
            None => apart.push(secret),
            Some(last) => {
                last.range.end = last.range.end.max(secret.range.end);
                if names::is_class_kind(last.kind) {
                    last.kind = secret.kind;
                }
            }
        }
    }
    apart
}

fn replace_secrets(text: &str, secrets: &[Secret]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut from = 0;
    for Secret { range, kind } in secrets {
        redacted.push_str(&text[from..range.start]);
        redacted.push_str(MARKER);
        redacted.push_str(kind);
        redacted.push(']');
        from = range.end;
    }
    redacted.push_str(&text[from..]);
    redacted
}

#[cfg(test)]
mod tests;
