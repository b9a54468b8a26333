//! Reads untrusted files, and writes our own.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use plimsoll_extract::checkpoint::{CheckpointProblem, MAX_READ_BYTES};
use rustix::io::Errno;

use crate::paths::{self, Links};

/// Reads the text of a checkpoint file.
pub(super) fn read(path: &Path) -> Result<String, CheckpointProblem> {
    text(paths::open(path, Links::Refused), MAX_READ_BYTES)
}

/// Reads the text of an opened file, which must be regular and at most `largest` bytes long.
pub(super) fn text(opened: io::Result<File>, largest: usize) -> Result<String, CheckpointProblem> {
    let file = opened.map_err(|error| problem(&error))?;
    let unreadable = |error: io::Error| CheckpointProblem::Unreadable(error.to_string());
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(CheckpointProblem::NotRegular);
    }
    let bytes = paths::read_whole(&file, metadata.len(), largest as u64 + 1).map_err(unreadable)?;
    if bytes.len() > largest {
        return Err(CheckpointProblem::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| CheckpointProblem::NotText)
}

/// Reports whether an opened file contains exactly these bytes.
pub(super) fn holds(opened: io::Result<File>, mut bytes: &[u8]) -> Result<bool, CheckpointProblem> {
    let mut file = opened.map_err(|error| problem(&error))?;
    let mut piece = [0; 32 << 10];
    loop {
        let read = file.read(&mut piece).map_err(|error| problem(&error))?;
        match bytes.strip_prefix(&piece[..read]) {
            Some(rest) if read > 0 => bytes = rest,
            Some(rest) => return Ok(rest.is_empty()),
            None => return Ok(false),
        }
    }
}

fn problem(error: &io::Error) -> CheckpointProblem {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NOTDIR) => CheckpointProblem::Missing,
        // A symbolic link, or a socket.
        Some(Errno::LOOP | Errno::NXIO) => CheckpointProblem::NotRegular,
        _ => CheckpointProblem::Unreadable(error.to_string()),
    }
}

/// Replaces one of our own files atomically. The caller holds the lock.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, |_| Ok(()))
}

/// Like [`replace`], and syncs the file so that it survives a crash.
pub(crate) fn replace_for_good(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, File::sync_all)
}

fn put(path: &Path, bytes: &[u8], finish: fn(&File) -> io::Result<()>) -> io::Result<()> {
    let temporary = paths::beside(path, ".tmp");
    let write = |mut file: File| {
        file.write_all(bytes)?;
        finish(&file)
    };
    // Overwrites the leftover of a killed process, if any.
    let written = paths::write_anew(&temporary).and_then(write);
    let replaced = written.and_then(|()| fs::rename(&temporary, path));
    if replaced.is_err() {
        // The original error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}
