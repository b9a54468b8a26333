//! Finds values assigned to names that announce a secret: in environment files, JSON, YAML, TOML,
//! INI, code, headers, URLs, command lines and sentences.

use std::ops::Range;

use super::Secret;
use super::names::{self, SecretClass};
use super::scan::{self, at, end_while, skip_blanks};
use super::{value, web};

/// How a value is written, from the most to the least certain form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueForm {
    /// `NAME=value`, as in an environment file: any text can be the value.
    Variable,
    /// `name = "value"`, `"name": "value"`.
    Literal,
    /// `<name>value</name>`.
    Tagged,
    /// `name: value`, `--name value`: can be code or prose.
    Bare,
    /// `name("value")`, `name is value`: can be anything.
    Loose,
}

/// Adds the value of the name around a keyword, if it is a secret.
pub(super) fn find(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let is_done = found.last().is_some_and(|last| hit.start < last.range.end);
    found.extend(if is_done { None } else { assigned_secret(text, hit) });
}

/// Adds the value of a name that is just `key`, if the value can only be a secret: most keys are
/// harmless.
pub(super) fn find_key(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let is_named = matches!(at(text, hit.end), b'=' | b':' | b' ' | b'"' | b'\'' | b'\\');
    let is_done = found.last().is_some_and(|last| hit.start < last.range.end);
    if is_done || !is_named || names::name_around(text, hit.clone()).as_ref() != Some(&hit) {
        return;
    }
    let Some(link) = link(text, &hit) else { return };
    let Some((range, style)) = quoted(text, &link) else { return };
    if style == ValueForm::Literal && value::is_opaque(&text[range.clone()]) {
        found.push(Secret { range, kind: SecretClass::Key.kind() });
    }
}

fn assigned_secret(text: &[u8], hit: Range<usize>) -> Option<Secret> {
    let place = names::name_around(text, hit)?;
    let link = link(text, &place)
        .filter(|link| link.kind == LinkKind::Equals || !is_path(text, &place))?;
    let is_queried = link.kind == LinkKind::Equals && web::is_in_query(text, place.start);
    let name = str::from_utf8(&text[place]).ok()?;
    let class = names::class(name)?;
    let (range, style) = assigned_value(text, name, &link)?;
    let judged = &text[range.start..range.end.min(range.start + LONGEST)];
    let is_label = judged.eq_ignore_ascii_case(name.as_bytes());
    let is_place = is_queried || names::is_header(name) && link.kind != LinkKind::Word;
    let is_secret = is_secret(class, style, judged)
        || is_place && value::is_credential(judged, 8)
        || class == SecretClass::Password
            && style == ValueForm::Literal
            && is_phrase(text, &link, &range);
    if is_label || has_other_meaning(name, style, link.kind, judged) || !is_secret {
        return None;
    }
    let range = if is_truncated(&range, style) { extend_to_end(text, range, style) } else { range };
    Some(Secret { range, kind: names::kind(name, class) })
}

/// Returns whether a short name means something other than a password: `pass` is also a test
/// result, `pwd` a folder.
fn has_other_meaning(name: &str, style: ValueForm, link: LinkKind, given: &[u8]) -> bool {
    let is_set = link == LinkKind::Equals;
    match name.trim_start_matches('-').to_ascii_lowercase().as_str() {
        "pass" => !is_set && style != ValueForm::Literal || !value::is_password_like(given),
        "pwd" => !is_set || given.iter().any(|byte| matches!(byte, b'/' | b'\\')),
        _ => false,
    }
}

/// How many bytes of a value are examined to decide whether it is a secret.
const LONGEST: usize = 256;

/// Returns whether a name is the last part of a path: `/etc/passwd`.
fn is_path(text: &[u8], name: &Range<usize>) -> bool {
    text[..name.start].ends_with(b"/")
}

