//! The list of subcommands.

mod audit;
mod batch;
mod board;
mod checkpoint;
mod completions;
mod config;
mod demo;
mod doctor;
mod git_hook;
pub(crate) mod hook;
mod init;
mod log;
mod man;
mod measure;
mod planned;
mod restore;
mod resume;
mod rs;
mod run;
mod score;
mod search;
mod serve;
mod ss;
mod status;
mod statusline;
mod tax;
#[cfg(feature = "team")]
mod team;
#[cfg(not(feature = "team"))]
#[path = "no_team.rs"]
mod team;
mod test;
mod top;
mod uninstall;
mod watch;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use plimsoll_agents::Agent;
use plimsoll_engine::damage;
use plimsoll_engine::install;
use plimsoll_engine::load;
use plimsoll_engine::world::World;

use crate::ingest;
use crate::report::{HintExt, report};
use crate::ui::Ui;
pub(crate) use checkpoint::create::seal;
pub(crate) use status::ahead;

/// What `plimsoll --version` says: the release, and the commit it was built from where the build knew it.
pub(crate) const VERSION: &str = match option_env!("PLIMSOLL_STAMP") {
    Some(stamp) => stamp,
    None => env!("CARGO_PKG_VERSION"),
};

/// The load line for coding agents: how full is the context window, really?
#[derive(Parser)]
#[command(name = "plimsoll", version = VERSION, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  plimsoll demo                   what is this? a recorded session, played in seconds
  plimsoll init                   let it watch; shows what it changes first
  plimsoll status                 how full is every session of today?
  plimsoll watch                  what changes in them, as it happens?
  plimsoll top                    all of them on one screen
  plimsoll audit                  does the client compact where it is told to?
  plimsoll tax                    what do all those hooks cost?
  plimsoll score                  what did compactions lose, and who kept it?
  plimsoll checkpoint list        which states of the work are sealed?
  plimsoll resume                 where was I, and what has changed since?
  plimsoll search load_line       in which of them was that?
  plimsoll ss release             save where this stands, under a name
  plimsoll rs release             and go on from there
  plimsoll test -- cargo test     run tests, and save what they came to
  plimsoll run -- claude -p …     one long task, over as many sessions as it takes
  plimsoll team status            what reaches the others?
  plimsoll board post --to all …  leave a message for the sessions that run
  plimsoll batch plan TODO.md     which work fits into which session?
  plimsoll batch status           how do runs over many sessions stand?
  plimsoll config show            what is in force here, and who says so?
  plimsoll log                    what went wrong in hooks?

PLIMSOLL=off silences everything. NO_COLOR=1 keeps colours away,
CLICOLOR_FORCE=1 keeps them where the output is no terminal.";

#[derive(Subcommand)]
enum Command {
    Init(init::Args),
    Uninstall(uninstall::Args),
    Doctor(doctor::Args),
    Demo(demo::Args),
    Status(status::Args),
    Watch(watch::Args),
    Top(top::Args),
    Audit(audit::Args),
    Tax(tax::Args),
    Measure(measure::Args),
    Score(score::Args),
    Checkpoint(checkpoint::Args),
    Resume(resume::Args),
    Restore(restore::Args),
    Search(search::Args),
    Batch(batch::Args),
    Board(board::Args),
    Serve(serve::Args),
    Ss(ss::Args),
    Rs(rs::Args),
    Test(test::Args),
    Run(run::Args),
    Team(team::Args),
    Config(config::Args),
    Log(log::Args),
    Completions(completions::Args),
    Man(man::Args),
    Hook(hook::Args),
    GitHook(git_hook::Args),
    Statusline(statusline::Args),
}

/// Runs the command that the arguments ask for.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    let ui = Ui::detect();
    if may_refresh_copy(&cli.command) {
        refresh_copy();
    }
    let mut done = carry_out(&ui, cli.command);
    // What was found to be damaged amid an answer is put aside for the next one.
    if done.as_ref().is_err_and(damage::is_cause) && renew_store(&ui).is_ok() {
        done = done.hint("run the same again");
    }
    report(&ui, &done)
}

