//! Checkpoints on disk.
//!
//! A checkpoint that is reported exists, is intact and was sealed by us. The file is the source of
//! truth; the index, the link to the newest checkpoint and the mirrored count are derived from the
//! files and rebuilt if lost. A project may be untrusted: files in it are opened without following
//! symbolic links, and files that we did not seal are listed but never treated as ours.

mod file;
mod folder;
mod ignore;
pub mod index;
mod key;
mod leftovers;
mod list;
mod prune;
mod seal;
mod verify;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_agents::Agent;

use crate::world::World;

pub(crate) use file::replace_for_good;
pub use folder::Closed;
pub use key::Unusable;
pub use leftovers::{Leftovers, leftovers};
pub use list::{Listed, NotFound, find, ids, list, newest_fitting, newest_own, read_own, text};
pub use prune::{Pruned, outlived, prune};
pub use seal::{Draft, Sealed, Unsealed, seal};
pub use verify::{Checked, phantoms, verify_all, verify_file, verify_listed};

/// Location of a project's checkpoints, and of the key that seals them.
#[derive(Clone, Debug)]
pub struct Place {
    /// The project, without symbolic links in its path.
    pub project: PathBuf,
    /// Folder in the project that checkpoints are written to.
    pub folder: &'static str,
    /// Folders of other agents, whose checkpoints are read as well.
    pub other_folders: Vec<&'static str>,
    /// This is the folder of another agent than the one that reads.
    pub is_other: bool,
    /// File that lists the checkpoints of all projects.
    pub index: PathBuf,
    /// File of the user's key.
    pub key: PathBuf,
    /// Total time that a call may wait for locks.
    pub patience: Duration,
}

impl Place {
    /// Returns the place where `agent` has the checkpoints of `project`.
    pub fn of(world: &World, agent: &'static dyn Agent, project: PathBuf) -> Self {
        Self {
            project,
            folder: agent.profile().checkpoint_folder,
            other_folders: other_folders(agent),
            is_other: false,
            index: world
                .with_home(agent, |home| agent.client().checkpoint_index(home))
                .unwrap_or_else(|| world.paths.checkpoint_index()),
            key: world.paths.checkpoint_key(),
            patience: Duration::from_millis(1_500),
        }
    }

    /// Returns the place of a project's checkpoints for readers, who get one list over all agents.
    pub fn of_project(world: &World, project: PathBuf) -> Self {
        Self::of(world, plimsoll_agents::DEFAULT, project)
    }

    /// Returns one place per folder of a project, for changing or removing checkpoints.
    pub fn of_all_agents(world: &World, project: &Path) -> Vec<Self> {
        let mut places: Vec<Self> = Vec::new();
        for agent in plimsoll_agents::ALL {
            let place = Self::of(world, *agent, project.to_owned()).alone();
            if places.iter().all(|known| known.folder != place.folder) {
                places.push(place);
            }
        }
        places
    }

    /// Returns this place without the folders of other agents.
    fn alone(&self) -> Self {
        Self { other_folders: Vec::new(), ..self.clone() }
    }

    /// Returns one place per folder that is read, its own first.
    fn each_folder(&self) -> impl Iterator<Item = Self> {
        let others =
            self.other_folders.iter().map(|folder| Self { folder, is_other: true, ..self.alone() });
        std::iter::once(self.alone()).chain(others.collect::<Vec<_>>())
    }

    /// Returns the deadline for waiting in a call that begins now.
    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }

    /// Returns this place in another project.
    fn in_project(&self, project: PathBuf) -> Self {
        Self { project, ..self.clone() }
    }

    /// Returns the folder of the checkpoints.
    pub fn path(&self) -> PathBuf {
        self.project.join(self.folder)
    }

    /// Reports whether any of the folders exists.
    pub fn is_there(&self) -> bool {
        self.each_folder().any(|place| place.path().is_dir())
    }

    /// Returns the path of a checkpoint's file, which need not exist.
    pub fn file(&self, id: &str) -> PathBuf {
        self.path().join(format!("{id}{}", plimsoll_extract::checkpoint::EXTENSION))
    }
}

/// Returns the checkpoint folders of the other agents.
fn other_folders(agent: &'static dyn Agent) -> Vec<&'static str> {
    let own = agent.profile().checkpoint_folder;
    let mut folders: Vec<&'static str> =
        plimsoll_agents::ALL.iter().map(|agent| agent.profile().checkpoint_folder).collect();
    folders.retain(|folder| *folder != own);
    folders.dedup();
    folders
}
