//! `/`: all sessions with their load, live ones first.

use axum::extract::State;
use maud::{Markup, html};
use plimsoll_core::event::SessionId;
use plimsoll_core::forecast::look_ahead;
use plimsoll_core::name::short;
use plimsoll_core::reading::ReadingSource;
use plimsoll_core::settings::Lines;
use plimsoll_core::text::duration;
use plimsoll_engine::history::bounds;
use plimsoll_engine::sessions;
use plimsoll_engine::settings::{self, ByAgent};
use plimsoll_store::{OverviewRow, Store};

use super::frame::{PageError, Tab, page as framed};
use super::parts::{Pager, WindowLoad, ago, count_with_noun, short_path, tokens};
use super::site::Site;
use crate::http::{Params, Problem};
use crate::live::LiveReading;
use crate::state::{App, AppState};

/// Sessions per page, for the live list and for the past list. More would delay the first paint.
const PAGE: u64 = 20;
/// Number of newest model calls used to compute a session's pace.
const PACE_CALLS: u32 = 200;

/// A row of the session table.
pub(super) struct SessionTableRow {
    id: String,
    /// Owner, on a team page.
    whose: Option<String>,
    project: String,
    model: String,
    load: Option<WindowLoad>,
    /// Forecast until the next compaction.
    ahead: String,
    compactions: u64,
    subagents: usize,
    seen: Markup,
    checkpoint: Option<plimsoll_store::LastCheckpoint>,
}

/// The page's data.
struct SessionLists {
    live: Vec<SessionTableRow>,
    live_count: usize,
    past: Vec<SessionTableRow>,
    past_count: u64,
    at: ListPosition,
    lines: Lines,
}

/// Current pages of the two lists, counted from 1.
#[derive(Clone, Copy)]
struct ListPosition {
    running: u64,
    past: u64,
}

impl ListPosition {
    fn from_params(params: &Params) -> Result<Self, Problem> {
        let page = |name| params.number(name, 1..=1_000_000).map(|number| number.unwrap_or(1));
        Ok(Self { running: page("running")?, past: page("page")? })
    }

    fn link(self, site: &Site) -> String {
        let (running, past) = (self.running.to_string(), self.past.to_string());
        site.with("/", &[("running", &running), ("page", &past)])
    }
}

/// Returns the number of rows before a page.
fn skipped(number: u64) -> u64 {
    (number - 1) * PAGE
}

fn pages(count: u64) -> u64 {
    count.div_ceil(PAGE).max(1)
}

/// Shows all sessions with their load.
pub(super) async fn page(
    State(app): State<AppState>,
    site: Site,
    params: Params,
) -> Result<Markup, PageError> {
    let at = ListPosition::from_params(&params).map_err(PageError::of(&site))?;
    let listed = app.with_store(move |app, store| list(app, store, at)).await;
    let listed = listed.map_err(PageError::of(&site))?;
    Ok(framed(&site, Some(Tab::Sessions), "Sessions", &render(&site, &listed)))
}

fn list(app: &App, store: &mut Store, at: ListPosition) -> Result<SessionLists, Problem> {
    let in_force = ByAgent::load(&app.world, &app.world.paths.data);
    let (readings, subagents) = live(app);
    let names: Vec<String> = readings.iter().map(|it| it.of.session.clone()).collect();
    let past = store.overview(&names, skipped(at.past) as u32, PAGE as u32)?;
    let running = |reading: &LiveReading| {
        let session = &reading.of.session;
        let count = subagents.iter().filter(|subagent| *subagent == session).count();
        live_row(store, reading, count)
    };
    let here = readings.iter().skip(skipped(at.running) as usize).take(PAGE as usize);
    Ok(SessionLists {
        live_count: readings.len(),
        live: here.map(running).collect::<Result<_, Problem>>()?,
        past: past.iter().map(|row| measured_row(app, &in_force, row)).collect(),
        past_count: store.session_count(&names)?,
        at,
        lines: settings::of_user(&app.world).lines,
    })
}

/// Returns the live windows, fullest first, and the session of each live subagent.
fn live(app: &App) -> (Vec<LiveReading>, Vec<String>) {
    let windows = app.live.windows();
    let is_main = |reading: &&LiveReading| reading.of.subagent.is_none();
    let (main, side): (Vec<&LiveReading>, Vec<&LiveReading>) = windows.values().partition(is_main);
    let mut main: Vec<LiveReading> = main.into_iter().cloned().collect();
    main.sort_by(|one, other| other.percent.total_cmp(&one.percent));
    (main, side.into_iter().map(|reading| reading.of.session.clone()).collect())
}

