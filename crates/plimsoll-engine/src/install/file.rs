//! Reads and atomically replaces files that belong to the user or other tools.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use plimsoll_agents::install::Unfit;
use plimsoll_core::shell;
use rustix::fs::Access;

use crate::paths::{self, Links};

/// Size limit for settings files.
const LARGEST: u64 = 16 << 20;

/// Error that left a file unchanged.
#[derive(Debug, thiserror::Error)]
#[error("could not {task} `{}`", path.display())]
pub struct Failed {
    task: &'static str,
    pub path: PathBuf,
    #[source]
    pub why: Why,
}

/// Reason why a file was left unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// A folder, a FIFO, a device.
    #[error("it is not a regular file")]
    NotRegular,
    #[error("it is larger than 16 MiB")]
    TooLarge,
    #[error("it is not UTF-8")]
    NotText,
    #[error("it is write-protected")]
    WriteProtected,
    /// A symbolic link to a missing file.
    #[error("it is a link to a file that is not there")]
    LooseLink,
    /// A symbolic link in an untrusted repository leads elsewhere.
    #[error("it leads out of the project, to `{}`", .0.display())]
    LeadsOut(PathBuf),
    /// Another process wrote the file since we read it.
    #[error("it was changed meanwhile")]
    Changed,
    #[error("it does not hold what was written")]
    NotWritten,
    /// We cannot parse its content.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Failed {
    pub(super) fn to(task: &'static str, path: &Path, why: impl Into<Why>) -> Self {
        Self { task, path: path.to_owned(), why: why.into() }
    }

    /// Returns what the user can do about the error.
    pub fn hint(&self) -> String {
        let path = shell::quote(&self.path.to_string_lossy());
        match &self.why {
            Why::WriteProtected => format!("run `chmod u+w {path}`, then the same again"),
            Why::Changed => "run the same again".to_owned(),
            Why::Unfit(Unfit::OldClient { update, .. }) => format!("run `{update}`"),
            Why::Unfit(_) => "mend it and run the same again; it was left as it is".to_owned(),
            _ => format!("look at it with `ls -l {path}`; it was left as it is"),
        }
    }
}

/// A file as it was read.
pub(super) struct Found {
    /// Path with symbolic links resolved.
    pub(super) target: PathBuf,
    /// `None` if the file does not exist.
    pub(super) text: Option<String>,
}

/// Reads a file, following symbolic links.
pub(super) fn read(path: &Path) -> Result<Found, Failed> {
    find(path).map_err(|why| Failed::to("read", path, why))
}

fn find(path: &Path) -> Result<Found, Why> {
    match path.canonicalize() {
        Ok(target) => Ok(Found { text: Some(text(&target)?), target }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.is_symlink() {
            true => Err(Why::LooseLink),
            false => Ok(Found { target: path.to_owned(), text: None }),
        },
        Err(error) => Err(error.into()),
    }
}

fn text(path: &Path) -> Result<String, Why> {
    let file = paths::open(path, Links::Followed)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Why::NotRegular);
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Why::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| Why::NotText)
}

/// Checks that a file may be changed. A file without any write permission is left alone, even by
/// root.
pub(super) fn check_writable(path: &Path, found: &Found) -> Result<(), Failed> {
    let protected = |target: &Path| -> io::Result<bool> {
        let nobody = target.metadata()?.permissions().mode() & 0o222 == 0;
        Ok(nobody || rustix::fs::access(target, Access::WRITE_OK).is_err())
    };
    match found.text.as_ref().map(|_| protected(&found.target)) {
        None | Some(Ok(false)) => Ok(()),
        Some(Ok(true)) => Err(Failed::to("change", path, Why::WriteProtected)),
        Some(Err(error)) => Err(Failed::to("change", path, error)),
    }
}

/// Replaces `before` by `after`, or removes the file if `after` is `None`.
pub(super) fn change(
    target: &Path,
    before: Option<&str>,
    after: Option<&str>,
) -> Result<(), Failed> {
    let changed = match after {
        Some(after) => replace(target, before, after),
        None => check_unchanged(target, before).and_then(|()| Ok(fs::remove_file(target)?)),
    };
    changed.map_err(|why| Failed::to("change", target, why))
}

fn replace(target: &Path, before: Option<&str>, after: &str) -> Result<(), Why> {
    let folder = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let temporary = paths::temporary(target);
    let written = write(&temporary, target, after)
        .and_then(|()| check_unchanged(target, before))
        .and_then(|()| Ok(fs::rename(&temporary, target)?));
    if written.is_err() {
        // The original error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    paths::sweep(target);
    written?;
    // The file is in place even if its folder cannot be synced.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    match text(target)? == after {
        true => Ok(()),
        false => Err(Why::NotWritten),
    }
}

/// Writes a temporary file with the owner and permissions of `like`, which it will replace.
fn write(temporary: &Path, like: &Path, text: &str) -> Result<(), Why> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    if let Ok(metadata) = like.metadata() {
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
            // Only root may change the owner; otherwise the file belongs to the user who writes it.
            let _ = fchown(&file, Some(metadata.uid()), Some(metadata.gid()));
        }
        file.set_permissions(metadata.permissions())?;
    } else if text.starts_with("#!") {
        // A new script has to be executable.
        file.set_permissions(fs::Permissions::from_mode(0o755))?;
    }
    file.write_all(text.as_bytes())?;
    Ok(file.sync_all()?)
}

fn check_unchanged(target: &Path, before: Option<&str>) -> Result<(), Why> {
    match find(target)?.text.as_deref() == before {
        true => Ok(()),
        false => Err(Why::Changed),
    }
}

/// Returns the missing folders above `path`, outermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut missing: Vec<PathBuf> = folders.map(Path::to_owned).collect();
    missing.reverse();
    missing
}
