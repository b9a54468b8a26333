//! `/api/sessions`: all sessions in brief, and one over time.

use axum::Json;
use axum::extract::State;
use plimsoll_core::Tokens;
use plimsoll_core::event::SessionId;
use plimsoll_core::time::utc;
use plimsoll_engine::history::{self, Recent};
use plimsoll_engine::load::Measured;
use plimsoll_engine::sessions;
use plimsoll_store::{CurvePoint, CurvePointRow, OverviewRow, Store};
use serde::Serialize;
use utoipa::ToSchema;

use super::Fullness;
use super::checkpoints::CheckpointView;
use crate::http::Problem;
use crate::http::params::{Params, PathParam};
use crate::http::problem::Problems;
use crate::http::saves::{SaveView, ingest_saves};
use crate::http::usage::{measure, parse_session_id};
use crate::live::LiveReading;
use crate::state::{App, AppState};

/// Live windows and recent sessions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Overview {
    /// Live windows, including those of subagents.
    pub(crate) live: Vec<LiveReading>,
    /// Recent sessions, newest first.
    pub(crate) sessions: Vec<SessionView>,
}

/// A session, as recorded in the store.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionView {
    /// Session id.
    pub(crate) session: String,
    /// Folder in which the agent was started.
    pub(crate) project: Option<String>,
    /// Model of the last response.
    pub(crate) model: Option<String>,
    /// Start time, in UTC.
    pub(crate) started: String,
    /// Time of the last activity, in UTC.
    pub(crate) last_seen: String,
    /// Current fullness of the window.
    pub(crate) last: Option<Fullness>,
    /// Highest fullness of the window.
    pub(crate) peak: Option<Fullness>,
}

/// List live windows and recent sessions
#[utoipa::path(get, path = "/api/sessions", params(
    ("limit" = Option<u64>, Query, minimum = 1, maximum = 1000, nullable = false, description = "How many at most; 100 if it is not given"),
), responses((status = 200, body = Overview), Problems))]
pub(crate) async fn list(
    State(app): State<AppState>,
    params: Params,
) -> Result<Json<Overview>, Problem> {
    let limit = params.number("limit", 1..=1000)?.unwrap_or(100) as u32;
    app.with_store(move |app, store| overview(app, store, limit)).await.map(Json)
}

/// Reads the live windows and the `limit` most recent sessions.
pub(crate) fn overview(app: &App, store: &mut Store, limit: u32) -> Result<Overview, Problem> {
    let recent = history::recent(&app.world, store, limit);
    let recent = recent.map_err(|error| app.internal_error(&error))?;
    let live = app.live.windows().values().cloned().collect();
    Ok(Overview { live, sessions: recent.into_iter().map(SessionView::from).collect() })
}

impl From<Recent> for SessionView {
    fn from(recent: Recent) -> Self {
        let Recent { row, used, window } = recent;
        let OverviewRow { session, largest, .. } = row;
        let largest = largest.max(used.unwrap_or(0));
        let fullness = |used: Option<Tokens>| used.map(|used| Fullness::new(used, window));
        Self {
            session: session.id.to_string(),
            project: session.project.map(|path| path.to_string_lossy().into_owned()),
            model: session.model,
            started: utc(session.started),
            last_seen: utc(session.last_seen),
            last: fullness(used),
            peak: fullness(Some(largest).filter(|largest| *largest > 0)),
        }
    }
}

/// One session over time.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionStory {
    /// Session id.
    pub(crate) session: String,
    /// Folder in which the agent was started.
    pub(crate) project: String,
    /// Model of the last response.
    pub(crate) model: Option<String>,
    /// Fullness of the window, measured now.
    pub(crate) reading: Fullness,
    /// Tokens at which the client compacts, if it does.
    pub(crate) trigger: Option<Tokens>,
    /// Tokens left until the client compacts, or until the window is full.
    pub(crate) tokens_left: Tokens,
    /// Minutes left at the current pace.
    pub(crate) minutes_left: Option<f64>,
    /// Readings and compactions, oldest first.
    pub(crate) series: Vec<PointView>,
    /// Checkpoints, oldest first.
    pub(crate) checkpoints: Vec<CheckpointView>,
    /// Saves, oldest first.
    pub(crate) saves: Vec<SaveView>,
}

/// A point in the session's history: a reading after a response, or a compaction.
#[derive(Serialize, ToSchema)]
pub(crate) struct PointView {
    /// Time, in UTC.
    pub(crate) time: String,
    /// Subagent id, if this is a subagent's window.
    pub(crate) subagent: Option<String>,
    /// Tokens in the window after a response.
    pub(crate) used: Option<Tokens>,
    /// The compaction, if this point is one.
    pub(crate) compaction: Option<CompactionView>,
}

/// A compaction.
#[derive(Serialize, ToSchema)]
pub(crate) struct CompactionView {
    /// Whether the client started the compaction, not the user.
    pub(crate) automatic: bool,
    /// Tokens in the window before the compaction.
    pub(crate) tokens_before: Option<Tokens>,
    /// Tokens in the conversation after the compaction.
    pub(crate) tokens_after: Option<Tokens>,
}

impl From<CurvePointRow> for PointView {
    fn from(row: CurvePointRow) -> Self {
        let (used, compaction) = match row.point {
            CurvePoint::Reading { used } => (Some(used), None),
            CurvePoint::Compaction { automatic, tokens_before, tokens_after } => {
                (None, Some(CompactionView { automatic, tokens_before, tokens_after }))
            }
        };
        let subagent = row.subagent.map(|name| name.to_string());
        Self { time: utc(row.time), subagent, used, compaction }
    }
}

/// Show one session, measured now and over time
#[utoipa::path(get, path = "/api/sessions/{session}", params(
    ("session" = String, Path, pattern = "^[A-Za-z0-9_-]{1,128}(@[A-Za-z0-9_-]{1,128})?$", description = "Its name"),
), responses((status = 200, body = SessionStory), Problems))]
pub(crate) async fn show(
    State(app): State<AppState>,
    PathParam(session): PathParam,
) -> Result<Json<SessionStory>, Problem> {
    let session = parse_session_id(&session)?;
    app.with_store(move |app, store| session_detail(app, store, &session)).await.map(Json)
}

/// Measures one session and reads its history.
pub(crate) fn session_detail(
    app: &App,
    store: &mut Store,
    session: &SessionId,
) -> Result<SessionStory, Problem> {
    ingest_saves(app, store)?;
    let measured = measure(app, session)?;
    let pace = sessions::pace(store, session).map_err(|error| app.internal_error(&error))?;
    let left = sessions::forecast(&measured, Some(&pace));
    let Measured { reading, window, trigger, model, project, .. } = measured;
    Ok(SessionStory {
        session: session.to_string(),
        project: project.to_string_lossy().into_owned(),
        model,
        reading: Fullness::new(reading.used, window.tokens),
        trigger: trigger.tokens(),
        tokens_left: left.tokens,
        minutes_left: left.minutes.map(|minutes| (minutes * 10.0).round() / 10.0),
        series: store.series(session, i64::MIN)?.into_iter().map(PointView::from).collect(),
        checkpoints: store.checkpoints_of(session)?.into_iter().map(CheckpointView::from).collect(),
        saves: store.saves_of_session(session.as_str())?.into_iter().map(SaveView::from).collect(),
    })
}
