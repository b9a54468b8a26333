//! The record of what `init` changed, so that `uninstall` can restore each file exactly.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_agents::install::Installed;
use serde::{Deserialize, Serialize};

use super::file::Failed;
use crate::paths::{self, SET_ASIDE};
use crate::world::now;

/// All installed files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) files: BTreeMap<PathBuf, Entry>,
    /// Folders that were made for our data folder, outermost first.
    #[serde(default)]
    pub(super) data_folders: Vec<PathBuf>,
    /// The record exists but cannot be parsed.
    #[serde(skip)]
    pub(super) is_damaged: bool,
}

/// Changes to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Text without plimsoll; `None` if there was no file.
    pub(super) before: Option<String>,
    /// Text that was written.
    pub(super) after: String,
    /// Folders that were made for the file, outermost first.
    pub(super) made: Vec<PathBuf>,
    pub(super) backups: Vec<PathBuf>,
    /// Command that uninstalls from the file, from any folder.
    pub(super) undo: String,
}

impl Entry {
    pub(super) fn installed(&self) -> Installed<'_> {
        Installed { before: self.before.as_deref().unwrap_or_default(), after: &self.after }
    }

    /// Returns the text without plimsoll; `None` if we made the file and nothing else is in it.
    pub(super) fn unless_gone(&self, text: &str, less: String) -> Option<String> {
        let gone = self.before.is_none() && less.trim().is_empty() && less != text;
        (!gone).then_some(less)
    }
}

impl Record {
    /// Reads the record. An unparsable one counts as empty: files are then cleaned by their
    /// content.
    pub(super) fn read(path: &Path) -> Result<Self, Failed> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.map_err(|error| Failed::to("read", path, error))?,
        };
        let damaged = |_| Self { is_damaged: true, ..Self::default() };
        Ok(serde_json::from_slice(&bytes).unwrap_or_else(damaged))
    }

    /// Moves an unparsable record aside, so that it is not overwritten, and returns its new path.
    pub(super) fn set_aside(&mut self, path: &Path) -> io::Result<Option<PathBuf>> {
        if !std::mem::take(&mut self.is_damaged) {
            return Ok(None);
        }
        let aside = path.with_file_name(format!("{SET_ASIDE}{}", now()));
        fs::rename(path, &aside).map(|()| Some(aside))
    }

    /// Writes the record, or removes the file if the record is empty.
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
