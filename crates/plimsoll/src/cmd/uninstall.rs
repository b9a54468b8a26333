//! `plimsoll uninstall`

use std::io::Write;

use plimsoll_agents::Adapter;
use plimsoll_agents::install::Scope;
use plimsoll_engine::install::{self, NotPurged, Plan};
use plimsoll_engine::world::World;

use super::planned::{self, ScopeArg, hinted, shown};
use crate::report::HintExt;
use crate::ui::Ui;

/// Take plimsoll out of the agent's settings again
///
/// Shows what will change first. A file that nobody changed since `plimsoll init` becomes what it was
/// before, to the byte.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// For whom
    #[arg(long, value_enum, default_value = "user")]
    scope: ScopeArg,
    /// Show what would change and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing
    #[arg(long, short)]
    yes: bool,
    /// Remove all that plimsoll remembers too
    #[arg(long)]
    purge: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let adapter = plimsoll_agents::ALL[0];
    let (scope, project) = (Scope::from(args.scope), planned::project()?);
    planned::check_scope(world, adapter, scope, &project)?;
    let plan = hinted(install::plan_removal(world, adapter, scope, &project))?;
    for path in &plan.foreign {
        ui.warn(&format!("`{}` is not as plimsoll wrote it, and stays", shown(path)));
    }
    if !is_wanted(world, ui, adapter, args, &plan)? {
        return Ok(());
    }
    carry_out(world, ui, &plan)?;
    if args.purge {
        purge(world, ui, &plan)?;
    }
    tell_leftovers(world, ui, adapter, scope)
}

/// Shows what will go, and finds out whether it shall.
fn is_wanted(
    world: &World,
    ui: &Ui,
    adapter: &dyn Adapter,
    args: &Args,
    plan: &Plan,
) -> anyhow::Result<bool> {
    let any = planned::show(ui, plan)?;
    let mut out = ui.out();
    if !any {
        let settings =
            install::files(world, adapter, args.scope.into(), &planned::project()?).settings;
        writeln!(out, "Nothing to remove: plimsoll is not in {}", shown(&settings))?;
    }
    if args.purge {
        writeln!(out, "All that plimsoll remembers: {}", shown(&world.paths.data))?;
    }
    out.flush()?;
    let nothing = !any && !args.purge;
    let wanted = !args.dry_run && (nothing || planned::is_agreed(ui, args.yes, "Remove this?")?);
    if !wanted && !nothing {
        writeln!(out, "Nothing was removed.")?;
    }
    Ok(wanted)
}

fn carry_out(world: &World, ui: &Ui, plan: &Plan) -> anyhow::Result<()> {
    let backups = hinted(install::carry_out(world, plan))?;
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

fn purge(world: &World, ui: &Ui, plan: &Plan) -> anyhow::Result<()> {
    let data = shown(&world.paths.data);
    let purged = install::purge(&world.paths, &plan.data_folders);
    let mut out = ui.out();
    match purged {
        Ok(true) => writeln!(out, "Removed {data}")?,
        Ok(false) => {}
        Err(NotPurged::Io(..)) => purged.map(|_| ())?,
        Err(error) => {
            return Err(anyhow::Error::new(error))
                .hint(format!("look at it with `ls -la {data}`; it was left as it is"));
        }
    }
    if world.paths.config.exists() {
        writeln!(out, "Your own config stays: {}", shown(&world.paths.config))?;
    }
    out.flush()?;
    Ok(())
}

/// Names what is left of us in reach of this folder.
fn tell_leftovers(
    world: &World,
    ui: &Ui,
    adapter: &dyn Adapter,
    scope: Scope,
) -> anyhow::Result<()> {
    let project = planned::project()?;
    for (other, path, _) in planned::elsewhere(world, adapter, scope, &project) {
        ui.warn(&format!(
            "plimsoll is in `{}` still; `plimsoll uninstall --scope {}` removes it there",
            shown(&path),
            other.name()
        ));
    }
    let found = install::inspect(world, adapter, scope, &project).ok().flatten();
    if let Some(percent) = found.and_then(|found| found.compact_at) {
        ui.warn(&format!(
            "the client is set to compact at {} %, not known to be by plimsoll; that stays",
            crate::ui::plain(&percent)
        ));
    }
    Ok(())
}
