//! `/session/{id}`: one session over time, and the contents of its window.

pub(super) mod view;

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::extract::State;
use maud::Markup;
use plimsoll_core::event::SessionId;
use plimsoll_core::name::short;
use plimsoll_core::policy::Levels;
use plimsoll_core::reading::ReadingSource;
use plimsoll_core::run::RunId;
use plimsoll_core::settings::Lines;
use plimsoll_core::{Millis, Tokens, models};
use plimsoll_engine::fill::{self, Fill};
use plimsoll_engine::history::bounds;
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::settings::{self, ByAgent};
use plimsoll_extract::save::{Save, SaveKind};
use plimsoll_store::{CheckpointRow, CurvePoint, CurvePointRow, OverviewRow, Store};

use super::frame::{PageError, Tab, page as framed};
use super::parts::WindowLoad;
use super::plot::Plot;
use super::site::Site;
use crate::http::{PathParam, Problem};
use crate::live::LiveReading;
use crate::state::{App, AppState};

/// Maximum number of listed checkpoints, saves and subagents.
pub(super) const MAX_LISTED: usize = 100;
/// Time limit for estimating what fills the window.
const FILL_TIMEOUT: Duration = Duration::from_millis(400);

/// The page's data.
pub(super) struct SessionPage {
    pub(super) id: String,
    /// Person and machine, if the session ran on another machine.
    whose: Option<String>,
    known: Option<OverviewRow>,
    standing: SessionWindow,
    /// Project folder, for display.
    folder: Option<String>,
    is_live: bool,
    plot: Plot,
    fill: Option<Fill>,
    subagents: Vec<SubagentLoad>,
    checkpoints: Vec<CheckpointRow>,
    saves: Vec<Save>,
    /// Run that the session belongs to.
    run: Option<RunId>,
}

/// Current state of a session's window.
struct SessionWindow {
    load: Option<WindowLoad>,
    levels: Option<Levels>,
    lines: Lines,
    model: Option<String>,
    project: Option<PathBuf>,
}

/// A subagent with its last reading.
struct SubagentLoad {
    id: String,
    load: Option<WindowLoad>,
    last_seen: Millis,
    is_live: bool,
}

/// Shows one session.
pub(super) async fn page(
    State(app): State<AppState>,
    site: Site,
    PathParam(id): PathParam,
) -> Result<Markup, PageError> {
    let session = app.with_store(move |app, store| load(app, store, &id)).await;
    let session = session.map_err(PageError::of(&site))?;
    let title = format!("Session {}", short(&session.id));
    Ok(framed(&site, Some(Tab::Sessions), &title, &view::session(&site, &session)))
}

fn load(app: &App, store: &mut Store, id: &str) -> Result<SessionPage, Problem> {
    let unknown = || {
        let hint = "`plimsoll status --all` names the sessions there are";
        Problem::not_found("no such session is known here", hint)
    };
    let session = SessionId::new(id).ok_or_else(unknown)?;
    let known = store.session_overview(&session)?;
    let found = find_transcript(app, known.as_ref(), &session);
    if known.is_none() && found.is_none() {
        return Err(unknown());
    }
    let standing = current_window(app, known.as_ref(), found.as_ref());
    let points = store.series(&session, Millis::MIN)?;
    let mut checkpoints = store.checkpoints_of(&session)?;
    checkpoints.reverse();
    checkpoints.truncate(MAX_LISTED);
    let saves = store.saves_of_session(id)?;
    let run = store.run_of(&session)?;
    let is_live = app.live.windows().contains_key(&(id.to_owned(), None));
    Ok(SessionPage {
        id: id.to_owned(),
        whose: None,
        is_live,
        folder: standing.project.as_deref().map(|project| folder(app, project)),
        plot: curve(&points, &standing, &checkpoints, &saves),
        subagents: subagents(app, &points, standing.load),
        fill: found.as_ref().and_then(|found| estimate_fill(found, &standing)),
        known,
        standing,
        checkpoints,
        saves,
        run,
    })
}

/// Returns a session's state: measured from the transcript, or from the store if the transcript is
/// gone.
fn current_window(app: &App, known: Option<&OverviewRow>, found: Option<&Found>) -> SessionWindow {
    let measured = found.and_then(|it| sessions::measure(&app.world, it).ok()?);
    if let Some(it) = measured {
        let load = WindowLoad::of(&it);
        let (levels, project) = (Some(it.levels), Some(it.project));
        return SessionWindow {
            load: Some(load),
            levels,
            lines: it.lines,
            model: it.model,
            project,
        };
    }
    stored_window(app, known)
}

/// Returns a session's state from the store.
fn stored_window(app: &App, known: Option<&OverviewRow>) -> SessionWindow {
    let in_force = ByAgent::load(&app.world, &app.world.paths.data);
    let lines = settings::of_user(&app.world).lines;
    let session = known.map(|row| &row.session);
    let model = session.and_then(|it| it.model.clone());
    let load = known.and_then(|row| {
        let version = row.session.version.as_deref();
        let (window, trigger) =
            bounds(in_force.of(&row.session.id), model.as_deref(), version, row.largest);
        // The store contains only measured counts.
        let source = ReadingSource::Measured;
        let trigger = trigger.within(window.tokens);
        Some(WindowLoad { used: row.used?, window: window.tokens, trigger, source })
    });
    let levels = load.map(|load| Levels::of(&lines, load.window).clear_of(load.trigger, 0));
    let project = session.and_then(|it| it.project.clone());
    SessionWindow { load, levels, lines, model, project }
}