/// The connection between a name and its value.
struct NameLink {
    kind: LinkKind,
    /// Position of the value, or of its opening quote.
    value: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkKind {
    /// `=` with no blanks around it.
    Equals,
    /// `:`, `=>`, ` = ` and similar signs.
    Sign,
    /// A blank after an option or in a `.netrc`.
    Blank,
    /// `<name>`.
    Tag,
    /// `name is`, or a blank in prose.
    Word,
    /// `name(`, `"name",`: only a quoted value counts.
    Call,
}

/// Signs between a name and its value. A longer sign comes before its own prefixes.
const SIGNS: &[&str] =
    &["===", "!==", "||=", "??=", "==", "!=", ":=", "=>", "+=", "?=", "?:", "=", ":"];

fn link(text: &[u8], name: &Range<usize>) -> Option<NameLink> {
    let named = end_of_name(text, name.end);
    let from = skip_blanks(text, named);
    let is_tag = at(text, from) == b'>' && text[..name.start].ends_with(b"<");
    if is_tag {
        return Some(NameLink { kind: LinkKind::Tag, value: from + 1 });
    }
    let Some(sign) = SIGNS.iter().find(|sign| text[from..].starts_with(sign.as_bytes())) else {
        return loose_link(text, name, from);
    };
    let end = from + sign.len();
    let value = skip_blanks(text, end);
    let is_tight = from == named && value == end;
    match *sign {
        ":" if at(text, end) == b':' => None,
        "=" if is_tight => Some(NameLink { kind: LinkKind::Equals, value }),
        _ => Some(NameLink { kind: LinkKind::Sign, value: skip_type(text, value) }),
    }
}

/// Skips the closing quote and bracket of a name: `"name"`, `["name"]`.
fn end_of_name(text: &[u8], name: usize) -> usize {
    let quoted = scan::skip_quote(text, name);
    if at(text, quoted) == b']' { quoted + 1 } else { quoted }
}

/// Returns a link without a sign.
fn loose_link(text: &[u8], name: &Range<usize>, from: usize) -> Option<NameLink> {
    let link = |kind, value| Some(NameLink { kind, value: skip_blanks(text, value) });
    let is_quoted = scan::quote(text, name.end).is_some();
    match at(text, from) {
        b'(' => link(LinkKind::Call, from + 1),
        b',' if is_quoted => link(LinkKind::Call, from + 1),
        _ if scan::matches_at(text, from, "is ") => link(LinkKind::Word, from + 3),
        _ if from == name.end => None,
        _ if text[name.clone()].starts_with(b"-") || is_netrc(text, name.start) => {
            link(LinkKind::Blank, from)
        }
        _ => link(LinkKind::Word, from),
    }
}

/// Returns whether `login` occurs shortly before the name, as in a `.netrc`.
fn is_netrc(text: &[u8], name: usize) -> bool {
    scan::position(&text[name.saturating_sub(100)..name], "login ").is_some()
}

/// Skips a type annotation: `name: &str = "value"`.
fn skip_type(text: &[u8], from: usize) -> usize {
    let most = text.len().min(from + 40);
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b"&'<>[]_:| ".contains(&byte);
    let end = end_while(&text[..most], from, is_type);
    let value = skip_blanks(text, end + 1);
    let is_typed = at(text, end) == b'=' && scan::quote(text, value).is_some();
    if is_typed { value } else { from }
}

/// Returns the range of the value and the form it is written in.
fn assigned_value(text: &[u8], name: &str, link: &NameLink) -> Option<(Range<usize>, ValueForm)> {
    quoted(text, link).or_else(|| bare(text, name, link))
}

/// Returns a quoted value: directly, after a prefix (`b"…"`), or in a call (`Some("…")`).
fn quoted(text: &[u8], link: &NameLink) -> Option<(Range<usize>, ValueForm)> {
    let prefix = end_while(text, link.value, |byte| b"bfruL@".contains(&byte));
    let opened = scan::quote(text, link.value).or_else(|| scan::quote(text, prefix));
    let called = || scan::quote(text, end_of_call(text, link.value)?);
    let is_literal = opened.is_some() && !matches!(link.kind, LinkKind::Word | LinkKind::Call);
    let style = if is_literal { ValueForm::Literal } else { ValueForm::Loose };
    let (quote, from) = opened.or_else(called)?;
    Some((from..quote.closing_position(text, from), style))
}

fn bare(text: &[u8], name: &str, link: &NameLink) -> Option<(Range<usize>, ValueForm)> {
    let is_variable =
        link.kind == LinkKind::Equals && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let style = match link.kind {
        LinkKind::Call => return None,
        LinkKind::Word => ValueForm::Loose,
        LinkKind::Tag => ValueForm::Tagged,
        _ if is_variable => ValueForm::Variable,
        _ => ValueForm::Bare,
    };
    let most = text.len().min(link.value + LONGEST);
    let run = link.value..end_of_bare(&text[..most], link.value, style);
    let end = if is_truncated(&run, style) { run.end } else { trim_punctuation(text, run).end };
    let is_shortened = text[end..].starts_with(b"...");
    let is_given = match style {
        ValueForm::Tagged => end - link.value == LONGEST || text[end..].starts_with(b"</"),
        ValueForm::Variable => !is_call(text, link.value),
        _ => !matches!(at(text, end), b'(' | b'['),
    };
    (is_given && !is_shortened).then_some((link.value..end, style))
}

/// Returns the position of a call's first argument; `None` if no call starts here.
fn end_of_call(text: &[u8], from: usize) -> Option<usize> {
    let most = text.len().min(from + 40);
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:&! ".contains(&byte);
    let end = end_while(&text[..most], from, is_path);
    (end > from && at(text, end) == b'(').then_some(end + 1)
}

/// Returns whether this is a call without arguments. A call with a quoted argument counts as a
/// quoted value.
fn is_call(text: &[u8], from: usize) -> bool {
    end_of_call(text, from).is_some_and(|argument| at(text, argument) == b')')
}

/// Returns the end of an unquoted value. A variable's value extends to the next blank.
fn end_of_bare(text: &[u8], from: usize, style: ValueForm) -> usize {
    let others: &[u8] = if style == ValueForm::Variable { b"" } else { b",&(){}[]<>|" };
    let is_inside = |byte: u8| {
        byte > b' ' && byte != 0x7f && !b"\"'`;\\".contains(&byte) && !others.contains(&byte)
    };
    end_while(text, from, is_inside)
}

/// Drops punctuation that ends a sentence or a list item.
fn trim_punctuation(text: &[u8], run: Range<usize>) -> Range<usize> {
    let stops = text[run.clone()].iter().rev().take_while(|byte| b".,:".contains(byte));
    run.start..run.end - stops.count()
}

/// Returns whether only part of an unquoted value was examined.
fn is_truncated(run: &Range<usize>, style: ValueForm) -> bool {
    style != ValueForm::Literal && run.len() == LONGEST
}

/// Extends a partly examined value to its end.
fn extend_to_end(text: &[u8], part: Range<usize>, style: ValueForm) -> Range<usize> {
    trim_punctuation(text, part.start..end_of_bare(text, part.end, style))
}

fn is_secret(class: SecretClass, style: ValueForm, given: &[u8]) -> bool {
    let looks_so = match (class, style) {
        (_, ValueForm::Loose) => value::is_random(given, 12),
        (SecretClass::Password, _) => is_password(style, given),
        (_, ValueForm::Variable) => is_variable_secret(given),
        _ => value::is_random(given, 8),
    };
    (looks_so || value::is_hash(given)) && !value::is_harmless(given)
}

fn is_password(style: ValueForm, given: &[u8]) -> bool {
    let is_label = given.iter().any(u8::is_ascii_whitespace) || is_title(given);
    match style {
        ValueForm::Variable => given.len() >= 4 && !is_constant(given),
        ValueForm::Literal | ValueForm::Tagged => {
            given.len() >= 4
                && !is_label
                && (value::is_password_like(given) || is_plain_word(given))
        }
        _ => {
            given.len() >= 6
                && (value::is_password_like(given) || value::is_random(given, 8))
                && !value::is_code_name(given)
        }
    }
}

/// Words that occur in labels about passwords, not in passwords.
const LABELS: &[&str] = &[
    "cannot",
    "characters",
    "choose",
    "confirm",
    "current",
    "enter",
    "field",
    "forgot",
    "hide",
    "incorrect",
    "invalid",
    "least",
    "match",
    "minimum",
    "missing",
    "must",
    "new",
    "not",
    "old",
    "password",
    "passwords",
    "passwort",
    "please",
    "repeat",
    "required",
    "reset",
    "show",
    "too",
    "type",
    "user",
    "username",
    "wrong",
    "your",
];

/// Returns whether a quoted value is a passphrase of several words. After a `:` it may be a label
/// in any language, so one of its words must look unlike prose.
fn is_phrase(text: &[u8], link: &NameLink, range: &Range<usize>) -> bool {
    const STOPS: [char; 6] = ['.', '?', '!', ':', ',', ';'];
    let Ok(given) = str::from_utf8(&text[range.clone()]) else { return false };
    let is_whole = given.trim() == given && scan::quote(text, range.end).is_some();
    let is_set = text[..link.value].trim_ascii_end().ends_with(b"=");
    let words: Vec<&str> = given.split_whitespace().collect();
    let is_label = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        LABELS.iter().any(|label| word.eq_ignore_ascii_case(label))
    };
    let is_odd = |word: &&str| {
        let word = word.trim_end_matches(STOPS);
        let is_joined = word.contains('_') && word.bytes().any(|byte| byte.is_ascii_alphabetic());
        is_joined || value::is_password_like(word.as_bytes())
    };
    (2..=12).contains(&words.len())
        && (8..=LONGEST).contains(&given.len())
        && is_whole
        && (words.iter().any(is_odd) || is_set && words.len() > 2 && !given.ends_with(STOPS))
        && !words.iter().any(is_label)
        && !value::is_harmless(given.as_bytes())
}

/// Returns whether this is a capitalized word such as `Password`, a form's label.
fn is_title(given: &[u8]) -> bool {
    given.first().is_some_and(u8::is_ascii_uppercase)
        && given.iter().skip(1).all(u8::is_ascii_lowercase)
}

/// Returns whether this is one word of letters only. A word with `-` or `_` is a name.
fn is_plain_word(given: &[u8]) -> bool {
    given.len() >= 6 && given.iter().all(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
}

/// Returns whether this is an upper-case constant name: `PASSWORD_FIELD`.
fn is_constant(given: &[u8]) -> bool {
    given.contains(&b'_') && given.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
}

fn is_variable_secret(given: &[u8]) -> bool {
    let is_path = given.iter().any(|byte| b"/.:".contains(byte));
    let is_number = given.iter().all(u8::is_ascii_digit);
    let is_phrase = given.len() >= 8 && !is_path && !is_number && !is_constant(given);
    is_phrase || value::is_random(given, 8)
}
