//! `/healthz` and `/metrics`.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use plimsoll_runner::runs;
use plimsoll_store::Store;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::api::runs::ingest_runs;
use super::problem::Problems;
use crate::pages::current_criteria;
use crate::state::{App, AppState};

/// Health of the server.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`. A server with a problem answers with that problem instead.
    status: &'static str,
    /// Version of plimsoll.
    version: &'static str,
}

/// Check the server and its store
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Health), Problems))]
pub(crate) async fn healthz(State(app): State<AppState>) -> Result<Json<Health>, Problem> {
    app.with_store(|_, store| Ok(store.counts().map(drop)?)).await?;
    Ok(Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") }))
}

/// Show the server's metrics in OpenMetrics format
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, body = String, content_type = "application/openmetrics-text"), Problems))]
pub(crate) async fn metrics(State(app): State<AppState>) -> Result<Response, Problem> {
    const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    if let Some(found) = current_criteria(&app).await {
        app.metrics.set_criteria(&found);
    }
    app.metrics.set_team_waiting(team_waiting(&app).await?);
    app.with_store(look_at_runs).await?;
    let text =
        app.metrics.text().map_err(|_| Problem::internal("the figures could not be written"))?;
    Ok(([(header::CONTENT_TYPE, KIND)], text).into_response())
}

fn look_at_runs(app: &App, store: &mut Store) -> Result<(), Problem> {
    ingest_runs(app, store)?;
    let active = runs::active_runs(store).map_err(|error| app.internal_error(&error))?;
    app.metrics.set_runs(active.len(), store.run_counts()?);
    Ok(())
}

/// Returns the number of rows waiting for the team database. `None` if no team database is
/// configured.
async fn team_waiting(app: &AppState) -> Result<Option<u64>, Problem> {
    if app.team().database_url.is_none() {
        return Ok(None);
    }
    app.with_store(|_, store| Ok(store.outbox_status().map(|it| Some(it.changed + it.to_sweep))?))
        .await
}
