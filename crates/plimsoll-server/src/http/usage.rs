//! `/context/usage`: how full a window is, and the recommended action.

use std::collections::HashSet;

use anyhow::Context as _;
use axum::Json;
use axum::extract::State;
use plimsoll_core::event::SessionId;
use plimsoll_core::name::is_meant;
use plimsoll_core::usage::Usage;
use plimsoll_engine::load::Measured;
use plimsoll_engine::sessions;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::body::{DEFAULT_WINDOW, MAX_TOKENS};
use super::params::Params;
use super::problem::Problems;
use crate::state::{App, AppState};

/// Fullness of a window, with a recommendation.
#[derive(Serialize, ToSchema)]
pub(crate) struct UsageView {
    /// Tokens in the window.
    used: u64,
    /// Window size in tokens.
    max: u64,
    /// Used share in percent, with one decimal.
    percent: f64,
    /// Name for that share: `healthy`, `warning`, `critical` or `overflow`.
    status: &'static str,
    /// Recommended action.
    action: Action,
}

/// Recommended action.
#[derive(Serialize, ToSchema)]
pub(crate) struct Action {
    /// `none`, `save` or `save_and_restart`.
    r#type: &'static str,
    /// The recommendation as a sentence, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    message: Option<String>,
    /// Whether a hook may act without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    auto: Option<bool>,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        let Usage { used, max, percent, band, advice } = usage;
        let action = Action {
            r#type: advice.label(),
            message: usage.message(),
            auto: advice.is_automatic().then_some(true),
        };
        Self { used, max, percent, status: band.label(), action }
    }
}

/// Show how full a window is, and the recommended action
///
/// With `used_tokens` this is plain arithmetic. With `session_id` the session's window is measured.
#[utoipa::path(get, path = "/context/usage", params(
    ("used_tokens" = Option<u64>, Query, minimum = 0, maximum = 1_000_000_000, nullable = false, description = "Tokens in the window"),
    ("max_tokens" = Option<u64>, Query, minimum = 1, maximum = 1_000_000_000, nullable = false, description = "Its size; 200000 if it is not given"),
    ("session_id" = Option<String>, Query, pattern = "^[A-Za-z0-9_-]{1,128}(@[A-Za-z0-9_-]{1,128})?$", nullable = false, description = "A session to be measured instead, by its name or at least four characters of its beginning"),
    ("token" = Option<String>, Query, nullable = false, description = "The token, for who cannot send it as a header"),
), responses((status = 200, body = UsageView), Problems))]
pub(crate) async fn usage(
    State(app): State<AppState>,
    params: Params,
) -> Result<Json<UsageView>, Problem> {
    let used = params.number("used_tokens", 0..=MAX_TOKENS)?;
    let max = params.number("max_tokens", 1..=MAX_TOKENS)?;
    let usage = match (used, params.text("session_id")) {
        (Some(used), None) => {
            let settings = app.settings();
            let usage = Usage::of(used, max.unwrap_or(DEFAULT_WINDOW), &settings.lines);
            if settings.enabled { usage } else { usage.without_advice() }
        }
        (None, Some(session)) if max.is_none() => {
            let session = parse_session_id(session)?;
            app.blocking(move |app| measure_usage(app, &session)).await?
        }
        (None, None) => return Err(tokens_required()),
        _ => return Err(conflicting_params()),
    };
    Ok(Json(usage.into()))
}

/// This wording is part of the specified API and must not change.
fn tokens_required() -> Problem {
    Problem::bad_request(
        "used_tokens required",
        format!("Poll from {} hook", plimsoll_agents::DEFAULT.profile().product),
    )
}

fn conflicting_params() -> Problem {
    let error = "`session_id` is measured: it goes without `used_tokens` and `max_tokens`";
    Problem::bad_request(error, "give either the tokens or the session")
}

/// Validates a session id.
pub(crate) fn parse_session_id(text: &str) -> Result<SessionId, Problem> {
    SessionId::new(text).ok_or_else(|| {
        let error =
            "`session_id` must be 1 to 128 letters, digits, `-` or `_`, and may end with `@agent`";
        Problem::bad_request(error, "`plimsoll status` names the sessions there are")
    })
}

/// Measures the window of a session from its transcript.
fn measure_usage(app: &App, name: &SessionId) -> Result<Usage, Problem> {
    let measured = measure(app, &resolve_session(app, name)?)?;
    let (used, max) = (measured.reading.used, measured.window.tokens);
    let usage = Usage::at(used, max, &measured.lines, &measured.levels);
    Ok(if measured.advises { usage } else { usage.without_advice() })
}

/// Returns the session with this id, or the only one whose id starts with it.
fn resolve_session(app: &App, name: &SessionId) -> Result<SessionId, Problem> {
    /// Shorter prefixes are too ambiguous.
    const LEAST: usize = 4;
    let found = sessions::find(&app.world).map_err(|error| app.internal_error(&error))?;
    let all = found.into_iter().map(|found| found.owner.session);
    let meant: HashSet<SessionId> =
        all.filter(|session| is_meant(session.as_str(), name.as_str())).collect();
    if meant.contains(name) || name.as_str().len() < LEAST {
        return Ok(name.clone());
    }
    if meant.len() > 1 {
        let error = format!("`{name}` stands for several sessions");
        return Err(Problem::not_found(
            error,
            "`plimsoll status --all` names them: give more of it",
        ));
    }
    Ok(meant.into_iter().next().unwrap_or_else(|| name.clone()))
}

/// Measures a session from its newest transcript.
pub(crate) fn measure(app: &App, session: &SessionId) -> Result<Measured, Problem> {
    let unknown = || {
        let error = format!("no session `{session}` is known here");
        Problem::not_found(error, "`plimsoll status --all` names the sessions there are")
    };
    let found = sessions::find_one(&app.world, session).ok_or_else(unknown)?;
    let measured = sessions::measure(&app.world, &found);
    let measured = measured.context("could not measure a session");
    measured.map_err(|error| app.internal_error(&error))?.ok_or_else(unknown)
}
