//! Resumes the work of a checkpoint in a session.

use std::io;
use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::session::SessionState;
use plimsoll_extract::checkpoint::{self as core, Meta};
use plimsoll_extract::work::{self, FileStatus, RestoreOrigin};

use crate::capture;
use crate::checkpoint::{self, Listed, NotFound, Place};
use crate::fate::fate;
use crate::last_session;
use crate::receipt;
use crate::running::running;
use crate::spool::{self, Locked, SpoolLine};
use crate::world::{World, now};

/// A checkpoint that a session can continue from.
#[derive(Clone, Debug)]
pub struct Resumable {
    pub meta: Meta,
    /// One-line summary.
    pub summary: String,
    body: String,
    /// Whether the receiving session is not the one the checkpoint was made of.
    to_another: bool,
}

/// Returns the newest checkpoint of a place that we sealed and whose session does not run. The
/// asking session's own checkpoint qualifies if that session was already given another or was
/// compacted, or if there is no other.
pub fn newest(
    world: &World,
    place: &Place,
    asks: Option<&SessionId>,
) -> Result<Option<Resumable>, NotFound> {
    newest_among(world, place, asks, &|_| true)
}

/// Like [`newest`], among the checkpoints of interactive sessions.
pub(crate) fn newest_interactive(
    world: &World,
    place: &Place,
    asks: Option<&SessionId>,
) -> Result<Option<Resumable>, NotFound> {
    let is_interactive = |meta: &Meta| {
        SessionId::new(&meta.session_id)
            .is_none_or(|session| !last_session::was_started_headless(world, &session))
    };
    newest_among(world, place, asks, &is_interactive)
}

fn newest_among(
    world: &World,
    place: &Place,
    asks: Option<&SessionId>,
    is_wanted: &dyn Fn(&Meta) -> bool,
) -> Result<Option<Resumable>, NotFound> {
    let busy: Vec<SessionId> =
        running(world).into_iter().filter(|session| !has_ended(world, session)).collect();
    // A session's predecessor comes first. Its own checkpoint matters only after it received that.
    let has_been_given = asks.is_some_and(|asks| {
        let state = spool::state(&world.paths.spool_of(asks, None));
        state.is_ok_and(|state| state.given.is_some() || state.restored.is_some())
    });
    let fits = |meta: &Meta, own: bool| {
        let is = |session: &SessionId| is_of(meta, session);
        let is_free = if asks.is_some_and(is) { own } else { !busy.iter().any(is) };
        has_content(meta) && is_free && is_wanted(meta)
    };
    let found = match checkpoint::newest_fitting(place, &|meta| fits(meta, has_been_given))? {
        None => checkpoint::newest_fitting(place, &|meta| fits(meta, true))?,
        found => found,
    };
    found.map_or(Ok(None), |found| of(place, &found, asks))
}

/// Returns the newest checkpoint of a session that we sealed in a place, for another session.
pub fn newest_of_session(
    place: &Place,
    session: &SessionId,
) -> Result<Option<Resumable>, NotFound> {
    let fits = |meta: &Meta| has_content(meta) && is_of(meta, session);
    let found = checkpoint::newest_fitting(place, &fits)?;
    found.map_or(Ok(None), |found| of(place, &found, None))
}

/// Reports whether a checkpoint was made of a session.
fn is_of(meta: &Meta, session: &SessionId) -> bool {
    meta.session_id == session.as_str()
}

/// Reports whether there is anything to continue from: the transcript could be read.
fn has_content(meta: &Meta) -> bool {
    !meta.partial || meta.transcript.is_some()
}

/// Reports whether our spool says that a session has ended. The client lists sessions by process,
/// and a process may have moved on to another session.
fn has_ended(world: &World, session: &SessionId) -> bool {
    let last = spool::last(&world.paths.spool_of(session, None));
    last.is_ok_and(|last| last.is_some_and(|last| last.what == spool::ENDED))
}

