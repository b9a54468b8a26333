//! `plimsoll board post`

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context;
use plimsoll_core::event::SessionId;
use plimsoll_core::name::{is_meant, short};
use plimsoll_engine::board::{self, Lasting, NewMessage, NoRecipient, Recipient};
use plimsoll_engine::resume;
use plimsoll_engine::world::World;
use plimsoll_extract::board::{MAX_TEXT_CHARS, Message, MessageContent};
use plimsoll_server::team::{self, RemoteSession, TeamError};

use super::{SEE_ALL, show_in_projects, stretch, who};
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted};

/// Leave a message for a session, a project or everybody
///
/// A session is named by the beginning of its name, and need not run: the message waits for it. A
/// project, by its path or the name of its folder, stands for the sessions that run in it, `all` for
/// all that run; who posts is left out. With `team.share: [board]` that goes for other machines, too,
/// and for sessions there that were heard of in the last ten minutes. Secrets are taken out. The model is given the text as data,
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
    check(&args.text)?;
    let asks = resume::asking(world);
    let here = board::recipients(world, &args.to, asks.as_ref());
    let meant = meant(world, ui, &args.to, here).or_else(|error| {
        let hint = hint(&error);
        Err(error).context("could not find out whom the message is for").hint(hint)
    })?;
    let from = who(world);
    let (reach, goes) = (meant.reach(), meant.elsewhere > 0);
    let new = meant.to.into_iter().map(|recipient| message(args, recipient, &from)).collect();
    let posted = board::post(&world.paths, new, Lasting::Crash);
    let posted = posted.context("could not post the message").hint(format!(
        "run `ls -ld {}` to see whether it can be written",
        shell_quoted(&world.paths.data)
    ))?;
    show_in_projects(world, ui, &posted);
    if goes {
        send(world, ui);
    }
    tell(ui, args, &posted, &reach)
}

/// Whom a message is for.
struct Meant {
    to: Vec<Recipient>,
    /// How many of them are on other machines.
    elsewhere: usize,
    /// How many machines that are.
    machines: usize,
}

impl Meant {
    fn here(to: Vec<Recipient>) -> Self {
        Self { to, elsewhere: 0, machines: 0 }
    }

    fn and(mut self, there: Vec<RemoteSession>) -> Self {
        let machines: BTreeSet<&str> = there.iter().map(|it| it.machine.as_str()).collect();
        (self.elsewhere, self.machines) = (there.len(), machines.len());
        self.to.extend(there.into_iter().map(|it| away(it.session)));
        self
    }

    /// How far it goes, in a line; nothing if it stays here.
    fn reach(&self) -> String {
        match (self.elsewhere, self.machines) {
            (0, _) => String::new(),
            _ if self.to.len() == 1 => {
                "The session is on another machine of the team.\n".to_owned()
            }
            (sessions, 1) => format!("{sessions} of them on another machine of the team.\n"),
            (sessions, many) => {
                format!("{sessions} of them on {many} other machines of the team.\n")
            }
        }
    }
}

/// A session on another machine. Its project is a path of that one, and none of this one.
fn away(session: SessionId) -> Recipient {
    Recipient { session, project: None }
}

/// Whom a message is for, here and on other machines of the team, given who was found here.
fn meant(
    world: &World,
    ui: &Ui,
    name: &str,
    here: Result<Vec<Recipient>, NoRecipient>,
) -> Result<Meant, NoRecipient> {
    let among = || team::sessions_among(world, name);
    match here {
        Err(NoRecipient::Unknown(_)) => {
            if let Some(session) = elsewhere(world, name)? {
                return Ok(Meant { to: vec![away(session)], elsewhere: 1, machines: 1 });
            }
            let there = among().map_err(NoRecipient::Unseen)?;
            if there.is_empty() {
                here.map(Meant::here)
            } else {
                Ok(Meant::here(vec![]).and(there))
            }
        }
        Ok(to) if matches!(&to[..], [one] if is_meant(one.session.as_str(), name)) => {
            Ok(Meant::here(to))
        }
        Ok(to) => Ok(Meant::here(to).and(among().unwrap_or_else(|error| {
            ui.warn(&format!("only sessions on this machine get it: {error:#}"));
            Vec::new()
        }))),
        Err(error) => Err(error),
    }
}

/// The session of that name on another machine of the team, if there is one.
fn elsewhere(world: &World, name: &str) -> Result<Option<SessionId>, NoRecipient> {
    let mut there = team::sessions_named(world, name).map_err(NoRecipient::Unseen)?;
    match there.len() {
        0 | 1 => Ok(there.pop()),
        _ => {
            let among = there.iter().map(SessionId::to_string).collect();
            Err(NoRecipient::Several { name: name.to_owned(), among })
        }
    }
}

fn hint(error: &NoRecipient) -> &'static str {
    match error {
        NoRecipient::Several { .. } => "give more of the name",
        NoRecipient::Unknown(_) => SEE_ALL,
        NoRecipient::Unseen(error) => match error.downcast_ref::<TeamError>() {
            Some(error) if error.is_temporary() => {
                "nobody of that name is on this machine, so nothing was posted: try again when `plimsoll team status` says that the team's database is in reach"
            }
            Some(error) => error.hint(),
            None => SEE_ALL,
        },
    }
}

/// Sends what is for other machines. What cannot go now waits for `plimsoll serve` or `watch`.
fn send(world: &World, ui: &Ui) {
    if let Err(error) = team::send_messages(world) {
        ui.warn(&format!("it goes when the team's database is in reach again: {error:#}"));
    }
}

fn check(text: &str) -> anyhow::Result<()> {
    let hint = "for example `plimsoll board post --to all 'lunch'`";
    anyhow::ensure!(!text.trim().is_empty(), "there is nothing to post: the text is empty");
    let length = text.chars().count();
    match length <= MAX_TEXT_CHARS {
        true => Ok(()),
        false => Err(anyhow::anyhow!(
            "the text has {length} characters, and a message {MAX_TEXT_CHARS} at most"
        ))
        .hint(format!("write it to a file and post where that is, {hint}")),
    }
}

fn message(args: &Args, to: Recipient, from: &str) -> NewMessage {
    NewMessage {
        to: to.session,
        project: to.project,
        from: from.to_owned(),
        what: MessageContent::Message { text: args.text.clone() },
        lives: args.expires,
    }
}

fn tell(ui: &Ui, args: &Args, posted: &[Message], reach: &str) -> anyhow::Result<()> {
    if args.json {
        return ui.print_json(&posted);
    }
    let lines = posted.iter().map(|message| {
        format!("Posted {} for session {}.\n", message.id, short(message.to.as_str()))
    });
    ui.print(&lines.chain([reach.to_owned()]).collect::<String>())
}
