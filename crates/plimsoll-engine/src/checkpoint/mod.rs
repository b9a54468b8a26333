//! Checkpoints on disk: never a phantom, never a forgery.
//!
//! A checkpoint that is reported is there, whole, and ours. The file is the truth; the index, the
//! link to the newest and the mirrored count are derived from it, and made again where they are
//! lost. A project may be anybody's: what lies in it is opened without following links, and what we
//! have not sealed is listed but never taken for ours.

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

use std::path::PathBuf;
use std::time::{Duration, Instant};

use plimsoll_agents::Adapter;

use crate::world::World;

pub(crate) use file::replace_for_good;
pub use folder::Closed;
pub use key::Unusable;
pub use leftovers::{Leftovers, leftovers};
pub use list::{Listed, NotFound, find, ids, list, newest_fitting, newest_own, read_own, text};
pub use prune::{Pruned, outlived, prune};
pub use seal::{Draft, Sealed, Unsealed, seal};
pub use verify::{Checked, phantoms, verify_all, verify_file, verify_listed};

/// Where the checkpoints of a project are, and what they are sealed with.
#[derive(Clone, Debug)]
pub struct Place {
    /// The project, without links in its path.
    pub project: PathBuf,
    /// The folder in it.
    pub folder: &'static str,
    /// The file that lists the checkpoints of all projects.
    pub index: PathBuf,
    /// The file of the user's key.
    pub key: PathBuf,
    /// How long a call may wait for others in all; then it does without.
    pub patience: Duration,
}

impl Place {
    /// Where `adapter`'s agent has the checkpoints of `project`.
    pub fn of(world: &World, adapter: &dyn Adapter, project: PathBuf) -> Self {
        Self {
            project,
            folder: adapter.checkpoint_folder(),
            index: world.with_home(adapter, |home| adapter.checkpoint_index(home)),
            key: world.paths.checkpoint_key(),
            patience: Duration::from_millis(1_500),
        }
    }

    /// Until when a call that begins now may wait for others.
    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }

    /// The same place in another project.
    fn in_project(&self, project: PathBuf) -> Self {
        Self { project, ..self.clone() }
    }

    /// The folder of the checkpoints.
    pub fn path(&self) -> PathBuf {
        self.project.join(self.folder)
    }

    /// Where a checkpoint's file is, or would be.
    pub fn file(&self, id: &str) -> PathBuf {
        self.path().join(format!("{id}{}", plimsoll_extract::checkpoint::ENDING))
    }
}
