//! `plimsoll batch`

mod plan;
mod run;
mod status;

use std::time::Duration;

use clap::Subcommand;
use plimsoll_core::Tokens;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::world::World;
use plimsoll_runner::batch::calibration::Calibration;
use plimsoll_runner::calibration;

use crate::ingest;
use crate::ui::Ui;

/// Cut work so that it fits a context window, and carry it out batch by batch
///
/// A task file names what is to be done. Each task is estimated, what is too large is split into parts,
/// and all are packed into as few batches as can be, each for one session, with a checkpoint between.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  plimsoll batch plan TODO.md                        what fits into which session?
  plimsoll batch plan tasks.yaml --available 50000   if each has so much room
  plimsoll batch plan tasks.yaml --mermaid           as a chart
  plimsoll batch run TODO.md                         do it, session after session
  plimsoll batch run --resume                        go on where it was interrupted
  plimsoll batch status                              how do runs stand?
  plimsoll batch status --calibration                what do estimates learn from past work?";

/// How long other writers of the store are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Subcommand)]
enum Command {
    Plan(plan::Args),
    Run(run::Args),
    Status(status::Args),
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Plan(args) => plan::run(world, ui, args),
        Command::Run(args) => run::run(world, ui, args),
        Command::Status(args) => status::run(world, ui, args),
    }
}

/// How many tokens a batch may hold, as it is typed.
fn available(text: &str) -> Result<Tokens, String> {
    match text.parse() {
        Ok(0) => {
            Err("nothing fits into 0 tokens: leave it out to have the room of a fresh session, \
                      or give a number such as 50000"
                .to_owned())
        }
        Ok(tokens) => Ok(tokens),
        Err(_) => Err("give a number of tokens, such as 50000".to_owned()),
    }
}

/// What past work teaches estimates. Where nobody can tell, that is said, and the formula must do.
fn learned(world: &World, ui: &Ui) -> Calibration {
    let progress = |done, of| ui.progress("reading transcripts", done, of);
    let learned = ingest::mended(world, ui, || {
        let mut ingester = Ingester::open(world, PATIENCE, None)?;
        calibration::calibrate(world, &mut ingester.store, progress)
    });
    learned.unwrap_or_else(|error| {
        ui.warn(&format!("past work cannot be learned from: {error:#}"));
        Calibration::default()
    })
}
