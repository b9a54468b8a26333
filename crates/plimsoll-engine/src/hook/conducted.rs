//! Sessions that a conductor has begun.

use plimsoll_core::session::SessionState;
use plimsoll_extract::work::{CONTINUES_WORK, FOLLOWS_WORK};

use super::compaction::for_model;
use super::{Answer, Hook};
use crate::checkpoint::{self, Place};
use crate::receipt;
use crate::resume;
use crate::run_variables as variables;
use crate::settings;
use crate::spool;
use crate::world::now;

impl Hook<'_> {
    /// Whether a conductor has begun this very session: an agent that it starts may start another, which
    /// inherits the environment.
    pub(super) fn is_conducted(&self) -> bool {
        let session = self.world.env(variables::SESSION);
        session.is_some_and(|session| session == self.event.session.as_str())
    }

    /// A session of a run begins: it is given the checkpoint that its conductor names, and no other,
    /// whatever the user wants other sessions to be given.
    pub(super) fn begun_leg(&self) -> anyhow::Result<Answer> {
        let project = self.project();
        let in_force = settings::load(self.world, self.agent, &project);
        let named = self.world.env(variables::CHECKPOINT);
        let place = Place::of(self.world, self.agent, project);
        let last =
            named.and_then(|id| resume::named(&place, &id, Some(&self.event.session)).ok()?);
        let what_now = match self.world.env(variables::DONE) {
            Some(_) => FOLLOWS_WORK,
            None => CONTINUES_WORK,
        };
        let budget = in_force.settings.budget();
        let text = last.as_ref().map(|last| format!("{}\n\n{what_now}", last.text(budget)));
        let reply = for_model(text.unwrap_or_default());
        let given = last.map(|last| last.meta.id);
        let what = if given.is_some() { "given" } else { spool::STARTED };
        if let Some(given) = &given {
            // Without a receipt the next session is given it once more.
            let _ = receipt::note(&self.world.paths, given, &self.event.session);
        }
        let headless = self.is_headless();
        let remember = self.remember(what, |state| SessionState {
            since: Some(now()),
            given,
            headless,
            ..state
        })?;
        let output = self.agent.hooks().encode(&self.event.kind, &reply);
        Ok(Answer { output, reply, remember, ..Answer::default() })
    }

    /// What the checkpoint told that a session of a run was given.
    pub(super) fn before(&self, state: &SessionState) -> Option<String> {
        let given = state.given.as_deref().filter(|_| self.is_conducted())?;
        let place = Place::of(self.world, self.agent, self.project());
        Some(checkpoint::read_own(&place, given).ok()??.1)
    }
}
