//! Secrets out of a text, before anything of it is stored.
//!
//! The keywords of all rules are looked for in a single pass. A rule is asked only where its
//! keyword stands, and looks only around it: a text without keywords costs that pass and is not
//! copied. The rules are tables (`rules`, `names`) and small readers written by hand: compiling a
//! regex for each would cost more time and code than all of this.
//!
//! What counts as a secret is documented where it is judged: `value` says which values are
//! references or placeholders and stay, `names` which names announce a secret.

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

/// What a redacted secret begins with; its kind and `]` follow.
const MARK: &str = "[redacted:";

/// A secret found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Its bytes in the text; never within a character.
    pub range: Range<usize>,
    /// What it is, as it stands in the redacted text: `github-token`.
    pub kind: &'static str,
}

/// The text with every secret replaced by `[redacted:<kind>]`.
///
/// Of an assignment, a header or an address only the value goes, so that the text stays readable.
/// Redacting again changes nothing: what is left is looked at again until nothing more is found.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut redacted = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        let secrets = secrets(&redacted);
        if secrets.is_empty() {
            break;
        }
        redacted = Cow::Owned(without(&redacted, &secrets));
    }
    redacted
}

/// The value of an object's member without secrets. Its name says whether a value is one that looks
/// like anything else.
pub fn redact_member<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    let mut announces = false;
    keywords::each(name.as_bytes(), |_, _| announces = true);
    if !announces {
        return redact(value);
    }
    let before = format!("\"{name}\": \"");
    let member = format!("{before}{value}\"");
    let redacted = redact(&member);
    let inside = redacted.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix('"'));
    Cow::Owned(redact(inside.unwrap_or(value)).into_owned())
}

/// A second round finds nothing unless one secret's end made the next one visible. Only a text made
/// to waste time needs more than a few.
const ROUNDS: usize = 8;

/// The secrets of a text, in its order and apart from each other.
pub fn secrets(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    keywords::each(bytes, |rule, hit| {
        if !is_known(&found, hit.start) {
            rule.find(bytes, hit, &mut found);
        }
    });
    chat::discord_tokens(bytes, &mut found);
    apart(bytes, found)
}

/// Whether a place is in a secret whose kind is known. Looking again at every keyword within one
/// would make a long secret cost the square of its length.
fn is_known(found: &[Secret], place: usize) -> bool {
    found.last().is_some_and(|last| place < last.range.end && !names::is_general(last.kind))
}

/// Overlapping finds become one, of the kind that says most. What begins with a mark is done.
fn apart(text: &[u8], mut found: Vec<Secret>) -> Vec<Secret> {
    found.retain(|secret| !text[secret.range.clone()].starts_with(MARK.as_bytes()));
    found.sort_by_key(|secret| (secret.range.start, secret.range.end));
    let mut apart: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match apart.last_mut().filter(|last| secret.range.start < last.range.end) {
            None => apart.push(secret),
            Some(last) => {
                last.range.end = last.range.end.max(secret.range.end);
                if names::is_general(last.kind) {
                    last.kind = secret.kind;
                }
            }
        }
    }
    apart
}

fn without(text: &str, secrets: &[Secret]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut from = 0;
    for Secret { range, kind } in secrets {
        redacted.push_str(&text[from..range.start]);
        redacted.push_str(MARK);
        redacted.push_str(kind);
        redacted.push(']');
        from = range.end;
    }
    redacted.push_str(&text[from..]);
    redacted
}

#[cfg(test)]
mod tests;
