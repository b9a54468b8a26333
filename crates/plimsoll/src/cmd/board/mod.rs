//! `plimsoll board`

mod ack;
mod claim;
mod list;
mod post;
mod release;
mod take;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Subcommand;
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::name::short;
use plimsoll_engine::world::{World, now};
use plimsoll_engine::{board, paths, resume, settings};
use plimsoll_extract::board::{Message, MessageContent};

use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Leave messages for sessions, read them, and say who works on what
///
/// A message waits in the inbox of the session it is for. The session's hook tells it to the model at
/// the next tool call or prompt, as data, and it is gone. The watcher asks for checkpoints the same
/// way. A claim says who works on a path, for a while, so that others keep off it.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  plimsoll board post --to 5f2c 'the schema has changed, pull first'
  plimsoll board post --to . 'tests are red since 14:00'   everybody in this project
  plimsoll board post --to all 'the machine restarts at noon'
  plimsoll board list                                      what waits, and who works on what?
  plimsoll board claim src/auth --for 2h                   keep others off a folder
  plimsoll board release src/auth";

#[derive(Subcommand)]
enum Command {
    Post(post::Args),
    List(list::Args),
    Take(take::Args),
    Ack(ack::Args),
    Claim(claim::Args),
    Release(release::Args),
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Post(args) => post::run(world, ui, args),
        Command::List(args) => list::run(world, ui, args),
        Command::Take(args) => take::run(world, ui, args),
        Command::Ack(args) => ack::run(world, ui, args),
        Command::Claim(args) => claim::run(world, ui, args),
        Command::Release(args) => release::run(world, ui, args),
    }
}

/// Who runs this: the session it runs in, else the user, as the team calls them.
fn who(world: &World) -> String {
    match resume::asking(world) {
        Some(session) => strip_control(session.as_str()),
        None => {
            let person = settings::team(world).person.unwrap_or_else(|| world.login());
            // What is held on another machine is held by somebody ` on ` it.
            strip_control(&person).replace(" on ", "-on-")
        }
    }
}

/// What somebody is called in few letters: a session as it is everywhere, a person by all of the name.
fn called(name: &str) -> String {
    let name = strip_control(name);
    let (who, rest) = name.split_at(name.find(' ').unwrap_or(name.len()));
    let is_id = |part: &str| part.len() == 8 && part.bytes().all(|it| it.is_ascii_hexdigit());
    match who.split_once('-') {
        Some((beginning, _)) if is_id(beginning) => format!("{}{rest}", short(who)),
        _ => name,
    }
}

/// A stretch of time as people write it: `90s`, `30m`, `2h`, `1d`. Who means for ever is asked again.
fn stretch(text: &str) -> Result<Duration, String> {
    const LONGEST: u64 = 365 * 24 * 3600;
    let wrong = || format!("`{text}` is no stretch of time such as 90s, 30m, 2h or 1d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        _ => return Err(wrong()),
    };
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    match u64::from(number) * seconds {
        0 => Err(wrong()),
        seconds if seconds > LONGEST => Err(format!("`{text}` is more than a year (365d)")),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

/// A path that may not be there yet, by its whole name.
fn whole(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).context("could not find the current folder")?;
    let there = path.ancestors().find(|folder| folder.exists()).unwrap_or(&path);
    let rest = path.strip_prefix(there).unwrap_or(Path::new(""));
    Ok(paths::canonical(there).components().chain(rest.components()).collect())
}

/// The session that is meant: the one named by its beginning, else the one this runs in.
fn session(world: &World, named: Option<&str>) -> anyhow::Result<SessionId> {
    match named {
        Some(name) => {
            let found = board::recipients(world, name, None);
            let mut found = found.context("could not find the session").hint(SEE_ALL)?;
            match found.len() {
                1 => Ok(found.swap_remove(0).session),
                several => Err(anyhow::anyhow!("`{name}` stands for {several} sessions"))
                    .hint("name one of them; `plimsoll status --all` shows all"),
            }
        }
        None => resume::asking(world)
            .context("no session runs here")
            .hint("name one, for example `plimsoll board take --session 5f2c`"),
    }
}

const SEE_ALL: &str = "run `plimsoll status --all` to see all sessions";

/// Brings the files of projects up to date whose sessions' messages have changed.
fn show_in_projects(world: &World, ui: &Ui, changed: &[Message]) {
    if let Err(error) = board::show(world, changed) {
        ui.warn(&format!("the project does not show the board: {error}"));
    }
}

/// What a message says, in a line.
fn said(message: &Message) -> String {
    match &message.what {
        MessageContent::CheckpointTrigger { reason } => {
            strip_control(&format!("checkpoint_trigger ({reason})"))
        }
        MessageContent::Message { text } => {
            strip_control(&text.split_whitespace().collect::<Vec<_>>().join(" "))
        }
    }
}

/// How long ago a moment was, in seconds.
fn age(moment: Millis) -> u64 {
    u64::try_from(now() as Millis - moment).unwrap_or(0) / 1000
}

/// How long it is until a moment, in seconds.
fn left(moment: Millis) -> u64 {
    u64::try_from(moment - now() as Millis).unwrap_or(0) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_time_are_read_as_people_write_them() {
        let read = ["90s", "30m", "2h", "1d"].map(|text| stretch(text).unwrap().as_secs());
        assert_eq!(read, [90, 1800, 7200, 86_400]);
        for bad in ["", "m", "0m", "30", "-1m", "1.5h", "30ü", "366d", "4000000000d"] {
            stretch(bad).unwrap_err();
        }
    }
}
