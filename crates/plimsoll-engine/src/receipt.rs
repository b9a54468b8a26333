//! Receipts: which sessions received a checkpoint.
//!
//! A checkpoint is offered to one session unasked. Its receipt is a file that is locked from before
//! the text is printed until the session is recorded in it. So of several sessions that start at
//! once, one receives the text. If that call is killed before it has printed and recorded, the lock
//! is released, the receipt is still empty, and the next session receives the text.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use plimsoll_core::event::SessionId;

use crate::paths::{self, Paths};

/// The exclusive right to give a checkpoint to a session, while this value lives.
#[derive(Debug)]
pub(crate) struct Claim {
    receipt: File,
    session: SessionId,
}

impl Claim {
    /// Claims a checkpoint for a session; `None` if another session has received it or has the
    /// claim.
    pub(crate) fn take(
        paths: &Paths,
        checkpoint: &str,
        session: &SessionId,
    ) -> io::Result<Option<Self>> {
        let receipt = paths::append(&paths.receipt(checkpoint))?;
        match receipt.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let is_free = receipt.metadata()?.len() == 0;
        Ok(is_free.then(|| Self { receipt, session: session.clone() }))
    }

    /// Records that the session received the checkpoint. Call this after printing the text.
    pub(crate) fn fulfil(mut self) -> io::Result<()> {
        writeln!(self.receipt, "{}", self.session)
    }
}

/// Records that a session received a checkpoint on request.
pub(crate) fn note(paths: &Paths, checkpoint: &str, session: &SessionId) -> io::Result<()> {
    writeln!(paths::append(&paths.receipt(checkpoint))?, "{session}")
}

/// Removes receipts of checkpoints that are too old to be offered unasked.
pub(crate) fn prune(paths: &Paths, now: SystemTime) {
    const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
    for receipt in fs::read_dir(paths.receipts()).into_iter().flatten().flatten() {
        let modified = receipt.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        if age.is_some_and(|age| age > WEEK) {
            // If this fails, the end of the next session tries again.
            let _ = fs::remove_file(receipt.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(home: &std::path::Path) -> Paths {
        let home = home.to_str().map(str::to_owned);
        Paths::resolve(&|name| home.clone().filter(|_| name == "HOME")).unwrap()
    }

    fn session(name: &str) -> SessionId {
        SessionId::new(name).unwrap()
    }

    #[test]
    fn of_two_sessions_at_once_one_has_the_claim_and_nobody_has_it_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let take = |name| Claim::take(&paths, "c", &session(name)).unwrap();
        let claim = take("one").unwrap();
        assert!(take("two").is_none(), "it is being given");
        claim.fulfil().unwrap();
        assert!(take("two").is_none(), "it was given");
        assert_eq!(fs::read_to_string(paths.receipt("c")).unwrap(), "one\n");
        assert!(Claim::take(&paths, "d", &session("two")).unwrap().is_some());
    }

    #[test]
    fn a_claim_that_was_not_fulfilled_falls() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        drop(Claim::take(&paths, "c", &session("killed")).unwrap().unwrap());
        assert!(Claim::take(&paths, "c", &session("next")).unwrap().is_some());
    }

    #[test]
    fn a_checkpoint_that_somebody_asked_for_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        note(&paths, "c", &session("asking")).unwrap();
        assert!(Claim::take(&paths, "c", &session("next")).unwrap().is_none());
    }

    #[test]
    fn old_receipts_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        note(&paths, "c", &session("asking")).unwrap();
        prune(&paths, SystemTime::now());
        assert!(paths.receipt("c").exists());
        prune(&paths, SystemTime::now() + Duration::from_secs(8 * 24 * 3600));
        assert!(!paths.receipt("c").exists());
    }
}
