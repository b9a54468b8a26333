//! A temporary home folder, in `TMPDIR` if set, otherwise in memory (`/dev/shm`) if available.

use std::fs;
use std::path::PathBuf;

use plimsoll_agents::{Agent, Step};
use plimsoll_engine::world::World;
use tempfile::TempDir;

/// Returns the agent whose formats are fuzzed.
pub(crate) fn agent() -> &'static dyn Agent {
    plimsoll_agents::DEFAULT
}

/// A temporary home folder with a project in it.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let given = std::env::var_os("TMPDIR").map(PathBuf::from);
        let memory = Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
        let parent = given.or(memory).unwrap_or_else(std::env::temp_dir);
        let folder = TempDir::with_prefix_in("plimsoll-fuzz-", parent).unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder }
    }

    /// Creates the environment of a user with this home folder and these variables.
    pub(crate) fn env(&self, variables: &'static [(&str, &str)]) -> World {
        let home = self.folder.path().to_str().unwrap().to_owned();
        let env = move |name: &str| match name {
            "HOME" => Some(home.clone()),
            _ => variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).into()),
        };
        World::new(Box::new(env)).unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Returns the transcript of a recorded session, with its paths moved to this home folder.
    pub(crate) fn recorded_transcript(&self) -> String {
        let home = self.folder.path().to_str().unwrap();
        let records = agent().sample().unwrap().steps(home).filter_map(|step| match step {
            Step::Record(line) => Some(line + "\n"),
            Step::Hook(_) => None,
        });
        records.collect()
    }

    /// Writes a file and returns its path.
    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}
