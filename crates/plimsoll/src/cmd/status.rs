//! `plimsoll status`

use std::fmt::Write as _;
use std::io::{BufWriter, StdoutLock, Write};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use plimsoll_agents::Adapter;
use plimsoll_core::forecast::Forecast;
use plimsoll_core::reading::ReadingSource;
use plimsoll_core::trigger::{Trigger, TriggerSource};
use plimsoll_core::window::WindowSource;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::load::Measured;
use plimsoll_engine::sessions::{self, Found, History};
use plimsoll_engine::world::{WINDOW_VARIABLE, World, now};
use serde::Serialize;

use crate::report::HintExt;
use crate::ui::{self, Ui};
use crate::view::{ForecastView, ReadingView, percent};

/// Show how full each session's context window is
///
/// Sessions that were active in the last 24 hours, newest first; each with its subagents, where the
/// client will compact, and how far that is at the pace so far.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll status
  plimsoll status 5f2c
  plimsoll status --all --json | jq '.[].reading.percent'")]
pub(crate) struct Args {
    /// Only this session: its name or the beginning of it
    session: Option<String>,
    /// All sessions, however old
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const RECENT: Duration = Duration::from_secs(24 * 3600);
/// A subagent that wrote nothing for so long is done.
const SUBAGENT_RECENT: Duration = Duration::from_secs(600);
const STORE_PATIENCE: Duration = Duration::from_secs(5);

/// One session, with all there is to show of it.
struct Shown {
    found: Found,
    measured: Measured,
    /// What the store tells, where there is one.
    history: Option<History>,
    subagents: Vec<(Found, Measured)>,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let adapter = plimsoll_agents::ALL[0];
    let chosen = choose(world, adapter, args)?;
    let store = ingest(world, ui, adapter, &chosen);
    let store = store.map_err(|error| ui.warn(&format!("no forecast: {error:#}"))).ok();
    let mut shown = Vec::new();
    for found in &chosen {
        match show(world, adapter, store.as_ref(), found) {
            Ok(session) => shown.extend(session),
            Err(error) => ui.warn(&format!("{error:#}")),
        }
    }
    if shown.is_empty() && !chosen.is_empty() {
        anyhow::bail!("none of {} sessions could be read", chosen.len());
    }
    let mut out = ui.out();
    match args.json {
        true => print_json(&mut out, &shown, now())?,
        false => print(ui, &mut out, &shown, args.all)?,
    }
    out.flush()?;
    Ok(())
}

/// Takes the sessions into the store, and what they teach to where the hooks find it.
fn ingest<'a>(
    world: &'a World,
    ui: &Ui,
    adapter: &'a dyn Adapter,
    chosen: &[Found],
) -> anyhow::Result<Ingester<'a>> {
    let mut ingester = Ingester::open(world, adapter, STORE_PATIENCE, None)?;
    for (number, found) in chosen.iter().enumerate() {
        ui.progress("reading transcripts", number, chosen.len());
        // A transcript that cannot be read is named when it is measured.
        let _ = ingester.session(&found.path);
    }
    ui.progress("", chosen.len(), chosen.len());
    ingester.learn()?;
    ingester.prune()?;
    Ok(ingester)
}

/// The sessions the user asks for.
fn choose(world: &World, adapter: &dyn Adapter, args: &Args) -> anyhow::Result<Vec<Found>> {
    let mut found = sessions::find(world, adapter)?;
    if let Some(name) = &args.session {
        found.retain(|found| found.owner.session.as_str().starts_with(name.as_str()));
        let mut names: Vec<&str> = found.iter().map(|found| found.owner.session.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        // One session may have transcripts in several folders: it was moved.
        return match names[..] {
            [] => Err(anyhow::anyhow!("no session `{name}`"))
                .hint("run `plimsoll status --all` to see all of them"),
            [_] => Ok(found),
            _ if names.contains(&name.as_str()) => {
                found.retain(|found| found.owner.session.as_str() == name);
                Ok(found)
            }
            _ => Err(anyhow::anyhow!("`{name}` is the beginning of {} sessions", names.len()))
                .hint(format!("give more of the name, for example `{}`", names[0])),
        };
    }
    if !args.all {
        found.retain(|found| is_within(found.modified, RECENT));
    }
    Ok(found)
}

fn is_within(time: SystemTime, limit: Duration) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|age| age < limit) || time > SystemTime::now()
}

