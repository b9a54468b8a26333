//! A message as a file in an inbox.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use plimsoll_core::event::SessionId;
use plimsoll_extract::board::{Message, MessageId};

use super::{Taker, listed};
use crate::paths::{self, Links, Paths};

/// What a message that was posted outlasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// A crash of the machine: it is on the disk.
    Crash,
    /// The end of any process. Enough for a message to a session that would not outlast the crash
    /// either, and many times faster.
    Kill,
}

/// One file of an inbox.
pub(super) struct Entry {
    path: PathBuf,
    pub(super) id: MessageId,
    pub(super) taker: Option<Taker>,
}

impl Entry {
    /// A file by its name: the message's, and the taker's behind a dot if there is one.
    fn of(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (id, taker) = match name.split_once('.') {
            Some((id, taker)) => (id, Some(Taker::parse(taker)?)),
            None => (name, None),
        };
        Some(Self { id: MessageId::new(id)?, taker, path })
    }

    /// The message, fit to be told whoever wrote the file; nothing where somebody else has it by now,
    /// or it makes no sense.
    pub(super) fn read(&self) -> Option<Message> {
        let text = paths::read_bytes(&self.path, Links::Refused).ok()?;
        let message: Message = serde_json::from_slice(&text).ok()?;
        (message.id == self.id).then(|| message.cleaned())
    }

    /// Takes it; false if somebody else was faster.
    pub(super) fn take(&self, taker: Taker) -> io::Result<bool> {
        let name = format!("{}.{taker}", self.id);
        match fs::rename(&self.path, self.path.with_file_name(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            renamed => renamed.map(|()| true),
        }
    }

    /// Whether a crash of the machine has left nothing but the name of it.
    pub(super) fn is_empty(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|it| it.is_file() && it.len() == 0)
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// The files of a session's inbox, the oldest first.
pub(super) fn entries(paths: &Paths, session: &SessionId) -> io::Result<Vec<Entry>> {
    let files = listed(&paths.inbox(session))?;
    let mut entries: Vec<Entry> = files.into_iter().filter_map(Entry::of).collect();
    entries.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(entries)
}

/// The sessions that have an inbox.
pub(super) fn sessions(paths: &Paths) -> io::Result<Vec<SessionId>> {
    let folders = listed(&paths.inboxes())?;
    Ok(folders.iter().filter_map(|path| SessionId::new(path.file_name()?.to_str()?)).collect())
}

/// Removes an inbox in which nothing is left.
pub(super) fn close(paths: &Paths, session: &SessionId) {
    // One that holds something stays.
    let _ = fs::remove_dir(paths.inbox(session));
}

/// Writes a message to its inbox, whole or not at all; one that is there already stays.
pub(super) fn put(paths: &Paths, message: &Message, lasting: Lasting) -> io::Result<()> {
    if entries(paths, &message.to)?.iter().any(|entry| entry.id == message.id) {
        return Ok(());
    }
    let temporary = temporary(paths, &message.id);
    let put = write(&temporary, message, lasting)
        .and_then(|()| publish(&temporary, &paths.inbox(&message.to), &message.id));
    if put.is_err() {
        // Nothing is left behind; that it failed is what is told.
        let _ = fs::remove_file(&temporary);
    }
    put?;
    match lasting {
        Lasting::Crash => sync(paths, &message.to),
        Lasting::Kill => Ok(()),
    }
}

/// Where a message is written: its name says by whom.
fn temporary(paths: &Paths, id: &MessageId) -> PathBuf {
    paths.drafts().join(format!("{id}.{}", std::process::id()))
}

fn write(path: &Path, message: &Message, lasting: Lasting) -> io::Result<()> {
    let mut file = paths::write_anew(path)?;
    file.write_all(&serde_json::to_vec(message)?)?;
    match lasting {
        Lasting::Crash => file.sync_all(),
        Lasting::Kill => Ok(()),
    }
}

/// Renames a draft into an inbox. The inbox may be closed between being made and being used, and once
/// more by the next who finds it empty: later tries wait for a moment when nobody does.
fn publish(draft: &Path, inbox: &Path, id: &MessageId) -> io::Result<()> {
    const AT_ONCE: usize = 10;
    const TRIES: usize = 1000;
    let target = inbox.join(id.as_str());
    for tries in 0..TRIES {
        if tries > AT_ONCE {
            thread::sleep(Duration::from_millis(1));
        }
        match paths::make_folder(&target).and_then(|()| fs::rename(draft, &target)) {
            // It was there when it was to be made, and gone a moment later; or the other way round.
            Err(error)
                if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
            renamed => return renamed,
        }
    }
    Err(io::Error::other("the inbox is removed again and again"))
}

/// Makes the names outlast a crash. An inbox that is gone by now has been read.
fn sync(paths: &Paths, session: &SessionId) -> io::Result<()> {
    for folder in [paths.inbox(session), paths.inboxes(), paths.board()] {
        match File::open(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => opened?.sync_all()?,
        }
    }
    Ok(())
}

/// Removes drafts of processes that are gone.
pub(super) fn sweep(paths: &Paths) {
    for draft in listed(&paths.drafts()).unwrap_or_default() {
        let process = draft.extension().and_then(|process| process.to_str()?.parse().ok());
        if process.is_none_or(paths::has_ended) {
            // Whoever comes next tries again.
            let _ = fs::remove_file(draft);
        }
    }
}
