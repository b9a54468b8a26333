//! `plimsoll uninstall`

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use plimsoll_agents::Adapter;
use plimsoll_agents::install::Scope;
use plimsoll_engine::checkpoint::index;
use plimsoll_engine::install::{self, NotPurged, Plan, Purge};
use plimsoll_engine::world::World;

use super::git_hook;
use super::planned::{self, Common, hinted, shown};
use crate::report::HintExt;
use crate::ui::{Ui, pasted};

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
    /// Remove all that plimsoll remembers too
    #[arg(long)]
    purge: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    if args.git {
        return git_hook::uninstall(world, ui, &args.common);
    }
    let adapter = plimsoll_agents::ALL[0];
    let (scope, project) = (Scope::from(args.common.scope), super::project(world, adapter)?);
    planned::check_scope(world, adapter, scope, &project)?;
    planned::tell_root(ui, scope, &project);
    let plan = hinted(install::plan_removal(world, adapter, scope, &project))?;
    for path in &plan.foreign {
        ui.warn(&format!("`{}` is not as plimsoll wrote it, and stays", shown(path)));
    }
    let purge = args.purge.then(|| explained(world, Purge::check(&world.paths, &plan)));
    let purge = purge.transpose()?;
    let settings = install::files(world, adapter, scope, &project).settings;
    if !is_wanted(world, ui, args, &plan, &settings)? {
        return Ok(());
    }
    carry_out(world, ui, &plan)?;
    tell_checkpoints(world, ui, adapter, args.purge)?;
    match purge {
        Some(purge) => {
            carry_out_purge(world, ui, purge)?;
            forget_checkpoints(world, adapter)?;
        }
        None if world.paths.data.exists() => {
            let data = shown(&world.paths.data);
            writeln!(ui.out(), "Kept    {data} (what plimsoll remembers; `--purge` removes it)")?;
        }
        None => {}
    }
    tell_leftovers(world, ui, adapter, scope, &project);
    Ok(())
}

/// Removes the list of all checkpoints. They themselves lie in the projects, and stay; without the key
/// that went with the rest they count as foreign.
fn forget_checkpoints(world: &World, adapter: &dyn Adapter) -> anyhow::Result<()> {
    let list = world.with_home(adapter, |home| adapter.checkpoint_index(home));
    index::remove(&list, &world.paths.home)
        .with_context(|| format!("could not remove `{}`", list.display()))
        .hint(format!("look at it with `ls -l {}`", pasted(&list)))?;
    Ok(())
}

/// Checkpoints lie in the projects, and are the user's: they stay.
fn tell_checkpoints(
    world: &World,
    ui: &Ui,
    adapter: &dyn Adapter,
    purge: bool,
) -> anyhow::Result<()> {
    let list = world.with_home(adapter, |home| adapter.checkpoint_index(home));
    let about = match purge {
        true => "without the key that goes, nobody can tell that you sealed them".to_owned(),
        false => format!("{} lists them", shown(&list)),
    };
    if list.exists() {
        writeln!(ui.out(), "Kept    your checkpoints, in their projects; {about}")?;
    }
    Ok(())
}

/// Shows what will go, and finds out whether it shall.
fn is_wanted(
    world: &World,
    ui: &Ui,
    args: &Args,
    plan: &Plan,
    settings: &Path,
) -> anyhow::Result<bool> {
    let any = planned::show(ui, plan)?;
    let mut out = ui.out();
    if !any {
        writeln!(out, "Nothing to remove: plimsoll is not in {}", shown(settings))?;
    }
    if args.purge {
        writeln!(out, "All that plimsoll remembers: {}", shown(&world.paths.data))?;
    }
    out.flush()?;
    let nothing = !any && !args.purge;
    // What cannot be brought back is not the usual answer.
    let agreed = || {
        if args.purge && !args.common.yes && !ui.is_interactive() {
            return Err(anyhow::anyhow!("nobody is there to agree that all of this goes"))
                .hint("run the same with `--yes`; `--dry-run` shows what would go");
        }
        planned::is_agreed(ui, args.common.yes, "Remove this?", !args.purge)
    };
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
            _ => format!("look at it with `ls -la {}`", pasted(&world.paths.data)),
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
fn tell_leftovers(world: &World, ui: &Ui, adapter: &dyn Adapter, scope: Scope, project: &Path) {
    for (other, path, _) in planned::elsewhere(world, adapter, scope, project) {
        ui.warn(&format!(
            "plimsoll is in `{}` still; `plimsoll uninstall --scope {}` removes it there",
            shown(&path),
            other.name()
        ));
    }
    let found = install::inspect(world, adapter, scope, project).ok().flatten();
    if let Some(percent) = found.and_then(|found| found.compact_at) {
        ui.warn(&format!(
            "the client is set to compact at {} %, not known to be by plimsoll; that stays",
            crate::ui::plain(&percent)
        ));
    }
}
