//! `plimsoll checkpoint prune`

use std::time::Duration;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_engine::checkpoint::{self, Listed, Place, Pruned};
use plimsoll_engine::run_journal;
use plimsoll_engine::saves;
use plimsoll_engine::world::{World, now};
use serde::Serialize;

use super::found;
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Remove checkpoints that have had their time
///
/// Those older than a week, and those beyond the fifty newest of this project. Never the newest, never
/// one that a save refers to or a run goes on from, and never a file that you did not seal.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  plimsoll checkpoint prune --dry-run")]
pub(crate) struct Args {
    /// Only show which ones
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const STORE_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(world: &World, place: &Place, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let now = now() as Millis;
    let saved = saves::referred(&world.paths, STORE_PATIENCE)
        .context("could not find out which checkpoints your saves refer to")
        .hint("run `plimsoll doctor` to see why")?;
    let needed = run_journal::referred(&world.paths)
        .context("could not find out which checkpoints your runs go on from")
        .hint("run `plimsoll doctor` to see why")?;
    let is_referred = |id: &str| saved.contains(id) || needed.contains(id);
    let pruned = match args.dry_run {
        true => {
            let (removed, kept) = found(checkpoint::outlived(place, now, &is_referred))?;
            Pruned { removed, kept, ..Pruned::default() }
        }
        false => found(checkpoint::prune(place, now, &is_referred))?,
    };
    pruned.warnings.iter().for_each(|warning| ui.warn(&strip_control(warning)));
    let ids: Vec<&str> = pruned.removed.iter().map(|listed: &Listed| &*listed.id).collect();
    if args.json {
        return ui.print_json(&PruneView { removed: ids, kept: pruned.kept });
    }
    ui.print(&ids.iter().map(|id| format!("{}\n", strip_control(id))).collect::<String>())?;
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    ui.warn(&format!("{} {verb}, {} kept", ids.len(), pruned.kept));
    Ok(())
}

#[derive(Serialize)]
struct PruneView<'a> {
    removed: Vec<&'a str>,
    kept: usize,
}