/// Builds the page's data for a session on another machine, from the rows it has sent.
#[cfg(feature = "team")]
pub(super) fn from_team_rows(
    app: &App,
    owner: String,
    known: OverviewRow,
    points: &[CurvePointRow],
    checkpoints: Vec<CheckpointRow>,
    saves: Vec<Save>,
) -> SessionPage {
    let standing = stored_window(app, Some(&known));
    SessionPage {
        id: known.session.id.to_string(),
        whose: Some(owner),
        is_live: false,
        folder: standing.project.as_deref().map(|project| project.display().to_string()),
        plot: curve(points, &standing, &checkpoints, &saves),
        subagents: subagents(app, points, standing.load),
        fill: None,
        known: Some(known),
        standing,
        checkpoints,
        saves,
        run: None,
    }
}

/// Estimates what fills the window, as far as the time limit allows.
fn estimate_fill(found: &Found, standing: &SessionWindow) -> Option<Fill> {
    let (model, _) = models::of_variant(standing.model.as_deref().unwrap_or_default());
    fill::fill(found.agent, &found.path, model, FILL_TIMEOUT).ok()?
}

/// Formats a folder with `~` for the home folder.
fn folder(app: &App, path: &Path) -> String {
    match path.strip_prefix(&app.world.paths.home) {
        Ok(inside) => format!("~/{}", inside.display()),
        Err(_) => path.display().to_string(),
    }
}

/// Finds the transcript of a session: at the path recorded in the store, or by search.
fn find_transcript(app: &App, known: Option<&OverviewRow>, session: &SessionId) -> Option<Found> {
    let path = known.and_then(|row| row.session.transcript.as_deref());
    let there = path.and_then(|path| sessions::at(&app.world, path));
    there.or_else(|| sessions::find_one(&app.world, session))
}

fn curve(
    points: &[CurvePointRow],
    standing: &SessionWindow,
    checkpoints: &[CheckpointRow],
    saves: &[Save],
) -> Plot {
    let main = || points.iter().filter(|row| row.subagent.is_none());
    let reading = |row: &CurvePointRow| match row.point {
        CurvePoint::Reading { used } => Some((row.time, used)),
        CurvePoint::Compaction { .. } => None,
    };
    let is_compaction = |row: &&CurvePointRow| matches!(row.point, CurvePoint::Compaction { .. });
    let is_breakpoint = |save: &&Save| matches!(save.what.kind, SaveKind::Commit | SaveKind::Tests);
    Plot {
        readings: main().filter_map(reading).collect(),
        window: standing.load.map_or(0, |load| load.window),
        lines: threshold_lines(standing),
        compactions: main().filter(is_compaction).map(|row| row.time).collect(),
        checkpoints: checkpoints.iter().map(|row| row.created).collect(),
        breakpoints: saves.iter().filter(is_breakpoint).map(|save| save.created).collect(),
    }
}

/// Returns the horizontal lines of the plot. A line that would cover another one's label is left
/// out.
fn threshold_lines(standing: &SessionWindow) -> Vec<(&'static str, &'static str, Tokens)> {
    let Some(load) = standing.load else { return Vec::new() };
    let levels = standing.levels.as_ref();
    let mut rules = vec![("window", "window", load.window)];
    rules.extend(load.trigger.map(|trigger| ("compacts", "trigger", trigger)));
    let ours = levels.map(|levels| [("restart", levels.restart), ("save", levels.save)]);
    for (name, tokens) in ours.into_iter().flatten() {
        let apart = |(_, _, other): &(_, _, Tokens)| other.abs_diff(tokens) > load.window / 20;
        if rules.iter().all(apart) {
            rules.push((name, "own", tokens));
        }
    }
    rules
}

/// Returns the subagents in the store, newest first. The window of a subagent that is not live is
/// taken to equal its session's.
fn subagents(
    app: &App,
    points: &[CurvePointRow],
    session: Option<WindowLoad>,
) -> Vec<SubagentLoad> {
    let live = app.live.windows();
    let mut found: Vec<SubagentLoad> = Vec::new();
    for row in points.iter().rev() {
        let (Some(name), CurvePoint::Reading { used }) = (&row.subagent, &row.point) else {
            continue;
        };
        if found.iter().any(|known| known.id == name.as_str()) {
            continue;
        }
        let running = live.values().find(|it| it.of.subagent.as_deref() == Some(name.as_str()));
        let load = match running {
            Some(LiveReading { used, window, trigger, source, .. }) => Some(WindowLoad {
                used: *used,
                window: *window,
                trigger: *trigger,
                source: *source,
            }),
            None => session.map(|load| WindowLoad {
                used: *used,
                source: ReadingSource::Measured,
                ..load
            }),
        };
        found.push(SubagentLoad {
            id: name.to_string(),
            load,
            last_seen: row.time,
            is_live: running.is_some(),
        });
    }
    found.truncate(MAX_LISTED);
    found
}
