//! `plimsoll board take`

use std::time::Duration;

use anyhow::Context;
use plimsoll_core::name::short;
use plimsoll_engine::board::{self, Taker};
use plimsoll_engine::world::World;
use plimsoll_extract::board::Message;

use super::{called, said, session, stretch};
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted};

/// Take what waits for a session, to handle it by hand
///
/// Nobody else gets it meanwhile. `plimsoll board ack` says that it is handled; without that it comes
/// back. Sessions with plimsoll's hooks need none of this: their hooks take and acknowledge.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll board take                     in a session: its own
  plimsoll board take --session 5f2c --json | jq -r '.[].id' | xargs -r plimsoll board ack")]
pub(crate) struct Args {
    /// The session, by the beginning of its name, where it is not the one this runs in
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// How long it is kept from others
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = stretch)]
    time: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let session = session(world, args.session.as_deref())?;
    let taken =
        board::take(&world.paths, &session, Taker::anybody(args.time), usize::MAX, |_| true);
    let inbox = world.paths.inbox(&session);
    let taken = taken
        .context("could not take the messages")
        .hint(format!("run `ls -la {}` to see who may", shell_quoted(&inbox)))?;
    if args.json {
        return ui.print_json(&taken);
    }
    if taken.is_empty() {
        ui.warn(&format!("nothing waits for session {}", short(session.as_str())));
    }
    ui.print(&taken.iter().map(|message| text(ui, message)).collect::<String>())
}

fn text(ui: &Ui, message: &Message) -> String {
    let (id, from) = (ui.bold(message.id.as_str()), called(&message.from));
    format!("{id}  from {from}\n  {}\n", said(message))
}
