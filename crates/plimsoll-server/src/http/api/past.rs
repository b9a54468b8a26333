//! What the past says: environments with saves, what hooks cost, what compactions lost.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use plimsoll_engine::tax::Cost;
use plimsoll_engine::{score, sessions};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::Problem;
use crate::http::problem::Problems;
use crate::http::saves::take_in;
use crate::pages::count_tax;
use crate::state::{App, AppState};

/// The environments that have saves.
#[derive(Serialize, ToSchema)]
pub(crate) struct Environments {
    /// By name.
    pub(crate) environments: Vec<EnvironmentView>,
}

/// An environment that has saves.
#[derive(Serialize, ToSchema)]
pub(crate) struct EnvironmentView {
    /// Its name.
    pub(crate) environment: String,
    /// How many saves it has.
    pub(crate) saves: u64,
}

/// The environments that have saves
#[utoipa::path(get, path = "/api/environments", responses((status = 200, body = Environments), Problems))]
pub(crate) async fn environments(
    State(app): State<AppState>,
) -> Result<Json<Environments>, Problem> {
    let listed = app
        .with_store(|app, store| {
            take_in(app, store)?;
            Ok(store.environments()?)
        })
        .await?;
    let view = |(environment, saves): (plimsoll_core::save::Environment, u64)| EnvironmentView {
        environment: environment.into(),
        saves,
    };
    Ok(Json(Environments { environments: listed.into_iter().map(view).collect() }))
}

/// What hooks cost.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tax {
    /// Each hook command, the dearest first.
    pub(crate) hooks: Vec<HookCostView>,
}

/// What one hook command cost, as the transcripts tell.
#[derive(Serialize, ToSchema)]
pub(crate) struct HookCostView {
    /// The command, without secrets.
    pub(crate) command: String,
    /// The events it ran on.
    pub(crate) events: Vec<String>,
    /// How often it ran.
    pub(crate) runs: u64,
    /// How often it failed.
    pub(crate) failed: u64,
    /// Half of the runs took no longer, in milliseconds.
    pub(crate) p50_millis: Option<f64>,
    /// Nineteen in twenty took no longer.
    pub(crate) p95_millis: Option<f64>,
    /// All runs together.
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

/// What every hook has cost
#[utoipa::path(get, path = "/api/tax", responses((status = 200, body = Tax), Problems))]
pub(crate) async fn tax(State(app): State<AppState>) -> Result<Json<Tax>, Problem> {
    let costs = app.with_store(count_tax).await?;
    Ok(Json(Tax { hooks: costs.into_iter().map(HookCostView::from).collect() }))
}

/// What the newest compactions lost, and who kept it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Score {
    /// Facts that later work needed.
    pub(crate) needed: u64,
    /// Kept by the client's summary.
    pub(crate) summary: u64,
    /// Kept by the restore.
    pub(crate) restore: u64,
    /// Kept by either.
    pub(crate) together: u64,
    /// How many sessions were looked at.
    pub(crate) sessions: usize,
    /// How many were compacted.
    pub(crate) of: usize,
}

/// How long transcripts are read for the score.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the newest compactions lost, and who kept it
#[utoipa::path(get, path = "/api/score", responses((status = 200, body = Score), Problems))]
pub(crate) async fn score(State(app): State<AppState>) -> Result<Json<Score>, Problem> {
    app.with_store(|app: &App, store| {
        let found = sessions::find(&app.world, app.adapter).map_err(|error| app.failed(&error))?;
        let newest = score::newest(app.adapter, store, &found, PATIENCE);
        let newest = newest.map_err(|error| app.failed(&error))?;
        let score::Newest { tally, sessions, of } = newest;
        Ok(Score {
            needed: tally.needed,
            summary: tally.summary,
            restore: tally.restore,
            together: tally.together,
            sessions,
            of,
        })
    })
    .await
    .map(Json)
}
