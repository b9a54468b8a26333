//! The board: messages get from whoever posts them to the session they are for.
//!
//! Each session has an inbox, a folder that is there only as long as something lies in it: so a hook
//! finds out with one look that there is nothing. A message is a file that is written elsewhere and
//! renamed into the inbox whole. It is taken by another rename, to a name that tells by whom and until
//! when; if the taker dies or forgets it, the next one takes it from there. Once it is handled, a line
//! of the session's spool says so, and then the file goes. So a message may arrive twice, after a
//! kill -9 at the wrong moment, but it is handled once.

mod address;
mod claims;
mod file;
mod mirror;
mod taker;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use plimsoll_agents::Adapter;
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::session::SessionState;
use plimsoll_extract::board::{Message, MessageId, What};
use uuid::Uuid;

pub use self::address::{ALL, LATELY, NoRecipient, Recipient, is_among, recipients};
pub use self::claims::{NotClaimed, NotReleased, claim, claims, release};
pub use self::file::Lasting;
pub use self::mirror::{is_mirrored, mirror, mirror_of, remove_mirror};
pub use self::taker::Taker;
use crate::paths::Paths;
use crate::settings;
use crate::spool::{self, Locked, SpoolLine};
use crate::world::{World, now};

/// A message that has no name yet.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// The session it is for.
    pub to: SessionId,
    /// The project of that session.
    pub project: Option<PathBuf>,
    /// Who sends it.
    pub from: String,
    /// What it says.
    pub what: What,
    /// How long somebody may want to read it.
    pub lives: Duration,
}

/// A message on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The message.
    pub message: Message,
    /// Who has taken it, if they still have it.
    pub taker: Option<Taker>,
}

/// Posts messages. When this returns they are in their inboxes, and outlast what `lasting` says.
pub fn post(paths: &Paths, new: Vec<NewMessage>, lasting: Lasting) -> io::Result<Vec<Message>> {
    let messages: Vec<Message> = new.into_iter().map(named).collect();
    for message in &messages {
        deliver(paths, message, lasting)?;
    }
    Ok(messages)
}

/// A message with its name and its moment.
fn named(new: NewMessage) -> Message {
    let timestamp = now() as Millis;
    let message = Message {
        id: MessageId::of_uuid(Uuid::now_v7().as_u128()),
        to: new.to,
        project: new.project.map(|project| project.to_string_lossy().into_owned()),
        from: new.from,
        what: new.what,
        timestamp,
        expires: timestamp.saturating_add(new.lives.as_millis() as Millis),
    };
    message.cleaned()
}

/// Puts a message that has a name into its inbox, whole or not at all. One that is there already, or
/// was handled, stays one.
pub fn deliver(paths: &Paths, message: &Message, lasting: Lasting) -> io::Result<()> {
    file::put(paths, message, lasting)
}

/// All messages that wait, or were taken and not acknowledged, the oldest first. What has expired is
/// left out.
pub fn list(paths: &Paths) -> io::Result<Vec<Posted>> {
    let now = now() as Millis;
    let mut posted = Vec::new();
    for session in file::sessions(paths)? {
        for entry in file::entries(paths, &session)? {
            let Some(message) = entry.read().filter(|message| !message.has_expired(now)) else {
                continue;
            };
            let taker = entry.taker.filter(|taker| taker.holds(now));
            posted.push(Posted { message, taker });
        }
    }
    posted.sort_by(|one, other| one.message.id.cmp(&other.message.id));
    Ok(posted)
}

/// Whether something may lie in a session's inbox: one look at the disk.
pub fn has_mail(paths: &Paths, session: &SessionId) -> bool {
    rustix::fs::access(paths.inbox(session), rustix::fs::Access::EXISTS).is_ok()
}

/// Takes messages of a session that `wants` them, the oldest first, at most `most`. Nobody else gets
/// them until the taker is gone, or late.
pub fn take(
    paths: &Paths,
    session: &SessionId,
    taker: Taker,
    most: usize,
    wants: impl Fn(&Message) -> bool,
) -> io::Result<Vec<Message>> {
    let now = now() as Millis;
    let mut taken = Vec::new();
    for entry in file::entries(paths, session)? {
        if taken.len() == most {
            break;
        }
        if entry.taker.is_some_and(|taker| taker.holds(now)) {
            continue;
        }
        let Some(message) = entry.read() else { continue };
        if message.has_expired(now) {
            entry.remove()?;
        } else if wants(&message) && entry.take(taker)? {
            taken.push(message);
        }
    }
    file::close(paths, session);
    Ok(taken)
}

