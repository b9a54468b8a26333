//! The open folder of a project's checkpoints.
//!
//! The folder is opened component by component without following symbolic links, and all operations
//! are relative to the opened folder: a link put in its place at any moment cannot lead outside the
//! project.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use plimsoll_extract::checkpoint::{CheckpointProblem, EXTENSION};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, fstat, fsync, linkat, mkdirat, open, openat,
    readlinkat, renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::Place;
use super::file;
use crate::lock::lock;

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    own: OwnedFd,
    /// The folder that contains it.
    outer: OwnedFd,
}

/// Reason why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Closed {
    /// A symbolic link could lead anywhere.
    #[error("`{}` is a link; checkpoints are kept in real folders only", .0.display())]
    Link(PathBuf),
    /// Something other than a folder has its name.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    #[error("could not open the folder `{}`", .0.display())]
    Io(PathBuf, #[source] io::Error),
}

pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// Never follow symbolic links, never block.
pub(super) const FILE: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);
/// Full access, reduced by the umask.
const USUAL: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
/// Create a file that must not exist yet.
const NEW: OFlags = FILE.union(OFlags::WRONLY).union(OFlags::CREATE).union(OFlags::EXCL);
pub(super) const LOCK: &str = ".lock";
const IGNORE: &str = ".gitignore";
const IGNORE_ALL: &[u8] = b"*\n";
const IGNORE_TEMPORARY: &str = ".gitignore.tmp";
const LATEST: &str = "latest.md";
const LATEST_TEMPORARY: &str = ".latest.tmp";
pub(super) const COUNT: &str = ".checkpoint_iteration";
const COUNT_TEMPORARY: &str = ".checkpoint_iteration.tmp";
/// Prefix and suffix of the name of a file that is being written.
const TEMPORARY: (&str, &str) = (".", ".md.tmp");

