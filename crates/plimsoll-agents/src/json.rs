//! A JSON reader that skips values without decoding them.
//!
//! A reading needs a handful of fields out of megabytes of transcript. Decoding every value would
//! cost ten times as much. Values are slices of the input; the reader searches the inside of a
//! string for its closing quote and nothing else. It stops at invalid JSON, so callers must not
//! assume that skipped or later input is valid.

use std::borrow::Cow;

use plimsoll_core::bytes;

/// A value, as a slice of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Json<'a>(&'a [u8]);

impl<'a> Json<'a> {
    /// Reads the first value in `input`, after blanks. Also returns the rest of the input.
    pub(crate) fn first(input: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let input = skip_blanks(input);
        let (value, rest) = input.split_at(value_end(input)?);
        Some((Self(value), rest))
    }

    /// Wraps a value that was read before.
    pub(crate) fn of(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// Returns the bytes of the value.
    pub(crate) fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Returns the members of an object; empty for any other value.
    pub(crate) fn members(self) -> Members<'a> {
        Members(self.0.strip_prefix(b"{").unwrap_or_default())
    }

    /// Returns the elements of an array; empty for any other value.
    pub(crate) fn elements(self) -> Elements<'a> {
        Elements(self.0.strip_prefix(b"[").unwrap_or_default())
    }

    /// Returns the member called `key`.
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        self.members().find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| value)
    }

    /// Returns the inside of a string, with its escapes.
    pub(crate) fn escaped(self) -> Option<&'a [u8]> {
        self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// Returns a string without escapes, such as a name, an identifier or a time.
    pub(crate) fn plain(self) -> Option<&'a str> {
        let inside = self.escaped()?;
        if bytes::find(b'\\', inside).is_some() {
            return None;
        }
        std::str::from_utf8(inside).ok()
    }

    /// Decodes a string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self.plain() {
            Some(plain) => Some(Cow::Borrowed(plain)),
            None if self.escaped().is_some() => serde_json::from_slice(self.0).ok().map(Cow::Owned),
            None => None,
        }
    }

    /// Decodes the inside of a string. Drops incomplete characters and escapes at either end.
    pub(crate) fn decoded(inside: &'a [u8]) -> Cow<'a, str> {
        if bytes::find(b'\\', inside).is_none() {
            return String::from_utf8_lossy(inside);
        }
        let mut text = Vec::with_capacity(inside.len());
        decode(inside, |piece| text.extend_from_slice(piece));
        Cow::Owned(String::from_utf8(text).unwrap_or_else(|error| lossy(error.as_bytes())))
    }

    /// Calls `take` with every string in the value, at any depth, and the last key before it. One
    /// pass without recursion, so no depth can exhaust the stack.
    pub(crate) fn strings(self, mut take: impl FnMut(&'a [u8], &'a [u8])) {
        let (mut rest, mut key) = (self.0, &b""[..]);
        while let Some(quote) = bytes::find(b'"', rest) {
            let Some(end) = string_end(&rest[quote..]) else { return };
            let inside = &rest[quote + 1..quote + end - 1];
            rest = &rest[quote + end..];
            match skip_blanks(rest).first() {
                Some(b':') => key = inside,
                _ => take(key, inside),
            }
        }
    }

    /// Returns a non-negative integer.
    pub(crate) fn number(self) -> Option<u64> {
        let digit = |number: u64, byte: &u8| {
            let digit = byte.wrapping_sub(b'0');
            (digit < 10).then_some(digit)?;
            number.checked_mul(10)?.checked_add(digit.into())
        };
        (!self.0.is_empty()).then(|| self.0.iter().try_fold(0, digit))?
    }

    pub(crate) fn is_true(self) -> bool {
        self.0 == b"true"
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == b"null"
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Iterates over the members of an object in order: raw key and value.
pub(crate) struct Members<'a>(&'a [u8]);

impl<'a> Members<'a> {
    /// Starts to read the object in `input`, without searching for its end first.
    pub(crate) fn of(input: &'a [u8]) -> Option<Self> {
        skip_blanks(input).strip_prefix(b"{").map(Self)
    }

    /// Reads the next key. The reader is then in front of its value.
    pub(crate) fn key(&mut self) -> Option<&'a [u8]> {
        let input = skip_comma(self.0).strip_prefix(b"\"")?;
        let (key, rest) = input.split_at(key_end(input)?);
        let rest = &rest[1..];
        self.0 = rest.strip_prefix(b":").or_else(|| skip_blanks(rest).strip_prefix(b":"))?;
        Some(key)
    }

    /// Reads the value of the current key.
    pub(crate) fn value(&mut self) -> Option<Json<'a>> {
        let (value, rest) = Json::first(self.0)?;
        self.0 = rest;
        Some(value)
    }

    /// Reads the members of the current key's value; empty if it is not an object.
    pub(crate) fn fields(&mut self) -> Option<Fields<'a>> {
        let (fields, rest) = Fields::first(self.0)?;
        self.0 = rest;
        Some(fields)
    }

    /// Like [`Members::fields`], but skips the member `long` if it is a string followed by the key
    /// `next`. Nothing in between is read. `next` includes quotes and colon, so it cannot occur
    /// inside a string, where quotes are escaped.
    pub(crate) fn fields_without(&mut self, long: &[u8], next: &[u8]) -> Option<Fields<'a>> {
        let Some(mut members) = Members::of(self.0) else { return self.fields() };
        let mut fields = Vec::with_capacity(8);
        while let Some(key) = members.key() {
            if key != long || !members.skip_text(next) {
                fields.push((key, members.value()?));
            }
        }
        self.0 = members.behind()?;
        Some(Fields(fields))
    }

    /// Skips a string up to the key `next`. Returns `false` if there is no such key.
    fn skip_text(&mut self, next: &[u8]) -> bool {
        let is_text = self.0.first() == Some(&b'"');
        let Some(at) = bytes::position(next, self.0).filter(|_| is_text) else { return false };
        self.0 = &self.0[at..];
        true
    }

    /// Like [`Members::fields`], but also returns the members of each object in the array `list`,
    /// in the same pass.
    pub(crate) fn fields_with(&mut self, list: &[u8]) -> Option<(Fields<'a>, Vec<Fields<'a>>)> {
        let Some(mut members) = Members::of(self.0) else {
            return Some((self.fields()?, Vec::new()));
        };
        let (mut fields, mut objects) = (Vec::with_capacity(8), Vec::new());
        while let Some(key) = members.key() {
            let is_list = key == list;
            let value = if is_list { members.objects(&mut objects)? } else { members.value()? };
            fields.push((key, value));
        }
        self.0 = members.behind()?;
        Some((Fields(fields), objects))
    }

    /// Reads the value of the current key. If it is an array, also collects the members of its
    /// objects.
    fn objects(&mut self, into: &mut Vec<Fields<'a>>) -> Option<Json<'a>> {
        let input = skip_blanks(self.0);
        let Some(elements) = input.strip_prefix(b"[") else { return self.value() };
        let mut objects = Objects(elements);
        into.extend(objects.by_ref());
        self.0 = skip_blanks(objects.0).strip_prefix(b"]")?;
        Some(Json(&input[..input.len() - self.0.len()]))
    }

    /// Calls `take` for each member of the current key's value; never if it is not an object.
    /// `take` gets the key and the reader in front of the value, and must read or skip the value.
    #[inline]
    pub(crate) fn each(
        &mut self,
        mut take: impl FnMut(&'a [u8], &mut Self) -> Option<()>,
    ) -> Option<()> {
        let Some(mut members) = Members::of(self.0) else { return self.value().map(drop) };
        while let Some(key) = members.key() {
            take(key, &mut members)?;
        }
        self.0 = members.behind()?;
        Some(())
    }

    /// Calls `take` for each element of an array, with the reader in front of the element.
    #[inline]
    pub(crate) fn each_element(
        &mut self,
        mut take: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let Some(rest) = skip_blanks(self.0).strip_prefix(b"[") else {
            return self.value().map(drop);
        };
        let mut elements = Self(skip_blanks(rest));
        while !elements.0.starts_with(b"]") {
            take(&mut elements)?;
            elements.0 = skip_comma(elements.0);
        }
        self.0 = &elements.0[1..];
        Some(())
    }

    /// Returns the unread input.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Returns whether the object has been read to its end and nothing follows it.
    pub(crate) fn ended(&self) -> bool {
        self.behind().is_some_and(|rest| skip_blanks(rest).is_empty())
    }

    /// Returns the input after the object; `None` if the object has not been read to its end.
    fn behind(&self) -> Option<&'a [u8]> {
        skip_blanks(self.0).strip_prefix(b"}")
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.key()?, self.value()?))
    }
}

