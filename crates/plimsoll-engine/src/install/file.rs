//! Files of others: read with care, replaced whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use plimsoll_agents::install::Unfit;
use plimsoll_core::shell;
use rustix::fs::Access;

use crate::paths::{self, Links};

/// No settings file is larger.
const LARGEST: u64 = 16 << 20;

/// Why a file of somebody else's stays as it is.
#[derive(Debug, thiserror::Error)]
#[error("could not {task} `{}`", path.display())]
pub struct Failed {
    task: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub why: Why,
}

/// The reason why a file stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// A folder, a FIFO, a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// Nobody's settings are that large.
    #[error("it is larger than 16 MiB")]
    TooLarge,
    /// It is no text.
    #[error("it is not UTF-8")]
    NotText,
    /// Somebody does not want it to be changed.
    #[error("it is write-protected")]
    WriteProtected,
    /// It is a link, and what it points to is not there.
    #[error("it is a link to a file that is not there")]
    LooseLink,
    /// A repository that anybody may have written leads elsewhere.
    #[error("it leads out of the project, to `{}`", .0.display())]
    LeadsOut(PathBuf),
    /// Somebody else wrote it since we read it.
    #[error("it was changed meanwhile")]
    Changed,
    /// It does not hold what we wrote.
    #[error("it does not hold what was written")]
    NotWritten,
    /// We do not understand what it says.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Failed {
    pub(super) fn to(task: &'static str, path: &Path, why: impl Into<Why>) -> Self {
        Self { task, path: path.to_owned(), why: why.into() }
    }

    /// What to do about it.
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

/// A file as it was found.
pub(super) struct Found {
    /// Where it really is.
    pub(super) target: PathBuf,
    /// What it says; nothing if there is no such file.
    pub(super) text: Option<String>,
}

/// Reads a file. A link leads to what it points to.
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

/// Whether a file may be changed: nobody writes into one without a permission to write, root
/// included.
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

/// Puts `after` in the place of `before`, or removes the file if that is nothing.
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
        // Nothing is left behind; that the write failed is what is told.
        let _ = fs::remove_file(&temporary);
    }
    paths::sweep(target);
    written?;
    // The file is there whether or not its folder can be synced.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    match text(target)? == after {
        true => Ok(()),
        false => Err(Why::NotWritten),
    }
}

/// Writes a new file that is to take the place of `like`, with its owner and its permissions.
fn write(temporary: &Path, like: &Path, text: &str) -> Result<(), Why> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    if let Ok(metadata) = like.metadata() {
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
            // Only root may give files away; whoever may write the file keeps it otherwise.
            let _ = fchown(&file, Some(metadata.uid()), Some(metadata.gid()));
        }
        file.set_permissions(metadata.permissions())?;
    } else if text.starts_with("#!") {
        // A program that nobody may run is none.
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

/// The folders on the way to `path` that are not there yet, outermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut missing: Vec<PathBuf> = folders.map(Path::to_owned).collect();
    missing.reverse();
    missing
}
