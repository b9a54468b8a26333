//! Taking transcripts and spools into the store.
//!
//! The store is derived: everything in it can be read again from the files. Any number of
//! processes may ingest at once; the store keeps how far each file was read in the same transaction
//! as what was read. Checkpoints are taken in too, in `checkpoints`.

mod checkpoints;
mod together;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use plimsoll_agents::{Agent, Owner};
use plimsoll_core::Millis;
use plimsoll_core::entry::{Entry, Kind};
use plimsoll_core::event::SessionId;
use plimsoll_core::models;
use plimsoll_core::reading::Scope;
use plimsoll_store::{
    Batch, Bookmark, CompactionRow, DecisionRow, HookRunRow, ReadingRow, SessionRow, SourceFile,
    Store, StoreError,
};

use crate::jsonl::{JsonLines, whole_lines};
use crate::load;
use crate::paths::{self, Paths};
use crate::saves;
use crate::sessions::{self, Found};
use crate::settings;
use crate::spool::{self, Locked, SpoolLine};
use crate::world::World;

pub(crate) use together::Transcript;

/// How many bytes go into one transaction: others wait for it, and a deadline is looked at between
/// two.
const BATCH: u64 = 8 << 20;
const HURRIED_BATCH: u64 = 512 << 10;
/// What a transcript's beginning tells was told when the reading goes on behind it.
const BEGINNING: u64 = 64 << 10;
/// How long a spool is kept after the last word in it.
const KEEP_SPOOL: Duration = Duration::from_secs(7 * 24 * 3600);

/// Fills the store.
pub struct Ingester<'a> {
    world: &'a World,
    /// What it fills.
    pub store: Store,
    deadline: Option<Instant>,
}

impl<'a> Ingester<'a> {
    /// Opens the store, waiting so long for others, and stopping altogether at `deadline`.
    pub fn open(
        world: &'a World,
        patience: Duration,
        deadline: Option<Instant>,
    ) -> anyhow::Result<Self> {
        Ok(Self { world, store: open_store(&world.paths, patience)?, deadline })
    }

    /// Takes in what is new in the journal of saves.
    pub fn saves(&mut self) -> anyhow::Result<usize> {
        saves::take_in(&self.world.paths, &mut self.store)
    }

    /// Takes in whatever is new of these sessions, and tells the hooks what it teaches.
    ///
    /// `progress` is told how many of the files with news are done, and how many there are. A
    /// transcript that cannot be read keeps nobody else's from being taken in; how many there were
    /// of them is the answer.
    pub fn catch_up(
        &mut self,
        sessions: &[Found],
        progress: impl Fn(usize, usize),
    ) -> anyhow::Result<usize> {
        let news = self.news(sessions)?;
        let mut unreadable = 0;
        for (done, window) in news.iter().enumerate() {
            progress(done, news.len());
            match self.window(window.agent, &window.path) {
                Err(error) if error.is::<StoreError>() => return Err(error),
                taken => unreadable += usize::from(taken.is_err()),
            }
        }
        progress(news.len(), news.len());
        self.learn()?;
        Ok(unreadable)
    }

    /// The transcripts of these sessions and their subagents that have grown since they were read,
    /// or whose spool has.
    fn news(&self, sessions: &[Found]) -> anyhow::Result<Vec<Found>> {
        let read = self.store.bookmarks()?;
        let is_new = |path: &Path, inode, len| read.get(path) != Some(&(inode, len));
        let has_news = |found: &Found| {
            let Owner { session, subagent } = &found.owner;
            let spool = self.world.paths.spool_of(session, subagent.as_ref());
            is_new(&found.path, found.inode, found.len)
                || fs::metadata(&spool)
                    .is_ok_and(|spool_now| is_new(&spool, spool_now.ino(), spool_now.len()))
        };
        let mut news = Vec::new();
        for session in sessions {
            let windows = std::iter::once(session.clone()).chain(sessions::subagents(session));
            news.extend(windows.filter(has_news));
        }
        Ok(news)
    }

