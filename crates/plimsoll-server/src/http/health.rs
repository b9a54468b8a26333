//! Whether the server is well, and what it has counted.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use plimsoll_engine::runs;
use plimsoll_store::Store;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::api::runs::take_in;
use super::problem::Problems;
use crate::pages::current_criteria;
use crate::state::{App, AppState};

/// How the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`: a server that is not does not answer so.
    status: &'static str,
    /// The version of plimsoll.
    version: &'static str,
}

/// Whether the server and its store are well
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Health), Problems))]
pub(crate) async fn healthz(State(app): State<AppState>) -> Result<Json<Health>, Problem> {
    app.with_store(|_, store| Ok(store.counts().map(drop)?)).await?;
    Ok(Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") }))
}

/// What the server has counted, for Prometheus
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, body = String, content_type = "application/openmetrics-text"), Problems))]
pub(crate) async fn metrics(State(app): State<AppState>) -> Result<Response, Problem> {
    const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    if let Some(found) = current_criteria(&app).await {
        app.metrics.criteria(&found);
    }
    app.metrics.team_waiting(team_waiting(&app).await?);
    app.with_store(look_at_runs).await?;
    let text =
        app.metrics.text().map_err(|_| Problem::failed("the figures could not be written"))?;
    Ok(([(header::CONTENT_TYPE, KIND)], text).into_response())
}

fn look_at_runs(app: &App, store: &mut Store) -> Result<(), Problem> {
    take_in(app, store)?;
    let active = runs::running(store).map_err(|error| app.failed(&error))?;
    app.metrics.runs(active.len(), store.run_counts()?);
    Ok(())
}

/// How many rows wait for the team's database; nothing if there is none.
async fn team_waiting(app: &AppState) -> Result<Option<u64>, Problem> {
    if app.team().database_url.is_none() {
        return Ok(None);
    }
    app.with_store(|_, store| Ok(store.waiting().map(|it| Some(it.changed + it.to_sweep))?)).await
}
