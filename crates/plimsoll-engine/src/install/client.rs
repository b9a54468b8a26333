//! The programs that an installation is about: the agent's client, and our own.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_agents::install::{Installer, Version};

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

/// Our own program by a path that stays the same over upgrades: the one on the user's path if that is
/// us, links included, else where the running program lies.
pub fn own_program(world: &World) -> std::io::Result<PathBuf> {
    let running = std::env::current_exe()?;
    let inode = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    let own = inode(&running);
    let name = running.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let known = on_path(world, &name).find(|program| own.is_some() && inode(program) == own);
    Ok(known.unwrap_or(running))
}

/// The version of the client at `program`, if it tells it in time.
pub fn version(installer: &dyn Installer, program: &Path) -> Option<Version> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let ended = wait(&mut child);
    if !ended {
        // It may have ended in this very moment; either way it is gone after the wait.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut printed = String::new();
    child.stdout?.take(4096).read_to_string(&mut printed).ok()?;
    installer.version(&printed)
}

fn wait(child: &mut Child) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}
