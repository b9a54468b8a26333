//! `/`: every session and its load, those that run first.

use axum::extract::State;
use maud::{Markup, html};
use plimsoll_core::event::SessionId;
use plimsoll_core::forecast::look_ahead;
use plimsoll_core::settings::Lines;
use plimsoll_core::text::duration;
use plimsoll_engine::history::bounds;
use plimsoll_engine::settings::{self, InForce};
use plimsoll_store::{OverviewRow, Store};

use super::frame::{NoPage, Tab, page as framed};
use super::parts::{Load, ago, counted, pager, project, short, tokens};
use super::site::Site;
use crate::http::{Params, Problem};
use crate::live::LiveReading;
use crate::state::{App, AppState};

/// How many past sessions a page lists.
const PAGE: u64 = 50;
/// How many that run are listed; who has more looks at the fullest.
const MOST_LIVE: usize = 200;
/// How many of a session's newest calls tell its pace.
const PACE_CALLS: u32 = 200;

/// A line of the list.
pub(super) struct Row {
    id: String,
    /// Whose it is, where that is not the same for all.
    whose: Option<String>,
    project: String,
    model: String,
    load: Option<Load>,
    /// How far it is from being compacted.
    ahead: String,
    compactions: u64,
    subagents: usize,
    seen: Markup,
    checkpoint: Option<plimsoll_store::LastCheckpoint>,
}

/// What the page shows.
struct Listed {
    live: Vec<Row>,
    live_count: usize,
    past: Vec<Row>,
    past_count: u64,
    number: u64,
    lines: Lines,
}

/// Every session and its load
pub(super) async fn page(
    State(app): State<AppState>,
    site: Site,
    params: Params,
) -> Result<Markup, NoPage> {
    let number = match params.number("page", 1..=1_000_000) {
        Ok(number) => number.unwrap_or(1),
        Err(problem) => return Err(NoPage::of(&site)(problem)),
    };
    let listed = app.with_store(move |app, store| list(app, store, number)).await;
    let listed = listed.map_err(NoPage::of(&site))?;
    Ok(framed(&site, Some(Tab::Sessions), "Sessions", &shown(&site, &listed)))
}

fn list(app: &App, store: &mut Store, number: u64) -> Result<Listed, Problem> {
    let in_force = settings::load(&app.world, app.adapter, &app.world.paths.data);
    let (readings, subagents) = live(app);
    let names: Vec<String> = readings.iter().map(|it| it.of.session.clone()).collect();
    let skipped = ((number - 1) * PAGE) as u32;
    let past = store.overview(&names, skipped, PAGE as u32)?;
    let running = |reading: &LiveReading| {
        let session = &reading.of.session;
        let count = subagents.iter().filter(|subagent| *subagent == session).count();
        live_row(store, reading, count)
    };
    Ok(Listed {
        live_count: readings.len(),
        live: readings.iter().take(MOST_LIVE).map(running).collect::<Result<_, Problem>>()?,
        past: past.iter().map(|row| past_row(&in_force, row, None)).collect(),
        past_count: store.session_count(&names)?,
        number,
        lines: in_force.settings.lines,
    })
}

/// The windows that are live, the fullest first; and the session of each subagent that runs.
fn live(app: &App) -> (Vec<LiveReading>, Vec<String>) {
    let windows = app.live.windows();
    let is_main = |reading: &&LiveReading| reading.of.subagent.is_none();
    let (main, side): (Vec<&LiveReading>, Vec<&LiveReading>) = windows.values().partition(is_main);
    let mut main: Vec<LiveReading> = main.into_iter().cloned().collect();
    main.sort_by(|one, other| other.percent.total_cmp(&one.percent));
    (main, side.into_iter().map(|reading| reading.of.session.clone()).collect())
}

fn live_row(store: &Store, reading: &LiveReading, subagents: usize) -> Result<Row, Problem> {
    let LiveReading { of, used, window, trigger, model, .. } = reading;
    let id = SessionId::new(&of.session);
    let known = id.as_ref().map(|id| store.session_overview(id)).transpose()?.flatten();
    let pace = id.as_ref().map(|id| store.pace(id, PACE_CALLS)).transpose()?.unwrap_or_default();
    let forecast = look_ahead(*used, trigger.unwrap_or(*window), &pace.samples);
    let minutes = forecast.minutes.map(|minutes| duration((minutes * 60.0) as u64));
    let ahead = match (forecast.turns, minutes) {
        (Some(..1.5), Some(time)) => format!("a turn or {time}"),
        (Some(turns @ ..100.0), Some(time)) => format!("{turns:.0} turns or {time}"),
        _ => String::new(),
    };
    let seen = plimsoll_core::time::moment(&of.at);
    Ok(Row {
        id: of.session.clone(),
        whose: None,
        project: project(reading.project.as_ref()),
        model: model.clone().unwrap_or_default(),
        load: Some(Load { used: *used, window: *window, trigger: *trigger }),
        ahead,
        compactions: pace.compactions,
        subagents,
        seen: seen.map_or_else(Markup::default, ago),
        checkpoint: known.and_then(|known| known.checkpoint),
    })
}

