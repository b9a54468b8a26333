//! Journals: files to which whole lines are appended, and which outlast a crash.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::lock::lock;
use crate::paths;

/// Appends whole lines to a journal and waits until they are on the disk. What cannot be written
/// whole leaves nothing behind. Waits so long for others.
pub(crate) fn append(path: &Path, mut lines: Vec<u8>, patience: Duration) -> io::Result<()> {
    let mut journal = lock(|| paths::append(path), Instant::now() + patience)?;
    let before = journal.metadata()?.len();
    if paths::is_torn(&journal)? {
        lines.insert(0, b'\n');
    }
    let written = journal.write_all(&lines).and_then(|()| journal.sync_data());
    if written.is_err() {
        // If that fails, too, a torn line is left, which nobody was told about.
        let _ = journal.set_len(before);
    }
    written?;
    if before == 0 {
        // The file's name must outlast a crash, too.
        File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()?;
    }
    Ok(())
}
