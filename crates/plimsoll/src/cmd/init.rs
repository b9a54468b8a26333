//! `plimsoll init`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use plimsoll_agents::Agent;
use plimsoll_agents::install::{Scope, UserCommand, Version, Wish};
use plimsoll_engine::audit;
use plimsoll_engine::history;
use plimsoll_engine::install::{self, Order, Plan, Program};
use plimsoll_engine::score;
use plimsoll_engine::sessions;
use plimsoll_engine::world::World;

use super::git_hook;
use super::planned::{self, Common, hinted, shown};
use crate::ingest;
use crate::past;
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted};

/// Let plimsoll watch: put its hooks into the agent's settings
///
/// Shows what will change first, and keeps everything else in the file as it is. `plimsoll uninstall`
/// takes it out again.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) common: Common,
    /// No status line of ours (there is one in the user scope, wrapped around yours)
    #[arg(long)]
    no_status_line: bool,
    /// Add commands: `/plimsoll`, `/checkpoint`, `/resume-work`, `/ss` and `/rs`
    #[arg(long)]
    commands: bool,
    /// Tell the model in its file of instructions what our words mean
    #[arg(long)]
    instructions: bool,
    /// Let the client compact at this percentage of the window; it can only be lowered
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    compact_at: Option<u8>,
    /// Only this: let git call plimsoll after every commit in this repository, and save it
    #[arg(long, conflicts_with_all = ["scope", "no_status_line", "commands", "instructions", "compact_at", "client"])]
    git: bool,
    /// The agent's program, where it is not on the PATH
    #[arg(long, value_name = "PATH")]
    client: Option<PathBuf>,
}

/// What every program of ours is called.
const NAME: &str = "plimsoll";

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    if args.git {
        return git_hook::install(world, ui, &args.common, &program(world, ui, Scope::User)?);
    }
    let agent = args.common.agent.agent;
    let (scope, project) = (Scope::from(args.common.scope), super::project(world)?);
    planned::check_scope(world, agent, scope, &project)?;
    planned::tell_root(ui, scope, &project);
    let program = program(world, ui, scope)?;
    let client = client(world, ui, agent, args)?;
    let choice = Choice::of(ui, agent, args, scope)?;
    let wish = Wish {
        program: &name(&program)?,
        client,
        status_line: choice.status_line,
        compact_at: args.compact_at,
    };
    let order = Order {
        scope,
        project: &project,
        wish,
        commands: choice.commands,
        paragraph: choice.instructions,
    };
    let plan = hinted(install::plan(world, agent, &order))?;
    let commands = agent.installer().commands();
    notes(commands, order.commands).for_each(|note| ui.warn(note));
    tell(world, ui, agent, &order, &plan);
    let before = audit::Look::take(world, agent, &project);
    let outcome = write(world, ui, args, &program, &plan, &settings(world, agent, &order))?;
    match &outcome {
        Outcome::Written(backups) => closing(ui, scope, &plan, backups)?,
        Outcome::Unneeded => {}
        Outcome::Unwanted => return Ok(()),
    }
    look_back(world, ui, &before);
    Ok(())
}

/// What users should know of commands before they get them.
fn notes(commands: &[UserCommand], wished: bool) -> impl Iterator<Item = &'static str> {
    commands.iter().filter(move |_| wished).filter_map(|command| command.note)
}

/// What became of a plan.
enum Outcome {
    /// It was carried out, and these copies were made.
    Written(Vec<PathBuf>),
    /// All was as it should be.
    Unneeded,
    /// Nothing was to be written.
    Unwanted,
}

/// Shows what plimsoll knows of the user's sessions already. That this fails is no reason to call the
/// installation failed.
fn look_back(world: &World, ui: &Ui, before: &audit::Look) {
    if let Err(error) = show_past(world, ui, before) {
        ui.warn(&format!("your past sessions cannot be shown: {error:#}"));
    }
}

/// How long the look at what past compactions lost may take.
const RECALL_PATIENCE: Duration = Duration::from_secs(3);

