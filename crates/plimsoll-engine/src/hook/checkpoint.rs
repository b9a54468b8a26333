//! A checkpoint, saved by a hook.

use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::policy::{self, CheckpointOutcome, Coverage};
use plimsoll_core::session::{Seal, SessionState};

use super::{Hook, LONGEST};
use crate::capture::{Captured, Subject};
use crate::checkpoint::{self, Place};
use crate::settings::InForce;
use crate::world::now;

impl Hook<'_> {
    /// Reads the session's work from its transcript, as far as there is time.
    pub(super) fn capture_work(
        &self,
        state: &SessionState,
        in_force: &InForce,
        time: Duration,
    ) -> Captured {
        let deadline = Some(Instant::now() + time);
        let (session, transcript) = (&self.event.session, self.transcript.as_path());
        let subject = Subject { session, transcript, state, in_force };
        let before = self.checkpoint_before(state);
        Captured::read(self.world, self.agent, &subject, deadline).after(before)
    }

    /// Returns the body of the checkpoint that a session of a run was given.
    fn checkpoint_before(&self, state: &SessionState) -> Option<String> {
        let given = state.given.as_deref().filter(|_| self.is_run())?;
        let place = Place::of(self.world, self.agent, self.project());
        Some(checkpoint::read_own(&place, given).ok()??.1)
    }

    /// Returns where a checkpoint is saved, with as much patience as there is time.
    pub(super) fn place(&self, project: &Path) -> Place {
        let patience = LONGEST.saturating_sub(self.begun.elapsed());
        Place { patience, ..Place::of(self.world, self.agent, project.to_owned()) }
    }

    /// Saves a checkpoint, unless the last one covers what it has to, or one was saved since a message
    /// `requested` it.
    pub(super) fn save_checkpoint(
        &self,
        captured: &Captured,
        project: &Path,
        (occasion, coverage, requested): (Occasion, Coverage, Option<Millis>),
        state: &SessionState,
    ) -> CheckpointOutcome {
        if requested.is_some_and(|asked| self.has_checkpoint_since(project, asked)) {
            return CheckpointOutcome { seal: None, is_covered: true };
        }
        let seal = self.seal(captured, project, occasion, coverage, state);
        let place = self.place(project);
        let is_covered = seal.is_some() || self.is_covered(captured, &place, coverage, state);
        CheckpointOutcome { seal, is_covered }
    }

    /// Seals a checkpoint, unless the session's last one covers what it has to and is still there.
    /// Whatever fails is logged.
    fn seal(
        &self,
        captured: &Captured,
        project: &Path,
        occasion: Occasion,
        coverage: Coverage,
        state: &SessionState,
    ) -> Option<Seal> {
        let place = self.place(project);
        if self.is_covered(captured, &place, coverage, state) {
            return None;
        }
        match captured.seal(self.agent, &place, occasion, state.given.clone()) {
            Ok(sealed) => Some(captured.seal_of(&sealed, now())),
            Err(error) => {
                self.log(&anyhow::Error::from(error).context("could not make a checkpoint"));
                None
            }
        }
    }

    fn is_covered(
        &self,
        captured: &Captured,
        place: &Place,
        coverage: Coverage,
        state: &SessionState,
    ) -> bool {
        policy::is_covered(state, &captured.progress(), coverage)
            && self.has_checkpoint(place, state.sealed.as_ref())
    }

    /// Returns whether a checkpoint of the session is where it was sealed.
    pub(super) fn has_checkpoint(&self, place: &Place, seal: Option<&Seal>) -> bool {
        seal.is_some_and(|seal| matches!(checkpoint::read_own(place, &seal.id), Ok(Some(_))))
    }
}
