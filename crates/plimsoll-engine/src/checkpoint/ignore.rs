//! Keeps the mirrored count out of the user's `git status`.
//!
//! The checkpoints' folder ignores itself, but the count is beside it. Git has an exclude list that
//! applies to one clone and is never committed. The count goes there, so the user's `.gitignore`
//! stays unchanged.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open, openat};

use super::Place;
use super::folder::{COUNT, FILE, FOLDER};
use crate::{child, git, paths};

/// Adds the count to the exclude list unless git ignores it already. Only if the repository is in
/// the project folder itself: one elsewhere is not ours to change.
pub(super) fn keep_out_of_git(place: &Place) -> io::Result<()> {
    let Some(mut list) = list(&place.project)? else { return Ok(()) };
    let count = count(place);
    let line = line(place);
    let mut text = String::new();
    list.read_to_string(&mut text)?;
    if text.contains(&line) || !is_seen(&place.project, &count) {
        return Ok(());
    }
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    list.write_all(format!("{gap}{line}").as_bytes())
}

/// Reports whether the count is in the exclude list.
pub(super) fn is_excluded(place: &Place) -> bool {
    let mut text = String::new();
    let list = list(&place.project).ok().flatten();
    list.is_some_and(|mut list| list.read_to_string(&mut text).is_ok()) && has(&text, place)
}

/// Removes the count from the exclude list. Other lines stay.
pub(super) fn remove_line(place: &Place) -> io::Result<()> {
    let Some(mut list) = list(&place.project)? else { return Ok(()) };
    let mut text = String::new();
    list.read_to_string(&mut text)?;
    let line = line(place);
    let less: String = text.split_inclusive('\n').filter(|other| *other != line).collect();
    let path = list_of(&place.project);
    let temporary = paths::temporary(&path);
    let written = fs::write(&temporary, less)
        .and_then(|()| fs::set_permissions(&temporary, list.metadata()?.permissions()))
        .and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Returns the path of the exclude list of the repository in `project`.
pub(super) fn list_of(project: &Path) -> PathBuf {
    project.join(".git/info/exclude")
}

fn has(text: &str, place: &Place) -> bool {
    let line = line(place);
    text.split_inclusive('\n').any(|other| other == line)
}

/// Returns the path of the count, relative to the project.
fn count(place: &Place) -> PathBuf {
    Path::new(place.folder).parent().unwrap_or(Path::new("")).join(COUNT)
}

fn line(place: &Place) -> String {
    format!("/{}\n", count(place).display())
}

/// Opens the exclude list of the repository in `project` without following symbolic links; `None`
/// if there is none.
fn list(project: &Path) -> io::Result<Option<File>> {
    let flags = FILE | OFlags::RDWR | OFlags::APPEND;
    let open = || -> rustix::io::Result<File> {
        let project = open(project, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty())?;
        let repository = openat(project, ".git", FOLDER, Mode::empty())?;
        let info = openat(repository, "info", FOLDER, Mode::empty())?;
        Ok(openat(info, "exclude", flags, Mode::empty())?.into())
    };
    match open().map_err(io::Error::from) {
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        _ => Ok(None),
    }
}

/// Reports whether git would show the file as untracked.
fn is_seen(project: &Path, file: &Path) -> bool {
    const PATIENCE: Duration = Duration::from_millis(500);
    const NOT_IGNORED: i32 = 1;
    let mut command = git::command(project);
    command.args(["check-ignore", "--quiet", "--"]).arg(file);
    let ran = child::run(&mut command, Vec::new(), PATIENCE);
    ran.is_ok_and(|ran| ran.status.is_some_and(|status| status.code() == Some(NOT_IGNORED)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn place(project: &Path) -> Place {
        Place {
            project: project.to_owned(),
            folder: ".agent/checkpoints",
            other_folders: Vec::new(),
            is_other: false,
            index: project.join("index.json"),
            key: project.join("key"),
            patience: Duration::ZERO,
        }
    }

    fn repository() -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        let made = Command::new("git").args(["init", "-q"]).arg(project.path()).status().unwrap();
        assert!(made.success());
        project
    }

    #[test]
    fn the_count_is_ignored_once_and_in_this_clone_only() {
        let project = repository();
        let list = project.path().join(".git/info/exclude");
        fs::write(&list, "mine").unwrap();
        for _ in 0..2 {
            keep_out_of_git(&place(project.path())).unwrap();
        }
        assert_eq!(fs::read_to_string(&list).unwrap(), "mine\n/.agent/.checkpoint_iteration\n");
        assert!(!project.path().join(".gitignore").exists());
        assert!(is_excluded(&place(project.path())));
        remove_line(&place(project.path())).unwrap();
        assert_eq!(fs::read_to_string(&list).unwrap(), "mine\n");
        assert!(!is_excluded(&place(project.path())));
    }

    #[test]
    fn what_is_ignored_already_stays_as_it_is() {
        let project = repository();
        fs::write(project.path().join(".gitignore"), ".agent/\n").unwrap();
        let list = project.path().join(".git/info/exclude");
        let before = fs::read_to_string(&list).unwrap();
        keep_out_of_git(&place(project.path())).unwrap();
        assert_eq!(fs::read_to_string(&list).unwrap(), before);
    }

    #[test]
    fn no_link_leads_elsewhere() {
        let (project, elsewhere) = (repository(), tempfile::tempdir().unwrap());
        let target = elsewhere.path().join("exclude");
        fs::write(&target, "").unwrap();
        let info = project.path().join(".git/info");
        fs::remove_dir_all(&info).unwrap();
        symlink(elsewhere.path(), &info).unwrap();
        keep_out_of_git(&place(project.path())).unwrap();
        fs::remove_file(&info).unwrap();
        fs::create_dir(&info).unwrap();
        symlink(&target, info.join("exclude")).unwrap();
        keep_out_of_git(&place(project.path())).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "");
    }
}
