//! Request bodies: size-limited JSON objects, and the values they contain.

use std::fmt;
use std::ops::RangeInclusive;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::{DeserializeOwned, Error, IgnoredAny, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use utoipa::ToSchema;

use super::Problem;

/// Extracts the JSON body of a request.
pub(crate) struct JsonBody<T>(pub(crate) T);

/// Maximum body size in bytes.
pub(crate) const MAX_BODY_BYTES: usize = 1 << 20;

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            let error = "the body must be JSON";
            let hint = "send the header `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error, hint));
        }
        let bytes = read(request.into_body()).await?;
        must_be_object(&bytes)?;
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        let value =
            serde_path_to_error::deserialize(&mut json).map_err(|error| invalid_body(&error))?;
        json.end().map_err(|_| not_json("something follows the value"))?;
        Ok(Self(value))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

async fn read(body: Body) -> Result<axum::body::Bytes, Problem> {
    // The error does not tell a body that is too large from one that was cut off.
    to_bytes(body, MAX_BODY_BYTES).await.map_err(|_| {
        let error = format!("the body is larger than {MAX_BODY_BYTES} bytes, or broke off");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, error, "send less")
    })
}

/// Refuses any JSON value but an object. serde would accept an array and assign its values to the
/// fields by position.
fn must_be_object(bytes: &[u8]) -> Result<(), Problem> {
    let found = match bytes.trim_ascii_start().first() {
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(b'-' | b'0'..=b'9') => "a number",
        _ => return Ok(()),
    };
    if serde_json::from_slice::<IgnoredAny>(bytes).is_err() {
        return Err(not_json("it cannot be parsed"));
    }
    Err(Problem::bad_request(format!("the body must be a JSON object, not {found}"), FORM))
}

fn invalid_body(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let inner = error.inner();
    let what = inner.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    match inner.classify() {
        Category::Data if error.path().iter().next().is_some() => {
            let path = plimsoll_core::policy::brief(&error.path().to_string());
            Problem::bad_request(format!("`{path}`: {}", plain_message(what)), FORM)
        }
        Category::Data => Problem::bad_request(plain_message(what), FORM),
        _ => not_json(what),
    }
}

/// Rewrites a parser message without the names of Rust types.
fn plain_message(what: &str) -> String {
    if let Some(name) = what.strip_prefix("missing field ") {
        return format!("{name} is missing");
    }
    if let Some(name) = what.strip_prefix("duplicate field ") {
        return format!("{name} is given twice");
    }
    let found = ["invalid type: ", "invalid value: ", "invalid length "]
        .iter()
        .find_map(|start| what.strip_prefix(start));
    match found.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, expected)) => {
            format!("expected {}, found {}", expected_value(expected), found_value(found))
        }
        None => what.to_owned(),
    }
}

/// Names the expected kind of value.
fn expected_value(expected: &str) -> &str {
    match expected {
        "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a sequence" => "an array",
        "a boolean" => "`true` or `false`",
        "a map" => "an object",
        _ if expected.contains("struct ") => "an object",
        _ if expected.contains("enum ") => "a string",
        _ => expected,
    }
}

/// Names the value found. Strings are not repeated.
fn found_value(found: &str) -> &str {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    match kind {
        "sequence" => "an array",
        "map" => "an object",
        "string" => "a string",
        "unit" | "null" => "null",
        "boolean" | "integer" => value,
        "floating" => value.trim_start_matches("point "),
        _ => found,
    }
}

const FORM: &str = "`/openapi.json` says what the body takes";

fn not_json(what: &str) -> Problem {
    Problem::bad_request(format!("the body is not JSON: {what}"), FORM)
}

/// Largest accepted number of tokens.
pub(crate) const MAX_TOKENS: u64 = 1_000_000_000;

/// Number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(value_type = u64, minimum = 0, maximum = 1_000_000_000)]
pub(crate) struct TokenCount(#[serde(deserialize_with = "token_count")] pub(crate) u64);

/// Window size in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(value_type = u64, minimum = 1, maximum = 1_000_000_000)]
pub(crate) struct WindowSize(#[serde(deserialize_with = "window_size")] pub(crate) u64);

impl Default for WindowSize {
    fn default() -> Self {
        Self(DEFAULT_WINDOW)
    }
}

/// Window size if the request names none.
pub(crate) const DEFAULT_WINDOW: u64 = 200_000;

/// Number of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(value_type = u64, minimum = 0, maximum = 1_000_000_000)]
pub(crate) struct Count(#[serde(deserialize_with = "token_count")] pub(crate) u64);

/// Duration in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, ToSchema)]
#[schema(value_type = f64, minimum = 0, maximum = 1_000_000_000)]
pub(crate) struct Seconds(#[serde(deserialize_with = "seconds")] pub(crate) f64);

fn token_count<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_u64(RangeVisitor(0..=MAX_TOKENS))
}

fn window_size<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_u64(RangeVisitor(1..=MAX_TOKENS))
}

/// Deserializes a string and refuses a blank one.
pub(crate) fn non_blank<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    let says_nothing =
        || D::Error::invalid_value(Unexpected::Str(""), &"a text that says something");
    (!text.trim().is_empty()).then_some(Some(text)).ok_or_else(says_nothing)
}

/// Deserializes the maximum length of a list: 1 to 100.
pub(crate) fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_u64(RangeVisitor(1..=100))
}

fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let seconds = f64::deserialize(from)?;
    let is_fit = (0.0..=MAX_TOKENS as f64).contains(&seconds);
    let expected = "a number of seconds from 0 to 1000000000";
    is_fit
        .then_some(seconds)
        .ok_or_else(|| D::Error::invalid_value(Unexpected::Float(seconds), &expected))
}

/// Visitor for whole numbers in a range. Accepts 1.0 as 1, because JSON has one number type.
struct RangeVisitor(RangeInclusive<u64>);

impl Visitor<'_> for RangeVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} to {}", self.0.start(), self.0.end())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        let is_fit = self.0.contains(&number);
        is_fit
            .then_some(number)
            .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        Err(E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        match number.fract() == 0.0 && (0.0..=MAX_TOKENS as f64).contains(&number) {
            true => self.visit_u64(number as u64),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_name_rust_types() {
        for (parser, told) in [
            ("missing field `used_tokens`", "`used_tokens` is missing"),
            ("duplicate field `all`", "`all` is given twice"),
            (
                "invalid type: sequence, expected struct SaveRequest",
                "expected an object, found an array",
            ),
            (
                "invalid type: string \"yes\", expected a boolean",
                "expected `true` or `false`, found a string",
            ),
            ("invalid type: integer `5`, expected a string", "expected a string, found `5`"),
            (
                "invalid type: floating point `1.5`, expected u64",
                "expected a whole number that is not negative, found `1.5`",
            ),
            ("invalid type: null, expected f64", "expected a number, found null"),
            (
                "invalid type: string \"a, expected b\", expected a sequence",
                "expected an array, found a string",
            ),
            ("an environment is a word", "an environment is a word"),
        ] {
            assert_eq!(plain_message(parser), told);
        }
    }

    #[test]
    fn body_must_be_an_object() {
        let refused =
            |body: &str| must_be_object(body.as_bytes()).unwrap_err().parts().1.to_owned();
        assert_eq!(refused(" [\"e\", 1]"), "the body must be a JSON object, not an array");
        assert_eq!(refused("null"), "the body must be a JSON object, not null");
        assert_eq!(refused("\"x\""), "the body must be a JSON object, not a string");
        assert_eq!(refused("[1"), "the body is not JSON: it cannot be parsed");
        assert!(must_be_object(b"{}").is_ok());
    }
}