/// The members of an object, read once and looked up many times.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(&'a [u8], Json<'a>)>);

impl<'a> Fields<'a> {
    /// Reads the members of the first value in `input`, which are empty if it is not an object.
    /// Also returns the rest of the input.
    fn first(input: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let Some(mut members) = Members::of(input) else {
            let (_, rest) = Json::first(input)?;
            return Some((Self::default(), rest));
        };
        let mut fields = Vec::with_capacity(8);
        fields.extend(members.by_ref());
        Some((Self(fields), members.behind()?))
    }

    /// Returns the member called `key`.
    pub(crate) fn get(&self, key: &str) -> Option<Json<'a>> {
        self.0.iter().find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| *value)
    }
}

impl<'a> IntoIterator for Fields<'a> {
    type Item = (&'a [u8], Json<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Iterates over the elements of an array as objects. An element that is not an object has no
/// members.
struct Objects<'a>(&'a [u8]);

impl<'a> Iterator for Objects<'a> {
    type Item = Fields<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (fields, rest) = Fields::first(skip_comma(self.0))?;
        self.0 = rest;
        Some(fields)
    }
}

/// Iterates over the elements of an array.
pub(crate) struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (value, rest) = Json::first(skip_comma(self.0))?;
        self.0 = rest;
        Some(value)
    }
}

