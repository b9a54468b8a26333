//! `plimsoll batch status`

mod calibration;
mod text;

use std::io::Write;

use anyhow::Context;
use plimsoll_core::name::is_meant;
use plimsoll_core::run::Run;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::world::World;
use plimsoll_runner::runs;
use plimsoll_server::{RunStory, RunView};
use plimsoll_store::Store;

use crate::ingest;
use crate::report::HintExt;
use crate::ui::{self, Ui};

/// Show how runs stand: `plimsoll run` and `plimsoll batch run`
///
/// How far each run is, what it has taken, and the command that takes it up again where its conductor
/// is gone. With a RUN, its batches and sessions as well. With --calibration, what past work says of the
/// estimates: a factor per kind of task, used where it is nearer than the formula to work it was not
/// made from.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll batch status
  plimsoll batch status 9f31c0de
  plimsoll batch status --all --json | jq -r '.[] | select(.state == \"interrupted\") | .resume'
  plimsoll batch status --calibration")]
pub(crate) struct Args {
    /// Only this run: its name, or the beginning or the end of it
    run: Option<String>,
    /// The runs of all projects, not of this one alone
    #[arg(long, conflicts_with = "run")]
    all: bool,
    /// What past work says of the estimates
    #[arg(long, conflicts_with_all = ["run", "all"])]
    calibration: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How many runs are listed, the newest.
const MOST: u32 = 50;
const SEE_ALL: &str = "run `plimsoll batch status --all` to see all runs";

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let mut store = open(world, ui)?;
    if args.calibration {
        return calibration::run(world, ui, &mut store, args.json);
    }
    runs::import_journals(&world.paths, &mut store)
        .context("could not take in the journals of runs")?;
    match &args.run {
        Some(name) => show(world, ui, &named(&store, name)?, args.json),
        None => {
            let project = super::super::project(world)?;
            let project = (!args.all).then_some(project.as_path());
            list(ui, &store.runs(project, 0, MOST)?, args)
        }
    }
}

/// The store, waiting a little for others.
fn open(world: &World, ui: &Ui) -> anyhow::Result<Store> {
    let data = ui::shell_quoted(&world.paths.data);
    let opened = ingest::mended(world, ui, || Ingester::open(world, super::PATIENCE, None));
    let store = opened.map(|ingester| ingester.store);
    store.hint(format!("run `ls -l {data}` to see whether it can be written"))
}

/// The run that is meant.
fn named(store: &Store, name: &str) -> anyhow::Result<Run> {
    let all = store.runs(None, 0, u32::MAX)?;
    let mut meant: Vec<Run> =
        all.into_iter().filter(|run| is_meant(run.id.as_str(), name)).collect();
    match (meant.pop(), meant.len()) {
        (Some(run), 0) => Ok(run),
        (None, _) => Err(anyhow::anyhow!("no run `{name}`")).hint(SEE_ALL),
        (Some(_), more) => {
            Err(anyhow::anyhow!("`{name}` stands for {} runs", more + 1)).hint(SEE_ALL)
        }
    }
}

fn show(world: &World, ui: &Ui, run: &Run, json: bool) -> anyhow::Result<()> {
    match json {
        true => ui.print_json(&RunStory::of(&world.paths, run)),
        false => {
            let mut out = ui.out();
            text::run(ui, &mut out, run)?;
            text::plan(ui, &mut out, run)?;
            text::jobs(world, ui, &mut out, run)?;
            text::waiting(ui, &mut out, run)?;
            Ok(out.flush()?)
        }
    }
}

fn list(ui: &Ui, found: &[Run], args: &Args) -> anyhow::Result<()> {
    if args.json {
        return ui.print_json(&found.iter().map(RunView::of).collect::<Vec<_>>());
    }
    let mut out = ui.out();
    if found.is_empty() {
        let other = if args.all { "" } else { "; `batch status --all` looks at all projects" };
        writeln!(out, "No run was found{other}.")?;
    }
    found.iter().try_for_each(|run| text::run(ui, &mut out, run))?;
    Ok(out.flush()?)
}