/// Whether a request for a checkpoint lies in a session's inbox.
pub(crate) fn is_asked(paths: &Paths, session: &SessionId) -> io::Result<bool> {
    let now = now() as Millis;
    let mut messages = file::entries(paths, session)?.into_iter().filter_map(|entry| entry.read());
    Ok(messages.any(|message| message.trigger().is_some() && !message.has_expired(now)))
}

/// How many of the messages that a session has handled are remembered.
const REMEMBERED: usize = 16;

/// The state of a session that has handled these messages, too.
#[must_use]
pub(crate) fn handled(mut state: SessionState, ids: &[MessageId]) -> SessionState {
    state.handled.extend(ids.iter().map(MessageId::to_string));
    state.handled.drain(..state.handled.len().saturating_sub(REMEMBERED));
    state
}

/// Whether a session has handled a message.
pub(crate) fn is_handled(state: &SessionState, id: &MessageId) -> bool {
    state.handled.iter().any(|handled| handled == id.as_str())
}

/// Acknowledges messages: the session's spool says that they are handled, then the files go.
pub fn acknowledge(paths: &Paths, session: &SessionId, ids: &[MessageId]) -> anyhow::Result<()> {
    let spool = paths.spool_of(session, None);
    let locked = Locked::open(&spool).context("could not lock the spool")?;
    let locked = locked.context("the session's spool is busy")?;
    let last = spool::last(&spool).context("could not read the spool")?;
    // A session that is over stays so.
    let is_over = last.as_ref().is_some_and(|line| line.what == spool::ENDED);
    let what = if is_over { spool::ENDED } else { "acknowledged" };
    let state = last.map(|line| line.state).unwrap_or_default();
    let line = SpoolLine::unmeasured(what, handled(state, ids));
    locked.append(&line).context("could not write the spool")?;
    remove(paths, session, ids).context("could not remove the message")
}

/// Keeps messages of a session from everybody for so long.
pub(crate) fn put_off(
    paths: &Paths,
    session: &SessionId,
    ids: &[MessageId],
    time: Duration,
) -> io::Result<()> {
    for entry in file::entries(paths, session)? {
        if ids.contains(&entry.id) {
            entry.take(Taker::anybody(time))?;
        }
    }
    Ok(())
}

/// Removes messages that are handled, or have gone elsewhere, from a session's inbox.
pub fn remove(paths: &Paths, session: &SessionId, ids: &[MessageId]) -> io::Result<()> {
    for entry in file::entries(paths, session)? {
        if ids.contains(&entry.id) {
            entry.remove()?;
        }
    }
    file::close(paths, session);
    Ok(())
}

/// Removes what nobody need read any more, and what killed processes left half written. Gives the
/// messages that are gone.
pub fn tidy(paths: &Paths) -> io::Result<Vec<Message>> {
    let now = now() as Millis;
    file::sweep(paths);
    let mut removed = Vec::new();
    for session in file::sessions(paths)? {
        for entry in file::entries(paths, &session)? {
            let expired = entry.read().filter(|message| message.has_expired(now));
            if expired.is_some() || entry.is_empty() {
                entry.remove()?;
            }
            removed.extend(expired);
        }
        file::close(paths, &session);
    }
    claims::tidy(paths)?;
    Ok(removed)
}

/// The same, and brings the files of the projects up to date that show the board.
pub fn tidy_and_show(world: &World, adapter: &dyn Adapter) -> io::Result<()> {
    let removed = tidy(&world.paths)?;
    show(world, adapter, &removed)
}

/// Brings the files of the projects up to date that messages on the board concern, where the user
/// wants them.
pub fn show(world: &World, adapter: &dyn Adapter, changed: &[Message]) -> io::Result<()> {
    let mut projects: Vec<&str> = changed.iter().filter_map(|it| it.project.as_deref()).collect();
    projects.sort_unstable();
    projects.dedup();
    for project in projects.into_iter().map(Path::new) {
        if settings::load(world, adapter, project).settings.board_file {
            mirror(&world.paths, project)?;
        }
    }
    Ok(())
}

/// What is in a folder; nothing where there is none.
fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match folder.read_dir() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

#[cfg(test)]
mod tests;
