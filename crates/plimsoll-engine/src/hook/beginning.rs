//! The beginning of a session, and its going on after a pause.

use plimsoll_core::event::{EventKind, Reply};
use plimsoll_core::policy::{self, Beginning, LastSession};
use plimsoll_core::session::SessionState;
use plimsoll_core::settings::RestoreMode;
use plimsoll_core::text::duration;
use plimsoll_extract::work::OFFER_HEADING;

use super::compaction::for_model;
use super::{Answer, Hook};
use crate::checkpoint::Place;
use crate::install::has_command;
use crate::last_session;
use crate::paths;
use crate::receipt::Claim;
use crate::restore;
use crate::resume::{self, Resumable};
use crate::settings::{self, InForce};
use crate::spool;
use crate::world::now;

/// The command that loads the last checkpoint.
const RESUME: &str = "resume-work";

/// What a session that begins is told of earlier work.
#[derive(Default)]
struct Start {
    reply: Reply,
    /// The checkpoint that it is given.
    given: Option<String>,
    claim: Option<Claim>,
}

impl Hook<'_> {
    /// A session begins: it is given the work that the session before left unfinished, or the user is
    /// shown how to get it.
    pub(super) fn begun(&self) -> anyhow::Result<Answer> {
        if self.is_conducted() {
            return self.begun_leg();
        }
        let project = self.project();
        let in_force = settings::load(self.world, self.agent, &project);
        let place = Place::of(self.world, self.agent, project);
        let known = spool::state(&self.spool()).unwrap_or_default().given;
        let start = match self.event.kind {
            // Nothing is printed, so nothing may count as given.
            _ if known.is_some() || in_force.settings.is_silent() => Start::default(),
            EventKind::Cleared => self.after_clearing(&in_force, &place),
            _ => self.at_startup(&in_force, &place),
        };
        let what = if start.given.is_some() { "given" } else { spool::STARTED };
        let (is_cleared, headless) = (self.event.kind == EventKind::Cleared, self.is_headless());
        let remember = self.remember(what, |state| {
            let state = if is_cleared { state.emptied() } else { state };
            let given = start.given.or(state.given);
            SessionState { since: Some(now()), given, headless, ..state }
        })?;
        Ok(Answer { claim: start.claim, ..self.answer(&in_force, start.reply, remember) })
    }

    fn at_startup(&self, in_force: &InForce, place: &Place) -> Start {
        let mut last = None;
        let look = || {
            let (checkpoint, session) = self.last_session(place)?;
            last = Some(checkpoint);
            Some(session)
        };
        match policy::begin(in_force.settings.restore, self.is_headless(), look) {
            Beginning::Silent => Start::default(),
            Beginning::Offer => self.offered(place),
            Beginning::Newest => match self.newest_checkpoint(place) {
                Some(newest) => {
                    let claim = self.claim(&newest);
                    self.restored(in_force, &newest, claim)
                }
                None => Start::default(),
            },
            Beginning::Last => match last.and_then(|last| Some((self.claim(&last)?, last))) {
                Some((claim, last)) => self.restored(in_force, &last, Some(claim)),
                None => self.offered(place),
            },
        }
    }

    /// The user wants an empty window: they are told how to get the work back, and the model nothing.
    fn after_clearing(&self, in_force: &InForce, place: &Place) -> Start {
        let wanted = in_force.settings.restore != RestoreMode::Off && !self.is_headless();
        let newest = if wanted { self.newest_to_offer(place) } else { None };
        let to_user = newest.map(|newest| self.how_to_load(place, &newest));
        Start { reply: Reply { to_user, ..Reply::default() }, ..Start::default() }
    }

    /// Returns whether the client runs without a person.
    pub(super) fn is_headless(&self) -> bool {
        let entry_point = self.world.agent_env(self.agent.profile().variables.entry_point);
        entry_point.is_some_and(|entry_point| self.agent.profile().is_headless(&entry_point))
    }

    /// The project's last interactive session, with its newest checkpoint. Whatever cannot be read is
    /// passed over.
    fn last_session(&self, place: &Place) -> Option<(Resumable, LastSession)> {
        let own = &self.transcript;
        let found = last_session::find(self.world, self.agent, own, &place.project)?;
        let checkpoint = resume::newest_of_session(place, &found.owner.session).ok()??;
        let ending = last_session::ending(self.world, &found);
        let session = LastSession { ending, checkpoint_age: checkpoint.age() };
        Some((checkpoint, session))
    }

    /// The newest checkpoint of the project that another session left. What a running session has is
    /// its own; what cannot be looked at is not offered.
    fn newest_checkpoint(&self, place: &Place) -> Option<Resumable> {
        let asks = Some(&self.event.session);
        let newest = resume::newest(self.world, place, asks).ok().flatten();
        newest.filter(|newest| newest.other().is_some())
    }

    /// The same among the checkpoints of sessions that a person held. Scheduled runs must not hide
    /// the work that the user would recognize.
    fn newest_to_offer(&self, place: &Place) -> Option<Resumable> {
        let asks = Some(&self.event.session);
        let newest = resume::newest_interactive(self.world, place, asks);
        newest.ok().flatten().filter(|newest| newest.other().is_some())
    }

    fn claim(&self, checkpoint: &Resumable) -> Option<Claim> {
        Claim::take(&self.world.paths, &checkpoint.meta.id, &self.event.session).ok().flatten()
    }

    fn restored(&self, in_force: &InForce, last: &Resumable, claim: Option<Claim>) -> Start {
        let text = last.text(in_force.settings.budget());
        if text.is_empty() {
            return Start::default();
        }
        let config = paths::short(&self.world.paths.config, &self.world.paths.home);
        let to_user = format!(
            "{} was given to the model. To switch this off, set `restore: {{mode: offer}}` in {config}.",
            fact(last)
        );
        let reply = Reply { to_user: Some(to_user), ..for_model(text) };
        Start { reply, given: Some(last.meta.id.clone()), claim }
    }

    /// Two lines. The choice is the user's, so only they are told how.
    fn offered(&self, place: &Place) -> Start {
        let Some(newest) = self.newest_to_offer(place) else { return Start::default() };
        // What it is about are words of a transcript, which the model is given as data only.
        let (id, age) = (&newest.meta.id, duration(newest.age() / 1000));
        let to_model = format!(
            "{OFFER_HEADING}\nCheckpoint {id} of an earlier session, {age} old, was not loaded. \
             The user knows how to load it."
        );
        let to_user = Some(self.how_to_load(place, &newest));
        let reply = Reply { to_user, to_model: Some(to_model), ..Reply::default() };
        Start { reply, ..Start::default() }
    }

    fn how_to_load(&self, place: &Place, checkpoint: &Resumable) -> String {
        // The command loads the newest checkpoint, which may be one of a headless session.
        let is_newest =
            || self.newest_checkpoint(place).is_some_and(|it| it.meta.id == checkpoint.meta.id);
        let has_command = has_command(self.world, self.agent, &place.project, RESUME);
        let how = match has_command && is_newest() {
            true => format!("/{RESUME} loads it"),
            false => format!("`plimsoll restore --checkpoint {}` prints it", checkpoint.meta.id),
        };
        format!("{} was not loaded: {how}.", fact(checkpoint))
    }

    /// The session goes on after a pause: it is told what has changed on disk since.
    pub(super) fn resumed(&self) -> anyhow::Result<Answer> {
        let project = self.project();
        let in_force = settings::load(self.world, self.agent, &project);
        let folded = match in_force.settings.restore {
            RestoreMode::Off => None,
            _ => self.folded()?,
        };
        let place = Place::of(self.world, self.agent, project.clone());
        let text =
            folded.map(|folded| restore::changed_since(&place, &self.event.session, &folded.work));
        // A session that a person has started once stays theirs.
        let (is_known, is_headless) = (self.spool().exists(), self.is_headless());
        let remember = self.remember("resumed", |state| SessionState {
            since: Some(now()),
            headless: is_headless && (state.headless || !is_known),
            ..state
        })?;
        Ok(self.answer(&in_force, for_model(text.unwrap_or_default()), remember))
    }
}

/// Names a checkpoint for the user: what the work was, and how old it is.
fn fact(checkpoint: &Resumable) -> String {
    let (id, about) = (&checkpoint.meta.id, shortened(&checkpoint.summary));
    let age = duration(checkpoint.age() / 1000);
    format!("Checkpoint {id} of an earlier session ({about}), {age} old,")
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
