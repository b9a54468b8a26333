//! `plimsoll checkpoint verify`

use std::path::Path;

use plimsoll_engine::checkpoint::{self, Checked, Listed, Place};
use plimsoll_engine::world::World;
use plimsoll_extract::checkpoint::EXTENSION;

use super::{View, found, standing};
use crate::report::HintExt;
use crate::ui::{self, Ui, strip_control};

/// Check that checkpoints are there, whole and yours
///
/// Looks at the file, its front matter, the sections that must be there, the hash of the body and the
/// seal, and tells the index what it found. A file that is whole but not sealed by you passes as
/// foreign. The exit code is 1 if anything is wrong with any of them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll checkpoint verify                     the newest that you sealed
  plimsoll checkpoint verify 2026-11-15-0558     the one whose id begins like that
  plimsoll checkpoint verify notes/old.md        a file, wherever it is
  plimsoll checkpoint verify --all               all of this project, and all in the index")]
pub(crate) struct Args {
    /// Which one: an id, the beginning of one, `latest`, or a file
    #[arg(value_name = "ID|FILE", default_value = "latest", conflicts_with = "all")]
    which: String,
    /// All of this project, and all that the index names
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, place: &Place, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let Checked { checkpoints, warnings } = look(place, args)?;
    warnings.iter().for_each(|warning| ui.warn(&strip_control(warning)));
    match args.json {
        true => ui.print_json(&checkpoints.iter().map(View::from).collect::<Vec<_>>())?,
        false => {
            ui.print(&checkpoints.iter().map(|one| text(world, ui, one)).collect::<String>())?
        }
    }
    if checkpoints.is_empty() {
        ui.warn("there is nothing to verify yet");
    }
    let bad = checkpoints.iter().filter(|listed| !listed.verdict.is_valid()).count();
    match (bad, checkpoints.len()) {
        (0, _) => Ok(()),
        (1, 1) => Err(anyhow::anyhow!("the checkpoint is not as it should be")),
        (bad, all) => Err(anyhow::anyhow!("{bad} of {all} checkpoints are not as they should be")),
    }
    .hint("`plimsoll checkpoint list` shows which ones are whole")
}

fn look(place: &Place, args: &Args) -> anyhow::Result<Checked> {
    let is_file = args.which.contains('/') || args.which.ends_with(EXTENSION);
    match &*args.which {
        _ if args.all => found(checkpoint::verify_all(place)),
        file if is_file => found(checkpoint::verify_file(place, Path::new(file))),
        id => Ok(checkpoint::verify_listed(place, found(checkpoint::find(place, id))?)),
    }
}

fn text(world: &World, ui: &Ui, listed: &Listed) -> String {
    let path = ui::short_path(&listed.path, &world.paths.home);
    let mark = match listed.is_own() {
        true => ui.green("✓"),
        false if listed.verdict.is_valid() => ui.yellow("!"),
        false => ui.red("✗"),
    };
    format!("{mark} {path}\n  {}\n", standing(listed))
}
