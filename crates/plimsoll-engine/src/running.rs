//! Which sessions run right now.

use std::fs;

use plimsoll_agents::{Adapter, Running};
use plimsoll_core::event::SessionId;

use crate::paths::{self, Links};
use crate::world::World;

/// The sessions that run on this machine, as far as the client's own notes tell.
///
/// A client that was killed leaves its note behind, so its process is asked for too.
pub fn running(world: &World, adapter: &dyn Adapter) -> Vec<SessionId> {
    let alive = noted(world, adapter).into_iter().filter(|noted| !paths::has_ended(noted.process));
    alive.map(|noted| noted.session).collect()
}

/// The sessions that the client has noted, whether their processes still are there or not.
pub(crate) fn noted(world: &World, adapter: &dyn Adapter) -> Vec<Running> {
    let folder = world.with_home(adapter, |home| adapter.running_folder(home));
    let notes = fs::read_dir(folder).into_iter().flatten().flatten();
    notes
        .filter_map(|note| {
            let text = paths::read_bytes(&note.path(), Links::Refused).ok()?;
            adapter.running(std::str::from_utf8(&text).ok()?)
        })
        .collect()
}
