//! The dashboard: pages that are whole without a script, and one small script that keeps them current.
//!
//! Everything is written by `maud`, which escapes every text. A page carries its style, loads its
//! script from here and nothing from elsewhere; the script asks for the same page again when something has
//! happened, and puts the new parts in the place of the old ones.

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
mod team;

use axum::Router;
use axum::routing::get;

pub(crate) use assets::STYLE;
pub(crate) use cached::Cached;
pub(crate) use criteria::current as current_criteria;
pub(crate) use score::Score;
pub(crate) use tax::{Tax, count as count_tax};

use crate::state::AppState;

/// The pages and what they load.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/", get(sessions::page))
        .route("/session/{id}", get(session::page))
        .route("/checkpoint/{id}", get(checkpoint::page))
        .route("/runs", get(runs::list))
        .route("/runs/{id}", get(runs::one))
        .route("/saves", get(saves::page))
        .route("/tax", get(tax::page))
        .route("/score", get(score::page))
        .route("/criteria", get(criteria::page))
        .route("/team", get(team::sessions))
        .route("/team/session/{id}", get(team::session))
        .route("/team/checkpoint/{id}", get(team::checkpoint))
        .route("/team/saves", get(team::saves))
        .route("/assets/live.js", get(assets::script))
        .route("/assets/icon.svg", get(assets::icon))
}