fn live_row(
    store: &Store,
    reading: &LiveReading,
    subagents: usize,
) -> Result<SessionTableRow, Problem> {
    let LiveReading { of, used, window, trigger, model, source, .. } = reading;
    let id = SessionId::new(&of.session);
    let known = id.as_ref().map(|id| store.session_overview(id)).transpose()?.flatten();
    let pace =
        id.as_ref().map(|id| store.growth_samples(id, PACE_CALLS)).transpose()?.unwrap_or_default();
    let forecast = look_ahead(*used, trigger.unwrap_or(*window), &pace.samples);
    let minutes = forecast.minutes.map(|minutes| duration((minutes * 60.0) as u64));
    let ahead = match (forecast.turns, minutes) {
        (Some(..1.5), Some(time)) => format!("a turn or {time}"),
        (Some(turns @ ..100.0), Some(time)) => format!("{turns:.0} turns or {time}"),
        _ => String::new(),
    };
    let seen = plimsoll_core::time::moment(&of.at);
    Ok(SessionTableRow {
        id: of.session.clone(),
        whose: None,
        project: short_path(reading.project.as_ref()),
        model: model.clone().unwrap_or_default(),
        load: Some(WindowLoad { used: *used, window: *window, trigger: *trigger, source: *source }),
        ahead,
        compactions: pace.compactions,
        subagents,
        seen: seen.map_or_else(Markup::default, ago),
        checkpoint: known.and_then(|known| known.checkpoint),
    })
}

/// Builds the row of a past session: measured from the transcript, or from the store if the
/// transcript is gone.
fn measured_row(app: &App, in_force: &ByAgent, row: &OverviewRow) -> SessionTableRow {
    let remembered = past_row(in_force, row, None);
    match sessions::measure_known(&app.world, &row.session) {
        Ok(Some(measured)) => {
            SessionTableRow { load: Some(WindowLoad::of(&measured)), ..remembered }
        }
        _ => remembered,
    }
}

pub(super) fn past_row(
    in_force: &ByAgent,
    row: &OverviewRow,
    whose: Option<String>,
) -> SessionTableRow {
    let OverviewRow { session, used, largest, compactions, checkpoint } = row;
    let (model, version) = (session.model.as_deref(), session.version.as_deref());
    let (window, trigger) = bounds(in_force.of(&session.id), model, version, *largest);
    // The store contains only measured counts.
    let source = ReadingSource::Measured;
    let load = |used| WindowLoad { used, window: window.tokens, trigger: trigger.tokens(), source };
    SessionTableRow {
        id: session.id.to_string(),
        whose,
        project: session.project.as_deref().map(short_path).unwrap_or_default(),
        model: session.model.clone().unwrap_or_default(),
        load: used.map(load),
        ahead: String::new(),
        compactions: *compactions,
        subagents: 0,
        seen: ago(session.last_seen),
        checkpoint: checkpoint.clone(),
    }
}

fn render(site: &Site, listed: &SessionLists) -> Markup {
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

fn running(site: &Site, listed: &SessionLists) -> Markup {
    let pager = Pager {
        list: "More that run",
        words: ["Fuller", "Less full"],
        number: listed.at.running,
        pages: pages(listed.live_count as u64),
    };
    html! {
        section aria-labelledby="running" {
            h2 #running { "Running " span.count { (tokens(listed.live_count as u64)) } }
            @if listed.live_count == 0 {
                p.quiet { "No session runs right now." }
            } @else {
                (table(site, &listed.live, &listed.lines, "Ahead"))
                (pager.links(|running| ListPosition { running, ..listed.at }.link(site)))
            }
        }
    }
}

fn past(site: &Site, listed: &SessionLists) -> Markup {
    let SessionLists { past, past_count, at, lines, .. } = listed;
    let pager = Pager {
        list: "More of the past",
        words: ["Newer", "Older"],
        number: at.past,
        pages: pages(*past_count),
    };
    html! {
        @if *past_count > 0 {
            section.later aria-labelledby="past" {
                h2 #past { "Past " span.count { (tokens(*past_count)) } }
                (table(site, past, lines, "Compacted"))
                (pager.links(|past| ListPosition { past, ..*at }.link(site)))
            }
        }
    }
}

pub(super) fn table(site: &Site, rows: &[SessionTableRow], lines: &Lines, ahead: &str) -> Markup {
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

fn line(site: &Site, row: &SessionTableRow, lines: &Lines) -> Markup {
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
                td.figure { span.percent { (load.percent()) } span.band { (band) } }
                td.figure { (load.tokens()) span.of { "of " (tokens(load.window)) } }
            } @else {
                td.load colspan="3" { span.quiet { "no answer yet" } }
            }
            td.ahead { (row.ahead) span.of { (row_note(row)) } }
            td { (checkpoint(site, row)) }
            td.model { (row.model) }
            td.figure { (row.seen) }
        }
    }
}

/// Describes subagents and compactions.
fn row_note(row: &SessionTableRow) -> String {
    let subagents = count_with_noun(row.subagents as u64, "subagent", "subagents");
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

fn checkpoint(site: &Site, row: &SessionTableRow) -> Markup {
    html! {
        @match &row.checkpoint {
            Some(last) => a href=(site.checkpoint(&last.id)) { (ago(last.created)) },
            None => span.quiet { "none" },
        }
    }
}
