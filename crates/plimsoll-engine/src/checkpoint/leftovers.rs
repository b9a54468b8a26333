//! Finds and removes what plimsoll has written into a project.
//!
//! Only files known to be ours are removed: unchanged checkpoints with our MAC, and our other files
//! beside them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_extract::checkpoint::{CheckpointProblem, MAX_READ_BYTES, SealOrigin};

use super::folder::{COUNT, Folder, LOCK};
use super::list::{self, Listed, NotFound};
use super::{Place, ignore, key};
use crate::board;

/// Our files in one project.
#[derive(Debug)]
pub struct Leftovers {
    place: Place,
    /// Ids of our checkpoints.
    checkpoints: Vec<String>,
    /// Names of foreign files in the checkpoints' folder.
    foreign: Vec<String>,
    /// Names of our other files in the checkpoints' folder.
    companions: Vec<String>,
    has_folder: bool,
    has_count: bool,
    is_excluded: bool,
    has_board: bool,
}

/// Finds our files in the project of a place; `None` if there are none.
pub fn leftovers(place: &Place) -> Result<Option<Leftovers>, NotFound> {
    let mut found = Leftovers {
        place: place.clone(),
        checkpoints: Vec::new(),
        foreign: Vec::new(),
        companions: Vec::new(),
        has_folder: false,
        has_count: false,
        is_excluded: ignore::is_excluded(place),
        has_board: board::is_mirrored(&place.project),
    };
    if let Some(folder) = Folder::open(place)? {
        found.look_into(&folder)?;
    }
    Ok((!found.is_empty()).then_some(found))
}

impl Leftovers {
    fn look_into(&mut self, folder: &Folder) -> Result<(), NotFound> {
        let failed = |error| NotFound::Io(self.place.path(), error);
        let key = key::read(&self.place.key)?;
        let ids = folder.ids().map_err(failed)?;
        for id in ids {
            let listed = list::look(&self.place, folder, key.as_ref(), id, MAX_READ_BYTES);
            match is_ours(&listed) {
                true => self.checkpoints.push(listed.id),
                false => self.foreign.push(file_name(&listed.path)),
            }
        }
        let (companions, foreign) = folder.companions().map_err(failed)?;
        self.foreign.extend(foreign);
        // If we never sealed anything in the folder, it is not ours.
        if self.checkpoints.is_empty() && !companions.iter().any(|name| name == LOCK) {
            return Ok(());
        }
        self.companions = companions;
        self.has_folder = true;
        self.has_count = folder.has_own_count();
        Ok(())
    }

    fn is_empty(&self) -> bool {
        !(self.has_folder || self.has_count || self.is_excluded || self.has_board)
    }

    pub fn project(&self) -> &Path {
        &self.place.project
    }

    /// Lists the files that will be removed or changed, with a note on the affected part.
    pub fn described(&self) -> Vec<String> {
        let count = match self.checkpoints.len() {
            1 => "1 checkpoint".to_owned(),
            many => format!("{many} checkpoints"),
        };
        let folder = format!("{} ({count})", self.place.path().display());
        let exclude = format!("{} (one line)", ignore::list_of(&self.place.project).display());
        let parts = [
            (self.has_folder, folder),
            (self.has_count, self.count().display().to_string()),
            (self.is_excluded, exclude),
            (self.has_board, board::mirror_of(&self.place.project).display().to_string()),
        ];
        parts.into_iter().filter_map(|(is_there, text)| is_there.then_some(text)).collect()
    }

    /// Returns the foreign files beside the checkpoints, which stay.
    pub fn foreign(&self) -> Vec<PathBuf> {
        self.foreign.iter().map(|name| self.place.path().join(name)).collect()
    }

    fn count(&self) -> PathBuf {
        let folder = self.place.path();
        folder.parent().unwrap_or(Path::new("/")).join(COUNT)
    }

    /// Removes our files. Returns a sentence for each failure.
    pub fn remove(&self) -> Vec<String> {
        let mut failures = Vec::new();
        let mut note = |what: PathBuf, done: io::Result<()>| {
            failures.extend(
                done.err()
                    .map(|error| format!("could not remove all of `{}`: {error}", what.display())),
            );
        };
        if self.has_folder {
            note(self.place.path(), self.remove_folder());
        }
        if self.is_excluded {
            note(ignore::list_of(self.project()), ignore::remove_line(&self.place));
        }
        if self.has_board {
            note(board::mirror_of(self.project()), board::remove_mirror(self.project()));
        }
        // Also removes the agent's folder, if it is empty.
        let _ = self.place.path().parent().map(fs::remove_dir);
        failures
    }

    fn remove_folder(&self) -> io::Result<()> {
        let opened = Folder::open(&self.place).map_err(io::Error::other)?;
        let Some(folder) = opened else { return Ok(()) };
        let _locked = folder.lock(self.place.deadline())?;
        for id in &self.checkpoints {
            folder.remove(id)?;
        }
        if self.has_count {
            folder.remove_count()?;
        }
        folder.remove_companions(&self.companions, self.foreign.is_empty())?;
        if self.foreign.is_empty() {
            fs::remove_dir(self.place.path())?;
        }
        Ok(())
    }
}

/// Reports whether we sealed a file and it is unchanged. A copy in another project is ours too.
fn is_ours(listed: &Listed) -> bool {
    let moved = |problem: &CheckpointProblem| {
        matches!(problem, CheckpointProblem::Renamed | CheckpointProblem::OtherProject)
    };
    listed.verdict.origin == SealOrigin::Own && listed.verdict.problems.iter().all(moved)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
