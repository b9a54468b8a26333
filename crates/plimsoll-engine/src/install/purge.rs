//! Removing all that we remember.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::paths::{Paths, is_own_name};

/// Why the data folder stays.
#[derive(Debug, thiserror::Error)]
pub enum NotPurged {
    /// It is a folder that cannot be ours alone.
    #[error("`{}` is not a folder of plimsoll's own", .0.display())]
    NotOurs(PathBuf),
    /// Somebody else keeps files in it.
    #[error("`{}` holds what is not plimsoll's: `{name}`", folder.display())]
    Foreign {
        /// The data folder.
        folder: PathBuf,
        /// The name of a file in it.
        name: String,
    },
    /// The system refuses.
    #[error("could not remove `{}`", .0.display())]
    Io(PathBuf, #[source] io::Error),
}

/// Removes the data folder with all that is in it, and the folders that were `made` for it. Tells
/// whether there was one.
pub fn purge(paths: &Paths, made: &[PathBuf]) -> Result<bool, NotPurged> {
    let folder = &paths.data;
    let failed = |error| NotPurged::Io(folder.clone(), error);
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    if folder.is_symlink() || holds(folder, &paths.home) || holds(folder, &paths.config) {
        return Err(NotPurged::NotOurs(folder.clone()));
    }
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        if !is_own_name(&name) {
            let name = name.to_string_lossy().into_owned();
            return Err(NotPurged::Foreign { folder: folder.clone(), name });
        }
    }
    fs::remove_dir_all(folder).map_err(failed)?;
    for folder in made.iter().rev() {
        // One that others use by now is not empty, and stays.
        let _ = fs::remove_dir(folder);
    }
    Ok(true)
}

/// Whether `path` lies in `folder`, or is it.
fn holds(folder: &Path, path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(path).starts_with(real(folder))
}
