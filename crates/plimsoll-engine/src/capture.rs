//! Making a checkpoint of a session: what its transcript tells of the work, sealed.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_agents::Adapter;
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::SessionId;
use plimsoll_core::policy::Progress;
use plimsoll_core::session::{Seal, SessionState};
use plimsoll_extract::checkpoint::{self, Git, Source};
use plimsoll_extract::work::{self, LONGEST_WORDS, Words, Work};

use crate::checkpoint::{Draft, Place, Sealed, Unsealed, seal};
use crate::child;
use crate::jsonl::JsonLines;
use crate::load::{self, Fullness};
use crate::settings::InForce;
use crate::spool::{self, Locked, SpoolLine};
use crate::work::{Folded, fold};
use crate::world::{World, now};

/// Of what a checkpoint is to be made.
pub struct Subject<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// Its transcript.
    pub transcript: &'a Path,
    /// What is remembered of it.
    pub state: &'a SessionState,
    /// The settings of its project.
    pub in_force: &'a InForce,
}

/// A session of which a checkpoint is to be made.
pub struct Captured {
    /// Its work so far.
    pub folded: Folded,
    session: SessionId,
    path: PathBuf,
    transcript: Option<Source>,
    fullness: Option<Fullness>,
    /// The body of the checkpoint that the session goes on from, where it is one of a run.
    before: Option<String>,
    body: OnceCell<String>,
}

impl Captured {
    /// Reads what the transcript of a session tells, as far as there is time. What cannot be read is
    /// left out, and the checkpoint says that it is partial.
    pub fn read(
        world: &World,
        adapter: &dyn Adapter,
        Subject { session, transcript, state, in_force }: &Subject<'_>,
        deadline: Option<Instant>,
    ) -> Self {
        let unread = || Folded { partial: true, ..Folded::default() };
        let file = JsonLines::open(transcript).ok().flatten();
        let folded = file.as_ref().map(|file| fold(&world.paths, adapter, session, file, deadline));
        let folded = folded.and_then(Result::ok).unwrap_or_else(unread);
        let source = file.as_ref().map(|file| source(file, transcript, folded.offset));
        let fullness =
            file.as_ref().and_then(|file| load::fullness(adapter, file, in_force, state).ok());
        let path = transcript.to_path_buf();
        let (session, body) = ((*session).clone(), OnceCell::new());
        Self { folded, session, path, transcript: source, fullness, before: None, body }
    }

    /// The same with what the checkpoint told that the session goes on from.
    pub fn after(mut self, before: Option<String>) -> Self {
        (self.before, self.body) = (before, OnceCell::new());
        self
    }

    /// The same with the model's own words beside what the transcript tells.
    pub fn refined(mut self, words: Words) -> Self {
        self.folded.work.refine(words);
        self.body = OnceCell::new();
        self
    }

    /// Seals a checkpoint of it in a place. `restored` is the checkpoint that the session was given.
    pub fn seal(
        &self,
        adapter: &dyn Adapter,
        place: &Place,
        occasion: Occasion,
        restored: Option<String>,
    ) -> Result<Sealed, Unsealed> {
        let fullness = self.fullness.as_ref();
        let draft = Draft {
            session: self.session.clone(),
            occasion,
            created: now() as Millis,
            partial: self.folded.partial,
            restored,
            agent: adapter.name().to_owned(),
            model: fullness.and_then(|fullness| fullness.model.clone()),
            used: fullness.map(|fullness| fullness.used),
            window: fullness.map(|fullness| fullness.window),
            git: git(&place.project),
            transcript: self.transcript.clone(),
            body: self.body().into(),
        };
        seal(place, &draft)
    }

    /// The sections. Where the transcript could not be read, that is what is to be said.
    pub(crate) fn body(&self) -> &str {
        self.body.get_or_init(|| {
            let body = body(&self.folded.work, self.before.as_deref());
            let body = self.folded.work.words().refine(body);
            match self.transcript {
                Some(_) => body,
                None => work::unread(&body, &self.path.to_string_lossy()),
            }
        })
    }

    /// What the work comes to, as a number.
    pub fn mark(&self) -> u64 {
        work::mark(self.body())
    }

    /// Tells the hooks of a session of a checkpoint that was made of it on request.
    pub fn remember(&self, world: &World, sealed: &Sealed) -> io::Result<()> {
        let path = world.paths.spool_of(&self.session, None);
        let Some(locked) = Locked::open(&path)? else { return Ok(()) };
        let last = spool::last(&path)?;
        // A session that has ended has still ended.
        let has_ended = last.as_ref().is_some_and(|last| last.what == spool::ENDED);
        let what = if has_ended { spool::ENDED } else { "sealed" };
        let (at, state) = (now(), last.map(|last| last.state).unwrap_or_default());
        let seal = Some(self.seal_of(sealed, at));
        let state = SessionState { since: Some(at), sealed: seal, ..state };
        locked.append(&SpoolLine::unmeasured(what, state))
    }

    /// How far the session has come.
    pub(crate) fn progress(&self) -> Progress {
        let work = &self.folded.work;
        Progress { mark: self.mark(), steps: work.steps(), newest: work.newest() }
    }

    /// What is remembered of a checkpoint that was sealed of it.
    pub(crate) fn seal_of(&self, sealed: &Sealed, at: u64) -> Seal {
        let Progress { mark, steps, newest } = self.progress();
        Seal { at, id: sealed.meta.id.clone(), mark, steps, covers: newest }
    }
}

/// The body, shortened from its end if the file would be too long. There is always room for the
/// model's words, so that a checkpoint with them holds no less than one without.
fn body(work: &Work, before: Option<&str>) -> String {
    let body = work::body(work);
    shortened(before.map_or_else(|| body.clone(), |before| work::inherit(&body, before)))
}

/// A body that fits into a file, with room for the model's words.
pub fn shortened(mut body: String) -> String {
    /// What the front matter takes at most.
    const FRONT_MATTER: usize = 2_300;
    let mut end = body.len().min(checkpoint::LARGEST - FRONT_MATTER - LONGEST_WORDS);
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    body.truncate(end);
    body
}

fn source(file: &JsonLines, path: &Path, offset: u64) -> Source {
    const TAIL: u64 = 4 << 10;
    let tail = file.bytes(offset.saturating_sub(TAIL)..offset).unwrap_or_default();
    let tail_sha256 = checkpoint::sha256(&tail);
    Source { path: path.display().to_string(), offset, tail_sha256 }
}

/// How long git may take to say how the repository stands.
const GIT: Duration = Duration::from_millis(250);

/// How the repository of a project stands; nothing if there is none.
pub fn git(project: &Path) -> Option<Git> {
    // Asking git costs more than all the rest.
    project.ancestors().find(|folder| folder.join(".git").exists())?;
    let mut command = crate::git::command(project);
    command.args(["status", "--porcelain=v2", "--branch"]);
    command.env("GIT_OPTIONAL_LOCKS", "0");
    let ran = child::run(&mut command, Vec::new(), GIT).ok()?;
    ran.status.filter(std::process::ExitStatus::success)?;
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    let header = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix("# branch.")?.strip_prefix(name));
        line.map(str::trim).filter(|value| !value.starts_with('(')).map(str::to_owned)
    };
    let dirty = told.lines().any(|line| !line.starts_with('#'));
    Some(Git { branch: header("head"), head: header("oid"), dirty })
}
