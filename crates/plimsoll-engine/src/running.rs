//! Which sessions run right now.

use std::fs;

use plimsoll_agents::Adapter;
use plimsoll_core::event::SessionId;

use crate::paths::{self, Links};
use crate::world::World;

/// The sessions that run on this machine, as far as the client's own notes tell.
///
/// A client that was killed leaves its note behind, so its process is asked for too.
pub fn running(world: &World, adapter: &dyn Adapter) -> Vec<SessionId> {
    let folder = world.with_home(adapter, |home| adapter.running_folder(home));
    let notes = fs::read_dir(folder).into_iter().flatten().flatten();
    notes
        .filter_map(|note| {
            let text = paths::read_bytes(&note.path(), Links::Refused).ok()?;
            let running = adapter.running(std::str::from_utf8(&text).ok()?)?;
            (!paths::has_ended(running.process)).then_some(running.session)
        })
        .collect()
}
