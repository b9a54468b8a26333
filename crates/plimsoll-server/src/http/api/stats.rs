//! `/api/environments`, `/api/tax` and `/api/score`: environments with saves, hook costs, and facts
//! lost by compactions.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use plimsoll_engine::tax::Cost;
use plimsoll_engine::{score, sessions};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::Problem;
use crate::http::problem::Problems;
use crate::http::saves::ingest_saves;
use crate::pages::count_tax;
use crate::state::{App, AppState};

/// The environments that have saves.
#[derive(Serialize, ToSchema)]
pub(crate) struct Environments {
    /// Sorted by name.
    pub(crate) environments: Vec<EnvironmentView>,
}

/// An environment that has saves.
#[derive(Serialize, ToSchema)]
pub(crate) struct EnvironmentView {
    /// Name of the environment.
    pub(crate) environment: String,
    /// Number of saves.
    pub(crate) saves: u64,
}

/// List the environments that have saves
#[utoipa::path(get, path = "/api/environments", responses((status = 200, body = Environments), Problems))]
pub(crate) async fn environments(
    State(app): State<AppState>,
) -> Result<Json<Environments>, Problem> {
    let listed = app
        .with_store(|app, store| {
            ingest_saves(app, store)?;
            Ok(store.environments()?)
        })
        .await?;
    let view = |(environment, saves): (plimsoll_extract::save::SaveEnvironment, u64)| {
        EnvironmentView { environment: environment.into(), saves }
    };
    Ok(Json(Environments { environments: listed.into_iter().map(view).collect() }))
}

/// Cost of all hooks.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tax {
    /// One entry per hook command, most expensive first.
    pub(crate) hooks: Vec<HookCostView>,
}

/// Cost of one hook command, as recorded in the transcripts.
#[derive(Serialize, ToSchema)]
pub(crate) struct HookCostView {
    /// The command, with secrets removed.
    pub(crate) command: String,
    /// Events the command ran on.
    pub(crate) events: Vec<String>,
    /// Number of runs.
    pub(crate) runs: u64,
    /// Number of failed runs.
    pub(crate) failed: u64,
    /// Median duration in milliseconds.
    pub(crate) p50_millis: Option<f64>,
    /// 95th percentile of the duration in milliseconds.
    pub(crate) p95_millis: Option<f64>,
    /// Total duration of all runs in milliseconds.
    pub(crate) total_millis: u64,
}

impl From<Cost> for HookCostView {
    fn from(cost: Cost) -> Self {
        Self {
            p50_millis: cost.times.map(|times| times.p50),
            p95_millis: cost.times.map(|times| times.p95),
            command: cost.command,
            events: cost.events,
            runs: cost.runs,
            failed: cost.failed,
            total_millis: cost.total_millis,
        }
    }
}

/// Show the cost of every hook
#[utoipa::path(get, path = "/api/tax", responses((status = 200, body = Tax), Problems))]
pub(crate) async fn tax(State(app): State<AppState>) -> Result<Json<Tax>, Problem> {
    let costs = app.with_store(count_tax).await?;
    Ok(Json(Tax { hooks: costs.into_iter().map(HookCostView::from).collect() }))
}

/// Facts that the newest compactions lost or kept.
#[derive(Serialize, ToSchema)]
pub(crate) struct Score {
    /// Number of facts that later work needed.
    pub(crate) needed: u64,
    /// Facts kept by the client's summary.
    pub(crate) summary: u64,
    /// Facts kept by the restore.
    pub(crate) restore: u64,
    /// Facts kept by either of them.
    pub(crate) together: u64,
    /// Number of sessions analysed.
    pub(crate) sessions: usize,
    /// Number of sessions with compactions.
    pub(crate) of: usize,
}

/// Time limit for reading transcripts.
const SCORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Show which facts the newest compactions lost, and which the summary or the restore kept
#[utoipa::path(get, path = "/api/score", responses((status = 200, body = Score), Problems))]
pub(crate) async fn score(State(app): State<AppState>) -> Result<Json<Score>, Problem> {
    app.with_store(|app: &App, store| {
        let found = sessions::find(&app.world).map_err(|error| app.internal_error(&error))?;
        let newest = score::newest(store, &found, SCORE_TIMEOUT);
        let newest = newest.map_err(|error| app.internal_error(&error))?;
        let score::Newest { tally, sessions, of } = newest;
        Ok(Score {
            needed: tally.needed,
            summary: tally.summary,
            restore: tally.restore,
            together: tally.either,
            sessions,
            of,
        })
    })
    .await
    .map(Json)
}
