//! `/criteria`: whether plimsoll meets its goals.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use maud::{Markup, html};
use plimsoll_engine::criteria::{self, Criteria};
use plimsoll_engine::sessions;
use plimsoll_store::Store;

use super::frame::{Tab, page as framed, reloading_page};
use super::site::Site;
use crate::http::Problem;
use crate::state::{App, AppState};

/// How long figures are shown before they are recomputed.
const MAX_AGE: Duration = Duration::from_secs(60);
/// Time limit for scoring compactions.
const PATIENCE: Duration = Duration::from_secs(2);
const TITLE: &str = "Criteria";

/// Shows whether plimsoll meets its goals.
pub(super) async fn page(State(app): State<AppState>, site: Site) -> Markup {
    match current(&app).await {
        Some(found) => framed(&site, Some(Tab::Criteria), TITLE, &render(&found)),
        None => {
            let body = html! { p role="status" { "Looking; this page comes back by itself." } };
            reloading_page(&site, Tab::Criteria, TITLE, 2, &body)
        }
    }
}

/// Returns the last figures. The first caller waits for them; later updates are computed in the
/// background.
pub(crate) async fn current(app: &AppState) -> Option<Arc<Criteria>> {
    let (known, is_due) = app.criteria.get(MAX_AGE);
    if !is_due {
        return known;
    }
    let looking = app.clone();
    let look = tokio::spawn(async move {
        let found = looking.with_store(compute).await;
        looking.criteria.put(found.ok());
    });
    if known.is_none() {
        // On failure `last` below returns `None`.
        let _ = look.await;
        return app.criteria.last();
    }
    known
}

fn compute(app: &App, store: &mut Store) -> Result<Criteria, Problem> {
    let found = sessions::find(&app.world).map_err(|error| app.internal_error(&error))?;
    criteria::look(&app.world, store, &found, PATIENCE).map_err(|error| app.internal_error(&error))
}

fn render(found: &Criteria) -> Markup {
    html! {
        h1 { (TITLE) }
        p.lead { "Does plimsoll do what it is for?" }
        table {
            caption { (found.title()) }
            tbody {
                @for (name, told) in found.told() {
                    tr { th scope="row" { (name) } td { (told) } }
                }
            }
        }
    }
}
