//! A checkpoint, made by a hook.

use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::policy::{self, Coverage};
use plimsoll_core::session::{Seal, SessionState};

use super::{Hook, LONGEST};
use crate::capture::{Captured, Subject};
use crate::checkpoint::{self, Place};
use crate::settings::InForce;
use crate::world::now;

impl Hook<'_> {
    /// What the transcript tells of the session's work, as far as there is time.
    pub(super) fn captured(
        &self,
        state: &SessionState,
        in_force: &InForce,
        time: Duration,
    ) -> Captured {
        let deadline = Some(Instant::now() + time);
        let (session, transcript) = (&self.event.session, self.transcript.as_path());
        let subject = Subject { session, transcript, state, in_force };
        Captured::read(self.world, self.agent, &subject, deadline).after(self.before(state))
    }

    /// Where a checkpoint is sealed, with as much patience as there is time.
    pub(super) fn place(&self, project: &Path) -> Place {
        let patience = LONGEST.saturating_sub(self.begun.elapsed());
        Place { patience, ..Place::of(self.world, self.agent, project.to_owned()) }
    }

    /// Seals a checkpoint, unless the session's last covers what it has to and is still there.
    /// Whatever fails is logged: the agent goes on.
    pub(super) fn seal(
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
                let error = anyhow::Error::from(error).context("could not make a checkpoint");
                crate::log::write(&self.world.paths.log(), &format!("{error:#}"));
                None
            }
        }
    }

    /// Whether the session's last checkpoint covers what it has to, and is still there.
    pub(super) fn is_covered(
        &self,
        captured: &Captured,
        place: &Place,
        coverage: Coverage,
        state: &SessionState,
    ) -> bool {
        policy::is_covered(state, &captured.progress(), coverage) && self.is_there(place, state)
    }

    /// Whether the session's last checkpoint is where it was sealed.
    pub(super) fn is_there(&self, place: &Place, state: &SessionState) -> bool {
        let last = state.sealed.as_ref();
        last.is_some_and(|last| matches!(checkpoint::read_own(place, &last.id), Ok(Some(_))))
    }
}

/// The state of a session of which a checkpoint was sealed.
pub(super) fn sealed(seal: Seal, state: SessionState) -> SessionState {
    SessionState { since: Some(seal.at), sealed: Some(seal), ..state }
}
