//! `plimsoll batch`

mod plan;
mod run;

use clap::Subcommand;
use plimsoll_engine::world::World;

use crate::ui::Ui;

/// Cut work into pieces that fit a context window, and batch them
///
/// A task file names what is to be done. Each task is estimated, what is too large is split, and the
/// pieces are packed into as few batches as can be, each for one session, with a checkpoint between.
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
  plimsoll batch run --resume                        go on where it was interrupted";

#[derive(Subcommand)]
enum Command {
    Plan(plan::Args),
    Run(run::Args),
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Plan(args) => plan::run(world, ui, args),
        Command::Run(args) => run::run(world, ui, args),
    }
}
