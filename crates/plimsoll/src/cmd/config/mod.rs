//! `plimsoll config`

mod check;
mod path;
mod schema;
mod show;

use clap::Subcommand;
use plimsoll_core::settings::keys;
use plimsoll_engine::world::World;

use crate::ui::Ui;

/// Show, check and explain the settings
///
/// Settings come from your config, the project's .plimsoll.yaml and the environment; later ones win.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  plimsoll config show             what is in force here, and where each value comes from
  plimsoll config check            what is wrong in the config files?
  plimsoll config default          a config to start from, with every key explained";

#[derive(Subcommand)]
enum Command {
    Show(show::Args),
    Check(check::Args),
    Path(path::Args),
    Schema(schema::Args),
    Default(DefaultArgs),
}

/// Print a config in which every key is explained and stands at its default
///
/// Nothing in it is in force until you take its comment sign away.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  plimsoll config default > ~/.config/plimsoll/config.yaml")]
struct DefaultArgs {}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Show(args) => show::run(world, ui, args),
        Command::Check(args) => check::run(world, ui, args),
        Command::Path(args) => path::run(world, ui, args),
        Command::Schema(_) => schema::run(ui),
        Command::Default(_) => ui.print(&keys::default_file()),
    }
}
