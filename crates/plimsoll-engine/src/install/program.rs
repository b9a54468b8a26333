//! Finds a path to our own program for hooks that stays the same across upgrades.
//!
//! A package manager such as npm or pip keeps the program in a folder that the next upgrade moves
//! or removes. Hooks then call a copy in the data folder, which newer releases replace.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use plimsoll_agents::install::Version;

use super::client::on_path;
use crate::child;
use crate::paths::{self, canonical, is_same};
use crate::world::World;

/// Time limit for `--version`.
const PATIENCE: Duration = Duration::from_secs(5);

/// Our program, as hooks call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Path written into the hooks.
    pub path: PathBuf,
    /// The running program, if `path` is a copy of it.
    pub copied_from: Option<PathBuf>,
}

impl Program {
    /// Finds the path: the one on the user's PATH if that is the running program, else the running
    /// program's own path. If that path is short-lived, the copy in the data folder.
    pub fn find(world: &World) -> io::Result<Self> {
        let running = std::env::current_exe()?;
        let copy = world.paths.program_copy();
        if is_short_lived(&running) && !is_same(&running, &copy) {
            return Ok(Self { path: copy, copied_from: Some(running) });
        }
        Ok(Self { path: path_of(world, running), copied_from: None })
    }

    /// Reports whether the copy is missing, damaged, or a different build that is not newer.
    pub fn needs_copy(&self) -> bool {
        let Some(running) = &self.copied_from else { return false };
        !is_newer(&self.path) && !has_same_bytes(running, &self.path)
    }

    /// Makes the copy if necessary, and checks that it runs.
    pub fn copy(&self) -> io::Result<()> {
        match &self.copied_from {
            Some(running) if self.needs_copy() => replace(running, &self.path),
            _ => Ok(()),
        }
    }
}

/// Replaces the copy in the data folder, if there is one, if it is older than the running program
/// or does not run.
pub fn refresh_copy(world: &World) -> io::Result<()> {
    let copy = world.paths.program_copy();
    if !copy.exists() {
        return Ok(());
    }
    let running = std::env::current_exe()?;
    let is_outdated = || own_version(&copy) < current();
    match !is_same(&running, &copy) && is_outdated() {
        true => replace(&running, &copy),
        false => Ok(()),
    }
}

/// Returns the version of plimsoll at `program`; `None` if it does not run.
pub fn own_version(program: &Path) -> Option<Version> {
    let ran = child::run(Command::new(program).arg("--version"), Vec::new(), PATIENCE).ok()?;
    ran.status.filter(std::process::ExitStatus::success)?;
    Version::parse(String::from_utf8_lossy(&ran.stdout).strip_prefix("plimsoll ")?)
}

/// Reports whether a program is in a folder that a package manager or cache may remove.
pub fn is_short_lived(program: &Path) -> bool {
    const FOLDERS: [&str; 5] = ["node_modules", "site-packages", "dist-packages", "_npx", ".cache"];
    let program = canonical(program);
    let is_kept = |folder: &Path| {
        let name = folder.file_name().unwrap_or_default();
        FOLDERS.iter().any(|known| name == *known) || folder.join("pyvenv.cfg").is_file()
    };
    program.ancestors().skip(1).any(is_kept)
}

/// Returns the version of the running program; all crates have the same.
fn current() -> Option<Version> {
    Version::parse(env!("CARGO_PKG_VERSION"))
}

fn is_newer(copy: &Path) -> bool {
    own_version(copy) > current()
}

fn path_of(world: &World, running: PathBuf) -> PathBuf {
    let inode = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    let own = inode(&running);
    let name = running.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let known = on_path(world, &name).find(|program| own.is_some() && inode(program) == own);
    known.unwrap_or(running)
}

fn has_same_bytes(one: &Path, other: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).map(|found| found.len()).ok();
    size(one) == size(other)
        && matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

/// Replaces `copy` by a program atomically, and checks that it runs there.
fn replace(program: &Path, copy: &Path) -> io::Result<()> {
    let temporary = paths::temporary(copy);
    paths::make_folder(copy)?;
    let written = write(program, &temporary).and_then(|()| fs::rename(&temporary, copy));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    paths::sweep(copy);
    written?;
    // The copy is in place even if its folder cannot be synced.
    let _ =
        File::open(copy.parent().unwrap_or(Path::new("/"))).and_then(|folder| folder.sync_all());
    Ok(())
}

fn write(program: &Path, temporary: &Path) -> io::Result<()> {
    fs::copy(program, temporary)?;
    fs::set_permissions(temporary, fs::Permissions::from_mode(0o700))?;
    File::open(temporary)?.sync_all()?;
    match own_version(temporary) == current() {
        true => Ok(()),
        false => Err(io::Error::other("programs do not run in this folder")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_package_managers_do_not_last() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        for name in [
            "lib/node_modules/plimsoll/bin/plimsoll",
            ".npm/_npx/0a1b/node_modules/.bin/plimsoll",
            "lib/python3.12/site-packages/plimsoll/plimsoll",
            ".cache/uv/archive-v0/x/bin/plimsoll",
        ] {
            assert!(is_short_lived(&make(name)), "{name}");
        }
        make("venv/pyvenv.cfg");
        assert!(is_short_lived(&make("venv/bin/plimsoll")));
        for name in [".local/bin/plimsoll", ".cargo/bin/plimsoll", "usr/bin/plimsoll"] {
            assert!(!is_short_lived(&make(name)), "{name}");
        }
    }

    #[test]
    fn a_link_into_such_a_folder_does_not_last_either() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("node_modules/plimsoll");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        let link = folder.path().join("plimsoll");
        std::os::unix::fs::symlink(&program, &link).unwrap();
        assert!(is_short_lived(&link));
    }
}
