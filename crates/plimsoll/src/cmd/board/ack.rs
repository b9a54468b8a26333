//! `plimsoll board ack`

use anyhow::Context;
use plimsoll_engine::board::{self, Posted};
use plimsoll_engine::world::World;
use plimsoll_extract::board::Message;

use super::show_in_projects;
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted};

/// Say that messages are handled
///
/// They are gone from the board, and nobody is given them again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll board ack 0198a7c2-91b3-7f20-8d1e-54a0c1b2d3e4
  plimsoll board take --json | jq -r '.[].id' | xargs -r plimsoll board ack")]
pub(crate) struct Args {
    /// The messages, by their names or the beginnings of them
    #[arg(required = true)]
    id: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let posted = board::list(&world.paths);
    let posted = posted.context("could not read the board").hint(format!(
        "run `ls -la {}` to see who may read it",
        shell_quoted(&world.paths.board())
    ))?;
    let meant = args.id.iter().map(|id| named(&posted, id)).collect::<anyhow::Result<Vec<_>>>()?;
    for message in &meant {
        board::acknowledge(&world.paths, &message.to, std::slice::from_ref(&message.id))
            .with_context(|| format!("could not acknowledge `{}`", message.id))
            .hint(format!("try again: `plimsoll board ack {}`", message.id))?;
    }
    show_in_projects(world, ui, &meant);
    if args.json {
        return ui.print_json(&meant);
    }
    ui.print(&meant.iter().map(|it| format!("Acknowledged {}.\n", it.id)).collect::<String>())
}

/// The message of that name, or whose name begins so.
fn named(posted: &[Posted], name: &str) -> anyhow::Result<Message> {
    let begins =
        |posted: &&Posted| !name.is_empty() && posted.message.id.as_str().starts_with(name);
    let mut named = posted.iter().filter(begins);
    match (named.next(), named.next()) {
        (Some(posted), None) => Ok(posted.message.clone()),
        (None, _) => Err(anyhow::anyhow!("no message `{name}` is on the board"))
            .hint("run `plimsoll board list` to see what is"),
        (Some(_), Some(_)) => Err(anyhow::anyhow!("`{name}` is the beginning of several messages"))
            .hint("give more of the name; `plimsoll board list` shows them"),
    }
}
