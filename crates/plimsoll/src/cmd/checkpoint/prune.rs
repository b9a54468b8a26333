//! `plimsoll checkpoint prune`

use plimsoll_core::Millis;
use plimsoll_engine::checkpoint::{self, Listed, Place, Pruned};
use plimsoll_engine::world::now;
use serde::Serialize;

use super::found;
use crate::ui::{Ui, plain};

/// Remove checkpoints that have had their time
///
/// Those older than a week, and those beyond the fifty newest of this project. Never the newest, and
/// never a file that you did not seal.
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

pub(crate) fn run(place: &Place, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let now = now() as Millis;
    let pruned = match args.dry_run {
        true => {
            let (removed, kept) = found(checkpoint::outlived(place, now, &is_referred))?;
            Pruned { removed, kept, ..Pruned::default() }
        }
        false => found(checkpoint::prune(place, now, &is_referred))?,
    };
    pruned.warnings.iter().for_each(|warning| ui.warn(&plain(warning)));
    let ids: Vec<&str> = pruned.removed.iter().map(|listed: &Listed| &*listed.id).collect();
    if args.json {
        return ui.print_json(&PruneView { removed: ids, kept: pruned.kept });
    }
    ui.print(&ids.iter().map(|id| format!("{}\n", plain(id))).collect::<String>())?;
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    ui.warn(&format!("{} {verb}, {} kept", ids.len(), pruned.kept));
    Ok(())
}

/// Nothing refers to checkpoints but other checkpoints, which can do without.
fn is_referred(_id: &str) -> bool {
    false
}

#[derive(Serialize)]
struct PruneView<'a> {
    removed: Vec<&'a str>,
    kept: usize,
}
