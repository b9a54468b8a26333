//! Removes the data folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Plan;
use super::file::{self, Failed};
use super::record::Record;
use crate::paths::{OWN_FOLDERS, Paths, holds, is_own_name};

/// Reason why the data folder was not removed.
#[derive(Debug, thiserror::Error)]
pub enum NotPurged {
    /// The folder cannot be ours alone.
    #[error("`{}` is not a folder of plimsoll's own", .0.display())]
    NotOurs(PathBuf),
    /// The folder contains foreign files.
    #[error("`{}` holds what is not plimsoll's: `{name}`", folder.display())]
    Foreign {
        folder: PathBuf,
        /// A foreign file in it.
        name: String,
    },
    /// Without our record, the installed files could not be restored.
    #[error("plimsoll is installed elsewhere too: {}", listed(files))]
    StillInstalled {
        /// Files that still contain plimsoll.
        files: Vec<PathBuf>,
        /// Commands that uninstall it.
        undo: Vec<String>,
    },
    /// The record of installed files cannot be read.
    #[error(transparent)]
    Record(#[from] Failed),
    #[error("could not remove `{}`", .0.display())]
    Io(PathBuf, #[source] io::Error),
}

fn listed(files: &[PathBuf]) -> String {
    files.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// A removal of the data folder that was checked to be safe.
#[derive(Debug)]
pub struct Purge<'a> {
    paths: &'a Paths,
    /// Folders that were made for the data folder, outermost first.
    made: Vec<PathBuf>,
}

impl<'a> Purge<'a> {
    /// Checks that everything may be removed once `removal` is carried out.
    pub fn check(paths: &'a Paths, removal: &Plan) -> Result<Self, NotPurged> {
        let folder = &paths.data;
        if folder.is_symlink() || holds(folder, &paths.home) || holds(folder, &paths.config) {
            return Err(NotPurged::NotOurs(folder.clone()));
        }
        let found = Found::list(folder)?;
        if !found.is_empty() && !is_marked(folder) {
            return Err(NotPurged::NotOurs(folder.clone()));
        }
        let record = Record::read(&paths.installed())?;
        check_uninstalled(&record, removal)?;
        Ok(Self { paths, made: record.data_folders })
    }

    /// Removes the data folder and the folders made for it. Returns whether it existed.
    pub fn carry_out(self) -> Result<bool, NotPurged> {
        let folder = &self.paths.data;
        let is_there = folder.exists();
        Found::list(folder)?.remove().map_err(|error| NotPurged::Io(folder.clone(), error))?;
        for folder in self.made.iter().rev() {
            // Fails if the folder is not empty, as intended.
            let _ = fs::remove_dir(folder);
        }
        Ok(is_there)
    }
}

/// Reports whether the folder's name or content identifies it as ours.
fn is_marked(folder: &Path) -> bool {
    let marks = ["store.sqlite", "installed.json", "spool"];
    folder.ends_with("plimsoll") || marks.iter().any(|mark| folder.join(mark).exists())
}

/// Fails if plimsoll is installed in files that `removal` does not cover: without the record, they
/// could neither be found nor restored exactly.
fn check_uninstalled(record: &Record, removal: &Plan) -> Result<(), NotPurged> {
    let goes = |path: &Path| removal.changes.iter().any(|change| change.path == path);
    let left = record.files.iter().filter(|(path, _)| !goes(path) && is_in(path));
    let (files, mut undo): (Vec<PathBuf>, Vec<String>) =
        left.map(|(path, entry)| (path.clone(), entry.undo.clone())).unzip();
    undo.sort();
    undo.dedup();
    if files.is_empty() { Ok(()) } else { Err(NotPurged::StillInstalled { files, undo }) }
}

/// Reports whether a file may contain something of ours: everything that we write has our name in
/// it.
fn is_in(path: &Path) -> bool {
    match file::read(path) {
        Ok(found) => found.text.is_some_and(|text| text.contains("plimsoll")),
        Err(_) => true,
    }
}

/// Content of the data folder, all of it ours.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    /// Folders, outermost first, that contain nothing but `files`.
    folders: Vec<PathBuf>,
    /// Folders to remove with all their content.
    trees: Vec<PathBuf>,
}

impl Found {
    /// Lists a data folder. Fails on any name that we do not use.
    fn list(data: &Path) -> Result<Self, NotPurged> {
        let mut found = Self::default();
        found.add(data, data, None)?;
        Ok(found)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.trees.is_empty() && self.folders.len() <= 1
    }

