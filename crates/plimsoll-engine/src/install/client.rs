//! Finds the agent's client and its version.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use plimsoll_agents::install::{Installer, Version};

use crate::child;
use crate::world::World;

/// Time limit for `--version`.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns the programs called `name` on the user's PATH, in order of precedence.
pub fn on_path(world: &World, name: &str) -> impl Iterator<Item = PathBuf> {
    let path = world.env("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let name = name.to_owned();
    let programs = folders.into_iter().filter(|folder| folder.is_absolute());
    programs.map(move |folder| folder.join(&name)).filter(|program| is_executable(program))
}

pub fn is_executable(program: &Path) -> bool {
    let metadata = fs::metadata(program);
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Returns the version of the client at `program`; `None` if it does not print one in time.
pub fn version(installer: &dyn Installer, program: &Path) -> Option<Version> {
    let ran = child::run(Command::new(program).arg("--version"), Vec::new(), PATIENCE).ok()?;
    ran.status?;
    installer.version(&String::from_utf8_lossy(&ran.stdout))
}
