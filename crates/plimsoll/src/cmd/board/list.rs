//! `plimsoll board list`

use std::fmt::Write as _;

use anyhow::Context;
use plimsoll_core::name::short;
use plimsoll_core::text::duration;
use plimsoll_core::time::utc;
use plimsoll_engine::board::{self, Posted};
use plimsoll_engine::world::World;
use plimsoll_extract::board::{Message, PathClaim};
use serde::Serialize;

use super::{age, called, left, said, show_in_projects};
use crate::layout::{COLUMNS, fit};
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted, short_path};

/// List what waits on the board, and who works on what
///
/// Messages that nobody has acknowledged, the oldest first, then the claims that hold. What has
/// expired is gone.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll board list
  plimsoll board list --json | jq -r '.messages[] | select(.type == \"checkpoint_trigger\") | .to'")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What `--json` prints. These names are a promise to scripts.
#[derive(Serialize)]
struct View<'a> {
    messages: Vec<MessageView<'a>>,
    claims: &'a [PathClaim],
}

#[derive(Serialize)]
struct MessageView<'a> {
    #[serde(flatten)]
    message: &'a Message,
    /// Until when somebody has it who has taken it.
    taken_until: Option<String>,
}

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let hint =
        format!("run `ls -la {}` to see who may read it", shell_quoted(&world.paths.board()));
    let removed = board::tidy(&world.paths).context("could not tidy the board").hint(&hint)?;
    show_in_projects(world, ui, &removed);
    let posted = board::list(&world.paths).context("could not read the board").hint(&hint)?;
    let claims = board::claims(&world.paths).context("could not read the claims").hint(&hint)?;
    if args.json {
        let messages = posted.iter().map(view).collect();
        return ui.print_json(&View { messages, claims: &claims });
    }
    if posted.is_empty() && claims.is_empty() {
        ui.warn("there is nothing on the board");
    }
    let messages = posted.iter().map(|posted| message(ui, posted));
    let claims = claims.iter().map(|held| claim(world, ui, held));
    ui.print(&messages.chain(claims).collect::<String>())
}

fn view(posted: &Posted) -> MessageView<'_> {
    let taken_until = posted.taker.map(|taker| utc(taker.until()));
    MessageView { message: &posted.message, taken_until }
}

fn message(ui: &Ui, posted: &Posted) -> String {
    let Posted { message, taker } = posted;
    let facts = [
        format!("for {}", short(message.to.as_str())),
        format!("from {}", called(&message.from)),
        format!("{} ago", duration(age(message.timestamp))),
        taker.map_or_else(String::new, |_| "taken".to_owned()),
    ];
    let mut text = ui.bold(message.id.as_str());
    let _ = writeln!(text, "\n  {}", ui.dim(&fit(&facts, COLUMNS - 2)));
    let _ = writeln!(text, "  {}", fit(&[said(message)], COLUMNS - 2));
    text
}

/// Formats a claim as one line.
fn claim(world: &World, ui: &Ui, claim: &PathClaim) -> String {
    let path = ui.bold(&short_path(&claim.path, &world.paths.home));
    let (holder, left) = (called(&claim.holder), duration(left(claim.until)));
    format!("{path}  {}\n", ui.dim(&format!("claimed by {holder}, {left} left")))
}