impl Folder {
    /// Opens the folder of a place; `None` if it does not exist.
    pub(super) fn open(place: &Place) -> Result<Option<Self>, Closed> {
        match Self::walk(place, |_, _| Ok(())) {
            Err(Closed::Io(_, error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Opens the folder of a place and creates missing components. The folder itself is private to
    /// the user. The folders above it, which also contain other files, get the usual mode.
    pub(super) fn make(place: &Place) -> Result<Self, Closed> {
        let private = Path::new(place.folder).file_name();
        Self::walk(place, |outer, name| {
            let is_private = Some(name.as_os_str()) == private;
            let mode = if is_private { Mode::RWXU } else { USUAL };
            match mkdirat(outer, name, mode) {
                // Without this a crash could lose the folder and everything in it.
                Ok(()) => fsync(outer),
                Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn walk(
        place: &Place,
        prepare: impl Fn(&OwnedFd, &Path) -> rustix::io::Result<()>,
    ) -> Result<Self, Closed> {
        let mut path = place.project.clone();
        let failed = |path: &Path, error: Errno| Closed::Io(path.to_owned(), error.into());
        // The project folder itself may be a link: the user chose it.
        let project = open(&path, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty());
        let mut own = project.map_err(|error| failed(&path, error))?;
        let mut outer = own.try_clone().map_err(|error| Closed::Io(path.clone(), error))?;
        let parts = Path::new(place.folder).components();
        for part in parts.filter(|part| matches!(part, Component::Normal(_))) {
            let name = Path::new(part.as_os_str());
            path.push(name);
            prepare(&own, name).map_err(|error| failed(&path, error))?;
            let inner = openat(&own, name, FOLDER, Mode::empty()).map_err(|error| {
                let kind = statat(&own, name, AtFlags::SYMLINK_NOFOLLOW);
                match kind.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
                    Ok(FileType::Symlink) => Closed::Link(path.clone()),
                    Ok(FileType::Directory) | Err(_) => failed(&path, error),
                    Ok(_) => Closed::NotAFolder(path.clone()),
                }
            })?;
            outer = std::mem::replace(&mut own, inner);
        }
        Ok(Self { own, outer })
    }

    /// Reports whether the place still leads to this folder.
    pub(super) fn is_at(&self, place: &Place) -> bool {
        let identity = |folder: &Self| fstat(&folder.own).map(|stat| (stat.st_dev, stat.st_ino));
        let there = Self::open(place).ok().flatten();
        there.is_some_and(|there| {
            matches!((identity(self), identity(&there)), (Ok(own), Ok(there)) if own == there)
        })
    }

    /// Locks the folder until the result is dropped.
    pub(super) fn lock(&self, deadline: Instant) -> io::Result<Locked<'_>> {
        let flags = FILE | OFlags::RDWR | OFlags::CREATE;
        let open = || -> io::Result<File> {
            let file = File::from(openat(&self.own, LOCK, flags, PRIVATE)?);
            match file.metadata()?.is_file() {
                true => Ok(file),
                false => Err(io::Error::other("it is not a regular file")),
            }
        };
        Ok(Locked { folder: self, file: lock(open, deadline)? })
    }

    /// Lists the ids of files with a checkpoint's name, newest first according to the name.
    pub(super) fn ids(&self) -> io::Result<Vec<String>> {
        self.names().map(|names| ids(&names))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let name = |entry: rustix::io::Result<rustix::fs::DirEntry>| match entry {
            Ok(entry) => entry.file_name().to_str().ok().map(|name| Ok(name.to_owned())),
            Err(error) => Some(Err(error.into())),
        };
        Dir::read_from(&self.own)?.filter_map(name).collect()
    }

    /// Reads a checkpoint file, which must be at most `largest` bytes long.
    pub(super) fn read(&self, id: &str, largest: usize) -> Result<String, CheckpointProblem> {
        let name = format!("{id}{EXTENSION}");
        let opened = openat(&self.own, name, FILE | OFlags::RDONLY, Mode::empty());
        file::text(opened.map(File::from).map_err(io::Error::from), largest)
    }

    /// Reports whether a checkpoint file contains exactly this text.
    pub(super) fn holds(&self, id: &str, text: &str) -> Result<bool, CheckpointProblem> {
        let name = format!("{id}{EXTENSION}");
        let opened = openat(&self.own, name, FILE | OFlags::RDONLY, Mode::empty());
        file::holds(opened.map(File::from).map_err(io::Error::from), text.as_bytes())
    }

    /// Reads the start of a checkpoint file, up to the first byte that is not UTF-8.
    pub(super) fn read_beginning(&self, id: &str) -> Option<String> {
        const LONGEST: usize = 4 << 10;
        let name = format!("{id}{EXTENSION}");
        let file = openat(&self.own, name, FILE | OFlags::RDONLY, Mode::empty()).ok()?;
        let mut bytes = vec![0; LONGEST];
        let read = rustix::io::read(&file, &mut bytes[..]).ok()?;
        bytes.truncate(read);
        let text = bytes.utf8_chunks().next()?.valid();
        Some(text.to_owned())
    }

    /// Removes a checkpoint file.
    pub(super) fn remove(&self, id: &str) -> io::Result<()> {
        Ok(unlinkat(&self.own, format!("{id}{EXTENSION}"), AtFlags::empty())?)
    }

    /// Lists the other files in the folder: first our own, then foreign ones.
    pub(super) fn companions(&self) -> io::Result<(Vec<String>, Vec<String>)> {
        let names = self.names()?;
        let checkpoints = ids(&names);
        let is_other = |name: &String| {
            let id = name.strip_suffix(EXTENSION);
            !matches!(name.as_str(), "." | "..") && !checkpoints.iter().any(|it| Some(&**it) == id)
        };
        let (own, foreign) =
            names.iter().filter(|name| is_other(name)).cloned().partition(|name| self.is_own(name));
        Ok((own, foreign))
    }

    fn is_own(&self, name: &str) -> bool {
        let is_temporary = name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1);
        match name {
            LOCK | LATEST_TEMPORARY | IGNORE_TEMPORARY => true,
            LATEST => readlinkat(&self.own, LATEST, Vec::new()).is_ok(),
            IGNORE => {
                let opened = openat(&self.own, IGNORE, FILE | OFlags::RDONLY, Mode::empty());
                let opened = opened.map(File::from).map_err(io::Error::from);
                file::holds(opened, IGNORE_ALL).unwrap_or(false)
            }
            _ => is_temporary,
        }
    }

    /// Removes files that [`Self::companions`] listed. If the folder stays, so does its
    /// `.gitignore`.
    pub(super) fn remove_companions(&self, names: &[String], folder_goes: bool) -> io::Result<()> {
        for name in names.iter().filter(|name| folder_goes || *name != IGNORE) {
            match unlinkat(&self.own, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reports whether the mirrored count is the one that we wrote last.
    pub(super) fn has_own_count(&self) -> bool {
        let count = |folder: &OwnedFd, name: &str| {
            let file = openat(folder, name, FILE | OFlags::RDONLY, Mode::empty()).ok()?;
            read_count(&mut File::from(file)).ok()
        };
        let noted = count(&self.own, LOCK);
        noted.is_some() && noted == count(&self.outer, COUNT)
    }

    /// Removes the mirrored count.
    pub(super) fn remove_count(&self) -> io::Result<()> {
        Ok(unlinkat(&self.outer, COUNT, AtFlags::empty())?)
    }

    /// Syncs the folder so that changes in it survive a crash.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(fsync(&self.own)?)
    }
}

/// Extracts checkpoint ids from file names, newest first.
fn ids(names: &[String]) -> Vec<String> {
    let is_id = |id: &&str| !id.starts_with('.') && *id != LATEST.trim_end_matches(EXTENSION);
    let id = |name: &String| name.strip_suffix(EXTENSION).filter(is_id).map(str::to_owned);
    let mut ids: Vec<String> = names.iter().filter_map(id).collect();
    ids.sort_unstable_by(|one, other| age(other).cmp(&age(one)));
    ids
}

/// Reports whether an id is newer than another.
pub(super) fn is_newer(id: &str, other: &str) -> bool {
    age(id) > age(other)
}

/// Returns the sort key of an id: the second, then the length, so that within a second the tenth
/// follows the ninth.
fn age(id: &str) -> (&[u8], usize, &str) {
    (&id.as_bytes()[..id.len().min("2026-11-15-055814".len())], id.len(), id)
}

/// A locked folder. Only files reserved before may still be written.
#[derive(Debug)]
pub(super) struct Locked<'f> {
    folder: &'f Folder,
    file: File,
}

/// Upper bound for plausible counts. A larger one is made up.
const MOST: u64 = 1 << 40;

impl<'f> Locked<'f> {
    /// Removes leftovers of killed processes and lists the ids of files with a checkpoint's name,
    /// newest first.
    pub(super) fn swept(&self) -> io::Result<Vec<String>> {
        let names = self.folder.names()?;
        self.sweep(&names);
        self.ignore_itself()?;
        Ok(ids(&names))
    }

    /// Returns the id that `latest.md` points to.
    pub(super) fn latest(&self) -> Option<String> {
        let target = readlinkat(&self.folder.own, LATEST, Vec::new()).ok()?;
        Some(target.to_str().ok()?.strip_suffix(EXTENSION)?.to_owned())
    }

    /// Returns the highest iteration assigned so far, according to our count and its mirror.
    pub(super) fn count(&mut self) -> io::Result<u64> {
        let noted = self.noted()?;
        let flags = FILE | OFlags::RDONLY;
        let mirror = openat(&self.folder.outer, COUNT, flags, Mode::empty()).map(File::from);
        // An unreadable mirror is no obstacle: our own count is authoritative.
        let mirrored = mirror.ok().and_then(|mut file| read_count(&mut file).ok());
        Ok(noted.max(mirrored.unwrap_or(0)))
    }

    /// Returns the highest iteration assigned so far, according to our own count.
    pub(super) fn noted(&mut self) -> io::Result<u64> {
        read_count(&mut self.file)
    }

    /// Records an iteration as assigned.
    pub(super) fn set_count(&mut self, count: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        // Fixed width, so that a shorter number overwrites a longer one completely.
        self.file.write_all(format!("{count:020}\n").as_bytes())
    }

    /// Reports whether a mirrored count exists.
    pub(super) fn is_mirrored(&self) -> bool {
        statat(&self.folder.outer, COUNT, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Writes the count to the file that other tools read.
    pub(super) fn mirror_count(&self, count: u64) -> io::Result<()> {
        let outer = &self.folder.outer;
        replace(outer, COUNT_TEMPORARY, COUNT, || {
            let mut file = File::from(openat(outer, COUNT_TEMPORARY, NEW, PRIVATE)?);
            file.write_all(format!("{count}\n").as_bytes())
        })
    }

    /// Creates a temporary file for an unused id; `None` if the id is taken.
    pub(super) fn reserve(&self, id: &str) -> io::Result<Option<Reserved<'f>>> {
        let folder = self.folder;
        let name = format!("{}{id}{}", TEMPORARY.0, TEMPORARY.1);
        let file = match openat(&folder.own, &name, NEW, PRIVATE) {
            Ok(file) => File::from(file),
            Err(Errno::EXIST) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // The lock shows other processes that the writer is alive.
        file.lock()?;
        let reserved = Reserved { folder, file, name, target: format!("{id}{EXTENSION}") };
        // Check after locking: another process may just have published this id.
        match statat(&folder.own, &reserved.target, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(Some(reserved)),
            Ok(_) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Points `latest.md` to a checkpoint. A relative link opens like the file itself and cannot go
    /// stale as a copy would.
    pub(super) fn point_latest_to(&self, id: &str) -> io::Result<()> {
        let own = &self.folder.own;
        replace(own, LATEST_TEMPORARY, LATEST, || {
            Ok(symlinkat(format!("{id}{EXTENSION}"), own, LATEST_TEMPORARY)?)
        })
    }

    /// Adds a `.gitignore` that excludes the whole folder: checkpoints are private. An existing one
    /// is left alone.
    fn ignore_itself(&self) -> io::Result<()> {
        let own = &self.folder.own;
        if !matches!(statat(own, IGNORE, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT)) {
            return Ok(());
        }
        replace(own, IGNORE_TEMPORARY, IGNORE, || {
            let mut file = File::from(openat(own, IGNORE_TEMPORARY, NEW, PRIVATE)?);
            file.write_all(IGNORE_ALL)
        })
    }

    /// Removes leftovers of killed processes.
    fn sweep(&self, names: &[String]) {
        for name in names {
            let is_file = name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1);
            if name == LATEST_TEMPORARY || (is_file && self.is_abandoned(name)) {
                // If this fails, the next sweep tries again.
                let _ = unlinkat(&self.folder.own, name, AtFlags::empty());
            }
        }
    }

    /// Reports whether a temporary file has no writer. All are created under the folder's lock and
    /// locked by their writer, so an unlocked one is abandoned.
    fn is_abandoned(&self, name: &str) -> bool {
        match openat(&self.folder.own, name, FILE | OFlags::RDONLY, Mode::empty()) {
            Ok(file) => File::from(file).try_lock().is_ok(),
            Err(error) => error != Errno::NOENT,
        }
    }
}

/// Replaces `target` atomically by the file that `make` creates under the name `temporary`.
fn replace(
    folder: &OwnedFd,
    temporary: &str,
    target: &str,
    make: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let remove = || unlinkat(folder, temporary, AtFlags::empty());
    // We hold the lock, so this file is a leftover or was planted by someone else.
    if let Err(error) = remove()
        && error != Errno::NOENT
    {
        return Err(error.into());
    }
    let made = make().and_then(|()| Ok(renameat(folder, temporary, folder, target)?));
    if made.is_err() {
        // The original error is the one to report.
        let _ = remove();
    }
    made
}

/// Reads a count from an untrusted file; invalid content counts as 0.
fn read_count(file: &mut File) -> io::Result<u64> {
    if !file.metadata()?.is_file() {
        return Ok(0);
    }
    let mut text = String::new();
    // Text that is not UTF-8 is invalid too.
    let _ = file.take(32).read_to_string(&mut text);
    Ok(text.trim().parse().ok().filter(|count| *count <= MOST).unwrap_or(0))
}

/// A temporary file reserved for an unused name. Dropping it removes the file unless it was
/// published.
#[derive(Debug)]
pub(super) struct Reserved<'f> {
    folder: &'f Folder,
    file: File,
    name: String,
    target: String,
}

impl Reserved<'_> {
    /// Writes the whole text and syncs it.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        self.file.sync_all()
    }

    /// Gives the file its final name. Returns false if the name was taken meanwhile.
    pub(super) fn publish(self) -> io::Result<bool> {
        let renamed = match self.rename() {
            // Some file systems lack `RENAME_NOREPLACE`.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.link(),
            renamed => renamed,
        };
        match renamed {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn rename(&self) -> rustix::io::Result<()> {
        let own = &self.folder.own;
        renameat_with(own, &self.name, own, &self.target, RenameFlags::NOREPLACE)
    }

    /// Adds the final name as a second link; dropping removes the first.
    fn link(&self) -> rustix::io::Result<()> {
        let own = &self.folder.own;
        linkat(own, &self.name, own, &self.target, AtFlags::empty())
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        // After publishing, the temporary name is gone or a second link.
        let _ = unlinkat(&self.folder.own, &self.name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests;
