//! All routes, and what handlers have in common.
//!
//! Each resource has one file, with its request and response types above the handlers. The OpenAPI
//! document is generated from the same functions.

pub(crate) mod api;
mod body;
mod breakpoints;
mod events;
mod health;
mod params;
mod problem;
mod saves;
mod session_saves;
mod usage;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, middleware};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use api::runs::{RunStory, RunView};
pub(crate) use params::{Params, PathParam};
pub(crate) use problem::Problem;
pub(crate) use saves::{ingest_saves, kinds_to_list};

use crate::auth;
use crate::pages;
use crate::state::AppState;

#[derive(OpenApi)]
#[openapi(info(
    title = "plimsoll",
    description = "How full a session's context window is, what to do about it, and session states to come back to."
), components(schemas(problem::View<'static>)))]
struct Document;

fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(usage::usage))
        .routes(routes!(breakpoints::auto_save))
        .routes(routes!(breakpoints::git_commit))
        .routes(routes!(breakpoints::test_result))
        .routes(routes!(saves::ss))
        .routes(routes!(saves::rs))
        .routes(routes!(saves::sessions))
        .routes(routes!(api::sessions::list))
        .routes(routes!(api::sessions::show))
        .routes(routes!(api::checkpoints::list))
        .routes(routes!(api::checkpoints::show))
        .routes(routes!(api::runs::list))
        .routes(routes!(api::runs::show))
        .routes(routes!(api::stats::environments))
        .routes(routes!(api::stats::tax))
        .routes(routes!(api::stats::score))
        .routes(routes!(health::healthz))
        .routes(routes!(health::metrics))
        .routes(routes!(events::events))
}

/// Returns the OpenAPI document.
pub fn openapi() -> serde_json::Value {
    add_schema_rules(&routes().into_openapi())
}

/// Adds a rule that the Rust types cannot express: a save request needs `task` or `session_id`.
fn add_schema_rules(document: &utoipa::openapi::OpenApi) -> serde_json::Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    document["components"]["schemas"]["SaveRequest"]["anyOf"] =
        serde_json::json!([{"required": ["task"]}, {"required": ["session_id"]}]);
    document
}

/// Builds the router with all routes, behind authorization.
pub fn router(app: AppState) -> Router {
    let (router, document) = routes().split_for_parts();
    let document = add_schema_rules(&document);
    router
        .route("/openapi.json", axum::routing::get(|| async { Json(document) }))
        .merge(pages::routes())
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(CatchPanicLayer::custom(handle_panic))
        .layer(middleware::from_fn_with_state(app.clone(), auth::handle_request))
        .with_state(app)
}

async fn not_found() -> Problem {
    Problem::not_found("there is no such path", "`/openapi.json` lists what there is")
}

async fn not_allowed(method: Method) -> Problem {
    let error = format!("`{method}` is not what this path takes");
    let hint = "the header `Allow` says what it takes";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, error, hint)
}

fn handle_panic(_: Box<dyn std::any::Any + Send>) -> Response {
    Problem::internal("the request could not be carried out").into_response()
}