    /// Takes in a session: its transcript, its subagents', and their spools.
    pub fn session(&mut self, agent: &'static dyn Agent, transcript: &Path) -> anyhow::Result<()> {
        self.window(agent, transcript)?;
        let Some(folder) = agent.transcript().subagents(transcript) else { return Ok(()) };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "jsonl") {
                self.window(agent, &entry.path())?;
            }
        }
        Ok(())
    }

    fn window(&mut self, agent: &'static dyn Agent, transcript: &Path) -> anyhow::Result<()> {
        let Some(owner) = agent.transcript().owner(transcript) else { return Ok(()) };
        self.transcript(agent, transcript, &owner)?;
        let spool = self.world.paths.spool_of(&owner.session, owner.subagent.as_ref());
        self.spool(&spool, &owner)
    }

    fn transcript(
        &mut self,
        agent: &'static dyn Agent,
        path: &Path,
        owner: &Owner,
    ) -> anyhow::Result<()> {
        let batch = self.batch();
        self.file(path, |file, bookmark| {
            let mut reader = Reader::new(agent, file, owner, path, &bookmark);
            let offset = whole_lines(file, bookmark.offset, batch, |line| reader.take(line.bytes))?;
            Ok(reader.batch(offset))
        })
    }

    fn spool(&mut self, path: &Path, owner: &Owner) -> anyhow::Result<()> {
        let (agent, most) = (agent_name(&owner.session), self.batch());
        self.file(path, |file, bookmark| {
            let mut batch = Batch::default();
            batch.next.offset = whole_lines(file, bookmark.offset, most, |line| {
                if let Some(found) = spool::parse(line.bytes) {
                    batch.decisions.push(decision(owner, line.offset, found));
                }
            })?;
            batch.sessions.extend(spoken_in(owner, agent, &batch.decisions));
            Ok(batch)
        })
    }

    /// Reads on in a file, batch by batch, to its end or the deadline.
    fn file(
        &mut self,
        path: &Path,
        mut read: impl FnMut(&JsonLines, Bookmark) -> anyhow::Result<Batch>,
    ) -> anyhow::Result<()> {
        let Some(file) = JsonLines::open(path)? else { return Ok(()) };
        let source = SourceFile { path: path.to_owned(), inode: file.inode() };
        let mut before = None;
        while !self.is_late() {
            let done = self.store.ingest(&source, |bookmark| {
                // A file that has shrunk was written anew.
                let shrunk = bookmark.offset > file.len();
                read(&file, if shrunk { Bookmark::default() } else { bookmark })
            })?;
            if before == Some(done.end_offset) || done.end_offset >= file.len() {
                break;
            }
            before = Some(done.end_offset);
        }
        Ok(())
    }

    fn batch(&self) -> u64 {
        if self.deadline.is_some() { HURRIED_BATCH } else { BATCH }
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Writes down for the hooks where compactions were seen.
    pub fn learn(&self) -> anyhow::Result<()> {
        let learned = self.store.learned_triggers()?;
        settings::write_learned(&self.world.paths, &learned)
            .context("could not write what was learned")
    }

    /// Deletes spools that are in the store and have been silent for a week, and what was kept of the
    /// work of sessions as old: it can be read again.
    pub fn prune(&mut self) -> anyhow::Result<()> {
        for spool in old_files(&self.world.paths.spools()) {
            if !self.is_late() {
                self.retire(&spool)?;
            }
        }
        for work in old_files(&self.world.paths.works()) {
            // Somebody else may have been quicker.
            let _ = fs::remove_file(work);
        }
        Ok(())
    }

    fn retire(&mut self, spool: &Path) -> anyhow::Result<()> {
        let Some(owner) = owner_of_spool(spool) else { return Ok(()) };
        self.spool(spool, &owner)?;
        // Whoever wants to speak waits, and looks whether the file is still there.
        let Some(_locked) = Locked::open(spool)? else { return Ok(()) };
        let Some(file) = JsonLines::open(spool)? else { return Ok(()) };
        let source = SourceFile { path: spool.to_owned(), inode: file.inode() };
        if self.store.read_offset(&source)? >= file.len() {
            fs::remove_file(spool)?;
            self.store.forget_file(spool)?;
        }
        Ok(())
    }
}

/// Opens the store, waiting so long for others. Its file is made here, for the user alone.
pub(crate) fn open_store(paths: &Paths, patience: Duration) -> anyhow::Result<Store> {
    let path = paths.store();
    paths::append(&path)
        .with_context(|| format!("could not make the store at `{}`", path.display()))?;
    Ok(Store::open(&path, patience)?)
}

/// The files in a folder that were not written to for a week.
fn old_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let old = entries.filter(|entry| entry.metadata().is_ok_and(|metadata| is_old(&metadata)));
    old.map(|entry| entry.path()).collect()
}

fn is_old(metadata: &fs::Metadata) -> bool {
    let age = metadata.modified().map(|modified| SystemTime::now().duration_since(modified));
    metadata.is_file() && age.is_ok_and(|age| age.is_ok_and(|age| age > KEEP_SPOOL))
}

pub(crate) fn owner_of_spool(spool: &Path) -> Option<Owner> {
    let mut parts = spool.file_stem()?.to_str()?.splitn(2, '.');
    let session = SessionId::new(parts.next()?)?;
    Some(Owner { session, subagent: parts.next().and_then(SessionId::new) })
}

fn decision(owner: &Owner, line: u64, found: SpoolLine) -> DecisionRow {
    let Owner { session, subagent } = owner.clone();
    let SpoolLine { at, what, used, window, .. } = found;
    DecisionRow { offset: line, session, subagent, time: at as Millis, label: what, used, window }
}

