//! Appends one entry to an index without parsing it: from about a hundred checkpoints on, parsing
//! would cost more than the rest of making one.

use plimsoll_core::bytes;

use super::{Entry, VERSION};

/// Returns the bytes of an index with one more entry. `None` if the index does not have our format,
/// may contain an entry for the same file, or the new entry does not belong at the end.
pub(super) fn appended(index: &[u8], entry: &Entry, now: &str) -> Option<Vec<u8>> {
    let head = format!("{{\n  \"version\": \"{VERSION}\",\n  \"checkpoints\": [\n    {{\n");
    let kept = index.strip_suffix(b"\"\n}\n")?;
    let (kept, _) = kept.split_at_checked(kept.len().checked_sub(now.len())?)?;
    let entries = kept.strip_suffix(TAIL.as_bytes())?;
    let path = serde_json::to_vec(&entry.path).ok()?;
    let is_new = !bytes::contains_once(&path, entries);
    if !entries.starts_with(head.as_bytes()) || !is_new || !is_newest(entries, entry) {
        return None;
    }
    let entry = serde_json::to_string_pretty(entry).ok()?.replace('\n', "\n    ");
    Some(
        [entries, b",\n    ", entry.as_bytes(), TAIL.as_bytes(), now.as_bytes(), b"\"\n}\n"]
            .concat(),
    )
}

/// Text between the last entry and the time of the last update.
const TAIL: &str = "\n  ],\n  \"last_updated\": \"";

/// Reports whether an entry is newer than the last one.
fn is_newest(entries: &[u8], entry: &Entry) -> bool {
    // No entry is longer than this.
    let last = &entries[entries.len().saturating_sub(8 << 10)..];
    let value = |key: &str, end: u8| {
        let from = bytes::last(key.as_bytes(), last)? + key.len();
        std::str::from_utf8(last[from..].split(|byte| *byte == end).next()?).ok()
    };
    let created = value("\n      \"created\": \"", b'"');
    let iteration = value("\n      \"iteration\": ", b',').and_then(|number| number.parse().ok());
    created.zip(iteration).is_some_and(|last| last < (&entry.created, entry.iteration))
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::super::{put, written};
    use super::*;

    fn entry(second: u32) -> Entry {
        Entry {
            id: format!("2026-11-15-1200{second:02}-a"),
            path: format!("/p/\"{second}\".md").into(),
            project: "/p".into(),
            created: format!("2026-11-15T12:00:{second:02}Z"),
            trigger: "auto".to_owned(),
            verified: true,
            iteration: second.into(),
            summary: "Loading \"cargo\" - 3 files modified".to_owned(),
            rest: Map::new(),
        }
    }

    #[test]
    fn an_entry_at_the_end_gives_what_writing_all_gives() {
        let index = written(vec![entry(1), entry(2)], Vec::new()).unwrap();
        let now = &super::super::now();
        let added = String::from_utf8(appended(&index, &entry(3), now).unwrap()).unwrap();
        let mut all = vec![entry(1), entry(2)];
        put(&mut all, entry(3));
        let written = String::from_utf8(written(all, Vec::new()).unwrap()).unwrap();
        let entries =
            |text: &str| text.split_once("last_updated").map(|(before, _)| before.to_owned());
        assert_eq!(entries(&added), entries(&written));
        assert!(added.ends_with(&format!("{now}\"\n}}\n")));
    }

    #[test]
    fn what_belongs_elsewhere_or_is_strange_is_not_appended() {
        let now = &super::super::now();
        let index = written(vec![entry(1), entry(5)], Vec::new()).unwrap();
        assert!(appended(&index, &entry(5), now).is_none(), "the same file");
        assert!(appended(&index, &entry(3), now).is_none(), "an older one");
        assert!(appended(&index[..index.len() - 9], &entry(6), now).is_none(), "a torn index");
        assert!(appended(&written(Vec::new(), Vec::new()).unwrap(), &entry(1), now).is_none());
    }
}
