//! The result of a session, read from its transcript and spool.

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_agents::Agent;
use plimsoll_core::Tokens;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::entry::Kind;
use plimsoll_core::event::SessionId;
use plimsoll_core::reading::Scope;
use plimsoll_core::run::{Ending, Fingerprint, LegEnd};
use plimsoll_core::session::SessionState;
use plimsoll_engine::capture::{Captured, Subject};
use plimsoll_engine::checkpoint::{self, Place};
use plimsoll_engine::jsonl::JsonLines;
use plimsoll_engine::load::{self, Fallback};
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::settings;
use plimsoll_engine::spool;
use plimsoll_engine::world::World;

use super::fingerprint::fingerprint;

/// A session of a run.
pub(super) struct AgentSession<'a> {
    pub(super) world: &'a World,
    pub(super) agent: &'static dyn Agent,
    pub(super) project: &'a Path,
    pub(super) session: &'a SessionId,
    /// Checkpoint that the session continues from.
    pub(super) restored: Option<&'a str>,
}

/// Usage of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowUsage {
    pub(super) used: Tokens,
    pub(super) window: Tokens,
}

impl AgentSession<'_> {
    /// Whether one of plimsoll's hooks stopped the session.
    pub(super) fn was_stopped(&self) -> bool {
        self.state().stopped.is_some()
    }

    fn state(&self) -> SessionState {
        spool::state(&self.world.paths.spool_of(self.session, None)).unwrap_or_default()
    }

    /// Returns the session's transcript; `None` if there is none yet.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        Some(self.find_transcript()?.path)
    }

    fn find_transcript(&self) -> Option<Found> {
        sessions::find_one(self.world, self.session)
    }

    /// Returns the usage of the session's window.
    pub(super) fn usage(&self, transcript: &Path) -> Option<WindowUsage> {
        let measured = load::measure(
            self.world,
            self.agent,
            transcript,
            None,
            &self.state(),
            Fallback::FileSize,
        );
        let measured = measured.ok()??;
        Some(WindowUsage { used: measured.reading.used, window: measured.window.tokens })
    }

    /// Returns how the session ended, with a checkpoint of all its work. Reuses the checkpoint of
    /// its hooks if nothing happened since, else seals a new one.
    pub(super) fn end(&self, job: u32, leg: u32, how: Ending) -> anyhow::Result<LegEnd> {
        let Some(found) = self.find_transcript() else { return Ok(unknown_end(job, leg, how)) };
        let state = self.state();
        let in_force = settings::load(self.world, self.agent, self.project);
        let subject = Subject {
            session: self.session,
            transcript: &found.path,
            state: &state,
            in_force: &in_force,
        };
        let place = Place::of(self.world, self.agent, self.project.to_owned());
        let captured = Captured::read(self.world, self.agent, &subject, None);
        let captured = captured.after(self.restored_body(&place));
        let load = self.usage(&found.path);
        Ok(LegEnd {
            first: self.first_prompt_tokens(&found),
            used: load.map(|load| load.used),
            window: load.map(|load| load.window),
            responses: captured.folded.work.turns(),
            checkpoint: self.seal_if_needed(&captured, &place, &state)?,
            fingerprint: fingerprint(self.project, &captured.folded.work),
            ..unknown_end(job, leg, how)
        })
    }

    /// Returns the body of the checkpoint that the session continues from.
    fn restored_body(&self, place: &Place) -> Option<String> {
        Some(checkpoint::read_own(place, self.restored?).ok()??.1)
    }

    /// Returns the checkpoint of all the session's work; `None` if the model never answered.
    fn seal_if_needed(
        &self,
        captured: &Captured,
        place: &Place,
        state: &SessionState,
    ) -> anyhow::Result<Option<String>> {
        let work = &captured.folded.work;
        if work.turns() == 0 {
            return Ok(None);
        }
        let last = state.sealed.as_ref();
        let last = last.filter(|seal| seal.mark == captured.mark() && seal.steps == work.steps());
        if let Some(seal) = last
            && checkpoint::read_own(place, &seal.id)?.is_some()
        {
            return Ok(Some(seal.id.clone()));
        }
        let given = self.restored.map(str::to_owned);
        let sealed = captured.seal(self.agent, place, Occasion::Batch, given);
        let sealed =
            sealed.with_context(|| format!("could not seal session `{}`", self.session))?;
        Ok(Some(sealed.meta.id))
    }

    /// Returns the tokens in the window at the first response.
    fn first_prompt_tokens(&self, found: &Found) -> Option<Tokens> {
        let file = JsonLines::open(&found.path).ok()??;
        let mut lines = file.forward(0);
        while let Some(line) = lines.next().ok()? {
            let entry =
                self.agent.transcript().entry(line.bytes, Scope::Main).map(|entry| entry.kind);
            if let Some(Kind::Response(response)) = entry {
                return Some(response.prompt_tokens);
            }
        }
        None
    }
}

/// Returns the end of a session that left no transcript.
pub(super) fn unknown_end(job: u32, leg: u32, how: Ending) -> LegEnd {
    LegEnd {
        job,
        leg,
        how,
        first: None,
        used: None,
        window: None,
        responses: 0,
        checkpoint: None,
        fingerprint: Fingerprint::default(),
    }
}