fn show(
    world: &World,
    adapter: &dyn Adapter,
    store: Option<&Ingester<'_>>,
    found: &Found,
) -> anyhow::Result<Option<Shown>> {
    let failed = || format!("could not read session `{}`", found.owner.session);
    let Some(measured) = sessions::measure(world, adapter, found).with_context(failed)? else {
        return Ok(None);
    };
    let history = store.map(|store| History::of(store, &found.owner.session));
    let history = history.transpose()?;
    let mut subagents = Vec::new();
    for subagent in sessions::subagents(adapter, found) {
        let active = is_within(subagent.modified, SUBAGENT_RECENT);
        if let Some(measured) = sessions::measure(world, adapter, &subagent)?.filter(|_| active) {
            subagents.push((subagent, measured));
        }
    }
    Ok(Some(Shown { found: found.clone(), measured, history, subagents }))
}

const NO_SESSION: &str = "No session was found.";
const NO_RECENT_SESSION: &str =
    "No session was active in the last 24 hours; `plimsoll status --all` shows older ones.";

type Out = BufWriter<StdoutLock<'static>>;

fn print(ui: &Ui, out: &mut Out, shown: &[Shown], all: bool) -> anyhow::Result<()> {
    if shown.is_empty() {
        writeln!(out, "{}", if all { NO_SESSION } else { NO_RECENT_SESSION })?;
    }
    let short = |name: &str| name.chars().take(8).collect::<String>();
    for session in shown {
        let Shown { found, measured, history, subagents } = session;
        let name = short(found.owner.session.as_str());
        writeln!(out, "{:<8}  {}", ui.bold(&name), gauge(ui, measured))?;
        writeln!(out, "          {}", trigger(measured, history.as_ref()))?;
        let project = ui::plain(&measured.project.to_string_lossy());
        let compacted = history.as_ref().map_or_else(String::new, compacted);
        writeln!(
            out,
            "          {}",
            ui.dim(&format!("{}{compacted} · {project}", origin(measured)))
        )?;
        for (found, measured) in subagents {
            let name = short(found.owner.subagent.as_ref().map_or("", |name| name.as_str()));
            writeln!(out, "└ {name:<7.7} {}", gauge(ui, measured))?;
            writeln!(out, "          {}", ui.dim(&origin(measured)))?;
        }
        for complaint in &measured.complaints {
            ui.warn(&format!("config: {}", ui::plain(complaint)));
        }
    }
    Ok(())
}

/// The gauge with its figures.
pub(super) fn gauge(ui: &Ui, measured: &Measured) -> String {
    let Measured { reading, window, trigger, .. } = measured;
    let bar = ui.gauge(reading.used, window.tokens, trigger.tokens());
    let about = if reading.source == ReadingSource::Estimated { "~" } else { "" };
    format!(
        "{bar} {:>5.1} %  {about}{} of {} tokens",
        percent(reading.used, window.tokens),
        ui::thousands(reading.used),
        ui::thousands(window.tokens)
    )
}

/// How far it is until the client compacts.
fn trigger(measured: &Measured, history: Option<&History>) -> String {
    let forecast = history.cloned().unwrap_or_default().forecast(measured);
    let mut text = match measured.trigger {
        Trigger::At { tokens, source } => {
            let learned = match source {
                TriggerSource::Formula => String::new(),
                TriggerSource::Learned { compactions } => format!(", learned from {compactions}"),
            };
            format!("compacts at {}{learned}", ui::thousands(tokens))
        }
        Trigger::SwitchedOff => "no trigger: auto-compaction is off".to_owned(),
        Trigger::OnRefusal => "no trigger: compacts only when the prompt is refused".to_owned(),
    };
    let _ = write!(text, " · {} tokens left{}", ui::thousands(forecast.tokens), pace(&forecast));
    if measured.moved {
        let _ = write!(text, " · warns at {}", ui::thousands(measured.levels.warn));
    }
    text
}

