//! `plimsoll top`

use plimsoll_engine::world::World;

use crate::report::HintExt;
use crate::tui;
use crate::ui::Ui;
use crate::ui::screen::Screen;

/// Show all sessions on one screen, and follow them
///
/// Each with how full its window is, where the client compacts, how far that is at the pace so far, and
/// when its last checkpoint was made; subagents are folded under their session. `?` shows the keys: sort,
/// filter, look at a session's curve and its checkpoint, make a checkpoint now, copy the command that
/// takes a session up again, open a checkpoint in your pager. Nothing else need run, and whatever else
/// watches goes on.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll top
  plimsoll top --all
  NO_COLOR=1 plimsoll top")]
pub(crate) struct Args {
    /// All sessions, however old; otherwise those of the last 24 hours
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(world: World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    const HINT: &str = "run `plimsoll status` to look once, or `plimsoll watch` for a line whenever something changes";
    if !Screen::is_there() {
        return Err(anyhow::anyhow!("could not draw: this is no terminal")).hint(HINT);
    }
    if !ui.can_redraw() {
        return Err(anyhow::anyhow!("could not draw: a terminal with TERM=dumb moves no cursor"))
            .hint(HINT);
    }
    tui::run(world, ui.has_colour(), args.all)
}
