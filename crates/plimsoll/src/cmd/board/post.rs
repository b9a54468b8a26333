//! `plimsoll board post`

use std::time::Duration;

use anyhow::Context;
use plimsoll_agents::Adapter;
use plimsoll_core::board::{LONGEST_TEXT, Message, What};
use plimsoll_core::event::SessionId;
use plimsoll_engine::board::{self, Lasting, NewMessage, NoRecipient, Recipient};
use plimsoll_engine::resume;
use plimsoll_engine::world::World;
use plimsoll_server::team;

use super::{SEE_ALL, show_in_projects, stretch, who};
use crate::cmd::status::short;
use crate::report::HintExt;
use crate::ui::{Ui, pasted};

/// Leave a message for a session, a project or everybody
///
/// A session is named by the beginning of its name, and need not run: the message waits for it. A
/// project, by its path or the name of its folder, stands for the sessions that run in it, `all` for
/// all that run; who posts is left out. Secrets are taken out. The model is given the text as data,
/// with your name or the session's.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll board post --to 5f2c 'the schema has changed, pull first'
  plimsoll board post --to ~/src/app 'release freeze until 16:00' --expires 2h
  plimsoll board post --to all 'the machine restarts at noon'")]
pub(crate) struct Args {
    /// A session, a project or `all`
    #[arg(long, value_name = "SESSION|PROJECT|all")]
    to: String,
    /// What to say
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// How long it is worth reading
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = stretch)]
    expires: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let adapter = plimsoll_agents::ALL[0];
    check(&args.text)?;
    let asks = resume::asking(world, adapter);
    let here = board::recipients(world, adapter, &args.to, asks.as_ref());
    let is_elsewhere = matches!(here, Err(NoRecipient::Unknown(_)));
    let to = if is_elsewhere { elsewhere(world, &args.to, here) } else { here };
    let to = to.or_else(|error| {
        let hint = match &error {
            NoRecipient::Several { .. } => "give more of the name",
            NoRecipient::Unknown(_) | NoRecipient::Unseen(_) => SEE_ALL,
        };
        Err(error).context("could not find out whom the message is for").hint(hint)
    })?;
    let from = who(world, adapter);
    let new = to.into_iter().map(|recipient| message(args, recipient, &from)).collect();
    let posted = board::post(&world.paths, new, Lasting::Crash);
    let posted = posted.context("could not post the message").hint(format!(
        "run `ls -ld {}` to see whether it can be written",
        pasted(&world.paths.data)
    ))?;
    show_in_projects(world, ui, &posted);
    if is_elsewhere {
        send(world, ui, adapter);
    }
    tell(ui, args, &posted)
}

/// The session of that name on another machine of the team, if there is one; else what was found here.
fn elsewhere(
    world: &World,
    name: &str,
    here: Result<Vec<Recipient>, NoRecipient>,
) -> Result<Vec<Recipient>, NoRecipient> {
    let there = team::sessions_named(world, name).map_err(NoRecipient::Unseen)?;
    match &there[..] {
        [] => here,
        // Its project is a path of another machine, and none of this one.
        [session] => Ok(vec![Recipient { session: session.clone(), project: None }]),
        several => {
            let among = several.iter().map(SessionId::to_string).collect();
            Err(NoRecipient::Several { name: name.to_owned(), among })
        }
    }
}

/// Sends what is for other machines. What cannot go now waits for `plimsoll serve` or `watch`.
fn send(world: &World, ui: &Ui, adapter: &dyn Adapter) {
    if let Err(error) = team::post(world, adapter) {
        ui.warn(&format!("it goes when the team's database is in reach again: {error:#}"));
    }
}

fn check(text: &str) -> anyhow::Result<()> {
    let hint = "for example `plimsoll board post --to all 'lunch'`";
    anyhow::ensure!(!text.trim().is_empty(), "there is nothing to post: the text is empty");
    let length = text.chars().count();
    match length <= LONGEST_TEXT {
        true => Ok(()),
        false => Err(anyhow::anyhow!(
            "the text has {length} characters, and a message {LONGEST_TEXT} at most"
        ))
        .hint(format!("write it to a file and post where that is, {hint}")),
    }
}

fn message(args: &Args, to: Recipient, from: &str) -> NewMessage {
    NewMessage {
        to: to.session,
        project: to.project,
        from: from.to_owned(),
        what: What::Message { text: args.text.clone() },
        lives: args.expires,
    }
}

fn tell(ui: &Ui, args: &Args, posted: &[Message]) -> anyhow::Result<()> {
    if args.json {
        return ui.print_json(&posted);
    }
    let lines = posted.iter().map(|message| {
        format!("Posted {} for session {}.\n", message.id, short(message.to.as_str()))
    });
    ui.print(&lines.collect::<String>())
}
