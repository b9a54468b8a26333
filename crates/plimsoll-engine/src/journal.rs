//! Journals: files of appended lines that survive a crash.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::lock::lock;
use crate::paths;

/// Appends whole lines to a journal and syncs it. On failure nothing is appended. Waits up to
/// `patience` for the lock.
pub(crate) fn append(path: &Path, mut lines: Vec<u8>, patience: Duration) -> io::Result<()> {
    let mut journal = lock(|| paths::append(path), Instant::now() + patience)?;
    let before = journal.metadata()?.len();
    if paths::is_torn(&journal)? {
        lines.insert(0, b'\n');
    }
    let written = journal.write_all(&lines).and_then(|()| journal.sync_data());
    if written.is_err() {
        // If this fails too, a torn line is left, which readers skip.
        let _ = journal.set_len(before);
    }
    written?;
    if before == 0 {
        // Sync the folder, so that the file's name survives a crash too.
        File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()?;
    }
    Ok(())
}
