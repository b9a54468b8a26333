//! The session that was last held in a project by a person.

use std::path::Path;
use std::time::{Duration, SystemTime};

use plimsoll_agents::Adapter;
use plimsoll_core::event::SessionId;
use plimsoll_core::policy::Ending;
use plimsoll_core::reading::Scope;

use crate::jsonl::JsonLines;
use crate::load::Ground;
use crate::running::running;
use crate::sessions::{self, Found};
use crate::spool;
use crate::world::World;

/// Finds the interactive session of `project` that wrote last, other than the one whose transcript is
/// `own`. A session that has been silent for more than a day is not looked for: its checkpoint is too
/// old to be given without being asked for.
pub(crate) fn find(
    world: &World,
    adapter: &dyn Adapter,
    own: &Path,
    project: &Path,
) -> Option<Found> {
    let others = sessions::transcripts(adapter, own.parent()?.to_owned());
    let mut others: Vec<Found> =
        others.filter(|found| found.path != own && is_recent(found)).collect();
    others.sort_by_key(|found| std::cmp::Reverse(found.modified));
    others.into_iter().find(|found| is_interactive(world, adapter, found, project))
}

fn is_recent(found: &Found) -> bool {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    // A modification time in the future means that the clock was set back; the file counts as new.
    SystemTime::now().duration_since(found.modified).unwrap_or_default() < DAY
}

fn is_interactive(world: &World, adapter: &dyn Adapter, found: &Found, project: &Path) -> bool {
    let Ok(Some(file)) = JsonLines::open(&found.path) else { return false };
    let is_here = Ground::of(adapter, &file)
        .is_ok_and(|ground| ground.scope == Scope::Main && ground.project == project);
    is_here && !was_started_headless(world, &found.owner.session) && !is_headless(adapter, &file)
}

/// Whether our hooks saw that the session was started without a person.
pub(crate) fn was_started_headless(world: &World, session: &SessionId) -> bool {
    spool::state(&world.paths.spool_of(session, None)).is_ok_and(|state| state.headless)
}

/// Whether a transcript was written without a person from beginning to end. A session that a person
/// has resumed is theirs.
fn is_headless(adapter: &dyn Adapter, file: &JsonLines) -> bool {
    const LINES: usize = 32;
    let is_headless = |line: &[u8]| Some(adapter.is_headless(&adapter.entry_point_of(line)?));
    let (mut forward, mut backward) = (file.forward(0), file.backward());
    let first = (0..LINES).find_map(|_| is_headless(forward.next().ok()??.bytes));
    let last = (0..LINES).find_map(|_| is_headless(backward.next().ok()??.bytes));
    first == Some(true) && last == Some(true)
}

/// How a session ended.
pub(crate) fn ending(world: &World, adapter: &dyn Adapter, found: &Found) -> Ending {
    let session = &found.owner.session;
    let last = spool::last(&world.paths.spool_of(session, None)).ok().flatten();
    let has_ended = last.as_ref().is_some_and(|last| last.what == spool::ENDED);
    if !has_ended && running(world, adapter).contains(session) {
        return Ending::Running;
    }
    // Without a spool line our hooks never saw the session, so its ending is unknown.
    if last.is_some() && !has_ended {
        return Ending::CutOff;
    }
    let measured = sessions::measure(world, adapter, found).ok().flatten();
    match measured.is_some_and(|measured| measured.reading.used >= measured.levels.save) {
        true => Ending::NearlyFull,
        false => Ending::Finished,
    }
}
