//! The list of subcommands.

pub(crate) mod hook;
mod init;
mod measure;
mod planned;
mod status;
mod uninstall;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
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
  plimsoll init                   let it watch; shows what it changes first
  plimsoll status                 how full is every session of today?
  plimsoll status --json | jq '.[].reading.percent'
  plimsoll measure --transcript SESSION.jsonl

Config: $XDG_CONFIG_HOME/plimsoll/config.yaml, and .plimsoll.yaml in a project.
PLIMSOLL=off silences everything.";

#[derive(Subcommand)]
enum Command {
    Init(init::Args),
    Uninstall(uninstall::Args),
    Hook(hook::Args),
    Measure(measure::Args),
    Status(status::Args),
}

/// Runs the command that the arguments ask for.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let ui = Ui::of_process();
    let result = world().and_then(|world| match cli.command {
        Command::Init(args) => init::run(&world, &ui, &args),
        Command::Uninstall(args) => uninstall::run(&world, &ui, &args),
        // Answered before the arguments were parsed; here only for `--help`.
        Command::Hook(_) => Ok(()),
        Command::Measure(args) => measure::run(&world, &ui, &args),
        Command::Status(args) => status::run(&world, &ui, &args),
    });
    report(&ui, &result)
}

fn world() -> anyhow::Result<World> {
    World::of_process()
        .ok_or_else(|| anyhow::anyhow!("could not find your home folder: `HOME` is not set"))
        .hint("set HOME, for example `HOME=/home/me plimsoll status`")
}
