//! What a leg left behind, as something that can be compared.

use std::path::Path;

use plimsoll_core::run::Fingerprint;
use plimsoll_engine::paths::{self, Links};
use plimsoll_extract::checkpoint::sha256;
use plimsoll_extract::work::{Left, Work};

/// How many files and errors are told.
const TOLD: usize = 5;
/// Of a larger file the length must do.
const LARGEST: u64 = 16 << 20;

/// The fingerprint of a session's work in a project.
///
/// Whoever changes nothing may still find something out: then it counts what was looked at.
pub(super) fn fingerprint(project: &Path, work: &Work) -> Fingerprint {
    let left = Left::of(work);
    let mut lines: Vec<String> = left
        .changed
        .iter()
        .map(|path| format!("{path} {}", content(&project.join(path))))
        .collect();
    if lines.is_empty() {
        lines = left.looked_at;
    }
    lines.extend(left.errors.iter().cloned());
    let hash = if lines.is_empty() { String::new() } else { sha256(lines.join("\n").as_bytes()) };
    let some = |list: Vec<String>| list.into_iter().take(TOLD).collect();
    Fingerprint { hash, files: some(left.changed), errors: some(left.errors) }
}

/// What a file holds, as far as that can be told.
fn content(path: &Path) -> String {
    let Ok(file) = paths::open(path, Links::Followed) else { return "gone".to_owned() };
    let Ok(metadata) = file.metadata() else { return "unread".to_owned() };
    match metadata.is_file() && metadata.len() <= LARGEST {
        true => paths::read_whole(&file, metadata.len(), LARGEST)
            .map_or_else(|_| "unread".to_owned(), |bytes| sha256(&bytes)),
        false => metadata.len().to_string(),
    }
}