/// How the client was set `before` is remembered: it is not we who changed that, though the file is
/// a new one now.
fn show_past(world: &World, ui: &Ui, before: &audit::Look) -> anyhow::Result<()> {
    let ingester = ingest::everything(world, ui)?;
    before.remember(&ingester.store)?;
    let mut out = ui.out();
    writeln!(out)?;
    past::show(ui, &mut out, &history::summary(world, &ingester.store)?)?;
    out.flush()?;
    let found = sessions::find(world)?;
    let newest = score::newest(&ingester.store, &found, RECALL_PATIENCE)?;
    past::show_recall(&mut out, &newest)?;
    Ok(out.flush()?)
}

fn settings(world: &World, agent: &'static dyn Agent, order: &Order<'_>) -> PathBuf {
    install::files(world, agent, order.scope, order.project).settings
}

/// Carries the plan out if the user wants it.
fn write(
    world: &World,
    ui: &Ui,
    args: &Args,
    program: &Program,
    plan: &Plan,
    settings: &Path,
) -> anyhow::Result<Outcome> {
    let mut out = ui.out();
    let changes = planned::show(ui, plan)?;
    let copies = planned::show_copy(ui, program)?;
    if !changes && !copies {
        writeln!(out, "Nothing to change: plimsoll is installed in {}", shown(settings))?;
        return Ok(if args.common.dry_run { Outcome::Unwanted } else { Outcome::Unneeded });
    }
    let files = plan.changes.iter().filter(|change| change.is_visible()).count();
    let question = match files + usize::from(copies) {
        1 if changes => format!("Write this to {}?", shown(settings)),
        1 => "Write this file?".to_owned(),
        files => format!("Write these {files} files?"),
    };
    if args.common.dry_run || !planned::is_agreed(ui, args.common.yes, &question, true)? {
        writeln!(out, "Nothing was written.")?;
        return Ok(Outcome::Unwanted);
    }
    planned::copy(program)?;
    planned::carry_out(world, ui, plan).map(Outcome::Written)
}

/// What is installed beside the hooks.
struct Choice {
    status_line: bool,
    commands: bool,
    instructions: bool,
}

impl Choice {
    /// What the flags say; on a terminal the user is asked about the rest.
    fn of(ui: &Ui, agent: &'static dyn Agent, args: &Args, scope: Scope) -> anyhow::Result<Self> {
        let mut choice = Self {
            // A project's status line would stand before that of everybody who works there.
            status_line: scope == Scope::User && !args.no_status_line,
            commands: args.commands,
            instructions: args.instructions,
        };
        if args.common.yes || args.common.dry_run || !ui.is_interactive() {
            return Ok(choice);
        }
        if choice.status_line {
            choice.status_line = ui.ask("Show the load in the status line?", true)?;
        }
        if !choice.commands && scope != Scope::Local {
            let commands = agent.installer().commands().iter();
            let commands: String = commands
                .map(|command| format!("  /{:<12} {}\n", command.name, command.about))
                .collect();
            choice.commands = ui.ask(&format!("{commands}Add these commands?"), false)?;
        }
        if !choice.instructions {
            let question = "Explain plimsoll's words to the model, in its file of instructions?";
            choice.instructions = ui.ask(question, false)?;
        }
        Ok(choice)
    }
}

/// Our program as hooks call it: the same path over upgrades, and in a project the same for all.
fn program(world: &World, ui: &Ui, scope: Scope) -> anyhow::Result<Program> {
    if scope == Scope::Project {
        ui.warn(
            "the project's hooks call `plimsoll` by its name: for those who work here without it \
             on their PATH they do nothing",
        );
        if install::on_path(world, NAME).next().is_none() {
            ui.warn("`plimsoll` is not on your own PATH");
        }
        return Ok(Program { path: NAME.into(), copied_from: None });
    }
    let found = Program::find(world).context("could not find out where plimsoll lies")?;
    let program = &found.path;
    if program.file_name().is_none_or(|name| name != NAME) {
        let name = program.with_file_name(NAME);
        return Err(anyhow::anyhow!("this program is not called `plimsoll`: `{}`", shown(program)))
            .hint(format!("run `mv {} {}` first", shell_quoted(program), shell_quoted(&name)));
    }
    Ok(found)
}

/// The program as hooks name it.
pub(super) fn name(program: &Program) -> anyhow::Result<String> {
    let path = program.path.clone().into_os_string();
    path.into_string().ok().context("the path of plimsoll is not UTF-8")
}

