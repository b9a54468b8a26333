//! The beginning of a session, and its going on after a pause.

use std::path::Path;

use plimsoll_core::checkpoint::Meta;
use plimsoll_core::event::{EventKind, Reply, SessionId};
use plimsoll_core::policy;
use plimsoll_core::session::SessionState;
use plimsoll_core::settings::RestoreMode;
use plimsoll_core::text::duration;
use plimsoll_core::work::HEADING;

use super::compaction::for_model;
use super::{Answer, Hook};
use crate::checkpoint::Place;
use crate::install::has_command;
use crate::load;
use crate::restore;
use crate::resume::{self, Resumable};
use crate::settings::{self, InForce};
use crate::spool;
use crate::world::now;

/// The command that loads the last checkpoint.
const RESUME: &str = "resume-work";

impl Hook<'_> {
    /// A session begins: it is given the project's last checkpoint, or told that there is one.
    pub(super) fn begun(&self) -> anyhow::Result<Answer> {
        if self.is_conducted() {
            return self.begun_leg();
        }
        let project = self.project();
        let in_force = settings::load(self.world, self.adapter, &project);
        let known = spool::state(&self.spool()).unwrap_or_default().given;
        let wanted = in_force.settings.restore != RestoreMode::Off && known.is_none();
        let last = if wanted { self.last_checkpoint(&project) } else { None };
        let (reply, given) = match last {
            Some(last) if self.is_due(&in_force, &last) => self.restored(&in_force, last),
            Some(last) => (self.offer(&project, &last), None),
            None => (Reply::default(), None),
        };
        let what = if given.is_some() { "given" } else { spool::STARTED };
        let begins = self.event.kind == EventKind::Cleared;
        let remember = self.remember(what, |state| {
            let state = if begins { state.emptied() } else { state };
            SessionState { since: Some(now()), given: given.or(state.given.clone()), ..state }
        })?;
        Ok(self.answer(&in_force, reply, remember))
    }

    /// The newest checkpoint of the project that another session left. What a running session has is
    /// its own; what cannot be looked at is not offered.
    fn last_checkpoint(&self, project: &Path) -> Option<Resumable> {
        let place = Place::of(self.world, self.adapter, project.to_owned());
        let asks = Some(&self.event.session);
        let newest = resume::newest(self.world, self.adapter, &place, asks).ok().flatten();
        newest.filter(|last| last.other().is_some())
    }

    /// Whether the whole of a checkpoint is given without being asked for.
    fn is_due(&self, in_force: &InForce, last: &Resumable) -> bool {
        match in_force.settings.restore {
            RestoreMode::Inject => true,
            RestoreMode::Auto => {
                self.was_cut_off(&last.meta) || self.was_full(in_force, &last.meta)
            }
            RestoreMode::Offer | RestoreMode::Off => false,
        }
    }

    /// Whether a session ended without a word.
    fn was_cut_off(&self, meta: &Meta) -> bool {
        let session = SessionId::new(&meta.session_id);
        let last = session.and_then(|session| {
            spool::last(&self.world.paths.spool_of(&session, None)).ok().flatten()
        });
        last.is_some_and(|last| last.what != spool::ENDED)
    }

    /// Whether a session ended at or over the save line.
    fn was_full(&self, in_force: &InForce, meta: &Meta) -> bool {
        let state = SessionState::default();
        let measured = meta.transcript.as_ref().and_then(|source| {
            let transcript = Path::new(&source.path);
            load::measure(self.world, self.adapter, transcript, None, &state).ok().flatten()
        });
        match (measured, meta.used, meta.window) {
            (Some(measured), ..) => measured.reading.used >= measured.levels.save,
            (None, Some(used), Some(window)) => used >= in_force.settings.lines.save.of(window),
            _ => false,
        }
    }

    fn restored(&self, in_force: &InForce, last: Resumable) -> (Reply, Option<String>) {
        let text = last.text(in_force.settings.budget());
        if text.is_empty() {
            return (Reply::default(), None);
        }
        let age = duration(last.age() / 1000);
        let fact = format!("Checkpoint {} of an earlier session, {age} old", last.meta.id);
        let to_user = Some(format!("{fact}, was given to the model."));
        (Reply { to_user, ..for_model(text) }, Some(last.meta.id))
    }

    /// Two lines: the choice is the user's, so they are told too.
    fn offer(&self, project: &Path, last: &Resumable) -> Reply {
        let how = match has_command(self.world, self.adapter, project, RESUME) {
            true => format!("/{RESUME} loads it"),
            false => format!("`plimsoll restore --checkpoint {}` prints it", last.meta.id),
        };
        let (age, about) = (duration(last.age() / 1000), shortened(&last.summary));
        let fact = format!("Checkpoint {} of an earlier session is there, {age} old", last.meta.id);
        Reply {
            to_user: Some(format!("{fact} ({about}): {how}.")),
            // What it is about are words of a transcript, which the model is given as data only.
            to_model: Some(format!("{HEADING}\n{fact}: {how}.")),
            ..Reply::default()
        }
    }

    /// The session goes on after a pause: it is told what has changed on disk since.
    pub(super) fn resumed(&self) -> anyhow::Result<Answer> {
        let project = self.project();
        let in_force = settings::load(self.world, self.adapter, &project);
        let folded = match in_force.settings.restore {
            RestoreMode::Off => None,
            _ => self.folded()?,
        };
        let place = Place::of(self.world, self.adapter, project.clone());
        let text =
            folded.map(|folded| restore::changed_since(&place, &self.event.session, &folded.work));
        let remember =
            self.remember("resumed", |state| SessionState { since: Some(now()), ..state })?;
        Ok(self.answer(&in_force, for_model(text.unwrap_or_default()), remember))
    }
}

/// A line from outside, fit to stand in a sentence of ours.
fn shortened(line: &str) -> String {
    let brief = policy::brief(line);
    if brief.chars().count() < line.chars().count() {
        format!("{}…", brief.trim_end())
    } else {
        brief
    }
}
