//! The dashboard: pages that work without JavaScript, and a small script that keeps them current.
//!
//! All HTML is written with `maud`, which escapes text. The style is inlined and the script comes
//! from this server; pages load nothing from elsewhere. When an event arrives, the script fetches
//! the same page again and replaces the parts that changed.

mod assets;
mod cached;
mod checkpoint;
mod criteria;
mod frame;
mod parts;
mod plot;
mod runs;
mod saves;
mod score;
mod session;
mod sessions;
mod site;
mod tax;
#[cfg(feature = "team")]
mod team;
#[cfg(not(feature = "team"))]
#[path = "no_team.rs"]
mod team;

use axum::Router;
use axum::routing::get;

pub(crate) use assets::STYLE;
pub(crate) use cached::Cached;
pub(crate) use criteria::current as current_criteria;
pub(crate) use score::CompactionScores;
pub(crate) use tax::{HookTax, count as count_tax};

use crate::state::AppState;

/// Returns the routes of the pages and their assets.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/", get(sessions::page))
        .route("/session/{id}", get(session::page))
        .route("/checkpoint/{id}", get(checkpoint::page))
        .route("/runs", get(runs::list))
        .route("/runs/{id}", get(runs::show))
        .route("/saves", get(saves::page))
        .route("/tax", get(tax::page))
        .route("/score", get(score::page))
        .route("/criteria", get(criteria::page))
        .route("/assets/live.js", get(assets::script))
        .route("/assets/icon.svg", get(assets::icon))
        .merge(team::routes())
}
