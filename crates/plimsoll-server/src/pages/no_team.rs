//! `/team` in a build without the feature `team`: says so.

use axum::Router;
use axum::routing::get;

use super::frame::PageError;
use super::site::Site;
use crate::http::Problem;
use crate::state::AppState;
use crate::team::TeamError;

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/team", get(missing)).route("/team/{*page}", get(missing))
}

async fn missing(site: Site) -> PageError {
    PageError::of(&site.of_team())(Problem::not_found(TeamError, TeamError.hint()))
}
