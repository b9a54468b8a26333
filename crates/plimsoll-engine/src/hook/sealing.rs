//! A checkpoint, made by a hook.

use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::session::{Seal, SessionState};

use super::Hook;
use crate::capture::Captured;
use crate::checkpoint::{self, Place};
use crate::world::now;

impl Hook<'_> {
    /// What the transcript tells of the session's work, as far as there is time.
    pub(super) fn captured(&self, state: &SessionState, time: Duration) -> Captured {
        let deadline = Some(Instant::now() + time);
        let (session, transcript) = (&self.event.session, &self.event.transcript);
        Captured::read(self.world, self.adapter, session, transcript, state, deadline)
    }

    /// Seals a checkpoint, unless nothing has changed since the session's last and that is still
    /// there. Whatever fails is logged: the agent goes on.
    pub(super) fn seal(
        &self,
        captured: &Captured,
        project: &Path,
        occasion: Occasion,
        state: &SessionState,
    ) -> Option<Seal> {
        let mark = captured.folded.work.mark();
        let place = Place::of(self.world, self.adapter, project.to_owned());
        let last = state.sealed.as_ref().filter(|last| last.mark == mark);
        if last.is_some_and(|last| matches!(checkpoint::read_own(&place, &last.id), Ok(Some(_)))) {
            return None;
        }
        match captured.seal(self.adapter, &place, occasion, state.given.clone()) {
            Ok(sealed) => Some(Seal { at: now(), id: sealed.meta.id, mark }),
            Err(error) => {
                let error = anyhow::Error::from(error).context("could not make a checkpoint");
                crate::log::write(&self.world.paths.log(), &format!("{error:#}"));
                None
            }
        }
    }
}

/// The state of a session of which a checkpoint was sealed.
pub(super) fn sealed(seal: Seal, state: SessionState) -> SessionState {
    SessionState { since: Some(seal.at), sealed: Some(seal), ..state }
}
