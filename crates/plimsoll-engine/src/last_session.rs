//! Finds the last interactive session of a project.

use std::path::Path;
use std::time::{Duration, SystemTime};

use plimsoll_agents::{Agent, Layout};
use plimsoll_core::event::SessionId;
use plimsoll_core::policy::Ending;
use plimsoll_core::reading::Scope;

use crate::jsonl::JsonLines;
use crate::load::Ground;
use crate::running::running;
use crate::sessions::{self, Found};
use crate::spool;
use crate::world::World;

/// Finds the interactive session of `project` that wrote last, other than the one with the
/// transcript `own`. Sessions silent for more than a day are ignored: their checkpoint is too old
/// to be offered unasked.
pub(crate) fn find(
    world: &World,
    agent: &'static dyn Agent,
    own: &Path,
    project: &Path,
) -> Option<Found> {
    let Layout { root, depth, folder_per_project } = sessions::layout(world, agent);
    let folders = match folder_per_project {
        true => sessions::folders(own.parent()?.to_owned(), 0),
        false => sessions::folders(root, depth),
    };
    let others = folders.flat_map(|folder| sessions::transcripts(agent, folder));
    let mut others: Vec<Found> =
        others.filter(|found| found.path != own && is_recent(found)).collect();
    others.sort_by_key(|found| std::cmp::Reverse(found.modified));
    others.into_iter().find(|found| is_interactive(world, agent, found, project))
}

fn is_recent(found: &Found) -> bool {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    // A modification time in the future means that the clock was set back; the file counts as new.
    SystemTime::now().duration_since(found.modified).unwrap_or_default() < DAY
}

fn is_interactive(world: &World, agent: &'static dyn Agent, found: &Found, project: &Path) -> bool {
    let Ok(Some(file)) = JsonLines::open(&found.path) else { return false };
    let is_here = Ground::of(agent, &file)
        .is_ok_and(|ground| ground.scope == Scope::Main && ground.project == project);
    is_here && !was_started_headless(world, &found.owner.session) && !is_headless(agent, &file)
}

/// Reports whether our hooks saw that the session was started headless.
pub(crate) fn was_started_headless(world: &World, session: &SessionId) -> bool {
    spool::state(&world.paths.spool_of(session, None)).is_ok_and(|state| state.headless)
}

/// Reports whether both the first and the last lines of a transcript are headless. A session that a
/// person resumed is interactive.
fn is_headless(agent: &'static dyn Agent, file: &JsonLines) -> bool {
    const LINES: usize = 32;
    let is_headless =
        |line: &[u8]| Some(agent.profile().is_headless(&agent.transcript().entry_point_of(line)?));
    let (mut forward, mut backward) = (file.forward(0), file.backward());
    let first = (0..LINES).find_map(|_| is_headless(forward.next().ok()??.bytes));
    let last = (0..LINES).find_map(|_| is_headless(backward.next().ok()??.bytes));
    first == Some(true) && last == Some(true)
}

/// Returns how a session ended.
pub(crate) fn ending(world: &World, found: &Found) -> Ending {
    let session = &found.owner.session;
    let last = spool::last(&world.paths.spool_of(session, None)).ok().flatten();
    let has_ended = last.as_ref().is_some_and(|last| last.what == spool::ENDED);
    if !has_ended && running(world).contains(session) {
        return Ending::Running;
    }
    // Without a spool record our hooks never saw the session, so its ending is unknown.
    if last.is_some() && !has_ended {
        return Ending::CutOff;
    }
    let measured = sessions::measure(world, found).ok().flatten();
    match measured.is_some_and(|measured| measured.reading.used >= measured.levels.save) {
        true => Ending::NearlyFull,
        false => Ending::Finished,
    }
}
