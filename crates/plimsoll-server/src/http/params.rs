//! Query and path parameters.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::Problem;

/// Query parameters of a request. A repeated name is refused.
pub(crate) struct Params(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        let params: Vec<(String, String)> =
            pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let repeated = |at: usize| params[..at].iter().any(|(name, _)| *name == params[at].0);
        match (0..params.len()).find(|at| repeated(*at)) {
            None => Ok(Self(params)),
            Some(at) => {
                let error = format!("`{}` is there twice", sanitize(&params[at].0));
                Err(Problem::bad_request(error, "give each parameter once"))
            }
        }
    }
}

impl Params {
    /// Returns a parameter as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Parses a parameter as a whole number in a range.
    pub(crate) fn number(
        &self,
        name: &str,
        allowed: RangeInclusive<u64>,
    ) -> Result<Option<u64>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && allowed.contains(number));
        number.map(Some).ok_or_else(|| {
            let (least, most) = (allowed.start(), allowed.end());
            let error = format!("`{name}` must be a whole number from {least} to {most}");
            Problem::bad_request(error, format!("give it as in `{name}={}`", most.min(&150_000)))
        })
    }

    /// Parses a boolean parameter; `false` if it is absent.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.text(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Problem::bad_request(
                format!("`{name}` must be `true` or `false`"),
                format!("give it as in `{name}=true`"),
            )),
        }
    }
}

/// The name or id in a request path.
pub(crate) struct PathParam(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathParam {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let name = Path::<String>::from_request_parts(parts, state).await;
        let bad = |_| {
            Problem::bad_request("the path is not text in UTF-8", "give the name as it is listed")
        };
        name.map(|Path(name)| Self(name)).map_err(bad)
    }
}

/// Shortens text from outside and removes control characters, for use in our messages.
pub(crate) fn sanitize(text: &str) -> Cow<'_, str> {
    plimsoll_core::policy::brief(text).into()
}
