//! Before, at and after a compaction.

use std::time::Instant;

use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::Reply;
use plimsoll_core::policy::{self, Coverage};
use plimsoll_core::session::SessionState;
use plimsoll_core::settings::RestoreMode;
use plimsoll_extract::work;

use super::sealing::sealed;
use super::{Answer, Hook, READING_TIME, STORE_TIME};
use crate::paths;
use crate::restore;
use crate::settings::{self, InForce};
use crate::spool::{self, SpoolLine};
use crate::work::{Folded, fold};

/// The client cuts instructions for its summary at ten thousand characters.
const STEERING: usize = 4_000;
/// How many tokens are added where summary and restore both lack something.
const ADDED: usize = 300;

impl Hook<'_> {
    /// The conversation is about to be compacted: the state of the work is sealed first, and the
    /// summariser is told what must survive. Whatever fails, the compaction goes on.
    pub(super) fn compacting(&self) -> anyhow::Result<Answer> {
        let project = self.project();
        let in_force = settings::load(self.world, self.agent, &project);
        // Of several calls at once one seals.
        let (locked, state) = self.held();
        let captured = self.captured(&state, &in_force, READING_TIME);
        let seal = self.seal(&captured, &project, Occasion::Auto, Coverage::Everything, &state);
        if let (Some(locked), Some(seal)) = (locked, seal) {
            // Without a memory only the checkpoint's age is not shown.
            let _ = locked.append(&SpoolLine::unmeasured("sealed", sealed(seal, state)));
        }
        // Another time will do as well: whoever ingests next reads on from where we stopped. A user
        // who waits for a compaction does not wait for a store that has much to catch up on.
        let _ = self.ingest(self.begun + STORE_TIME / 2, Some(&project));
        let text = work::summary_instructions(&captured.folded.work, STEERING);
        // The call ends with this: thousands of small texts need not be given back one by one.
        std::mem::forget(captured);
        Ok(self.answer(&in_force, for_model(text), None))
    }

    /// The conversation was compacted: what was said about the old one is void, and what its summary
    /// is known to lose is given back.
    pub(super) fn compacted(&self) -> anyhow::Result<Answer> {
        let project = self.project();
        let in_force = settings::load(self.world, self.agent, &project);
        let Some(folded) = self.folded()? else { return self.replaced() };
        let (locked, state) = self.held();
        let is_off = in_force.settings.restore == RestoreMode::Off;
        let budget = if is_off { 0 } else { in_force.settings.budget() };
        let next = policy::compacted(&state, folded.work.steps(), folded.work.turns(), budget);
        let given = next.restored.map_or(0, |restored| restored.budget);
        let text = restore::text(&project, &folded.work, given);
        let remember = locked.map(|locked| (locked, SpoolLine::unmeasured("restored", next)));
        Ok(self.answer(&in_force, for_model(text), remember))
    }

    /// The conversation was compacted, and only the transcript says so: the restore goes to the model now if
    /// this event can tell it anything, otherwise with the next one that can.
    pub(super) fn compacted_unreported(
        &self,
        in_force: &InForce,
        boundary: Option<u64>,
    ) -> anyhow::Result<Answer> {
        let project = self.project();
        let Some(folded) = self.folded()? else { return self.replaced() };
        let (locked, state) = self.held();
        let budget = match in_force.settings.restore {
            RestoreMode::Off => 0,
            _ => in_force.settings.budget(),
        };
        let next = policy::compacted(&state, folded.work.steps(), folded.work.turns(), budget);
        let given = next.restored.map_or(0, |restored| restored.budget);
        let text = restore::text(&project, &folded.work, given);
        let tells = self.agent.hooks().accepts(&self.event.kind).to_model;
        let waiting = !tells && !text.is_empty();
        if waiting {
            paths::replace(&self.world.paths.waiting(&self.event.session), text.as_bytes())?;
        }
        let next = SessionState { compaction: boundary, waiting, ..next };
        let remember = locked.map(|locked| (locked, SpoolLine::unmeasured("restored", next)));
        let text = if waiting { String::new() } else { text };
        Ok(self.answer(in_force, for_model(text), remember))
    }

    /// The client tells its summary, after the restore was given. What both lack is kept for the next
    /// event that can tell the model.
    pub(super) fn summarised(&self, summary: &str) -> anyhow::Result<Answer> {
        let project = self.project();
        let restored = spool::state(&self.spool())?.restored;
        let Some(restored) = restored.filter(|last| last.times == 1 && last.budget > 0) else {
            return Ok(Answer::default());
        };
        let Some(folded) = self.folded()? else { return Ok(Answer::default()) };
        let given = restore::text(&project, &folded.work, restored.budget);
        let lacking = work::missing_facts(&folded.work, &[summary, &given], ADDED);
        if lacking.is_empty() {
            return Ok(Answer::default());
        }
        let waits = |state| SessionState { waiting: true, ..state };
        let remember = self.remember("summarised", waits)?;
        paths::replace(&self.world.paths.waiting(&self.event.session), lacking.as_bytes())?;
        Ok(Answer { remember, ..Answer::default() })
    }

    /// The session's work to the end of its transcript, as far as there is time; nothing without a
    /// transcript.
    pub(super) fn folded(&self) -> anyhow::Result<Option<Folded>> {
        let Some(transcript) = self.open_transcript()? else { return Ok(None) };
        let deadline = Some(Instant::now() + READING_TIME);
        let (paths, session) = (&self.world.paths, &self.event.session);
        Ok(Some(fold(paths, self.agent, session, &transcript, deadline)?))
    }
}

/// A text for the model, if there is any.
pub(super) fn for_model(text: String) -> Reply {
    Reply { to_model: Some(text).filter(|text| !text.is_empty()), ..Reply::default() }
}