    fn add(&mut self, data: &Path, folder: &Path, own: Option<&str>) -> Result<(), NotPurged> {
        let failed = |error| NotPurged::Io(folder.to_owned(), error);
        let entries = match folder.read_dir() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(failed)?,
        };
        self.folders.push(folder.to_owned());
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            let name = entry.file_name().to_string_lossy().into_owned();
            match own {
                None if kind.is_dir() && OWN_FOLDERS.contains(&&*name) => {
                    self.add(data, &path, Some(&name))?;
                }
                _ if !is_own_name(own, &name) => return Err(foreign(data, &path)),
                Some("scratch" | "board" | "runs") if kind.is_dir() => self.trees.push(path),
                None
                | Some(
                    "spool" | "settings" | "work" | "receipts" | "backups" | "board" | "runs"
                    | "bin",
                ) if kind.is_file() => {
                    self.files.push(path);
                }
                _ => return Err(foreign(data, &path)),
            }
        }
        Ok(())
    }

    /// Removes everything listed. Files added since then stay, with their folder.
    fn remove(&self) -> io::Result<()> {
        for path in &self.files {
            match fs::remove_file(path) {
                // SQLite creates and removes some of its files itself.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        self.trees.iter().try_for_each(fs::remove_dir_all)?;
        self.folders.iter().rev().try_for_each(fs::remove_dir)
    }
}

fn foreign(data: &Path, path: &Path) -> NotPurged {
    let name = path.strip_prefix(data).unwrap_or(path).to_string_lossy().into_owned();
    NotPurged::Foreign { folder: data.to_owned(), name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(files: &[&str]) -> Result<Found, NotPurged> {
        let data = tempfile::tempdir().unwrap();
        for name in files {
            let path = data.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        Found::list(data.path())
    }

    #[test]
    fn all_that_we_name_is_ours() {
        let ours = [
            "store.sqlite-wal",
            "hook.log.1",
            "watch.lock",
            "reviews.json",
            "installed.json.bad-1763200000000",
            "installed.plimsoll-17.tmp",
            "spool/5f2c.jsonl",
            "spool/5f2c.a1.jsonl",
            "receipts/2026-11-16-004242-5f2c81aa",
            "settings/0123456789abcdef.bin",
            "settings/0123456789abcdef.json",
            "settings/0123456789abcdef.plimsoll-17.tmp",
            "backups/settings.json.1763200000000",
            "bin/plimsoll",
            "bin/plimsoll.plimsoll-17.tmp",
            "runs/019a8f00-0000-7000-8000-0123456789ab.jsonl",
            "runs/019a8f00-0000-7000-8000-0123456789ab/1-1.out",
            "scratch/17/whatever",
        ];
        assert_eq!(list(&ours).unwrap().files.len(), ours.len() - 2);
    }

    #[test]
    fn everything_else_is_somebody_elses() {
        for name in [
            "mine.tmp",
            "hook.logs",
            "backups/db.dump",
            "backups/2024/db.dump",
            "settings/app.json",
            "spool/mail.txt",
            "spool/a.b.c.jsonl",
            "scratch/notes.txt",
            "scratch/1",
            "runs/notes.jsonl",
            "bin/mine",
        ] {
            let found = list(&["store.sqlite", name]);
            let is_foreign = matches!(&found, Err(NotPurged::Foreign { name: told, .. })
                if name.starts_with(told.as_str()));
            assert!(is_foreign, "{name}");
        }
    }
}