pub(super) fn past_row(in_force: &InForce, row: &OverviewRow, whose: Option<String>) -> Row {
    let OverviewRow { session, used, largest, compactions, checkpoint } = row;
    let (model, version) = (session.model.as_deref(), session.version.as_deref());
    let (window, trigger) = bounds(in_force, model, version, *largest);
    let load = |used| Load { used, window: window.tokens, trigger: trigger.tokens() };
    Row {
        id: session.id.to_string(),
        whose,
        project: session.project.as_deref().map(project).unwrap_or_default(),
        model: session.model.clone().unwrap_or_default(),
        load: used.map(load),
        ahead: String::new(),
        compactions: *compactions,
        subagents: 0,
        seen: ago(session.last_seen),
        checkpoint: checkpoint.clone(),
    }
}

fn shown(site: &Site, listed: &Listed) -> Markup {
    html! {
        h1.hidden { "Sessions" }
        div data-live="sessions" {
            @if listed.live_count == 0 && listed.past_count == 0 {
                (nothing())
            } @else {
                (running(site, listed))
                (past(site, listed))
            }
        }
    }
}

fn nothing() -> Markup {
    html! {
        section.empty {
            h2 { "No session yet" }
            p { "Run " code { "plimsoll init" } " and start your agent: its load appears here by itself." }
        }
    }
}

fn running(site: &Site, listed: &Listed) -> Markup {
    html! {
        section aria-labelledby="running" {
            h2 #running { "Running " span.count { (listed.live_count) } }
            @if listed.live.is_empty() {
                p.quiet { "No session runs right now." }
            } @else {
                (table(site, &listed.live, &listed.lines, "Ahead"))
            }
        }
    }
}

fn past(site: &Site, listed: &Listed) -> Markup {
    let Listed { past, past_count, number, lines, .. } = listed;
    let pages = past_count.div_ceil(PAGE).max(1);
    let to = |number: u64| site.with("/", &[("page", &number.to_string())]);
    let (before, after) =
        ((*number > 1).then(|| to(number - 1)), (*number < pages).then(|| to(number + 1)));
    html! {
        @if *past_count > 0 {
            section aria-labelledby="past" {
                h2 #past { "Past " span.count { (tokens(*past_count)) } }
                (table(site, past, lines, "Compacted"))
                @if pages > 1 { (pager(before, &format!("page {number} of {pages}"), after)) }
            }
        }
    }
}

pub(super) fn table(site: &Site, rows: &[Row], lines: &Lines, ahead: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="A table that may be wider than the page" {
            table.sessions {
                thead {
                    tr {
                        th scope="col" { "Session" }
                        th scope="col" { "Load" }
                        th.figure scope="col" { "Share" }
                        th.figure scope="col" { "Tokens" }
                        th scope="col" { (ahead) }
                        th scope="col" { "Checkpoint" }
                        th scope="col" { "Model" }
                        th.figure scope="col" { "Seen" }
                    }
                }
                tbody { @for row in rows { (line(site, row, lines)) } }
            }
        }
    }
}

fn line(site: &Site, row: &Row, lines: &Lines) -> Markup {
    let band = row.load.map_or("none", |load| load.band(lines));
    html! {
        tr class=(band) data-session=(row.id) {
            th scope="row" {
                a href=(site.session(&row.id)) { (short(&row.id)) }
                span.project { (row.project) }
                @if let Some(whose) = &row.whose { span.project { (whose) } }
            }
            @if let Some(load) = row.load {
                td.load { (load.gauge(lines)) }
                td.figure { span.percent { (format!("{:.1}", load.percent())) " %" } span.band { (band) } }
                td.figure { (tokens(load.used)) span.of { "of " (tokens(load.window)) } }
            } @else {
                td.load colspan="3" { span.quiet { "no answer yet" } }
            }
            td.ahead { (row.ahead) span.of { (more(row)) } }
            td { (checkpoint(site, row)) }
            td.model { (row.model) }
            td.figure { (row.seen) }
        }
    }
}

/// What else there is to say of a session.
fn more(row: &Row) -> String {
    let subagents = counted(row.subagents as u64, "subagent", "subagents");
    let compacted = match row.compactions {
        0 => String::new(),
        1 => "compacted once".to_owned(),
        times => format!("compacted {times} times"),
    };
    match (row.subagents, compacted.is_empty()) {
        (0, _) => compacted,
        (_, true) => subagents,
        (_, false) => format!("{subagents}, {compacted}"),
    }
}

fn checkpoint(site: &Site, row: &Row) -> Markup {
    html! {
        @match &row.checkpoint {
            Some(last) => a href=(site.checkpoint(&last.id)) { (ago(last.created)) },
            None => span.quiet { "none" },
        }
    }
}
