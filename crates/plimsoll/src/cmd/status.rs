//! `plimsoll status`

use std::fmt::Write as _;
use std::io::{BufWriter, StdoutLock, Write};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use plimsoll_agents::Adapter;
use plimsoll_core::reading::ReadingSource;
use plimsoll_core::trigger::{Trigger, TriggerSource};
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
    history: History,
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
    let mut out = ui.out();
    match args.json {
        true => print_json(&mut out, &shown, now())?,
        false => print(ui, &mut out, &shown, now())?,
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
    let mut found = sessions::find(world, adapter);
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
    let history = history.transpose()?.unwrap_or_default();
    let mut subagents = Vec::new();
    for subagent in sessions::subagents(adapter, found) {
        let active = is_within(subagent.modified, SUBAGENT_RECENT);
        if let Some(measured) = sessions::measure(world, adapter, &subagent)?.filter(|_| active) {
            subagents.push((subagent, measured));
        }
    }
    Ok(Some(Shown { found: found.clone(), measured, history, subagents }))
}

type Out = BufWriter<StdoutLock<'static>>;

fn print(ui: &Ui, out: &mut Out, shown: &[Shown], now: u64) -> anyhow::Result<()> {
    if shown.is_empty() {
        writeln!(
            out,
            "No session was active in the last 24 hours; `plimsoll status --all` shows older ones."
        )?;
    }
    for session in shown {
        let name = session.found.owner.session.as_str();
        writeln!(out, "{}  {}", ui.bold(&name[..name.len().min(8)]), gauge(ui, &session.measured))?;
        writeln!(out, "          {}", trigger(session))?;
        writeln!(out, "          {}", ui.dim(&origin(session, now)))?;
        for (found, measured) in &session.subagents {
            let name = found.owner.subagent.as_ref().map_or("", |name| name.as_str());
            writeln!(out, "  └ {:<6}{}", &name[..name.len().min(6)], gauge(ui, measured))?;
        }
        for complaint in &session.measured.complaints {
            ui.warn(&format!("config: {complaint}"));
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
fn trigger(session: &Shown) -> String {
    let measured = &session.measured;
    let forecast = session.history.forecast(measured);
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
    let _ = write!(text, " · {} tokens left", ui::thousands(forecast.tokens));
    if let (Some(turns), Some(minutes)) = (forecast.turns, forecast.minutes) {
        let minutes = ui::duration((minutes * 60.0) as u64);
        let _ = write!(text, ", about {turns:.1} turns or {minutes}");
    }
    if measured.moved {
        let _ = write!(text, " · lines held at {}", ui::thousands(measured.levels.restart));
    }
    text
}

/// Where the figures come from.
fn origin(session: &Shown, now: u64) -> String {
    let Measured { reading, window, model, project, .. } = &session.measured;
    let time = reading.anchor.as_ref().and_then(|anchor| anchor.time);
    let age = time.map_or_else(String::new, |time| {
        format!(" {} ago", ui::duration((now / 1000).saturating_sub(time.max(0) as u64 / 1000)))
    });
    let source = match reading.source {
        ReadingSource::Measured => "measured",
        ReadingSource::Estimated => "estimated",
    };
    let guess = if window.source.is_guess() {
        format!(", a guess: set {WINDOW_VARIABLE}")
    } else {
        String::new()
    };
    format!(
        "{source}{age} · {} · window by {}{guess} · compacted {} times · {}",
        model.as_deref().unwrap_or("no model yet"),
        window.source.label(),
        session.history.compactions,
        project.display()
    )
}

/// A session in JSON.
#[derive(Serialize)]
struct SessionView<'a> {
    session: &'a str,
    project: String,
    transcript: String,
    reading: ReadingView,
    forecast: ForecastView,
    compactions: usize,
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
        forecast: ForecastView::from(session.history.forecast(&session.measured)),
        compactions: session.history.compactions,
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
