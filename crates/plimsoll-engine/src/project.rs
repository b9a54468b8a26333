//! Which project a folder belongs to.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_agents::Adapter;

use crate::checkpoint::{self, Place};
use crate::load;
use crate::paths;
use crate::sessions;
use crate::world::World;

/// Returns the project that `folder` belongs to: the nearest folder from there upwards that has
/// checkpoints, or in which a session was held; `folder` itself if there is none.
///
/// The search ends at the root of the repository. Outside of repositories it ends below the home folder,
/// which holds everything else as well, and only checkpoints that we sealed count.
pub fn enclosing(world: &World, adapter: &dyn Adapter, folder: &Path) -> PathBuf {
    let home = paths::canonical(&world.paths.home);
    let root = load::repository_root(folder);
    let is_inside = |above: &&Path| match root {
        Some(root) => above.starts_with(root) && (*above == home || !home.starts_with(above)),
        None => *above == folder || !home.starts_with(above),
    };
    let has_checkpoints = |folder: &Path| {
        let place = Place::of(world, adapter, folder.to_owned());
        match root {
            Some(_) => place.path().is_dir(),
            None => checkpoint::newest_own(&place).is_ok_and(|newest| newest.is_some()),
        }
    };
    let held = OnceCell::new();
    let had_session =
        |folder: &Path| held.get_or_init(|| projects_of_sessions(world, adapter)).contains(folder);
    let mut folders = folder.ancestors().take_while(is_inside);
    let nearest = folders.find(|folder| has_checkpoints(folder) || had_session(folder));
    nearest.unwrap_or(folder).to_owned()
}

/// The projects in which sessions were held. The transcripts of one project lie in one folder, so one
/// of each folder is looked at.
fn projects_of_sessions(world: &World, adapter: &dyn Adapter) -> BTreeSet<PathBuf> {
    let root = world.with_home(adapter, |home| adapter.transcripts(home));
    let folders = fs::read_dir(root).into_iter().flatten().flatten();
    let project = |folder: PathBuf| {
        let mut transcripts = sessions::transcripts(adapter, folder);
        transcripts.find_map(|found| sessions::project(adapter, &found))
    };
    folders.filter_map(|folder| project(folder.path())).collect()
}
