//! The sessions on this machine, as their transcripts show them.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use plimsoll_agents::{Agent, Layout, Owner};
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::forecast::{self, Forecast};
use plimsoll_core::reading::Scope;
pub use plimsoll_store::GrowthSamples;
use plimsoll_store::{SessionRow, Store};

use crate::jsonl::JsonLines;
use crate::load::{self, Fallback, Measured};
use crate::paths;
use crate::spool;
use crate::world::World;

/// A transcript on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The agent that wrote it.
    pub agent: &'static dyn Agent,
    /// Whose window it holds.
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

/// Lists the transcripts of all sessions of every agent, the newest first.
pub fn find(world: &World) -> anyhow::Result<Vec<Found>> {
    find_of(world, plimsoll_agents::ALL)
}

/// Lists the transcripts of all sessions of some agents, the newest first.
pub fn find_of(world: &World, agents: &[&'static dyn Agent]) -> anyhow::Result<Vec<Found>> {
    let mut found = Vec::new();
    for agent in agents {
        found.extend(of_agent(world, *agent)?);
    }
    found.sort_by_key(|found| std::cmp::Reverse(found.modified));
    Ok(found)
}

fn of_agent(world: &World, agent: &'static dyn Agent) -> anyhow::Result<Vec<Found>> {
    let Layout { root, depth, .. } = layout(world, agent);
    match fs::read_dir(&root) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.with_context(|| format!("could not list `{}`", root.display()))?,
    };
    Ok(folders(root, depth).flat_map(|folder| transcripts(agent, folder)).collect())
}

/// Returns where an agent's transcripts are.
pub(crate) fn layout(world: &World, agent: &'static dyn Agent) -> Layout {
    world.with_home(agent, |home| agent.transcript().layout(home))
}

/// Returns the folders `depth` levels below `root`, the last by name first: where folders are dates, that
/// is the newest.
pub(crate) fn folders(root: PathBuf, depth: usize) -> Box<dyn Iterator<Item = PathBuf>> {
    if depth == 0 {
        return Box::new(std::iter::once(root));
    }
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    below.sort_unstable_by(|one, other| other.cmp(one));
    Box::new(below.into_iter().flat_map(move |folder| folders(folder, depth - 1)))
}

/// Returns the newest transcript of a session.
pub fn find_one(world: &World, session: &SessionId) -> Option<Found> {
    let agent = plimsoll_agents::of_session(session)?;
    find_of(world, &[agent]).ok()?.into_iter().find(|found| found.owner.session == *session)
}

/// Finds the transcript of a window whose agent does not name it in its payloads.
pub(crate) fn locate(
    world: &World,
    agent: &'static dyn Agent,
    session: &SessionId,
) -> Option<PathBuf> {
    let Layout { root, depth, .. } = layout(world, agent);
    let mut found = folders(root, depth).flat_map(|folder| transcripts(agent, folder));
    found.find(|found| found.owner.session == *session).map(|found| found.path)
}

/// Returns the transcript at `path`, if it lies where an agent keeps its own: nobody may have us read
/// anything else.
pub fn at(world: &World, path: &Path) -> Option<Found> {
    let path = path.canonicalize().ok()?;
    let is_in = |agent: &&&'static dyn Agent| {
        layout(world, **agent).root.canonicalize().is_ok_and(|root| path.starts_with(root))
    };
    let agent = *plimsoll_agents::ALL.iter().find(is_in)?;
    transcripts(agent, path.parent()?.to_owned()).find(|found| found.path == path)
}

/// Returns the agent that wrote a transcript, by its first records; the default one if no agent
/// recognises them.
pub fn agent_of(transcript: &JsonLines) -> &'static dyn Agent {
    const LINES: usize = 32;
    let recognises = |agent: &&&'static dyn Agent| {
        let mut lines = transcript.forward(0);
        (0..LINES).any(|_| {
            let Ok(Some(line)) = lines.next() else { return false };
            let entry = |scope| agent.transcript().entry(line.bytes, scope);
            entry(Scope::Main).or_else(|| entry(Scope::Subagent)).is_some()
        })
    };
    plimsoll_agents::ALL.iter().find(recognises).copied().unwrap_or(plimsoll_agents::DEFAULT)
}

/// Returns the project that a session was held in, as far as its transcript tells.
pub fn project(found: &Found) -> Option<PathBuf> {
    let file = JsonLines::open(&found.path).ok()??;
    load::first_folder(found.agent, &file).map(|folder| paths::canonical(&folder))
}

/// Returns when the first line of the conversation was written.
pub fn started(found: &Found) -> Option<Millis> {
    let file = JsonLines::open(&found.path).ok()??;
    load::started(found.agent, &file, Scope::Main).map(|started| started as Millis)
}

/// Lists the transcripts of a session's subagents, the newest first.
pub fn subagents(session: &Found) -> Vec<Found> {
    let folder = session.agent.transcript().subagents(&session.path);
    let mut found: Vec<Found> =
        folder.into_iter().flat_map(|folder| transcripts(session.agent, folder)).collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.modified));
    found
}

/// Lists the transcripts in a folder.
pub(crate) fn transcripts(
    agent: &'static dyn Agent,
    folder: PathBuf,
) -> impl Iterator<Item = Found> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(move |file| {
        let path = file.path();
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
        let owner = agent.transcript().owner(&path).filter(|_| is_transcript)?;
        let (inode, len) = (metadata.ino(), metadata.len());
        Some(Found { agent, owner, path, modified: metadata.modified().ok()?, inode, len })
    })
}

/// Measures one window.
pub fn measure(world: &World, found: &Found) -> std::io::Result<Option<Measured>> {
    let Owner { session, subagent } = &found.owner;
    let state = spool::state(&world.paths.spool_of(session, subagent.as_ref())).unwrap_or_default();
    load::measure(world, found.agent, &found.path, None, &state, Fallback::Activity)
}

/// Measures the window of a session that the store knows; `None` if its transcript is gone.
///
/// Every list of sessions takes its figures from here or from [`measure`]: the store knows only what
/// the service counted, and nothing of what was appended since.
pub fn measure_known(world: &World, session: &SessionRow) -> std::io::Result<Option<Measured>> {
    let agent = plimsoll_agents::of_session(&session.id);
    let (Some(transcript), Some(agent)) = (&session.transcript, agent) else { return Ok(None) };
    let state = spool::state(&world.paths.spool_of(&session.id, None)).unwrap_or_default();
    load::measure(world, agent, transcript, None, &state, Fallback::Activity)
}

/// How many of a session's newest calls tell its pace.
const PACE_CALLS: u32 = 200;

/// How a session has grown, as the store tells it.
pub fn pace(store: &Store, session: &SessionId) -> anyhow::Result<GrowthSamples> {
    Ok(store.growth_samples(session, PACE_CALLS)?)
}

/// How far a session is from being compacted, or from a full window, if it goes on at its pace.
pub fn forecast(measured: &Measured, pace: Option<&GrowthSamples>) -> Forecast {
    let window = measured.window.tokens;
    let level = measured.trigger.within(window).unwrap_or(window);
    let samples = pace.map_or(&[][..], |pace| &pace.samples);
    forecast::look_ahead(measured.reading.used, level, samples)
}
