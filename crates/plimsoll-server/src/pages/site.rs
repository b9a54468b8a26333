//! Links between pages.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use form_urlencoded::{Serializer, parse};

use crate::http::Problem;
use crate::state::AppState;

/// Builds links. A token given in the URL is kept in every link.
#[derive(Clone, Debug, Default)]
pub(super) struct Site {
    /// Token from the URL.
    pub(super) token: Option<String>,
    /// Whether the team pages are available.
    pub(super) has_team: bool,
    /// Path prefix of the session, checkpoint and save pages.
    prefix: &'static str,
}

impl FromRequestParts<AppState> for Site {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let token = parse(query.as_bytes()).find(|(name, _)| name == "token");
        let token = token.map(|(_, token)| token.into_owned());
        Ok(Self { token, has_team: app.team().database_url.is_some(), prefix: "" })
    }
}

impl Site {
    /// Makes links to sessions, checkpoints and saves lead to the team pages.
    pub(super) fn of_team(self) -> Self {
        Self { prefix: "/team", ..self }
    }

    /// Returns the URL of a page.
    pub(super) fn to(&self, path: &str) -> String {
        self.with(path, &[])
    }

    /// Returns the URL of a page with query parameters.
    pub(super) fn with(&self, path: &str, params: &[(&str, &str)]) -> String {
        let token = self.token.iter().map(|token| ("token", token.as_str()));
        let mut query = Serializer::new(String::new());
        query.extend_pairs(params.iter().copied().chain(token));
        match query.finish() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }

    pub(super) fn session(&self, id: &str) -> String {
        self.to(&format!("{}/session/{}", self.prefix, segment(id)))
    }

    pub(super) fn run(&self, id: &str) -> String {
        self.to(&format!("/runs/{}", segment(id)))
    }

    pub(super) fn checkpoint(&self, id: &str) -> String {
        self.to(&format!("{}/checkpoint/{}", self.prefix, segment(id)))
    }

    /// Returns the path of the save page, without query parameters.
    pub(super) fn saves_path(&self) -> String {
        format!("{}/saves", self.prefix)
    }
}

/// Encodes a name as one path segment.
fn segment(name: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.bytes()
        .map(|byte| match safe(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_on_the_site_and_keep_the_token() {
        let site = Site::default();
        assert_eq!(site.session("5f2c"), "/session/5f2c");
        assert_eq!(site.checkpoint("../\"><b>"), "/checkpoint/..%2F%22%3E%3Cb%3E");
        let site = Site { token: Some("a&b".to_owned()), ..Site::default() };
        assert_eq!(site.with("/saves", &[("q", "x y")]), "/saves?q=x+y&token=a%26b");
        assert_eq!(site.of_team().session("5f2c"), "/team/session/5f2c?token=a%26b");
    }
}