/// The forecast in turns and time; one that reaches too far says nothing.
fn pace(forecast: &Forecast) -> String {
    let (Some(turns), Some(minutes)) = (forecast.turns, forecast.minutes) else {
        return String::new();
    };
    let time = ui::duration((minutes * 60.0) as u64);
    match turns {
        ..1.0 => format!(", less than a turn or {time}"),
        1.0..1.5 => format!(", about a turn or {time}"),
        1.5..100.0 => format!(", about {turns:.0} turns or {time}"),
        _ => String::new(),
    }
}

fn compacted(history: &History) -> String {
    match history.compactions {
        0 => String::new(),
        1 => " · compacted once".to_owned(),
        times => format!(" · compacted {times} times"),
    }
}

/// Where the figures come from.
pub(super) fn origin(measured: &Measured) -> String {
    let Measured { reading, window, model, .. } = measured;
    let time = reading.anchor.as_ref().and_then(|anchor| anchor.time);
    let age = time.map_or_else(String::new, |time| {
        format!(" {} ago", ui::duration((now() / 1000).saturating_sub(time.max(0) as u64 / 1000)))
    });
    let source = match reading.source {
        ReadingSource::Measured => "measured",
        ReadingSource::Estimated => "estimated",
    };
    let model = ui::plain(model.as_deref().unwrap_or("no model yet"));
    format!("{source}{age} · {model} · {}", window_origin(window.source))
}

fn window_origin(source: WindowSource) -> String {
    match source {
        WindowSource::Override => "window as you set it".to_owned(),
        WindowSource::StatusLine => "window by the status line".to_owned(),
        WindowSource::Mark => "window by long-context mark".to_owned(),
        WindowSource::ClientSetting => "window by the client's settings".to_owned(),
        WindowSource::Table => "window by model".to_owned(),
        WindowSource::Inferred => "window inferred from a larger prompt".to_owned(),
        WindowSource::Default => format!("window guessed: set {WINDOW_VARIABLE}"),
    }
}

/// A session in JSON.
#[derive(Serialize)]
struct SessionView<'a> {
    session: &'a str,
    project: String,
    transcript: String,
    reading: ReadingView,
    forecast: ForecastView,
    compactions: Option<usize>,
    subagents: Vec<SubagentView<'a>>,
}

#[derive(Serialize)]
struct SubagentView<'a> {
    subagent: &'a str,
    reading: ReadingView,
}

fn print_json(out: &mut Out, shown: &[Shown], now: u64) -> anyhow::Result<()> {
    let views: Vec<SessionView<'_>> = shown.iter().map(|session| view(session, now)).collect();
    serde_json::to_writer_pretty(&mut *out, &views)?;
    writeln!(out)?;
    Ok(())
}

fn view(session: &Shown, now: u64) -> SessionView<'_> {
    SessionView {
        session: session.found.owner.session.as_str(),
        project: session.measured.project.display().to_string(),
        transcript: session.found.path.display().to_string(),
        reading: ReadingView::new(&session.measured, now),
        forecast: ForecastView::from(
            session.history.clone().unwrap_or_default().forecast(&session.measured),
        ),
        compactions: session.history.as_ref().map(|history| history.compactions),
        subagents: session
            .subagents
            .iter()
            .map(|(found, measured)| SubagentView {
                subagent: found.owner.subagent.as_ref().map_or("", |name| name.as_str()),
                reading: ReadingView::new(measured, now),
            })
            .collect(),
    }
}
