//! The board: delivers messages to sessions.
//!
//! Each session has an inbox, a folder that exists only while it contains messages: a hook needs
//! one file system call to see that there is no mail. A message is a file that is written elsewhere
//! and renamed into the inbox. Taking a message renames it again, to a name with the taker and a
//! deadline; if the taker dies or misses the deadline, another one may take the message. A handled
//! message is recorded in the session's spool before its file is removed. So after a `kill -9` at
//! the wrong moment a message may be delivered twice, but it is handled once.

mod address;
mod claims;
mod file;
mod mirror;
mod taker;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::session::SessionState;
use plimsoll_extract::board::{Message, MessageContent, MessageId};
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

/// A message to post, without id and timestamp.
#[derive(Clone, Debug)]
pub struct NewMessage {
    pub to: SessionId,
    /// Project of the receiving session.
    pub project: Option<PathBuf>,
    /// Sender.
    pub from: String,
    pub what: MessageContent,
    /// Time until the message expires.
    pub lives: Duration,
}

/// A message on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    pub message: Message,
    /// Who has taken the message, if the lease is still valid.
    pub taker: Option<Taker>,
}

/// Posts messages. On return they are in their inboxes and survive what `lasting` says.
pub fn post(paths: &Paths, new: Vec<NewMessage>, lasting: Lasting) -> io::Result<Vec<Message>> {
    let messages: Vec<Message> = new.into_iter().map(named).collect();
    for message in &messages {
        deliver(paths, message, lasting)?;
    }
    Ok(messages)
}

/// Adds an id and the current time to a message.
fn named(new: NewMessage) -> Message {
    let timestamp = now() as Millis;
    let message = Message {
        id: MessageId::from_uuid(Uuid::now_v7().as_u128()),
        to: new.to,
        project: new.project.map(|project| project.to_string_lossy().into_owned()),
        from: new.from,
        what: new.what,
        timestamp,
        expires: timestamp.saturating_add(new.lives.as_millis() as Millis),
    };
    message.sanitized()
}

/// Puts a message into its inbox atomically. A message that is already there is left alone.
pub fn deliver(paths: &Paths, message: &Message, lasting: Lasting) -> io::Result<()> {
    file::put(paths, message, lasting)
}

/// Lists all messages that wait or were taken but not acknowledged, oldest first, without expired
/// ones.
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

/// Reports whether a session may have mail, with one file system call.
pub fn has_mail(paths: &Paths, session: &SessionId) -> bool {
    rustix::fs::access(paths.inbox(session), rustix::fs::Access::EXISTS).is_ok()
}

/// Takes up to `most` messages of a session for which `wants` returns true, oldest first. Nobody
/// else gets them until the taker ends or its time is up.
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

/// Reports whether a session's inbox contains a request for a checkpoint.
pub(crate) fn is_asked(paths: &Paths, session: &SessionId) -> io::Result<bool> {
    let now = now() as Millis;
    let mut messages = file::entries(paths, session)?.into_iter().filter_map(|entry| entry.read());
    Ok(messages.any(|message| message.checkpoint_reason().is_some() && !message.has_expired(now)))
}

/// Reports whether the session has handled a message.
pub(crate) fn is_handled(state: &SessionState, id: &MessageId) -> bool {
    state.handled.iter().any(|handled| handled == id.as_str())
}

/// Acknowledges messages: records them in the session's spool as handled, then removes their files.
pub fn acknowledge(paths: &Paths, session: &SessionId, ids: &[MessageId]) -> anyhow::Result<()> {
    let spool = paths.spool_of(session, None);
    let locked = Locked::open(&spool).context("could not lock the spool")?;
    let locked = locked.context("the session's spool is busy")?;
    let last = spool::last(&spool).context("could not read the spool")?;
    // A session that has ended stays ended.
    let is_over = last.as_ref().is_some_and(|line| line.what == spool::ENDED);
    let what = if is_over { spool::ENDED } else { "acknowledged" };
    let state = last.map(|line| line.state).unwrap_or_default();
    let line = SpoolLine::unmeasured(
        what,
        state.with_handled(ids.iter().map(MessageId::to_string).collect()),
    );
    locked.append(&line).context("could not write the spool")?;
    remove(paths, session, ids).context("could not remove the message")
}

/// Withholds messages of a session from every taker for `time`.
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

/// Removes messages from a session's inbox.
pub fn remove(paths: &Paths, session: &SessionId, ids: &[MessageId]) -> io::Result<()> {
    for entry in file::entries(paths, session)? {
        if ids.contains(&entry.id) {
            entry.remove()?;
        }
    }
    file::close(paths, session);
    Ok(())
}

/// Removes expired messages, expired claims and leftovers of killed processes. Returns the expired
/// messages.
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

/// Calls [`tidy`], then updates the mirror files of the affected projects.
pub fn tidy_and_show(world: &World) -> io::Result<()> {
    let removed = tidy(&world.paths)?;
    show(world, &removed)
}

/// Updates the mirror files of the projects that the changed messages belong to, if the project's
/// settings ask for one.
pub fn show(world: &World, changed: &[Message]) -> io::Result<()> {
    let mut projects: Vec<&str> = changed.iter().filter_map(|it| it.project.as_deref()).collect();
    projects.sort_unstable();
    projects.dedup();
    for project in projects.into_iter().map(Path::new) {
        if settings::of_project(world, project).board_file {
            mirror(&world.paths, project)?;
        }
    }
    Ok(())
}

/// Lists a folder's entries; a missing folder is empty.
fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match folder.read_dir() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

#[cfg(test)]
mod tests;