/// The version of the installed client, if it can be found out.
fn client(
    world: &World,
    ui: &Ui,
    agent: &'static dyn Agent,
    args: &Args,
) -> anyhow::Result<Option<Version>> {
    let installer = agent.installer();
    let found = args.client.clone().or_else(|| install::on_path(world, installer.program()).next());
    let Some(program) = found else {
        ui.warn(&format!(
            "`{}` is not on your PATH; the hooks wait for it (`--client PATH` names another place)",
            installer.program()
        ));
        return Ok(None);
    };
    let version = install::version(installer, &program);
    match version {
        None if args.client.is_some() => {
            Err(anyhow::anyhow!("`{}` does not tell its version", shown(&program)))
                .hint(format!("look what `{} --version` says", shell_quoted(&program)))
        }
        None => {
            ui.warn(&format!(
                "`{}` does not tell its version: only hooks that every client knows are used",
                shown(&program)
            ));
            Ok(None)
        }
        version => Ok(version),
    }
}

/// Says what stands in the way of what is installed, or beside it.
fn tell(world: &World, ui: &Ui, agent: &'static dyn Agent, order: &Order<'_>, plan: &Plan) {
    for path in &plan.foreign {
        ui.warn(&format!("`{}` is there already and stays as it is", shown(path)));
    }
    let path = settings(world, agent, order);
    let planned = plan.changes.iter().find(|change| change.path == path);
    let found = match planned.and_then(|change| change.after.as_deref()) {
        Some(after) => agent.installer().inspect(after).ok(),
        None => install::inspect(world, agent, order.scope, order.project).ok().flatten(),
    };
    let path = shown(&path);
    if let Some(why) = found.as_ref().and_then(|found| found.ignored.as_ref()) {
        ui.warn(&format!(
            "the client passes over the whole of `{path}`, hooks included, until it is mended: {why}"
        ));
    }
    if found.is_some_and(|found| found.hooks_disabled) {
        ui.warn(&format!("all hooks are switched off in `{path}`: `plimsoll doctor` tells more"));
    }
    if order.wish.compact_at.is_some() {
        ui.warn("this can only make the client compact earlier, never later");
    }
    tell_elsewhere(world, ui, agent, order);
}

fn tell_elsewhere(world: &World, ui: &Ui, agent: &'static dyn Agent, order: &Order<'_>) {
    for (scope, path, found) in planned::elsewhere(world, agent, order.scope, order.project) {
        let line = agent.installer().hook_line(order.wish.program);
        let same = |command: &str| command == line;
        let once = found.hooks.iter().filter(|hook| hook.is_ours).all(|hook| same(&hook.command));
        let meaning = match once {
            true => "the same command line runs once",
            false => "by another command line, so that both run",
        };
        ui.warn(&format!(
            "plimsoll is in `{}` too: {meaning}; `plimsoll uninstall --scope {}` removes it there",
            shown(&path),
            scope.name()
        ));
    }
}

/// The last words: what was done, how to undo it, and what comes next.
fn closing(ui: &Ui, scope: Scope, plan: &Plan, backups: &[PathBuf]) -> anyhow::Result<()> {
    let mut out = ui.out();
    for change in plan.changes.iter().filter(|change| change.is_visible()) {
        writeln!(out, "Wrote   {}", shown(&change.path))?;
    }
    for backup in backups {
        writeln!(out, "Backup  {}", shown(backup))?;
    }
    let scope = match scope {
        Scope::User => String::new(),
        scope => format!(" --scope {}", scope.name()),
    };
    writeln!(out, "Undo    plimsoll uninstall{scope}")?;
    writeln!(out, "Next    start the client; plimsoll status; plimsoll doctor")?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_told_what_a_command_stands_before() {
        let plain = UserCommand { name: "a", about: "shows a", note: None, text: "" };
        let noted = UserCommand { name: "b", note: Some("`/b` was the client's own"), ..plain };
        let told: Vec<_> = notes(&[plain, noted], true).collect();
        assert_eq!(told, ["`/b` was the client's own"]);
        assert_eq!(notes(&[plain, noted], false).count(), 0);
    }
}