fn skip_blanks(mut input: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = input {
        input = rest;
    }
    input
}

fn skip_comma(input: &[u8]) -> &[u8] {
    // Fast path: nearly all JSON is written like this.
    if let [b',', b'"', ..] = input {
        return &input[1..];
    }
    let input = skip_blanks(input);
    input.strip_prefix(b",").map_or(input, skip_blanks)
}

/// Returns the end of the value at the start of `input`.
fn value_end(input: &[u8]) -> Option<usize> {
    match input.first()? {
        b'"' => string_end(input),
        b'{' | b'[' => nest_end(input),
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Some(word_end(input)),
        _ => None,
    }
}

/// Returns the end of the string at the start of `input`.
fn string_end(input: &[u8]) -> Option<usize> {
    Some(1 + closing_quote(&input[1..])? + 1)
}

/// Returns the index of the closing quote: the first one after an even number of backslashes.
/// `input` starts after the opening quote.
fn closing_quote(input: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let quote = from + bytes::find(b'"', &input[from..])?;
        let backslashes = input[..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// Like [`closing_quote`], but faster for short strings, as most keys are.
fn key_end(input: &[u8]) -> Option<usize> {
    let quote = bytes::find_near(b'"', input)?;
    if input[..quote].ends_with(b"\\") { closing_quote(input) } else { Some(quote) }
}

/// Returns the end of the object or array at the start of `input`. Counts the depth instead of
/// recursing, so no nesting can exhaust the stack.
fn nest_end(input: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match input.get(at)? {
            b'"' => {
                at += string_end(&input[at..])?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn word_end(input: &[u8]) -> usize {
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
    input.iter().position(ends).unwrap_or(input.len())
}

/// Decodes the inside of a string and passes it to `take` piece by piece.
pub(crate) fn decode(mut inside: &[u8], mut take: impl FnMut(&[u8])) {
    while let Some(at) = bytes::find(b'\\', inside) {
        take(&inside[..at]);
        let escape = &inside[at + 1..];
        let used = match escape.first() {
            Some(b'n') => one(b"\n", &mut take),
            Some(b't') => one(b"\t", &mut take),
            Some(b'r') => one(b"\r", &mut take),
            Some(b'b') => one(b"\x08", &mut take),
            Some(b'f') => one(b"\x0c", &mut take),
            Some(b'u') => unicode(escape, &mut take),
            Some(_) => one(&escape[..1], &mut take),
            None => 0,
        };
        inside = &escape[used..];
    }
    take(inside);
}

fn one(decoded: &[u8], take: &mut impl FnMut(&[u8])) -> usize {
    take(decoded);
    1
}

/// Decodes `uXXXX`, or two of them that form one character. Returns the number of bytes used.
fn unicode(escape: &[u8], take: &mut impl FnMut(&[u8])) -> usize {
    let unit = |at: usize| {
        let hex = std::str::from_utf8(escape.get(at + 1..at + 5)?).ok()?;
        u16::from_str_radix(hex, 16).ok()
    };
    let Some(first) = unit(0) else { return 1 };
    let second = (escape.get(5..7) == Some(b"\\u")).then(|| unit(6)).flatten();
    let units = [first, second.unwrap_or(0)];
    let mut decoded = char::decode_utf16(units);
    let character = decoded.next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
    take(character.encode_utf8(&mut [0; 4]).as_bytes());
    if character.len_utf16() == 2 { 11 } else { 5 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Rebuilds a value by reading it.
    fn walk(json: Json<'_>) -> Option<Value> {
        Some(match json.raw().first()? {
            b'{' => Value::Object(
                json.members()
                    .map(|(key, value)| {
                        let mut name = Vec::new();
                        decode(key, |piece| name.extend_from_slice(piece));
                        Some((String::from_utf8(name).ok()?, walk(value)?))
                    })
                    .collect::<Option<_>>()?,
            ),
            b'[' => Value::Array(json.elements().map(walk).collect::<Option<_>>()?),
            b'"' => Value::String(json.text()?.into_owned()),
            _ => serde_json::from_slice(json.raw()).ok()?,
        })
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\\\\\"nu\u{1F600}é {}\\[\\],:]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map("[a-z\\\\\"]{0,6}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn walking_a_value_gives_it_back(value in any_value(), pretty in any::<bool>()) {
            let written = match pretty {
                true => serde_json::to_vec_pretty(&value),
                false => serde_json::to_vec(&value),
            }.unwrap();
            let (json, rest) = Json::first(&written).unwrap();
            prop_assert!(rest.is_empty());
            prop_assert_eq!(walk(json), Some(value.clone()));
            if let Some(mut members) = Members::of(&written) {
                members.by_ref().for_each(drop);
                prop_assert!(members.ended());
                let torn = &written[..written.len() - 1];
                let mut members = Members::of(torn).unwrap();
                members.by_ref().for_each(drop);
                prop_assert!(!members.ended());
            }
        }

        #[test]
        fn no_bytes_make_the_walk_panic(mut input in any::<Vec<u8>>(), head in "[\\[{\"\\\\]{0,3}") {
            input.splice(0..0, head.bytes());
            Json::first(&input).and_then(|(json, _)| walk(json));
            decode(&input, |_| ());
        }
    }

    #[test]
    fn escapes_are_decoded() {
        let decoded = |inside: &str| {
            let mut bytes = Vec::new();
            decode(inside.as_bytes(), |piece| bytes.extend_from_slice(piece));
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(decoded(r#"a\nb\t\"\\\/"#), "a\nb\t\"\\/");
        assert_eq!(decoded(r"\u00e9\ud83d\ude00x"), "é😀x");
        assert_eq!(decoded(r"\ud83dx\u12"), "\u{fffd}x12");
    }

    #[test]
    fn deep_nesting_does_not_exhaust_the_stack() {
        let deep = "[".repeat(5_000_000);
        assert_eq!(Json::first(deep.as_bytes()), None);
    }
}
