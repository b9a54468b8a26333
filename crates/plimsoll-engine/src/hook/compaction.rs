//! Around a compaction: instructions for the summary, the restore, and what both lack.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use plimsoll_core::event::Reply;
use plimsoll_core::policy::{self, Outcomes};
use plimsoll_core::settings::RestoreMode;
use plimsoll_extract::work;

use super::observe::Observed;
use super::{Hook, READING_TIME};
use crate::checkpoint::Place;
use crate::paths;
use crate::restore;
use crate::work::{Folded, fold};

/// The client cuts instructions for its summary at ten thousand characters.
pub(super) const STEERING: usize = 4_000;
/// How many tokens are added where summary and restore both lack something.
const ADDED: usize = 300;

impl Hook<'_> {
    /// Restores what a summary is known to lose: now if this event can tell the model anything, otherwise
    /// with the next one that can.
    pub(super) fn restore(
        &self,
        observed: &Observed,
        outcomes: &mut Outcomes,
    ) -> anyhow::Result<()> {
        let Some(folded) = self.folded()? else { return Ok(()) };
        let settings = &observed.in_force.settings;
        let budget = if settings.restore == RestoreMode::Off { 0 } else { settings.budget() };
        let (steps, turns) = (folded.work.steps(), folded.work.turns());
        let restored = policy::restore_after(&observed.state, steps, turns, budget);
        let text = restore::text(&observed.canonical_project(), &folded.work, restored.budget);
        if self.agent.hooks().accepts(&self.event.kind).to_model {
            outcomes.reply = Reply::to_model(text);
        } else if !text.is_empty() {
            self.let_wait(&text)?;
            outcomes.is_waiting = true;
        }
        // Only now: a restore that could not be written down is tried again.
        (outcomes.restored, outcomes.compaction) = (Some(restored), observed.compaction());
        Ok(())
    }

    /// Finds what both the summary and the restore lack, and leaves it to the next event that can tell the
    /// model. Returns whether there is anything.
    pub(super) fn find_missing(&self, observed: &Observed, summary: &str) -> anyhow::Result<bool> {
        let budget = observed.state.restored.map_or(0, |restored| restored.budget);
        let Some(folded) = self.folded()? else { return Ok(false) };
        let given = restore::text(&observed.canonical_project(), &folded.work, budget);
        let missing = work::missing_facts(&folded.work, &[summary, &given], ADDED);
        if !missing.is_empty() {
            self.let_wait(&missing)?;
        }
        Ok(!missing.is_empty())
    }

    /// Returns which files have changed since a session that continues last worked.
    pub(super) fn changed_files(&self, project: &Path) -> anyhow::Result<String> {
        let place = Place::of(self.world, self.agent, project.to_owned());
        let folded = self.folded()?;
        let changed =
            |folded: Folded| restore::changed_since(&place, &self.event.session, &folded.work);
        Ok(folded.map(changed).unwrap_or_default())
    }

    /// Writes a text down for the next event that can tell the model.
    fn let_wait(&self, text: &str) -> anyhow::Result<()> {
        let path = self.world.paths.waiting(&self.event.session);
        paths::replace(&path, text.as_bytes()).context("could not write what waits for the model")
    }

    /// Returns the session's work to the end of its transcript, as far as there is time; `None` without a
    /// transcript.
    fn folded(&self) -> anyhow::Result<Option<Folded>> {
        let Some(transcript) = self.open_transcript()? else { return Ok(None) };
        let deadline = Some(Instant::now() + READING_TIME);
        let (paths, session) = (&self.world.paths, &self.event.session);
        Ok(Some(fold(paths, self.agent, session, &transcript, deadline)?))
    }
}
