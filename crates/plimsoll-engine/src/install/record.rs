//! What `init` did to which file, so that `uninstall` can undo it to the byte.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_agents::install::Installed;
use serde::{Deserialize, Serialize};

use super::file::Failed;
use crate::paths::{self, SET_ASIDE};
use crate::world::now;

/// All that was installed, by file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) files: BTreeMap<PathBuf, Entry>,
    /// The folders that were made for our own data, outermost first.
    #[serde(default)]
    pub(super) data_folders: Vec<PathBuf>,
    /// There is a record that cannot be understood.
    #[serde(skip)]
    pub(super) is_damaged: bool,
}

/// What was done to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The text without us; nothing if there was no file.
    pub(super) before: Option<String>,
    /// The text that was written.
    pub(super) after: String,
    /// The folders that were made for it, outermost first.
    pub(super) made: Vec<PathBuf>,
    /// Copies of what was there.
    pub(super) backups: Vec<PathBuf>,
    /// The command that takes us out of it again, from any folder.
    pub(super) undo: String,
}

impl Entry {
    pub(super) fn installed(&self) -> Installed<'_> {
        Installed { before: self.before.as_deref().unwrap_or_default(), after: &self.after }
    }

    /// What is left of a text without us; nothing if we had made the file, and nobody else wrote
    /// anything into it.
    pub(super) fn unless_gone(&self, text: &str, less: String) -> Option<String> {
        let gone = self.before.is_none() && less.trim().is_empty() && less != text;
        (!gone).then_some(less)
    }
}

impl Record {
    /// The record at `path`. One that cannot be understood tells nothing: files are then undone by
    /// what they say.
    pub(super) fn read(path: &Path) -> Result<Self, Failed> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.map_err(|error| Failed::to("read", path, error))?,
        };
        let damaged = |_| Self { is_damaged: true, ..Self::default() };
        Ok(serde_json::from_slice(&bytes).unwrap_or_else(damaged))
    }

    /// Puts a record that cannot be understood where no other is written over it, and tells where.
    pub(super) fn set_aside(&mut self, path: &Path) -> io::Result<Option<PathBuf>> {
        if !std::mem::take(&mut self.is_damaged) {
            return Ok(None);
        }
        let aside = path.with_file_name(format!("{SET_ASIDE}{}", now()));
        fs::rename(path, &aside).map(|()| Some(aside))
    }

    /// Writes the record, or removes it if nothing is left in it.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        if !self.files.is_empty() {
            return paths::replace(path, &serde_json::to_vec(self)?);
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}
