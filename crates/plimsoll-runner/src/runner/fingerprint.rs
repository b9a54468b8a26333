//! Fingerprints of sessions, to detect sessions that repeat the same work.

use std::path::Path;

use plimsoll_core::run::Fingerprint;
use plimsoll_engine::paths::{self, Links};
use plimsoll_extract::checkpoint::sha256;
use plimsoll_extract::work::{SessionOutcome, Work};

/// Maximum number of files and errors to list.
const MAX_LISTED: usize = 5;
/// A larger file is compared by its length only.
const MAX_HASHED_BYTES: u64 = 16 << 20;

/// Returns the fingerprint of a session's work in a project.
///
/// It covers the errors and the changed files. If nothing changed, it covers the files that the
/// session read: reading can be progress, too.
pub(super) fn fingerprint(project: &Path, work: &Work) -> Fingerprint {
    let left = SessionOutcome::from_work(work);
    let mut lines: Vec<String> = left
        .changed
        .iter()
        .map(|path| format!("{path} {}", content_hash(&project.join(path))))
        .collect();
    if lines.is_empty() {
        lines = left.viewed;
    }
    lines.extend(left.errors.iter().cloned());
    let hash = if lines.is_empty() { String::new() } else { sha256(lines.join("\n").as_bytes()) };
    let some = |list: Vec<String>| list.into_iter().take(MAX_LISTED).collect();
    Fingerprint { hash, files: some(left.changed), errors: some(left.errors) }
}

/// Returns the hash of a file's content, or its length if it is too large.
fn content_hash(path: &Path) -> String {
    let Ok(file) = paths::open(path, Links::Followed) else { return "gone".to_owned() };
    let Ok(metadata) = file.metadata() else { return "unread".to_owned() };
    match metadata.is_file() && metadata.len() <= MAX_HASHED_BYTES {
        true => paths::read_whole(&file, metadata.len(), MAX_HASHED_BYTES)
            .map_or_else(|_| "unread".to_owned(), |bytes| sha256(&bytes)),
        false => metadata.len().to_string(),
    }
}
