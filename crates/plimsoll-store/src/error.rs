//! Why the store could not do what it was asked to.

use std::error::Error;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite_migration::{Error as MigrationError, MigrationDefinitionError};

/// Why the store could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Others were writing for longer than the caller's patience.
    #[error("could not {task} the store at `{}`: it was busy for too long", path.display())]
    Busy {
        /// What was tried, as in `open`.
        task: &'static str,
        /// The store.
        path: PathBuf,
    },
    /// A newer version has changed the tables since.
    #[error(
        "could not open the store at `{}`: a newer plimsoll has written it; \
         update plimsoll, or move the file away to have it rebuilt",
        path.display()
    )]
    Newer {
        /// The store.
        path: PathBuf,
    },
    /// The file is damaged, or no store at all.
    #[error(
        "could not {task} the store at `{}`: the file is damaged; move it away to have it rebuilt",
        path.display()
    )]
    Corrupt {
        /// What was tried, as in `open`.
        task: &'static str,
        /// The store.
        path: PathBuf,
        /// What the database says.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Anything else: no such file, no access, a full disk.
    #[error("could not {task} the store at `{}`", path.display())]
    Other {
        /// What was tried, as in `open`.
        task: &'static str,
        /// The store.
        path: PathBuf,
        /// What the database says.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl StoreError {
    /// What `error` means to someone who tried to do `task` with the store at `path`.
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

    /// What `error` means to someone who tried to open the store at `path`.
    pub(crate) fn opening(path: &Path, error: MigrationError) -> Self {
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
