//! `/tax`: the cost of every hook per call.

use std::time::Duration;

use axum::extract::State;
use maud::{Markup, html};
use plimsoll_core::Millis;
use plimsoll_core::text::thousands;
use plimsoll_engine::tax::{Cost, Times, costs};
use plimsoll_store::Store;

use super::frame::{Tab, page as framed, reloading_page};
use super::parts::tokens;
use super::site::Site;
use crate::http::Problem;
use crate::state::{App, AppState};

/// Cost of all hooks.
pub(crate) type HookTax = Vec<Cost>;

/// How long figures are shown before they are recomputed.
const MAX_AGE: Duration = Duration::from_secs(60);
const TITLE: &str = "Hook tax";

/// Shows the cost of every hook per call.
pub(super) async fn page(State(app): State<AppState>, site: Site) -> Markup {
    let (known, is_due) = app.tax.get(MAX_AGE);
    if is_due {
        let app = app.clone();
        tokio::spawn(async move {
            let found = app.with_store(count).await;
            app.tax.put(found.ok());
        });
    }
    match known {
        Some(costs) => framed(&site, Some(Tab::Tax), TITLE, &render(&costs)),
        None => reloading_page(&site, Tab::Tax, TITLE, 1, &waiting()),
    }
}

/// Computes the cost of all hooks.
pub(crate) fn count(app: &App, store: &mut Store) -> Result<HookTax, Problem> {
    costs(store, Millis::MIN).map_err(|error| app.internal_error(&error))
}

fn waiting() -> Markup {
    html! {
        h1 { (TITLE) }
        p role="status" { "Counting; this page comes back by itself." }
    }
}

fn render(costs: &[Cost]) -> Markup {
    html! {
        h1 { (TITLE) }
        p.lead { "What every hook costs per call, by the client's own figures." }
        @if costs.is_empty() {
            section.empty { p { "Your transcripts tell of no hook that ran." } }
        } @else {
            (table(costs))
        }
        @for note in unrecorded() { p.quiet { (note) } }
        p.quiet { code { "plimsoll tax" } " also times our own hook on the spot." }
    }
}

/// Returns which hook runs the agents do not record.
fn unrecorded() -> impl Iterator<Item = &'static str> {
    plimsoll_agents::ALL.iter().filter_map(|agent| agent.profile().unrecorded_hook_runs)
}

fn table(costs: &[Cost]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Hook commands" {
            table {
                thead {
                    tr {
                        th scope="col" { "Command" }
                        th scope="col" { "Events" }
                        @for name in ["Total", "Calls", "p50", "p95", "Max", "Of time", "Failed"] {
                            th.figure scope="col" { (name) }
                        }
                    }
                }
                tbody { @for cost in costs { (line(cost)) } }
            }
        }
    }
}

fn line(cost: &Cost) -> Markup {
    let time =
        |of: fn(&Times) -> f64| cost.times.as_ref().map_or("–".to_owned(), |it| millis(of(it)));
    html! {
        tr {
            th.command scope="row" { code { (cost.command) } }
            td { (cost.events.join(", ")) }
            td.figure { (if cost.times.is_some() { millis(cost.total_millis as f64) } else { "–".to_owned() }) }
            td.figure { (tokens(cost.runs)) }
            td.figure { (time(|it| it.p50)) }
            td.figure { (time(|it| it.p95)) }
            td.figure { (time(|it| it.max)) }
            td.figure { (format!("{:.2} %", cost.share() * 100.0)) }
            td.figure { (thousands(cost.failed + cost.stopped)) }
        }
    }
}

/// Formats milliseconds.
fn millis(millis: f64) -> String {
    match millis {
        ..10.0 => format!("{millis:.1} ms"),
        10.0..10_000.0 => format!("{millis:.0} ms"),
        _ => format!("{:.1} s", millis / 1000.0),
    }
}
