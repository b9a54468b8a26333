//! `plimsoll batch`

mod status;

use clap::Subcommand;
use plimsoll_engine::world::World;

use crate::ui::Ui;

/// Plan work so that it fits a window, and follow how it is carried out
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Status(status::Args),
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Status(args) => status::run(world, ui, args),
    }
}
