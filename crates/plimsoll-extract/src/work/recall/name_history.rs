//! The names that occurred in a conversation, and whether they are still in view.

use std::collections::HashMap;

use crate::work::name_table::base;

/// A point in the conversation, counted in records.
pub(super) type RecordNumber = u32;
/// Index of a file.
pub(super) type FileId = u32;

/// Maximum number of names, to bound memory.
const MOST: usize = 1 << 19;
/// Maximum number of files with the same base name.
const MOST_OF_A_NAME: usize = 64;

/// All names so far, each with the moment of its last occurrence.
#[derive(Debug, Default)]
pub(super) struct NameHistory {
    now: RecordNumber,
    /// Names that last occurred before this moment are out of view.
    in_view_from: RecordNumber,
    names: HashMap<Box<str>, RecordNumber>,
    files: Vec<(Box<str>, RecordNumber)>,
    by_base: HashMap<Box<str>, Vec<FileId>>,
}

impl NameHistory {
    /// Starts the next record.
    pub(super) fn next(&mut self) -> RecordNumber {
        self.now += 1;
        self.now
    }

    /// Handles a compaction: only names from `kept_from` on are still in view.
    pub(super) fn forget_before(&mut self, kept_from: Option<RecordNumber>) {
        self.now += 1;
        self.in_view_from = kept_from.unwrap_or(self.now);
    }

    /// Records a name. Returns whether it occurred before and is out of view.
    pub(super) fn name(&mut self, name: &str) -> bool {
        match self.names.get_mut(name) {
            Some(seen) => std::mem::replace(seen, self.now) < self.in_view_from,
            None => {
                if self.names.len() < MOST {
                    self.names.insert(name.into(), self.now);
                }
                false
            }
        }
    }

    /// Records a file by a path or the end of one. Returns the file if it occurred before and is
    /// out of view; `None` if the path is ambiguous.
    pub(super) fn file(&mut self, path: &str) -> Option<FileId> {
        let Some(id) = self.find(path) else {
            self.add(path);
            return None;
        };
        let (known, seen) = &mut self.files[id as usize];
        if path.len() > known.len() {
            *known = path.into();
        }
        (std::mem::replace(seen, self.now) < self.in_view_from).then_some(id)
    }

    fn add(&mut self, path: &str) {
        let same = self.by_base.entry(base(path).into()).or_default();
        let is_told = folder(path).is_some() || same.is_empty();
        if is_told && same.len() < MOST_OF_A_NAME && self.files.len() < MOST {
            same.push(self.files.len() as FileId);
            self.files.push((path.into(), self.now));
        }
    }

    /// Returns the only file that a path can mean.
    pub(super) fn find(&self, path: &str) -> Option<FileId> {
        let is_meant = |id: &&FileId| is_same(path, self.path(**id));
        let mut meant = self.by_base.get(base(path))?.iter().filter(is_meant);
        meant.next().filter(|_| meant.next().is_none()).copied()
    }

    /// Returns the longest path that was ever given for a file.
    pub(super) fn path(&self, file: FileId) -> &str {
        &self.files[file as usize].0
    }
}

/// Returns whether two paths with the same base name can mean the same file: their folders match,
/// if both have one. The rest of a path varies with its notation, as in imports.
fn is_same(one: &str, other: &str) -> bool {
    folder(one).zip(folder(other)).is_none_or(|(one, other)| one == other)
}

/// Returns the name of a file's parent folder.
pub(super) fn folder(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).nth(1).filter(|folder| !matches!(*folder, "" | "." | ".." | "~"))
}
