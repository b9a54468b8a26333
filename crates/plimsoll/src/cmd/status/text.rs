//! Sessions for people: three lines each, in a list of 80 columns at most.

use std::io::Write;

use plimsoll_core::Millis;
use plimsoll_core::forecast::Forecast;
use plimsoll_core::name::short;
use plimsoll_core::reading::{Reading, ReadingSource};
use plimsoll_core::text::duration;
use plimsoll_core::trigger::{Trigger, TriggerSource};
use plimsoll_core::window::{Window, WindowSource};
use plimsoll_engine::clock;
use plimsoll_engine::load::Measured;
use plimsoll_engine::sessions::{self, GrowthSamples};
use plimsoll_engine::world::{WINDOW_VARIABLE, World, now};
use plimsoll_extract::board::PathClaim;
use plimsoll_store::LastCheckpoint;

use crate::layout::{self, COLUMNS, fit};
use crate::listing::Shown;
use crate::ui::{self, Ui};
use crate::view::percent;

const MARGIN: &str = "          ";
/// How much of a line is left for words, where many sessions are listed.
pub(super) const ROOM: usize = COLUMNS - MARGIN.len();
/// All that is known has room in the lines of a single session.
pub(super) const ALL_ROOM: usize = 400;
/// What is left for the project, whatever else there is to say.
const LEAST_PROJECT: usize = 16;

/// Prints a session, at once.
pub(super) fn print(
    world: &World,
    ui: &Ui,
    out: &mut impl Write,
    session: &Shown,
    room: usize,
) -> anyhow::Result<()> {
    let Shown { found, measured, pace, checkpoint, claims, subagents } = session;
    let name = short(found.owner.session.as_str());
    writeln!(out, "{}  {}", ui.bold(&format!("{name:<8}")), gauge(ui, measured))?;
    let alone = room == ALL_ROOM;
    let sealed = checkpoint.as_ref().filter(|_| !alone).map(sealed).unwrap_or_default();
    writeln!(out, "{MARGIN}{}", fit(&outlook(measured, pace.as_ref(), sealed), room))?;
    if alone && pace.is_some() {
        writeln!(out, "{MARGIN}{}", sealed_fully(checkpoint.as_ref()))?;
    }
    writeln!(out, "{MARGIN}{}", ui.dim(&provenance(world, measured, pace.as_ref(), room)))?;
    for claim in claims {
        writeln!(out, "{MARGIN}{}", fit(&[claimed(world, claim)], room))?;
    }
    for (found, measured) in subagents {
        let name = short(found.owner.subagent.as_ref().map_or("", |name| name.as_str()));
        writeln!(out, "└ {name:<7.7} {}", gauge(ui, measured))?;
        let parts = [age(measured), model(measured), window_origin(measured).to_owned()];
        writeln!(out, "{MARGIN}{}", ui.dim(&fit(&parts, room)))?;
    }
    Ok(out.flush()?)
}

/// The gauge with its figures.
pub(crate) fn gauge(ui: &Ui, measured: &Measured) -> String {
    let Measured { reading, window, trigger, .. } = measured;
    figures(ui, reading, *window, *trigger)
}

/// A gauge with figures.
pub(crate) fn figures(ui: &Ui, reading: &Reading, window: Window, trigger: Trigger) -> String {
    let bar = ui.gauge(reading.used, window.tokens, trigger.within(window.tokens));
    let about = if reading.source == ReadingSource::Estimated { "~" } else { "" };
    format!(
        "{bar} {:>5.1} %  {about}{} of {} tokens",
        percent(reading.used, window.tokens),
        ui::thousands(reading.used),
        ui::thousands(window.tokens)
    )
}

/// How far it is until the client compacts, and in a list when a checkpoint was sealed.
fn outlook(measured: &Measured, pace: Option<&GrowthSamples>, sealed: String) -> Vec<String> {
    let trigger = match measured.trigger {
        Trigger::At { tokens, .. } if tokens > measured.window.tokens => {
            format!("compacts at {}, beyond this window", ui::thousands(tokens))
        }
        Trigger::At { tokens, source: TriggerSource::Formula, .. } => {
            format!("compacts at {}", ui::thousands(tokens))
        }
        Trigger::At { tokens, source: TriggerSource::Learned { compactions }, .. } => {
            format!("compacts at {}, learned from {compactions}", ui::thousands(tokens))
        }
        Trigger::SwitchedOff => "no trigger: auto-compaction is off".to_owned(),
        Trigger::OnRefusal => "no trigger: compacts when the prompt is refused".to_owned(),
    };
    let forecast = sessions::forecast(measured, pace);
    let left = format!("{} left", ui::thousands(forecast.tokens));
    let warns = format!("warns at {}", ui::thousands(measured.levels.warn));
    let warns = if measured.moved { warns } else { String::new() };
    vec![trigger, left, ahead(&forecast), sealed, warns]
}

