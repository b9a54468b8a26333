//! `plimsoll uninstall`

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use plimsoll_agents::Agent;
use plimsoll_agents::install::Scope;
use plimsoll_engine::checkpoint::{self, Leftovers, Place, index};
use plimsoll_engine::install::{self, NotPurged, Plan, Purge};
use plimsoll_engine::world::World;
use plimsoll_store::Store;

use super::git_hook;
use super::planned::{self, Common, hinted, shown};
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted, strip_control};

/// Take plimsoll out of the agent's settings again
///
/// Shows what will change first. A file that nobody changed since `plimsoll init` becomes what it was
/// before, to the byte.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// Only this: take plimsoll out of git's hook of this repository
    #[arg(long, conflicts_with_all = ["scope", "purge"])]
    git: bool,
    /// Remove all that plimsoll remembers too, and what it put into your projects
    #[arg(long)]
    purge: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    if args.git {
        return git_hook::uninstall(world, ui, &args.common);
    }
    let agent = args.common.agent.agent;
    let (scope, project) = (Scope::from(args.common.scope), super::project(world)?);
    planned::check_scope(world, agent, scope, &project)?;
    planned::tell_root(ui, scope, &project);
    let plan = hinted(install::plan_removal(world, agent, scope, &project))?;
    for path in &plan.foreign {
        ui.warn(&format!("`{}` is not as plimsoll wrote it, and stays", shown(path)));
    }
    let purge = args.purge.then(|| explained(world, Purge::check(&world.paths, &plan)));
    let purge = purge.transpose()?;
    let leftovers = match args.purge {
        true => leftovers(world, ui, agent, &project),
        false => Vec::new(),
    };
    let settings = install::files(world, agent, scope, &project).settings;
    if !is_wanted(world, ui, agent, args, &plan, &leftovers, &settings)? {
        return Ok(());
    }
    carry_out(world, ui, &plan)?;
    match purge {
        Some(purge) => {
            remove_leftovers(ui, &leftovers)?;
            carry_out_purge(world, ui, purge)?;
            forget_checkpoints(world, ui, agent)?;
        }
        None => tell_kept(world, ui, agent)?,
    }
    tell_leftovers(world, ui, agent, scope, &project);
    Ok(())
}

/// Finds what plimsoll has put into the projects that it knows of, and into this one.
fn leftovers(world: &World, ui: &Ui, agent: &'static dyn Agent, here: &Path) -> Vec<Leftovers> {
    let place = |project: &Path| Place::of(world, agent, project.to_owned());
    let mut projects = index::projects(&place(here));
    projects.insert(here.to_owned());
    projects.extend(projects_in_store(world));
    let mut found = Vec::new();
    for project in projects.iter().filter(|project| project.is_dir()) {
        match checkpoint::leftovers(&place(project)) {
            Ok(leftovers) => found.extend(leftovers),
            Err(error) => ui.warn(&format!("`{}` stays as it is: {error}", shown(project))),
        }
    }
    found
}

/// The projects that the store names; none if it cannot be read.
fn projects_in_store(world: &World) -> BTreeSet<PathBuf> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let path = world.paths.store();
    let store = path.exists().then(|| Store::open(&path, PATIENCE).ok()).flatten();
    store.and_then(|store| store.projects().ok()).unwrap_or_default()
}

fn remove_leftovers(ui: &Ui, leftovers: &[Leftovers]) -> anyhow::Result<()> {
    for leftovers in leftovers {
        let failures = leftovers.remove();
        if failures.is_empty() {
            let parts = leftovers.described();
            let parts: String =
                parts.iter().map(|part| format!("Removed {}\n", strip_control(part))).collect();
            ui.print(&parts)?;
        }
        failures.iter().for_each(|failure| ui.warn(failure));
    }
    Ok(())
}

/// Returns the file that lists the checkpoints of all projects.
fn checkpoint_list(world: &World, agent: &'static dyn Agent) -> PathBuf {
    Place::of(world, agent, PathBuf::new()).index
}

/// Removes the list of all checkpoints.
fn forget_checkpoints(world: &World, ui: &Ui, agent: &'static dyn Agent) -> anyhow::Result<()> {
    let list = checkpoint_list(world, agent);
    let is_listed = list.exists();
    let is_removed = index::remove(&list, &world.paths.home)
        .with_context(|| format!("could not remove `{}`", list.display()))
        .hint(format!("look at it with `ls -l {}`", shell_quoted(&list)))?;
    match (is_listed, is_removed) {
        (true, true) => ui.print(&format!("Removed {}\n", shown(&list)))?,
        (true, false) => {
            ui.warn(&format!("`{}` is not as plimsoll wrote it, and stays", shown(&list)));
        }
        (false, _) => {}
    }
    Ok(())
}

