//! `plimsoll board release`

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_core::text::duration;
use plimsoll_engine::board::{self, NotReleased};
use plimsoll_engine::world::World;
use plimsoll_server::team;

use super::{left, who, whole};
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted, short_path};

/// Give up a claim on a path
///
/// With `--force` somebody else's, too, also one that is held on another machine of the team.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll board release src/auth
  plimsoll board release src/auth --force      somebody else's, who forgot it")]
pub(crate) struct Args {
    /// The path that was claimed
    path: PathBuf,
    /// Whoever's claim it is
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let path = whole(&args.path)?;
    let own = who(world);
    if args.force {
        // First, or it would come back from there.
        team::end_claim(world, &path)
            .with_context(|| format!("could not release `{}`", args.path.display()))
            .hint("it is held on another machine, as `plimsoll board list` says: try again when `plimsoll team status` says that the team's database is in reach, or release it there")?;
    }
    let released = board::release(&world.paths, &path, (!args.force).then_some(&own));
    let claim = released.or_else(|error| {
        let hint = match &error {
            NotReleased::Unknown(_) => "run `plimsoll board list` to see all claims".to_owned(),
            NotReleased::NotYours(held) => format!(
                "it runs out in {}; `plimsoll board release --force {}` ends it now",
                duration(left(held.until)),
                shell_quoted(&args.path)
            ),
            NotReleased::Io(_) => {
                format!(
                    "run `ls -ld {}` to see whether it can be written",
                    shell_quoted(&world.paths.data)
                )
            }
        };
        Err(error).context(format!("could not release `{}`", args.path.display())).hint(hint)
    })?;
    if args.json {
        return ui.print_json(&claim);
    }
    ui.print(&format!("Released `{}`.\n", short_path(&claim.path, &world.paths.home)))
}
