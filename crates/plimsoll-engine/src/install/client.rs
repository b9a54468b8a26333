//! The agent's client: where it is, and its version.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use plimsoll_agents::install::{Installer, Version};

use crate::child;
use crate::world::World;

/// How long a client may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// The programs called `name` on the user's path, first the one that is run.
pub fn on_path(world: &World, name: &str) -> impl Iterator<Item = PathBuf> {
    let path = world.env("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let name = name.to_owned();
    let programs = folders.into_iter().filter(|folder| folder.is_absolute());
    programs.map(move |folder| folder.join(&name)).filter(|program| is_executable(program))
}

/// Whether there is a program at a path.
pub fn is_executable(program: &Path) -> bool {
    let metadata = fs::metadata(program);
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The version of the client at `program`, if it tells it in time.
pub fn version(installer: &dyn Installer, program: &Path) -> Option<Version> {
    let ran = child::run(Command::new(program).arg("--version"), Vec::new(), PATIENCE).ok()?;
    ran.status?;
    installer.version(&String::from_utf8_lossy(&ran.stdout))
}
