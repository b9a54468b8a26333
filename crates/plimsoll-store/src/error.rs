//! Errors of the local store.

use std::error::Error;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite_migration::{Error as MigrationError, MigrationDefinitionError};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Other processes held the write lock for longer than the caller's timeout.
    #[error("could not {task} the store at `{}`: it was busy for too long", path.display())]
    Busy {
        /// The attempted task as an infinitive, as in `open`.
        task: &'static str,
        path: PathBuf,
    },
    /// The tables belong to a newer version of plimsoll.
    #[error(
        "could not open the store at `{}`: a newer plimsoll has written it; \
         update plimsoll, or move the file away to have it rebuilt",
        path.display()
    )]
    Newer { path: PathBuf },
    /// The file is damaged or is not a store.
    #[error(
        "could not {task} the store at `{}`: the file is damaged; move it away to have it rebuilt",
        path.display()
    )]
    Corrupt { task: &'static str, path: PathBuf, source: Box<dyn Error + Send + Sync> },
    /// Any other error, such as a missing file, missing permissions or a full disk.
    #[error("could not {task} the store at `{}`", path.display())]
    Other { task: &'static str, path: PathBuf, source: Box<dyn Error + Send + Sync> },
}

impl StoreError {
    /// Classifies a database error that occurred during `task` on the store at `path`.
    pub(crate) fn new(task: &'static str, path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { task, path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { task, path, source: error.into() }
            }
            _ => Self::Other { task, path, source: error.into() },
        }
    }

    /// Classifies an error that occurred while the store at `path` was opened.
    pub(crate) fn from_migration(path: &Path, error: MigrationError) -> Self {
        let task = "open";
        match error {
            MigrationError::RusqliteError { err, .. } => Self::new(task, path, err),
            MigrationError::MigrationDefinition(MigrationDefinitionError::DatabaseTooFarAhead) => {
                Self::Newer { path: path.to_owned() }
            }
            error => Self::Other { task, path: path.to_owned(), source: error.into() },
        }
    }
}
