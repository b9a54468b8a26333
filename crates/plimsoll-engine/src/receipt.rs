//! Receipts: which sessions were given a checkpoint.
//!
//! A checkpoint is given to one session without being asked for. Its receipt is a file that stays locked
//! from before the text is printed until the session is noted in it. So of several sessions that start
//! at once one is given the text, and if that call is killed before it has printed and noted, the lock
//! falls, the receipt is still empty, and the next session is given the text.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use plimsoll_core::event::SessionId;

use crate::paths::{self, Paths};

/// The right to give a checkpoint to a session. Nobody else has it as long as this is there.
#[derive(Debug)]
pub(crate) struct Claim {
    receipt: File,
    session: SessionId,
}

impl Claim {
    /// Claims a checkpoint for a session; `None` if another session was given it, or is being given it.
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

    /// Notes that the session was given the checkpoint. To be called once the text was printed.
    pub(crate) fn fulfil(mut self) -> io::Result<()> {
        writeln!(self.receipt, "{}", self.session)
    }
}

/// Notes that a session was given a checkpoint because somebody asked for it.
pub(crate) fn note(paths: &Paths, checkpoint: &str, session: &SessionId) -> io::Result<()> {
    writeln!(paths::append(&paths.receipt(checkpoint))?, "{session}")
}

/// Removes receipts of checkpoints that are too old to be given without being asked for.
pub(crate) fn prune(paths: &Paths, now: SystemTime) {
    const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
    for receipt in fs::read_dir(paths.receipts()).into_iter().flatten().flatten() {
        let modified = receipt.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        if age.is_some_and(|age| age > WEEK) {
            // The next session's end tries again.
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
