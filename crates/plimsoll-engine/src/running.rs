//! Which sessions run right now.

use std::fs;

use plimsoll_agents::{Agent, Running};
use plimsoll_core::event::SessionId;

use crate::paths::{self, Links};
use crate::world::World;

/// The sessions that run on this machine, as far as the client's own notes tell.
///
/// A client that was killed leaves its note behind, so its process is asked for too.
pub fn running(world: &World) -> Vec<SessionId> {
    let alive = noted(world).into_iter().filter(|noted| !paths::has_ended(noted.process));
    alive.map(|noted| noted.session).collect()
}

/// The sessions that the client has noted, whether their processes still are there or not.
pub(crate) fn noted(world: &World) -> Vec<Running> {
    plimsoll_agents::ALL.iter().flat_map(|agent| noted_by(world, *agent)).collect()
}

fn noted_by(world: &World, agent: &'static dyn Agent) -> Vec<Running> {
    let Some(liveness) = agent.liveness() else { return Vec::new() };
    let folder = world.with_home(agent, |home| liveness.folder(home));
    let notes = fs::read_dir(folder).into_iter().flatten().flatten();
    notes
        .filter_map(|note| {
            let text = paths::read_bytes(&note.path(), Links::Refused).ok()?;
            liveness.read(std::str::from_utf8(&text).ok()?)
        })
        .collect()
}
