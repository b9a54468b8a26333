//! The file format of a checkpoint: front matter, body and seal.
//!
//! This module handles checkpoints as text. The engine writes and keeps the files, and `work`
//! produces the body.
//!
//! ```text
//! ---
//! id: "2026-11-15-055814-5f2c81aa"
//! …
//! mac: "9d0c7f31:…"
//! ---
//!
//! ## What Changed
//! …
//! ```
//!
//! The hash in the front matter covers the body, and the mac covers the front matter: together they
//! reveal any changed byte.

mod body;
mod check;
mod diff;
mod key;
mod meta;
mod sealed_header;
mod yaml;

pub(crate) use body::changed_path;
pub use body::{sections, strip_pointer, summary};
pub use check::{CheckpointCheck, CheckpointProblem, SealOrigin, check};
pub use diff::{SectionDiff, diff};
pub use key::{SealingKey, sha256};
pub use meta::{GitState, Meta, TranscriptExtent, parse, render};
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::time::utc;
pub use sealed_header::SealedHeader;

/// Sections of a body, in order.
pub const SECTIONS: [&str; 9] = [
    "What Changed",
    "Why Changed",
    "Active Issues",
    "Key Decisions",
    "Next Steps",
    "Task",
    "Commands",
    "Working Set",
    "References",
];

/// Sections that every checkpoint must have, whichever tool wrote it.
pub const REQUIRED_SECTIONS: [&str; 2] = ["What Changed", "Next Steps"];

/// Maximum size of a checkpoint that plimsoll writes, in bytes, with its front matter.
pub const MAX_BYTES: usize = 50_000;

/// Maximum size of a file that plimsoll reads as a checkpoint, in bytes.
pub const MAX_READ_BYTES: usize = 1 << 20;

/// Extension of a checkpoint file; the name before it is the id.
pub const EXTENSION: &str = ".md";

/// Returns the id of a session's checkpoint: `2026-11-15-055814-5f2c81aa`, in UTC. From the second
/// checkpoint of the same second on, `nth` is appended.
pub fn id(created: Millis, session: &SessionId, nth: u32) -> String {
    const SESSION: usize = 8;
    let time = utc(created);
    let (date, time) = time.split_once('T').unwrap_or_default();
    let time: String = time.chars().take(8).filter(|character| *character != ':').collect();
    let session = session.own_id();
    let session = &session[..session.len().min(SESSION)];
    match nth {
        0 | 1 => format!("{date}-{time}-{session}"),
        nth => format!("{date}-{time}-{session}-{nth}"),
    }
}

/// The two parts of a checkpoint file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointParts<'a> {
    /// The lines between the fences, with their line ends.
    pub front_matter: &'a str,
    /// The text after the front matter and one empty line.
    pub body: &'a str,
}

/// Splits a file's text. Accepts a byte order mark and CRLF line ends.
pub fn split(text: &str) -> Result<CheckpointParts<'_>, CheckpointProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = match text.split_inclusive('\n').next() {
        Some(line) if is_fence(line) => line.len(),
        _ => return Err(CheckpointProblem::NoFrontMatter),
    };
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if is_fence(line) {
            let rest = &text[end + line.len()..];
            let body = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(rest);
            return Ok(CheckpointParts { front_matter: &text[start..end], body });
        }
        end += line.len();
    }
    Err(CheckpointProblem::UnclosedFrontMatter)
}

fn is_fence(line: &str) -> bool {
    line.trim_end_matches([' ', '\t', '\r', '\n']) == "---"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_contain_time_session_and_number() {
        let session = SessionId::new("5f2c81aa-77b0-4c55").unwrap();
        assert_eq!(id(1_794_722_294_946, &session, 1), "2026-11-15-055814-5f2c81aa");
        assert_eq!(id(1_794_722_294_946, &session, 3), "2026-11-15-055814-5f2c81aa-3");
        assert_eq!(id(0, &SessionId::new("s").unwrap(), 1), "1970-01-01-000000-s");
    }

    #[test]
    fn bom_and_crlf_are_accepted() {
        let parts = CheckpointParts { front_matter: "a: 1\n", body: "## B\n" };
        assert_eq!(split("---\na: 1\n---\n\n## B\n"), Ok(parts));
        assert_eq!(split("\u{feff}---\na: 1\n--- \n## B\n"), Ok(parts));
        let windows = CheckpointParts { front_matter: "a: 1\r\n", body: "## B\r\n" };
        assert_eq!(split("---\r\na: 1\r\n---\r\n\r\n## B\r\n"), Ok(windows));
        assert_eq!(split("---\n---"), Ok(CheckpointParts { front_matter: "", body: "" }));
    }

    #[test]
    fn text_without_fences_is_rejected() {
        for text in ["", "\n", "## What Changed\n", " ---\na: 1\n---\n", "----\n---\n"] {
            assert_eq!(split(text), Err(CheckpointProblem::NoFrontMatter), "{text:?}");
        }
        for text in ["---", "---\n", "---\na: 1\n", "---\na: 1\n ---\n"] {
            assert_eq!(split(text), Err(CheckpointProblem::UnclosedFrontMatter), "{text:?}");
        }
    }
}
