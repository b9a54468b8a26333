//! The list of subcommands.

mod completions;
mod config;
pub(crate) mod hook;
mod log;
mod man;
mod measure;
mod status;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use plimsoll_engine::world::World;

use crate::report::{HintExt, report};
use crate::ui::Ui;

/// The load line for coding agents: how full is the context window, really?
#[derive(Parser)]
#[command(name = "plimsoll", version, about, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  plimsoll status                 how full is every session of today?
  plimsoll status --json | jq '.[].reading.percent'
  plimsoll measure --transcript SESSION.jsonl

Config: $XDG_CONFIG_HOME/plimsoll/config.yaml, and .plimsoll.yaml in a project.
PLIMSOLL=off silences everything.";

#[derive(Subcommand)]
enum Command {
    Completions(completions::Args),
    Config(config::Args),
    Hook(hook::Args),
    Log(log::Args),
    Man(man::Args),
    Measure(measure::Args),
    Status(status::Args),
}

/// Runs the command that the arguments ask for.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let ui = Ui::of_process();
    let result = world().and_then(|world| match cli.command {
        // Answered before the arguments were parsed; here only for `--help`.
        Command::Hook(_) => Ok(()),
        Command::Completions(args) => completions::run(&ui, &args),
        Command::Config(args) => config::run(&world, &ui, &args),
        Command::Log(args) => log::run(&world, &ui, &args),
        Command::Man(args) => man::run(&ui, &args),
        Command::Measure(args) => measure::run(&world, &ui, &args),
        Command::Status(args) => status::run(&world, &ui, &args),
    });
    report(&ui, &result)
}

/// The whole command line, as clap knows it.
fn command() -> clap::Command {
    Cli::command()
}

fn world() -> anyhow::Result<World> {
    World::of_process()
        .ok_or_else(|| anyhow::anyhow!("could not find your home folder: `HOME` is not set"))
        .hint("set HOME, for example `HOME=/home/me plimsoll status`")
}
