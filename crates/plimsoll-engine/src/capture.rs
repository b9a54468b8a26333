//! Makes a checkpoint of a session: extracts the work from its transcript and seals it.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_agents::Agent;
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::SessionId;
use plimsoll_core::policy::Progress;
use plimsoll_core::session::{Seal, SessionState};
use plimsoll_extract::checkpoint::{self, GitState, TranscriptExtent};
use plimsoll_extract::work::{self, MAX_SUMMARY_BYTES, ModelSummary, Work};

use crate::checkpoint::{Draft, Place, Sealed, Unsealed, seal};
use crate::child;
use crate::jsonl::JsonLines;
use crate::load::{self, Fullness};
use crate::settings::InForce;
use crate::spool::{self, Locked, SpoolLine};
use crate::work::{Folded, fold};
use crate::world::{World, now};

/// The session to make a checkpoint of.
pub struct Subject<'a> {
    pub session: &'a SessionId,
    pub transcript: &'a Path,
    /// The session's state from its spool.
    pub state: &'a SessionState,
    /// Settings of the session's project.
    pub in_force: &'a InForce,
}

/// Work extracted from a session, ready to be sealed.
pub struct Captured {
    pub folded: Folded,
    session: SessionId,
    path: PathBuf,
    transcript: Option<TranscriptExtent>,
    fullness: Option<Fullness>,
    /// Body of the checkpoint that this session continues, if it is part of a run.
    before: Option<String>,
    body: OnceCell<String>,
}

impl Captured {
    /// Extracts the work from a session's transcript until `deadline`. Unread parts are left out,
    /// and the checkpoint is marked as partial.
    pub fn read(
        world: &World,
        agent: &'static dyn Agent,
        Subject { session, transcript, state, in_force }: &Subject<'_>,
        deadline: Option<Instant>,
    ) -> Self {
        let unread = || Folded { partial: true, ..Folded::default() };
        let file = JsonLines::open(transcript).ok().flatten();
        let folded = file.as_ref().map(|file| fold(&world.paths, agent, session, file, deadline));
        let folded = folded.and_then(Result::ok).unwrap_or_else(unread);
        let source = file.as_ref().map(|file| source(file, transcript, folded.offset));
        let fullness =
            file.as_ref().and_then(|file| load::fullness(agent, file, in_force, state).ok());
        let path = transcript.to_path_buf();
        let (session, body) = ((*session).clone(), OnceCell::new());
        Self { folded, session, path, transcript: source, fullness, before: None, body }
    }

    /// Adds the body of the checkpoint that this session continues.
    pub fn after(mut self, before: Option<String>) -> Self {
        (self.before, self.body) = (before, OnceCell::new());
        self
    }

    /// Adds the model's own words to the work from the transcript.
    pub fn refined(mut self, words: ModelSummary) -> Self {
        self.folded.work.set_model_summary(words);
        self.body = OnceCell::new();
        self
    }

    /// Seals a checkpoint in `place`. `restored` is the checkpoint that was restored into the
    /// session.
    pub fn seal(
        &self,
        agent: &'static dyn Agent,
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
            agent: agent.id().to_string(),
            model: fullness.and_then(|fullness| fullness.model.clone()),
            used: fullness.map(|fullness| fullness.used),
            window: fullness.map(|fullness| fullness.window),
            git: git(&place.project),
            transcript: self.transcript.clone(),
            body: self.body().into(),
        };
        seal(place, &draft)
    }

    /// Returns the sections of the checkpoint. If the transcript could not be read, the body says
    /// so.
    pub(crate) fn body(&self) -> &str {
        self.body.get_or_init(|| {
            let body = body(&self.folded.work, self.before.as_deref());
            let body = self.folded.work.model_summary().add_to(body);
            match self.transcript {
                Some(_) => body,
                None => work::note_unreadable_transcript(&body, &self.path.to_string_lossy()),
            }
        })
    }

    /// Returns a fingerprint of the work that changes only if a new checkpoint is worthwhile.
    pub fn mark(&self) -> u64 {
        work::fingerprint(self.body())
    }

    /// Records a checkpoint made on request in the session's spool, for the hooks.
    pub fn remember(&self, world: &World, sealed: &Sealed) -> io::Result<()> {
        let path = world.paths.spool_of(&self.session, None);
        let Some(locked) = Locked::open(&path)? else { return Ok(()) };
        let last = spool::last(&path)?;
        // A session that has ended stays ended.
        let has_ended = last.as_ref().is_some_and(|last| last.what == spool::ENDED);
        let what = if has_ended { spool::ENDED } else { "sealed" };
        let (at, state) = (now(), last.map(|last| last.state).unwrap_or_default());
        let seal = Some(self.seal_of(sealed, at));
        let state = SessionState { since: Some(at), sealed: seal, ..state };
        locked.append(&SpoolLine::unmeasured(what, state))
    }

    /// Returns how far the session has come.
    pub(crate) fn progress(&self) -> Progress {
        let work = &self.folded.work;
        Progress { mark: self.mark(), steps: work.steps(), newest: work.newest_place() }
    }

    /// Returns the record of a sealed checkpoint for the session's state.
    pub(crate) fn seal_of(&self, sealed: &Sealed, at: u64) -> Seal {
        let Progress { mark, steps, newest } = self.progress();
        Seal { at, id: sealed.meta.id.clone(), mark, steps, covers: newest }
    }
}

/// Renders the body and truncates it if the file would be too long. Room for the model's words is
/// always reserved, so that a checkpoint with them contains no less than one without.
fn body(work: &Work, before: Option<&str>) -> String {
    let body = work::render_body(work);
    shortened(
        before.map_or_else(|| body.clone(), |before| work::inherit_from_previous(&body, before)),
    )
}

/// Truncates a body to fit into a file, with room for the model's words.
pub fn shortened(mut body: String) -> String {
    /// Upper bound for the front matter's size.
    const FRONT_MATTER: usize = 2_300;
    let mut end = body.len().min(checkpoint::MAX_BYTES - FRONT_MATTER - MAX_SUMMARY_BYTES);
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    body.truncate(end);
    body
}

fn source(file: &JsonLines, path: &Path, offset: u64) -> TranscriptExtent {
    const TAIL: u64 = 4 << 10;
    let tail = file.bytes(offset.saturating_sub(TAIL)..offset).unwrap_or_default();
    let tail_sha256 = checkpoint::sha256(&tail);
    TranscriptExtent { path: path.display().to_string(), offset, tail_sha256 }
}

/// Time limit for `git status`.
const GIT: Duration = Duration::from_millis(250);

/// Reads the git state of a project; `None` if there is no repository.
pub fn git(project: &Path) -> Option<GitState> {
    // Running git costs more than everything else here, so look for a repository first.
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
    Some(GitState { branch: header("head"), head: header("oid"), dirty })
}
