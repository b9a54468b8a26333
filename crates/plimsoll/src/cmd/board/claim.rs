//! `plimsoll board claim`

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use plimsoll_core::text::duration;
use plimsoll_engine::board::{self, NotClaimed};
use plimsoll_engine::world::World;

use super::{left, stretch, who, whole};
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted, short_path};

/// Say that you work on a path, so that others keep off it
///
/// Fails if somebody else has claimed it, something in it or a folder above it; nobody is kept from
/// writing there. In a session the claim is the session's. It runs out by itself; claiming again makes
/// it last longer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll board claim src/auth
  plimsoll board claim Cargo.toml --for 5m && cargo add serde && plimsoll board release Cargo.toml")]
pub(crate) struct Args {
    /// A file or folder; it need not be there yet
    path: PathBuf,
    /// How long it holds
    #[arg(long = "for", value_name = "TIME", default_value = "30m", value_parser = stretch)]
    time: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let path = whole(&args.path)?;
    let claimed = board::claim(&world.paths, path, &who(world), args.time);
    let claim = claimed.or_else(|error| {
        let hint = match &error {
            NotClaimed::Held(held) => format!(
                "it runs out in {}; `plimsoll board list` shows all claims",
                duration(left(held.until))
            ),
            NotClaimed::Io(_) => {
                format!(
                    "run `ls -ld {}` to see whether it can be written",
                    shell_quoted(&world.paths.data)
                )
            }
        };
        Err(error).context(format!("could not claim `{}`", args.path.display())).hint(hint)
    })?;
    if args.json {
        return ui.print_json(&claim);
    }
    let path = short_path(&claim.path, &world.paths.home);
    ui.print(&format!("Claimed `{path}` for {}.\n", duration(args.time.as_secs())))
}