/// Explains the arguments. A client that called us without arguments, or for its status line, never
/// sees exit code 2: from a hook it means a refusal.
fn misused(error: &clap::Error) -> ExitCode {
    const FAILED: i32 = 1;
    // Without a place to print there is nobody left to tell.
    let _ = error.print();
    let is_clients = match std::env::args_os().nth(1) {
        Some(first) => first == "statusline" || first == "hook",
        None => !std::io::stdin().is_terminal(),
    };
    let code = error.exit_code();
    let code = if is_clients { code.min(FAILED) } else { code };
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Whether a command may replace the copy of our program: it is neither called by a client or by git,
/// nor meant to change nothing, nor about to remove the copy.
fn may_refresh_copy(command: &Command) -> bool {
    match command {
        Command::GitHook(_)
        | Command::Statusline(_)
        | Command::Uninstall(_)
        | Command::Doctor(_) => false,
        Command::Init(args) => !args.common.dry_run,
        _ => true,
    }
}

/// Brings the copy of our program that hooks call up to date. If that fails, the older copy goes on
/// working, and `plimsoll init` says why.
fn refresh_copy() {
    let _ = World::of_process().map(|world| install::refresh_copy(&world));
}

/// Puts a damaged store aside, and says so.
fn renew_store(ui: &Ui) -> anyhow::Result<()> {
    ingest::renew_store(&world()?, ui)
}

fn carry_out(ui: &Ui, command: Command) -> anyhow::Result<()> {
    match command {
        Command::Init(args) => init::run(&world()?, ui, &args),
        Command::Uninstall(args) => uninstall::run(&world()?, ui, &args),
        Command::Doctor(args) => doctor::run(&world()?, ui, &args),
        Command::Demo(args) => demo::run(ui, &args),
        Command::Status(args) => status::run(&world()?, ui, &args),
        Command::Watch(args) => watch::run(&world()?, ui, &args),
        Command::Top(args) => top::run(world()?, ui, &args),
        Command::Audit(args) => audit::run(&world()?, ui, &args),
        Command::Tax(args) => tax::run(&world()?, ui, &args),
        Command::Measure(args) => measure::run(&world()?, ui, &args),
        Command::Score(args) => score::run(&world()?, ui, &args),
        Command::Checkpoint(args) => checkpoint::run(&world()?, ui, &args),
        Command::Resume(args) => resume::run(&world()?, ui, &args),
        Command::Restore(args) => restore::run(&world()?, ui, &args),
        Command::Search(args) => search::run(&world()?, ui, &args),
        Command::Batch(args) => batch::run(&world()?, ui, &args),
        Command::Board(args) => board::run(&world()?, ui, &args),
        Command::Serve(args) => serve::run(world()?, ui, &args),
        Command::Ss(args) => ss::run(&world()?, ui, &args),
        Command::Rs(args) => rs::run(&world()?, ui, &args),
        Command::Test(args) => test::run(&world()?, ui, &args),
        Command::Run(args) => run::run(&world()?, ui, args),
        Command::Team(args) => team::run(&world()?, ui, &args),
        Command::Config(args) => config::run(&world()?, ui, &args),
        Command::Log(args) => log::run(&world()?, ui, &args),
        Command::Completions(args) => completions::run(ui, &args),
        Command::Man(args) => man::run(ui, &args),
        // Answered before the arguments were parsed; here only for `--help`.
        Command::Hook(_) => Ok(()),
        Command::GitHook(_) => git_hook::run(&world()?),
        Command::Statusline(args) => statusline::run(&world()?, &args),
    }
}

/// The whole command line, as clap knows it.
fn command() -> clap::Command {
    Cli::command()
}

fn world() -> anyhow::Result<World> {
    World::of_process()
        .ok_or_else(|| {
            anyhow::anyhow!("could not find your home folder: `HOME` names no absolute path")
        })
        .hint("set HOME, for example `HOME=/home/me plimsoll status`")
}

/// `--agent`, for commands that concern one agent.
#[derive(clap::Args)]
struct AgentArg {
    /// The agent
    #[arg(long, value_name = "NAME", value_parser = known_agent, default_value = plimsoll_agents::DEFAULT.id().as_str())]
    agent: &'static dyn Agent,
}

fn known_agent(name: &str) -> Result<&'static dyn Agent, String> {
    plimsoll_agents::find(name).ok_or_else(|| {
        let known: Vec<&str> = plimsoll_agents::ALL.iter().map(|it| it.id().as_str()).collect();
        format!("plimsoll supports {}", known.join(", "))
    })
}

/// The project of the folder that the user stands in.
fn project(world: &World) -> anyhow::Result<PathBuf> {
    load::project_here(world)
        .context("could not find the current folder")
        .hint("go to a folder that exists, for example `cd`")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `look` with every command that there is, and what it is called.
    fn walk(name: &str, command: &clap::Command, look: &mut dyn FnMut(&str, &clap::Command)) {
        look(name, command);
        for command in command.get_subcommands() {
            walk(&format!("{name} {}", command.get_name()), command, look);
        }
    }

    #[test]
    fn the_command_line_holds_together() {
        command().debug_assert();
    }

    #[test]
    fn every_command_and_argument_is_explained() {
        walk("plimsoll", &command(), &mut |name, command| {
            assert!(command.get_about().is_some(), "{name}: no word about it");
            let teaches = command.get_long_about().is_some() || command.get_after_help().is_some();
            assert!(teaches, "{name}: neither an example nor more than one line about it");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{name}: `{}`", argument.get_id());
            }
        });
    }
}
