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

/// What a posted message survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// A crash of the machine: the message is synced to disk.
    Crash,
    /// The end of any process, but not a crash of the machine. Many times faster, and enough for
    /// messages to a session that would not survive the crash either.
    Kill,
}

/// One message file of an inbox.
pub(super) struct Entry {
    path: PathBuf,
    pub(super) id: MessageId,
    pub(super) taker: Option<Taker>,
}

impl Entry {
    /// Parses a file name: the message id, then the taker after a dot if the message was taken.
    fn of(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (id, taker) = match name.split_once('.') {
            Some((id, taker)) => (id, Some(Taker::parse(taker)?)),
            None => (name, None),
        };
        Some(Self { id: MessageId::new(id)?, taker, path })
    }

    /// Reads the message, sanitized because anyone may have written the file. `None` if another
    /// process took it meanwhile or the content is invalid.
    pub(super) fn read(&self) -> Option<Message> {
        let text = paths::read_bytes(&self.path, Links::Refused).ok()?;
        let message: Message = serde_json::from_slice(&text).ok()?;
        (message.id == self.id).then(|| message.sanitized())
    }

    /// Takes the message by renaming its file. Returns false if another process was faster.
    pub(super) fn take(&self, taker: Taker) -> io::Result<bool> {
        let name = format!("{}.{taker}", self.id);
        match fs::rename(&self.path, self.path.with_file_name(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            renamed => renamed.map(|()| true),
        }
    }

    /// Reports whether the file is empty, as a crash of the machine can leave it.
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

/// Lists the files of a session's inbox, oldest first.
pub(super) fn entries(paths: &Paths, session: &SessionId) -> io::Result<Vec<Entry>> {
    let files = listed(&paths.inbox(session))?;
    let mut entries: Vec<Entry> = files.into_iter().filter_map(Entry::of).collect();
    entries.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(entries)
}

/// Lists the sessions that have an inbox.
pub(super) fn sessions(paths: &Paths) -> io::Result<Vec<SessionId>> {
    let folders = listed(&paths.inboxes())?;
    Ok(folders.iter().filter_map(|path| SessionId::new(path.file_name()?.to_str()?)).collect())
}

/// Removes an inbox if it is empty.
pub(super) fn close(paths: &Paths, session: &SessionId) {
    // Fails if the folder is not empty, as intended.
    let _ = fs::remove_dir(paths.inbox(session));
}

/// Writes a message to its inbox atomically. A message that is already there is left alone.
pub(super) fn put(paths: &Paths, message: &Message, lasting: Lasting) -> io::Result<()> {
    if entries(paths, &message.to)?.iter().any(|entry| entry.id == message.id) {
        return Ok(());
    }
    let temporary = temporary(paths, &message.id);
    let put = write(&temporary, message, lasting)
        .and_then(|()| publish(&temporary, &paths.inbox(&message.to), &message.id));
    if put.is_err() {
        // The original error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    put?;
    match lasting {
        Lasting::Crash => sync(paths, &message.to),
        Lasting::Kill => Ok(()),
    }
}

/// Returns the path of a draft. It contains the process id so that drafts of dead processes can be
/// removed.
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

/// Renames a draft into an inbox. Another process may remove the empty inbox between its creation
/// and the rename, repeatedly; later attempts wait for a millisecond first.
fn publish(draft: &Path, inbox: &Path, id: &MessageId) -> io::Result<()> {
    const AT_ONCE: usize = 10;
    const TRIES: usize = 1000;
    let target = inbox.join(id.as_str());
    for tries in 0..TRIES {
        if tries > AT_ONCE {
            thread::sleep(Duration::from_millis(1));
        }
        match paths::make_folder(&target).and_then(|()| fs::rename(draft, &target)) {
            // The inbox was created or removed by another process in between.
            Err(error)
                if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
            renamed => return renamed,
        }
    }
    Err(io::Error::other("the inbox is removed again and again"))
}

/// Syncs the folders so that the names survive a crash. An inbox that is gone has been read.
fn sync(paths: &Paths, session: &SessionId) -> io::Result<()> {
    for folder in [paths.inbox(session), paths.inboxes(), paths.board()] {
        match File::open(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => opened?.sync_all()?,
        }
    }
    Ok(())
}

/// Removes drafts of dead processes.
pub(super) fn sweep(paths: &Paths) {
    for draft in listed(&paths.drafts()).unwrap_or_default() {
        let process = draft.extension().and_then(|process| process.to_str()?.parse().ok());
        if process.is_none_or(paths::has_ended) {
            // If this fails, the next sweep tries again.
            let _ = fs::remove_file(draft);
        }
    }
}
