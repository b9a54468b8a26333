//! The sessions on this machine, as their transcripts show them.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use plimsoll_agents::{Adapter, Owner};
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::forecast::{self, Forecast};
use plimsoll_core::reading::Scope;
pub use plimsoll_store::Pace;
use plimsoll_store::{SessionRow, Store};

use crate::jsonl::JsonLines;
use crate::load::{self, Fallback, Measured};
use crate::paths;
use crate::spool;
use crate::world::World;

/// A transcript on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whose it is.
    pub owner: Owner,
    /// Where it is.
    pub path: PathBuf,
    /// When it was last written to.
    pub modified: SystemTime,
    /// The identity of the file.
    pub inode: u64,
    /// How long it is.
    pub len: u64,
}

/// All transcripts of sessions, the newest first.
pub fn find(world: &World, adapter: &dyn Adapter) -> anyhow::Result<Vec<Found>> {
    let root = world.with_home(adapter, |home| adapter.transcripts(home));
    let folders = match fs::read_dir(&root) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.with_context(|| format!("could not list `{}`", root.display()))?.flatten(),
    };
    let mut found: Vec<Found> =
        folders.flat_map(|folder| transcripts(adapter, folder.path())).collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.modified));
    Ok(found)
}

/// The newest transcript of a session.
pub fn find_one(world: &World, adapter: &dyn Adapter, session: &SessionId) -> Option<Found> {
    find(world, adapter).ok()?.into_iter().find(|found| found.owner.session == *session)
}

/// The transcript at `path`, if it lies where the agent keeps its own: nobody may have us read
/// anything else.
pub fn at(world: &World, adapter: &dyn Adapter, path: &Path) -> Option<Found> {
    let root = world.with_home(adapter, |home| adapter.transcripts(home)).canonicalize().ok()?;
    let path = path.canonicalize().ok().filter(|path| path.starts_with(&root))?;
    transcripts(adapter, path.parent()?.to_owned()).find(|found| found.path == path)
}

/// The project that a session was held in, as far as its transcript tells.
pub fn project(adapter: &dyn Adapter, found: &Found) -> Option<PathBuf> {
    let file = JsonLines::open(&found.path).ok()??;
    load::first_folder(adapter, &file).map(|folder| paths::canonical(&folder))
}

/// When the first line of the conversation was written.
pub fn started(adapter: &dyn Adapter, found: &Found) -> Option<Millis> {
    let file = JsonLines::open(&found.path).ok()??;
    load::started(adapter, &file, Scope::Main).map(|started| started as Millis)
}

/// The transcripts of a session's subagents, the newest first.
pub fn subagents(adapter: &dyn Adapter, session: &Found) -> Vec<Found> {
    let mut found: Vec<Found> = transcripts(adapter, adapter.subagents(&session.path)).collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.modified));
    found
}

pub(crate) fn transcripts(adapter: &dyn Adapter, folder: PathBuf) -> impl Iterator<Item = Found> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| {
        let path = file.path();
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
        let owner = adapter.owner(&path).filter(|_| is_transcript)?;
        let (inode, len) = (metadata.ino(), metadata.len());
        Some(Found { owner, path, modified: metadata.modified().ok()?, inode, len })
    })
}

/// Measures one window.
pub fn measure(
    world: &World,
    adapter: &dyn Adapter,
    found: &Found,
) -> std::io::Result<Option<Measured>> {
    let Owner { session, subagent } = &found.owner;
    let state = spool::state(&world.paths.spool_of(session, subagent.as_ref())).unwrap_or_default();
    load::measure(world, adapter, &found.path, None, &state, Fallback::Activity)
}

/// Measures the window of a session that the store knows; nothing if its transcript is gone.
///
/// Every list of sessions takes its figures from here or from [`measure`]: the store knows only what
/// the service counted, and nothing of what was appended since.
pub fn measure_known(
    world: &World,
    adapter: &dyn Adapter,
    session: &SessionRow,
) -> std::io::Result<Option<Measured>> {
    let Some(transcript) = &session.transcript else { return Ok(None) };
    let state = spool::state(&world.paths.spool_of(&session.id, None)).unwrap_or_default();
    load::measure(world, adapter, transcript, None, &state, Fallback::Activity)
}

/// How many of a session's newest calls tell its pace.
const PACE_CALLS: u32 = 200;

/// How a session has grown, as the store tells it.
pub fn pace(store: &Store, session: &SessionId) -> anyhow::Result<Pace> {
    Ok(store.pace(session, PACE_CALLS)?)
}

/// How far a session is from being compacted, or from a full window, if it goes on at its pace.
pub fn forecast(measured: &Measured, pace: Option<&Pace>) -> Forecast {
    let window = measured.window.tokens;
    let level = measured.trigger.within(window).unwrap_or(window);
    let samples = pace.map_or(&[][..], |pace| &pace.samples);
    forecast::look_ahead(measured.reading.used, level, samples)
}
