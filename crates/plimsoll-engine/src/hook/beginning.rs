//! What a session that begins hears of earlier work.

use std::path::Path;

use plimsoll_core::event::Reply;
use plimsoll_core::policy::{self, Beginning, LastSession};
use plimsoll_core::text::duration;
use plimsoll_extract::work::{CONTINUES_WORK, FOLLOWS_WORK, OFFER_HEADING};

use super::Hook;
use super::observe::Observed;
use crate::checkpoint::Place;
use crate::install::has_command;
use crate::last_session;
use crate::paths;
use crate::receipt::{self, Claim};
use crate::resume::{self, Resumable};
use crate::run_variables as variables;
use crate::settings::InForce;

/// The command that loads the last checkpoint.
const RESUME: &str = "resume-work";

/// What a session that begins is given.
#[derive(Default)]
pub(super) struct Start {
    pub(super) reply: Reply,
    /// The checkpoint that it is given.
    pub(super) given: Option<String>,
    pub(super) claim: Option<Claim>,
}

impl Hook<'_> {
    /// Gives a session earlier work, or offers it.
    pub(super) fn begin(&self, observed: &Observed, beginning: Beginning) -> Start {
        let place = Place::of(self.world, self.agent, observed.canonical_project());
        match beginning {
            Beginning::Silent => Start::default(),
            Beginning::Offer => self.offer(&place),
            Beginning::Newest => match self.newest_checkpoint(&place) {
                Some(newest) => {
                    let claim = self.claim(&newest);
                    self.give(&observed.in_force, &newest, claim)
                }
                None => Start::default(),
            },
            Beginning::Last => {
                let last = observed.last_session.as_ref();
                match last.and_then(|(last, _)| Some((self.claim(last)?, last))) {
                    Some((claim, last)) => self.give(&observed.in_force, last, Some(claim)),
                    None => self.offer(&place),
                }
            }
        }
    }

    /// Gives the session of a run the checkpoint that its runner names, and no other, whatever the user
    /// wants other sessions to be given.
    pub(super) fn continue_run(&self, observed: &Observed) -> Start {
        let named = self.world.env(variables::CHECKPOINT);
        let place = Place::of(self.world, self.agent, observed.canonical_project());
        let last =
            named.and_then(|id| resume::named(&place, &id, Some(&self.event.session)).ok()?);
        let what_now = match self.world.env(variables::DONE) {
            Some(_) => FOLLOWS_WORK,
            None => CONTINUES_WORK,
        };
        let budget = observed.in_force.settings.budget();
        let text = last.as_ref().map(|last| format!("{}\n\n{what_now}", last.text(budget)));
        let given = last.map(|last| last.meta.id);
        if let Some(given) = &given {
            // Without a receipt the next session is given it once more.
            let _ = receipt::note(&self.world.paths, given, &self.event.session);
        }
        Start { reply: Reply::to_model(text.unwrap_or_default()), given, claim: None }
    }

    /// Tells the user how to get the work back that they cleared.
    pub(super) fn how_to_reload(&self, observed: &Observed) -> Reply {
        let place = Place::of(self.world, self.agent, observed.canonical_project());
        let newest = self.newest_to_offer(&place);
        let to_user = newest.map(|newest| self.how_to_load(&place, &newest));
        Reply { to_user, ..Reply::default() }
    }

    /// Returns the project's last interactive session, with its newest checkpoint. Whatever cannot be read
    /// is passed over.
    pub(super) fn last_session(&self, project: &Path) -> Option<(Resumable, LastSession)> {
        let place = Place::of(self.world, self.agent, project.to_owned());
        let own = &self.transcript;
        let found = last_session::find(self.world, self.agent, own, &place.project)?;
        let checkpoint = resume::newest_of_session(&place, &found.owner.session).ok()??;
        let ending = last_session::ending(self.world, &found);
        let session = LastSession { ending, checkpoint_age: checkpoint.age() };
        Some((checkpoint, session))
    }

    /// Returns the newest checkpoint of the project that another session left. A running session's is its
    /// own; what cannot be looked at is not offered.
    fn newest_checkpoint(&self, place: &Place) -> Option<Resumable> {
        let asks = Some(&self.event.session);
        let newest = resume::newest(self.world, place, asks).ok().flatten();
        newest.filter(|newest| newest.other().is_some())
    }

    /// Returns the newest among the checkpoints of sessions that a person held. Scheduled runs must not
    /// hide the work that the user would recognize.
    fn newest_to_offer(&self, place: &Place) -> Option<Resumable> {
        let asks = Some(&self.event.session);
        let newest = resume::newest_interactive(self.world, place, asks);
        newest.ok().flatten().filter(|newest| newest.other().is_some())
    }

    fn claim(&self, checkpoint: &Resumable) -> Option<Claim> {
        Claim::take(&self.world.paths, &checkpoint.meta.id, &self.event.session).ok().flatten()
    }

    fn give(&self, in_force: &InForce, last: &Resumable, claim: Option<Claim>) -> Start {
        let text = last.text(in_force.settings.budget());
        if text.is_empty() {
            return Start::default();
        }
        let config = paths::short(&self.world.paths.config, &self.world.paths.home);
        let to_user = format!(
            "{} was given to the model. To switch this off, set `restore: {{mode: offer}}` in {config}.",
            name(last)
        );
        let reply = Reply { to_user: Some(to_user), ..Reply::to_model(text) };
        Start { reply, given: Some(last.meta.id.clone()), claim }
    }

    /// Offers the newest checkpoint in two lines. The choice is the user's, so only they are told how.
    fn offer(&self, place: &Place) -> Start {
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
        format!("{} was not loaded: {how}.", name(checkpoint))
    }
}

/// Names a checkpoint for the user: what the work was, and how old it is.
fn name(checkpoint: &Resumable) -> String {
    let (id, about) = (&checkpoint.meta.id, shortened(&checkpoint.summary));
    let age = duration(checkpoint.age() / 1000);
    format!("Checkpoint {id} of an earlier session ({about}), {age} old,")
}

/// Shortens a line from outside, so that it fits into a sentence of ours.
fn shortened(line: &str) -> String {
    let brief = policy::brief(line);
    if brief.chars().count() < line.chars().count() {
        format!("{}…", brief.trim_end())
    } else {
        brief
    }
}
