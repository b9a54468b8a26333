//! Finds the project that a folder belongs to.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plimsoll_agents::{Agent, Layout};

use crate::checkpoint::{self, Place};
use crate::load;
use crate::paths;
use crate::sessions;
use crate::world::World;

/// Returns the project that `folder` belongs to: the nearest folder at or above it with checkpoints
/// or a past session, or `folder` itself if there is none.
///
/// The search ends at the root of the repository. Outside of repositories it ends below the home
/// folder, which contains everything else too, and only checkpoints that we sealed count.
pub fn enclosing(world: &World, folder: &Path) -> PathBuf {
    let home = paths::canonical(&world.paths.home);
    let root = load::repository_root(folder);
    let is_inside = |above: &&Path| match root {
        Some(root) => above.starts_with(root) && (*above == home || !home.starts_with(above)),
        None => *above == folder || !home.starts_with(above),
    };
    let has_checkpoints = |folder: &Path| {
        let place = Place::of_project(world, folder.to_owned());
        match root {
            Some(_) => place.is_there(),
            None => checkpoint::newest_own(&place).is_ok_and(|newest| newest.is_some()),
        }
    };
    let held = OnceCell::new();
    let had_session =
        |folder: &Path| held.get_or_init(|| projects_of_sessions(world)).contains(folder);
    let mut folders = folder.ancestors().take_while(is_inside);
    let nearest = folders.find(|folder| has_checkpoints(folder) || had_session(folder));
    nearest.unwrap_or(folder).to_owned()
}

/// Returns the projects of all past sessions.
fn projects_of_sessions(world: &World) -> BTreeSet<PathBuf> {
    let agents = plimsoll_agents::ALL.iter();
    agents.flat_map(|agent| projects_of_agent(world, *agent)).collect()
}

fn projects_of_agent(world: &World, agent: &'static dyn Agent) -> BTreeSet<PathBuf> {
    let Layout { root, depth, folder_per_project } = sessions::layout(world, agent);
    let of_folder = |folder: PathBuf| -> Vec<PathBuf> {
        let projects =
            sessions::transcripts(agent, folder).filter_map(|found| sessions::project(&found));
        // The sessions of one project share a folder, so one of them is enough.
        if folder_per_project { projects.take(1).collect() } else { projects.collect() }
    };
    sessions::folders(root, depth).flat_map(of_folder).collect()
}
