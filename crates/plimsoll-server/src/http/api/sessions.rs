//! Sessions: all of them at a glance, and one over time.

use axum::Json;
use axum::extract::State;
use plimsoll_core::Tokens;
use plimsoll_core::event::SessionId;
use plimsoll_core::time::utc;
use plimsoll_engine::history::{self, Recent};
use plimsoll_engine::load::Measured;
use plimsoll_engine::sessions;
use plimsoll_store::{OverviewRow, Point, PointRow, Store};
use serde::Serialize;
use utoipa::ToSchema;

use super::Fullness;
use super::checkpoints::CheckpointView;
use crate::http::Problem;
use crate::http::params::{Name, Params};
use crate::http::problem::Problems;
use crate::http::saves::{SaveView, take_in};
use crate::http::usage::{measure, session_id};
use crate::live::LiveReading;
use crate::state::{App, AppState};

/// All sessions at a glance.
#[derive(Serialize, ToSchema)]
pub(crate) struct Overview {
    /// The windows that are live, subagents' too.
    pub(crate) live: Vec<LiveReading>,
    /// The sessions last heard of, newest first.
    pub(crate) sessions: Vec<SessionView>,
}

/// A session, as the store knows it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionView {
    /// Its name.
    pub(crate) session: String,
    /// The folder the agent was started in.
    pub(crate) project: Option<String>,
    /// The model that answered last.
    pub(crate) model: Option<String>,
    /// When it began, in UTC.
    pub(crate) started: String,
    /// When it was last heard of, in UTC.
    pub(crate) last_seen: String,
    /// How full its window is.
    pub(crate) last: Option<Fullness>,
    /// At its fullest.
    pub(crate) peak: Option<Fullness>,
}

/// All sessions at a glance
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

/// What is known of all sessions.
pub(crate) fn overview(app: &App, store: &mut Store, limit: u32) -> Result<Overview, Problem> {
    let recent = history::recent(&app.world, app.adapter, store, limit);
    let recent = recent.map_err(|error| app.failed(&error))?;
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
    /// Its name.
    pub(crate) session: String,
    /// The folder the agent was started in.
    pub(crate) project: String,
    /// The model that answered last.
    pub(crate) model: Option<String>,
    /// How full its window is, measured now.
    pub(crate) reading: Fullness,
    /// Where the client compacts, if it does.
    pub(crate) trigger: Option<Tokens>,
    /// Tokens left until then, or until the window is full.
    pub(crate) tokens_left: Tokens,
    /// Minutes left at the pace so far.
    pub(crate) minutes_left: Option<f64>,
    /// The curve, oldest first.
    pub(crate) series: Vec<PointView>,
    /// Its checkpoints, oldest first.
    pub(crate) checkpoints: Vec<CheckpointView>,
    /// Its saves, oldest first.
    pub(crate) saves: Vec<SaveView>,
}

/// A point on the curve: either `used` after a response, or a compaction.
#[derive(Serialize, ToSchema)]
pub(crate) struct PointView {
    /// When, in UTC.
    pub(crate) time: String,
    /// The subagent whose window it was, if it was one's.
    pub(crate) subagent: Option<String>,
    /// What the window held after a response.
    pub(crate) used: Option<Tokens>,
    /// The compaction, if it was one.
    pub(crate) compaction: Option<CompactionView>,
}

/// A compaction on the curve.
#[derive(Serialize, ToSchema)]
pub(crate) struct CompactionView {
    /// Started by the client, not by the user.
    pub(crate) automatic: bool,
    /// What the window held before.
    pub(crate) tokens_before: Option<Tokens>,
    /// What the conversation held after.
    pub(crate) tokens_after: Option<Tokens>,
}

impl From<PointRow> for PointView {
    fn from(row: PointRow) -> Self {
        let (used, compaction) = match row.point {
            Point::Reading { used } => (Some(used), None),
            Point::Compaction { automatic, tokens_before, tokens_after } => {
                (None, Some(CompactionView { automatic, tokens_before, tokens_after }))
            }
        };
        let subagent = row.subagent.map(|name| name.to_string());
        Self { time: utc(row.time), subagent, used, compaction }
    }
}

/// One session: measured now, and over time
#[utoipa::path(get, path = "/api/sessions/{session}", params(
    ("session" = String, Path, pattern = "^[A-Za-z0-9_-]{1,128}$", description = "Its name"),
), responses((status = 200, body = SessionStory), Problems))]
pub(crate) async fn show(
    State(app): State<AppState>,
    Name(session): Name,
) -> Result<Json<SessionStory>, Problem> {
    let session = session_id(&session)?;
    app.with_store(move |app, store| story(app, store, &session)).await.map(Json)
}

/// What is known of one session.
pub(crate) fn story(
    app: &App,
    store: &mut Store,
    session: &SessionId,
) -> Result<SessionStory, Problem> {
    take_in(app, store)?;
    let measured = measure(app, session)?;
    let pace = sessions::pace(store, session).map_err(|error| app.failed(&error))?;
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
