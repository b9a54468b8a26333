//! `/api/checkpoints`: the newest checkpoints, and one with its text and ancestors.

use axum::Json;
use axum::extract::State;
use plimsoll_core::Tokens;
use plimsoll_core::time::utc;
use plimsoll_engine::checkpoint::{self, Place};
use plimsoll_store::{CheckpointRow, Store};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::Problem;
use crate::http::params::{Params, PathParam, sanitize};
use crate::http::problem::Problems;
use crate::state::{App, AppState};

/// A checkpoint.
#[derive(Serialize, ToSchema)]
pub(crate) struct CheckpointView {
    /// Checkpoint id.
    pub(crate) id: String,
    /// Project folder.
    pub(crate) project: String,
    /// Session id.
    pub(crate) session: String,
    /// Time of creation, in UTC.
    pub(crate) created: String,
    /// Reason for the checkpoint.
    pub(crate) trigger: String,
    /// Number of the checkpoint within its project.
    pub(crate) iteration: u64,
    /// Tokens in the window.
    pub(crate) used: Option<Tokens>,
    /// Window size in tokens.
    pub(crate) window: Option<Tokens>,
    /// One-line summary.
    pub(crate) summary: String,
}

impl From<CheckpointRow> for CheckpointView {
    fn from(row: CheckpointRow) -> Self {
        Self {
            id: row.id,
            project: row.project.to_string_lossy().into_owned(),
            session: row.session,
            created: utc(row.created),
            trigger: row.occasion,
            iteration: row.iteration,
            used: row.used,
            window: row.window,
            summary: row.summary,
        }
    }
}

/// The newest checkpoints.
#[derive(Serialize, ToSchema)]
pub(crate) struct Checkpoints {
    /// Newest first.
    pub(crate) checkpoints: Vec<CheckpointView>,
}

/// List the newest checkpoints of all projects
#[utoipa::path(get, path = "/api/checkpoints", params(
    ("limit" = Option<u64>, Query, minimum = 1, maximum = 1000, nullable = false, description = "How many at most; 100 if it is not given"),
), responses((status = 200, body = Checkpoints), Problems))]
pub(crate) async fn list(
    State(app): State<AppState>,
    params: Params,
) -> Result<Json<Checkpoints>, Problem> {
    let limit = params.number("limit", 1..=1000)?.unwrap_or(100) as u32;
    let listed = app.with_store(move |_, store| Ok(store.newest_checkpoints(limit)?)).await?;
    Ok(Json(Checkpoints { checkpoints: listed.into_iter().map(CheckpointView::from).collect() }))
}

/// A checkpoint with its text and its ancestors.
#[derive(Serialize, ToSchema)]
pub(crate) struct CheckpointStory {
    #[serde(flatten)]
    pub(crate) checkpoint: CheckpointView,
    /// Text of the checkpoint, in Markdown.
    pub(crate) body: String,
    /// Ids of the checkpoints this one continues from, nearest first.
    pub(crate) lineage: Vec<String>,
}

/// Show one checkpoint with its text and its ancestors
#[utoipa::path(get, path = "/api/checkpoints/{id}", params(
    ("id" = String, Path, description = "Its id"),
), responses((status = 200, body = CheckpointStory), Problems))]
pub(crate) async fn show(
    State(app): State<AppState>,
    PathParam(id): PathParam,
) -> Result<Json<CheckpointStory>, Problem> {
    app.with_store(move |app, store| checkpoint_detail(app, store, &id)).await.map(Json)
}

/// Reads one checkpoint with its text and ancestors.
pub(crate) fn checkpoint_detail(
    app: &App,
    store: &mut Store,
    id: &str,
) -> Result<CheckpointStory, Problem> {
    let row = store.checkpoint(id)?.ok_or_else(|| {
        let error = format!("there is no checkpoint `{}`", sanitize(id));
        Problem::not_found(error, "`/api/checkpoints` lists what there is")
    })?;
    let lineage = lineage(app, &row);
    let body = row.body.clone();
    Ok(CheckpointStory { checkpoint: row.into(), body, lineage })
}

/// Returns the ids of a checkpoint's ancestors, as far as they exist and were sealed here.
fn lineage(app: &App, row: &CheckpointRow) -> Vec<String> {
    const FARTHEST: usize = 50;
    let place = Place::of_project(&app.world, row.project.clone());
    let parent = |id: &str| checkpoint::read_own(&place, id).ok()??.0.parent;
    let mut lineage: Vec<String> = Vec::new();
    let mut next = parent(&row.id);
    while let Some(id) = next.filter(|id| lineage.len() < FARTHEST && !lineage.contains(id)) {
        next = parent(&id);
        lineage.push(id);
    }
    lineage
}