/// Returns the id of a session's agent, whether or not this release knows it.
fn agent_name(session: &SessionId) -> &str {
    session.agent().unwrap_or_else(|| plimsoll_agents::DEFAULT.id().as_str())
}

/// The session of a spool, whose transcript may be gone.
fn spoken_in(owner: &Owner, agent: &str, decisions: &[DecisionRow]) -> Option<SessionRow> {
    let times = || decisions.iter().map(|decision| decision.time);
    Some(SessionRow {
        id: owner.session.clone(),
        agent: agent.to_owned(),
        project: None,
        transcript: None,
        version: None,
        model: None,
        started: times().min()?,
        last_seen: times().max()?,
    })
}

/// Turns the lines of a transcript into rows.
struct Reader {
    agent: &'static dyn Agent,
    scope: Scope,
    session: SessionRow,
    subagent: Option<SessionId>,
    turn: u32,
    batch: Batch,
}

impl Reader {
    fn new(
        agent: &'static dyn Agent,
        file: &JsonLines,
        owner: &Owner,
        path: &Path,
        bookmark: &Bookmark,
    ) -> Self {
        let (turn, model) = bookmark.reader_state.split_once(' ').unwrap_or_default();
        let project = || load::first_folder(agent, file).map(|folder| paths::canonical(&folder));
        let is_young = bookmark.offset < BEGINNING;
        let session = SessionRow {
            id: owner.session.clone(),
            agent: agent.id().to_string(),
            project: is_young.then(project).flatten(),
            transcript: owner.subagent.is_none().then(|| path.to_owned()),
            version: None,
            model: (!model.is_empty()).then(|| model.to_owned()),
            started: Millis::MAX,
            last_seen: 0,
        };
        let scope = if owner.subagent.is_some() { Scope::Subagent } else { Scope::Main };
        let turn = turn.parse().unwrap_or(0);
        let subagent = owner.subagent.clone();
        Self { agent, scope, session, subagent, turn, batch: Batch::default() }
    }

    fn take(&mut self, line: &[u8]) {
        let Some(entry) = self.agent.transcript().entry(line, self.scope) else { return };
        let Some(time) = entry.time else { return };
        self.session.started = self.session.started.min(time);
        self.session.last_seen = self.session.last_seen.max(time);
        if let Some(version) = entry.version {
            self.session.version = Some(version.to_owned());
        }
        self.turn += u32::from(entry.kind == Kind::Prompt);
        self.rows(&entry, time);
        if matches!(entry.kind, Kind::Attachment | Kind::Link) {
            let runs = self.agent.transcript().hook_runs(line).into_iter();
            let (session, subagent) = (&self.session.id, &self.subagent);
            self.batch.hook_runs.extend(runs.map(|run| HookRunRow {
                session: session.clone(),
                subagent: subagent.clone(),
                time,
                run,
            }));
        }
    }

    fn rows(&mut self, entry: &Entry<'_>, time: Millis) {
        let (session, subagent) = (self.session.id.clone(), self.subagent.clone());
        match entry.kind {
            Kind::Response(response) => {
                if let Some(model) = response.model {
                    let variant = models::variant(model, response.long_context);
                    self.session.model = Some(variant.into_owned());
                }
                let known = self.session.model.as_deref().map(|model| models::of_variant(model).0);
                let model = response.model.or(known).unwrap_or_default().to_owned();
                self.batch.readings.push(ReadingRow {
                    session,
                    subagent,
                    message: response.message.to_string(),
                    time,
                    model,
                    prompt_tokens: response.prompt_tokens,
                    output_tokens: response.output_tokens,
                    turn: self.turn,
                });
            }
            Kind::ModelChange(change) => {
                let model = change.model.map(str::to_owned);
                self.session.model = model.or(self.session.model.take());
            }
            Kind::Boundary(boundary) => self.batch.compactions.push(CompactionRow {
                session,
                subagent,
                entry: entry.id.map_or_else(String::new, |id| id.to_string()),
                time,
                model: self.session.model.clone(),
                version: entry.version.map(str::to_owned),
                automatic: boundary.automatic,
                tokens_before: boundary.tokens_before,
                tokens_after: boundary.tokens_after,
            }),
            _ => {}
        }
    }

    fn batch(mut self, offset: u64) -> Batch {
        let model = self.session.model.as_deref().unwrap_or_default();
        self.batch.next = Bookmark { offset, reader_state: format!("{} {model}", self.turn) };
        if self.session.last_seen > 0 {
            // A subagent's model is not the session's.
            if self.subagent.is_some() {
                (self.session.model, self.session.version) = (None, None);
            }
            self.batch.sessions.push(self.session);
        }
        self.batch
    }
}
