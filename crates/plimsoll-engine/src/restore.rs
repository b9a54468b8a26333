//! The texts that a session is given, with what the disk says of the files they name.

use std::path::{Path, PathBuf};

use plimsoll_agents::Adapter;
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::{Meta, summary};
use plimsoll_core::event::SessionId;
use plimsoll_core::work::{self, Fate, Origin, Work};

use crate::capture;
use crate::checkpoint::{self, NotFound, Place};
use crate::fate::fate;
use crate::running::running;
use crate::spool;
use crate::world::{World, now};

/// What a session is given back of its own work, of at most `budget` tokens.
///
/// The session knows what it changed itself, so only files that are gone are marked.
pub fn text(project: &Path, work: &Work, budget: usize) -> String {
    if budget == 0 {
        return String::new();
    }
    let is_there = project.is_dir();
    let gone = |path: &str| fate(project, Millis::MAX, path).filter(|_| is_there);
    work::restore(work, budget, &gone)
}

/// A checkpoint of ours that can be given to a session.
#[derive(Clone, Debug)]
pub struct Given {
    /// What its front matter says.
    pub meta: Meta,
    /// What it is about, in a line.
    pub summary: String,
    body: String,
    project: PathBuf,
    to: Option<SessionId>,
}

/// The newest checkpoint of a place that can be given to the session `to`, or to whoever asks: one of
/// another session that does not run any more.
pub fn newest(
    world: &World,
    adapter: &dyn Adapter,
    place: &Place,
    to: Option<&SessionId>,
) -> Result<Option<Given>, NotFound> {
    let busy: Vec<SessionId> =
        running(world, adapter).into_iter().filter(|session| !has_ended(world, session)).collect();
    let fits = |meta: &Meta| {
        let is = |session: &SessionId| session.as_str() == meta.session_id;
        !to.is_some_and(is) && !busy.iter().any(is)
    };
    let Some(listed) = checkpoint::newest_fitting(place, &fits)? else { return Ok(None) };
    given(place, &listed.id, to)
}

/// The client notes a session under its process, which may be busy with another by now.
fn has_ended(world: &World, session: &SessionId) -> bool {
    let last = spool::last(&world.paths.spool_of(session, None));
    last.is_ok_and(|last| last.is_some_and(|last| last.what == spool::ENDED))
}

/// The checkpoint called `id`, to be given to the session `to`; nothing if it is none of ours.
pub fn given(place: &Place, id: &str, to: Option<&SessionId>) -> Result<Option<Given>, NotFound> {
    let own = checkpoint::read_own(place, id)?;
    Ok(own.map(|(meta, body)| Given {
        summary: summary(&body),
        project: place.project.clone(),
        to: to.cloned(),
        meta,
        body,
    }))
}

impl Given {
    /// How old it is, in milliseconds.
    pub fn age(&self) -> u64 {
        u64::try_from(now() as Millis - self.meta.created).unwrap_or(0)
    }

    /// The session it was made of, unless it is the one that it is given to.
    pub fn other(&self) -> Option<&str> {
        let same = self.to.as_ref().is_some_and(|to| to.as_str() == self.meta.session_id);
        (!same).then_some(self.meta.session_id.as_str())
    }

    /// How the repository has moved on since, in words.
    pub fn moved(&self) -> Option<String> {
        self.meta.git.as_ref()?.moved(&capture::git(&self.project)?)
    }

    /// What has become of the files that it names, as far as that is anything.
    pub fn fates(&self) -> Vec<(&str, Fate)> {
        fates(&self.project, self.meta.created, work::files(&self.body))
    }

    /// The text that a session is given, of at most `budget` tokens.
    pub fn text(&self, budget: usize) -> String {
        let moved = self.moved();
        let origin = Origin::Checkpoint {
            id: &self.meta.id,
            other: self.other(),
            age: self.age(),
            moved: moved.as_deref(),
        };
        let fate = |path: &str| fate(&self.project, self.meta.created, path);
        work::reread(&self.body, &origin, budget, &fate)
    }
}

fn fates<'f>(project: &Path, moment: Millis, files: Vec<&'f str>) -> Vec<(&'f str, Fate)> {
    files.into_iter().filter_map(|path| Some((path, fate(project, moment, path)?))).collect()
}

/// What has changed on disk since a session last wrote anything; nothing where nothing has.
pub fn changed_since(place: &Place, session: &SessionId, work: &Work) -> String {
    /// A tool's work may be dated a little later than the record of it.
    const GRACE: Millis = 2_000;
    let Some(time) = work.time() else { return String::new() };
    let files = fates(&place.project, time + GRACE, work.touched_files());
    let fits = |meta: &Meta| meta.session_id == session.as_str();
    let last = checkpoint::newest_fitting(place, &fits).ok().flatten();
    let then = last.and_then(|last| last.verdict.meta?.git);
    let moved = then.and_then(|then| then.moved(&capture::git(&place.project)?));
    let pause = u64::try_from(now() as Millis - time).unwrap_or(0);
    work::changed(&files, moved.as_deref(), pause)
}