/// Names what stays without `--purge`.
fn tell_kept(world: &World, ui: &Ui, agent: &'static dyn Agent) -> anyhow::Result<()> {
    let list = checkpoint_list(world, agent);
    if list.exists() {
        let list = shown(&list);
        ui.print(&format!("Kept    your checkpoints, in their projects; {list} lists them\n"))?;
    }
    if world.paths.data.exists() {
        let data = shown(&world.paths.data);
        ui.print(&format!("Kept    {data} (what plimsoll remembers; `--purge` removes it)\n"))?;
    }
    Ok(())
}

/// Shows what will go, and finds out whether it shall.
fn is_wanted(
    world: &World,
    ui: &Ui,
    agent: &'static dyn Agent,
    args: &Args,
    plan: &Plan,
    leftovers: &[Leftovers],
    settings: &Path,
) -> anyhow::Result<bool> {
    let any = planned::show(ui, plan)?;
    let mut out = ui.out();
    if !any {
        writeln!(out, "Nothing to remove: plimsoll is not in {}", shown(settings))?;
    }
    if args.purge {
        writeln!(out, "All that plimsoll remembers: {}", shown(&world.paths.data))?;
        let list = checkpoint_list(world, agent);
        if list.exists() {
            writeln!(out, "The list of all checkpoints: {}", shown(&list))?;
        }
    }
    for part in leftovers.iter().flat_map(Leftovers::described) {
        writeln!(out, "In a project: {}", strip_control(&part))?;
    }
    out.flush()?;
    for path in leftovers.iter().flat_map(Leftovers::foreign) {
        ui.warn(&format!("`{}` is not as plimsoll sealed it, and stays", shown(&path)));
    }
    let nothing = !any && !args.purge;
    // What cannot be brought back is not the usual answer.
    let agreed = || planned::is_agreed(ui, args.common.yes, "Remove this?", !args.purge);
    let wanted = !args.common.dry_run && (nothing || agreed()?);
    if !wanted && !nothing {
        writeln!(out, "Nothing was removed.")?;
    }
    Ok(wanted)
}

fn carry_out(world: &World, ui: &Ui, plan: &Plan) -> anyhow::Result<()> {
    let backups = planned::carry_out(world, ui, plan)?;
    let mut out = ui.out();
    for change in plan.changes.iter().filter(|change| change.is_visible()) {
        let done = if change.after.is_some() { "Wrote  " } else { "Removed" };
        writeln!(out, "{done} {}", shown(&change.path))?;
    }
    for backup in backups {
        writeln!(out, "Backup  {}", shown(&backup))?;
    }
    out.flush()?;
    Ok(())
}

/// A purge that is refused, with what to do about it.
fn explained<T>(world: &World, result: Result<T, NotPurged>) -> anyhow::Result<T> {
    result.or_else(|refused| {
        let hint = match &refused {
            NotPurged::StillInstalled { undo, .. } => {
                let commands: Vec<_> = undo.iter().map(|command| format!("`{command}`")).collect();
                format!("run {}, then the same again", commands.join(", "))
            }
            _ => format!("look at it with `ls -la {}`", shell_quoted(&world.paths.data)),
        };
        Err(refused.into()).hint(hint)
    })
}

fn carry_out_purge(world: &World, ui: &Ui, purge: Purge<'_>) -> anyhow::Result<()> {
    let mut out = ui.out();
    if explained(world, purge.carry_out())? {
        writeln!(out, "Removed {}", shown(&world.paths.data))?;
    }
    if world.paths.config.exists() {
        writeln!(out, "Your own config stays: {}", shown(&world.paths.config))?;
    }
    out.flush()?;
    Ok(())
}

/// Names what is left of us in reach of this folder.
fn tell_leftovers(world: &World, ui: &Ui, agent: &'static dyn Agent, scope: Scope, project: &Path) {
    for (other, path, _) in planned::elsewhere(world, agent, scope, project) {
        ui.warn(&format!(
            "plimsoll is in `{}` still; `plimsoll uninstall --scope {}` removes it there",
            shown(&path),
            other.name()
        ));
    }
    let found = install::inspect(world, agent, scope, project).ok().flatten();
    if let Some(percent) = found.and_then(|found| found.compact_at) {
        ui.warn(&format!(
            "the client is set to compact at {} %, not known to be by plimsoll; that stays",
            crate::ui::strip_control(&percent)
        ));
    }
}
