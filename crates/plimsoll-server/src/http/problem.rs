//! Errors as clients receive them: `application/problem+json` with a hint.

use std::collections::BTreeMap;
use std::fmt::Display;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plimsoll_store::StoreError;
use serde::Serialize;
use utoipa::openapi::{self, ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

/// An error answer. The request has stored nothing.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    error: String,
    hint: String,
    retry_after: Option<u64>,
}

/// An error.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct View<'a> {
    /// Always `about:blank`: `title` is the meaning of the status.
    r#type: &'a str,
    /// Meaning of the HTTP status.
    title: &'a str,
    /// HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Description of the error.
    detail: &'a str,
    /// Same as `detail`.
    error: &'a str,
    /// What to do about the error.
    hint: &'a str,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, error: impl Display, hint: impl Display) -> Self {
        Self { status, error: error.to_string(), hint: hint.to_string(), retry_after: None }
    }

    /// 400: the request is invalid.
    pub(crate) fn bad_request(error: impl Display, hint: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error, hint)
    }

    /// 404: the resource does not exist.
    pub(crate) fn not_found(error: impl Display, hint: impl Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, error, hint)
    }

    /// 429: too many requests. Asks the client to retry after `seconds`.
    pub(crate) fn too_many(error: impl Display, seconds: u64) -> Self {
        let hint = format!("try again in {seconds} s");
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, error, hint);
        Self { retry_after: Some(seconds), ..problem }
    }

    /// 503: temporarily unavailable. Asks the client to retry after a second.
    pub(crate) fn unavailable(error: impl Display) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, error, "try again in 1 s");
        Self { retry_after: Some(1), ..problem }
    }

    /// Returns status, message and hint, for answers that are not JSON.
    pub(crate) fn parts(&self) -> (StatusCode, &str, &str) {
        (self.status, &self.error, &self.hint)
    }

    /// 500: internal error. The cause may name files, so it goes to the log and not into the
    /// answer.
    pub(crate) fn internal(error: impl Display) -> Self {
        let hint = "run `plimsoll doctor` on the machine that serves, and look at the server's log";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error, hint)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy { .. } => Self::unavailable("the store was busy for too long"),
            _ => Self::internal("the store could not be used"),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let view = View {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.error,
            error: &self.error,
            hint: &self.hint,
        };
        let body = serde_json::to_vec(&view).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// The errors that every endpoint can return.
pub(crate) struct Problems;

const ANY: [(u16, &str); 11] = [
    (400, "The request makes no sense"),
    (401, "Neither our own user nor a token"),
    (403, "From another site, or by a name that is not ours"),
    (404, "There is no such thing"),
    (405, "The path does not take this method"),
    (408, "The request took too long to arrive"),
    (413, "The request is too large"),
    (415, "The body is not JSON"),
    (429, "Too many writes"),
    (500, "We failed"),
    (503, "The store is busy"),
];

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response = |(status, meaning): (u16, &str)| {
            let builder = ResponseBuilder::new().description(meaning);
            let response = builder.content("application/problem+json", content.clone()).build();
            (status.to_string(), response.into())
        };
        ANY.map(response).into()
    }
}
