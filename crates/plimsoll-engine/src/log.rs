//! The log of what went wrong in a hook: one line each, without a word of any payload.

use std::io::Write;
use std::path::Path;

use crate::{paths, world};

/// The log is begun anew past this size; the old one is kept beside it.
const LARGEST_LOG: u64 = 1 << 20;

/// Writes one line. A log that cannot be written is no reason to disturb anybody.
pub fn write(log: &Path, what: &str) {
    let now = world::now();
    let line = format!("{now} pid {} {}\n", std::process::id(), what.replace('\n', " "));
    let Ok(mut file) = paths::append(log) else { return };
    let _ = file.write_all(line.as_bytes());
    if file.metadata().is_ok_and(|metadata| metadata.len() > LARGEST_LOG) {
        let _ = std::fs::rename(log, log.with_extension("log.1"));
    }
}