/// Reads a listed checkpoint; `None` if we did not seal it.
pub fn of(
    place: &Place,
    found: &Listed,
    asks: Option<&SessionId>,
) -> Result<Option<Resumable>, NotFound> {
    named(place, &found.id, asks)
}

/// Reads the checkpoint with this id; `None` if there is none that we sealed.
pub fn named(
    place: &Place,
    id: &str,
    asks: Option<&SessionId>,
) -> Result<Option<Resumable>, NotFound> {
    let own = checkpoint::read_own(place, id)?;
    Ok(own.map(|(meta, body)| {
        let to_another = asks.is_none_or(|session| !is_of(&meta, session));
        Resumable { summary: core::summary(&body), meta, body, to_another }
    }))
}

/// Records that a session received a checkpoint of another session, which becomes the parent of its
/// own.
pub fn note_given(world: &World, session: &SessionId, resumed: &Resumable) -> io::Result<()> {
    if resumed.other().is_none() {
        return Ok(());
    }
    let path = world.paths.spool_of(session, None);
    let Some(locked) = Locked::open(&path)? else { return Ok(()) };
    let state = SessionState { given: Some(resumed.meta.id.clone()), ..spool::state(&path)? };
    receipt::note(&world.paths, &resumed.meta.id, session)?;
    locked.append(&SpoolLine::unmeasured("given", state))
}

/// Returns the session that this command runs in.
pub fn asking(world: &World) -> Option<SessionId> {
    plimsoll_agents::ALL.iter().find_map(|agent| {
        let id = world.agent_env(agent.profile().variables.session)?;
        match *agent == plimsoll_agents::DEFAULT {
            true => SessionId::own(&id),
            false => SessionId::of_agent(agent.id(), &id),
        }
    })
}

impl Resumable {
    /// Returns the age in milliseconds.
    pub fn age(&self) -> u64 {
        u64::try_from(now() as Millis - self.meta.created).unwrap_or(0)
    }

    /// Returns the session it was made of; `None` if that is the asking session.
    pub fn other(&self) -> Option<&str> {
        self.to_another.then_some(&*self.meta.session_id)
    }

    /// Returns the session it was made of.
    pub fn session(&self) -> Option<SessionId> {
        SessionId::new(&self.meta.session_id)
    }

    pub fn next_steps(&self) -> Vec<&str> {
        work::next_steps(&self.body)
    }

    /// Returns the text for a session, with the state on disk of the files it names.
    pub fn text(&self, budget: usize) -> String {
        let moved = self.moved();
        let origin =
            RestoreOrigin::Checkpoint { id: &self.meta.id, other: self.other(), age: self.age() };
        work::restore_checkpoint(&self.body, &origin, moved.as_deref(), budget, &|path| {
            self.fate(path)
        })
    }

    /// Returns what changed on disk since then.
    pub fn since(&self) -> Since {
        let files = work::files_in_body(&self.body).into_iter();
        let with = |fate: FileStatus| {
            let files = files.clone().filter(move |path| self.fate(path) == Some(fate));
            files.map(str::to_owned).collect()
        };
        Since {
            moved: self.moved(),
            changed: with(FileStatus::Changed),
            gone: with(FileStatus::Gone),
        }
    }

    /// Describes how the repository changed since then.
    fn moved(&self) -> Option<String> {
        let then = self.meta.git.as_ref()?;
        then.describe_change(&capture::git(Path::new(&self.meta.project))?)
    }

    fn fate(&self, path: &str) -> Option<FileStatus> {
        // The front matter has seconds: a file written within that second counts as older.
        fate(Path::new(&self.meta.project), self.meta.created + 1_000, path)
    }
}

/// Changes since a checkpoint was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// Description of the changes in the repository.
    pub moved: Option<String>,
    /// Files named in the checkpoint that were changed.
    pub changed: Vec<String>,
    /// Files named in the checkpoint that are gone.
    pub gone: Vec<String>,
}

impl Since {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
