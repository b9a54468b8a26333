//! `plimsoll watch`

mod json;

use std::io::Write;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::name::short;
use plimsoll_engine::watch::{
    Change, Holder, Lock, NotLocked, Notice, Standing, Stop, Watcher, stopper,
};
use plimsoll_engine::world::World;
use plimsoll_engine::{clock, review};
use plimsoll_server::team::Shipper;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::status::figures;
use crate::report::HintExt;
use crate::ui::{Ui, short_path, strip_control, thousands};

/// Follow every session on this machine, and tell what changes
///
/// A line for each reading, and for each session that starts, is compacted, falls silent, ends or
/// dies. First come the sessions that are alive. What is read goes into the store, so that there is
/// a curve of every session. A session that is over the checkpoint line, or has worked for half an
/// hour, and whose hooks have made no checkpoint within ten seconds, is asked for it on the board.
/// There is one watcher per machine: a second says which it is, and fails. Hooks never need it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll watch
  plimsoll watch --json | jq -r 'select(.reading.percent >= 80) | .session'")]
pub(crate) struct Args {
    /// Print JSON, an object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let _lock = lock(world)?;
    let stop = signals().context("could not listen to signals")?;
    if ui.can_redraw() && !args.json {
        ui.print_to_stderr(&format!("{}\n", ui.dim("Watching; Ctrl-C ends it.")));
    }
    let shipper = ship(ui)?;
    let mut written = Ok(());
    // Where nothing can be printed any more, the watcher notices with its next line.
    let reviewed = |news: Vec<Notice>| drop(print(world, ui, args, &news));
    let watched = review::beside(world, &reviewed, |noticed| {
        Watcher::new(world, plimsoll_agents::ALL).run(&stop, |news| {
            noticed(&news);
            written = print(world, ui, args, &news);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    });
    shipper.finish();
    watched?;
    written
}

/// Sends what may leave this machine to the team, where there is one.
fn ship(ui: &Ui) -> anyhow::Result<Shipper> {
    let (world, warnings) = (super::world()?, ui.clone());
    let shipper = Shipper::start(Box::new(world), move |text| {
        warnings.warn(text);
    });
    shipper.context("could not start the thread that sends to the team")
}

/// The right to watch; whoever has it is named.
fn lock(world: &World) -> anyhow::Result<Lock> {
    match Lock::take(&world.paths) {
        Err(NotLocked::Held(Some(Holder { process, since }))) => {
            let since = clock::shown(since as Millis);
            Err(anyhow::anyhow!("another watcher runs: process {process}, since {since}"))
                .hint(format!(
                    "run `kill {process}` to end it (`plimsoll serve` is a watcher, too), or `plimsoll status` to look once"
                ))
        }
        taken => taken
            .context("could not become the watcher of this machine")
            .hint("run `plimsoll status` to look once"),
    }
}

/// What a signal to end is told by.
fn signals() -> std::io::Result<Stop> {
    let (stopper, stop) = stopper()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        pipe::register(signal, OwnedFd::from(stopper.another()?))?;
    }
    Ok(stop)
}

fn print(world: &World, ui: &Ui, args: &Args, news: &[Notice]) -> anyhow::Result<()> {
    let mut out = ui.out();
    for notice in news {
        match args.json {
            true => json::print(&mut out, notice)?,
            false => writeln!(out, "{}", line(world, ui, notice))?,
        }
    }
    Ok(out.flush()?)
}

/// A change in a line.
fn line(world: &World, ui: &Ui, notice: &Notice) -> String {
    let time = ui.dim(&clock::shown(notice.at as Millis));
    let session = short(notice.owner.session.as_str());
    let name = match &notice.owner.subagent {
        Some(subagent) => format!("└ {:<15.15}", format!("{session}/{subagent}")),
        None => ui.bold(&format!("{session:<17}")),
    };
    format!("{time}  {name}  {}", words(world, ui, &notice.change))
}

fn words(world: &World, ui: &Ui, change: &Change) -> String {
    match change {
        Change::Started => "started".to_owned(),
        Change::Read(standing) => {
            let Standing { reading, window, trigger, project, .. } = &**standing;
            let project = short_path(project, &world.paths.home);
            format!("{}  {}", figures(ui, reading, *window, *trigger), ui.dim(&project))
        }
        Change::Compacted(boundary) => {
            let by = if boundary.automatic { "by the client" } else { "by hand" };
            let at = boundary.tokens_before.map(|tokens| format!(" at {}", thousands(tokens)));
            ui.yellow(&format!("compacted {by}{}", at.unwrap_or_default()))
        }
        Change::Asked(reason) => {
            ui.yellow(&strip_control(&format!("asked for a checkpoint ({reason})")))
        }
        Change::Idle => ui.dim("idle"),
        Change::Ended => "ended".to_owned(),
        Change::Died => ui.red("died"),
    }
}