/// The forecast in turns and time; one that reaches too far says nothing.
pub(crate) fn ahead(forecast: &Forecast) -> String {
    let (Some(turns), Some(minutes)) = (forecast.turns, forecast.minutes) else {
        return String::new();
    };
    let time = duration((minutes * 60.0) as u64);
    match turns {
        ..1.0 => format!("less than a turn or {time}"),
        1.0..1.5 => format!("a turn or {time}"),
        1.5..100.0 => format!("{turns:.0} turns or {time}"),
        _ => String::new(),
    }
}

/// When the last checkpoint was sealed.
fn sealed(last: &LastCheckpoint) -> String {
    format!("checkpoint {} ago", duration(seconds_since(last.created)))
}

/// The same with its time and its name.
fn sealed_fully(last: Option<&LastCheckpoint>) -> String {
    let Some(last) = last else { return "no checkpoint yet".to_owned() };
    let time = clock::shown(last.created);
    let age = duration(seconds_since(last.created));
    format!("checkpoint {time} ({age} ago) · {}", ui::strip_control(&last.id))
}

fn seconds_since(moment: Millis) -> u64 {
    (now() / 1000).saturating_sub(moment.max(0) as u64 / 1000)
}

/// A path that the session works on, as it says.
fn claimed(world: &World, claim: &PathClaim) -> String {
    let left = u64::try_from(claim.until).unwrap_or(0).saturating_sub(now()) / 1000;
    format!("claims {} · {} left", ui::short_path(&claim.path, &world.paths.home), duration(left))
}

/// Where the figures come from, and whose they are.
fn provenance(
    world: &World,
    measured: &Measured,
    pace: Option<&GrowthSamples>,
    room: usize,
) -> String {
    let project = |columns| layout::path(&measured.project, &world.paths.home, columns);
    let reserved = layout::width(&project(LEAST_PROJECT)) + " · ".len();
    let origin = window_origin(measured).to_owned();
    let told = fit(&[age(measured), model(measured), compacted(pace), origin], room - reserved);
    let left = room - layout::width(&told) - " · ".len();
    fit(&[told, project(left)], room)
}

fn compacted(pace: Option<&GrowthSamples>) -> String {
    match pace.map_or(0, |pace| pace.compactions) {
        0 => String::new(),
        1 => "compacted once".to_owned(),
        times => format!("compacted {times} times"),
    }
}

/// Where the figures come from.
pub(crate) fn origin(measured: &Measured) -> String {
    let mut origin =
        [age(measured), model(measured), window_origin(measured).to_owned()].join(" · ");
    if measured.window.source.is_guess() {
        origin.extend([": set ", WINDOW_VARIABLE]);
    }
    origin
}

/// How the reading is known, and how old it is.
fn age(measured: &Measured) -> String {
    let source = match measured.reading.source {
        ReadingSource::Measured => "measured",
        ReadingSource::Estimated => "estimated",
    };
    let time = measured.reading.anchor.as_ref().and_then(|anchor| anchor.time);
    let ago = |time| format!("{source} {} ago", duration(seconds_since(time)));
    time.map_or_else(|| source.to_owned(), ago)
}

fn model(measured: &Measured) -> String {
    ui::strip_control(measured.model.as_deref().unwrap_or("no model yet"))
}

fn window_origin(measured: &Measured) -> &'static str {
    match measured.window.source {
        WindowSource::Override => "window as you set it",
        WindowSource::StatusLine => "window by status line",
        WindowSource::Agent => "window by the agent",
        WindowSource::Mark => "window by long-context mark",
        WindowSource::ClientSetting => "window by client setting",
        WindowSource::Table => "window by model",
        WindowSource::Inferred => "window by a larger prompt",
        WindowSource::Default => "window guessed",
    }
}
