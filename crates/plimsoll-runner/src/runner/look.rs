//! What came of a leg, by its transcript and its spool.

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_agents::Adapter;
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
pub(super) struct Looked<'a> {
    pub(super) world: &'a World,
    pub(super) adapter: &'a dyn Adapter,
    pub(super) project: &'a Path,
    pub(super) session: &'a SessionId,
    /// The checkpoint that it was given.
    pub(super) given: Option<&'a str>,
}

/// How full a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) used: Tokens,
    pub(super) window: Tokens,
}

impl Looked<'_> {
    /// Whether a hook of ours stopped it.
    pub(super) fn was_stopped(&self) -> bool {
        self.state().stopped.is_some()
    }

    fn state(&self) -> SessionState {
        spool::state(&self.world.paths.spool_of(self.session, None)).unwrap_or_default()
    }

    /// Its transcript, once there is one.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        Some(self.found()?.path)
    }

    fn found(&self) -> Option<Found> {
        sessions::find_one(self.world, self.adapter, self.session)
    }

    /// How full its window is.
    pub(super) fn load(&self, transcript: &Path) -> Option<Load> {
        let measured = load::measure(
            self.world,
            self.adapter,
            transcript,
            None,
            &self.state(),
            Fallback::FileSize,
        );
        let measured = measured.ok()??;
        Some(Load { used: measured.reading.used, window: measured.window.tokens })
    }

    /// How it ended, with a checkpoint of all it did: that of its hooks, if nothing happened since, else
    /// one that is made now.
    pub(super) fn end(&self, job: u32, leg: u32, how: Ending) -> anyhow::Result<LegEnd> {
        let Some(found) = self.found() else { return Ok(unseen(job, leg, how)) };
        let state = self.state();
        let in_force = settings::load(self.world, self.adapter, self.project);
        let subject = Subject {
            session: self.session,
            transcript: &found.path,
            state: &state,
            in_force: &in_force,
        };
        let place = Place::of(self.world, self.adapter, self.project.to_owned());
        let captured = Captured::read(self.world, self.adapter, &subject, None);
        let captured = captured.after(self.before(&place));
        let load = self.load(&found.path);
        Ok(LegEnd {
            first: self.first(&found),
            used: load.map(|load| load.used),
            window: load.map(|load| load.window),
            responses: captured.folded.work.turns(),
            checkpoint: self.sealed(&captured, &place, &state)?,
            fingerprint: fingerprint(self.project, &captured.folded.work),
            ..unseen(job, leg, how)
        })
    }

    /// What the checkpoint told that it was given.
    fn before(&self, place: &Place) -> Option<String> {
        Some(checkpoint::read_own(place, self.given?).ok()??.1)
    }

    /// The checkpoint of all that it did; nothing if the model never answered.
    fn sealed(
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
        let given = self.given.map(str::to_owned);
        let sealed = captured.seal(self.adapter, place, Occasion::Batch, given);
        let sealed =
            sealed.with_context(|| format!("could not seal session `{}`", self.session))?;
        Ok(Some(sealed.meta.id))
    }

    /// What its window held at the first response.
    fn first(&self, found: &Found) -> Option<Tokens> {
        let file = JsonLines::open(&found.path).ok()??;
        let mut lines = file.forward(0);
        while let Some(line) = lines.next().ok()? {
            let entry = self.adapter.entry(line.bytes, Scope::Main).map(|entry| entry.kind);
            if let Some(Kind::Response(response)) = entry {
                return Some(response.prompt_tokens);
            }
        }
        None
    }
}

/// How a leg ended of which there is nothing to be seen.
pub(super) fn unseen(job: u32, leg: u32, how: Ending) -> LegEnd {
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
