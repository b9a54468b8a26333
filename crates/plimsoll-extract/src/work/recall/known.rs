//! The names that stood in a conversation, and whether they still do.

use std::collections::HashMap;

use crate::work::table::base;

/// When something was seen, counted in records.
pub(super) type Moment = u32;
/// A file's place among all files.
pub(super) type FileId = u32;

/// More names than this are not remembered, so that no transcript fills the memory.
const MOST: usize = 1 << 19;
/// So many files of one name are told apart.
const MOST_OF_A_NAME: usize = 64;

/// Every name so far, with the moment when it was seen last.
#[derive(Debug, Default)]
pub(super) struct Known {
    now: Moment,
    /// What was seen last before this is out of view.
    in_view_from: Moment,
    names: HashMap<Box<str>, Moment>,
    files: Vec<(Box<str>, Moment)>,
    by_base: HashMap<Box<str>, Vec<FileId>>,
}

impl Known {
    /// The next record begins.
    pub(super) fn next(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    /// A compaction: only what was seen from `kept_from` on is still in view.
    pub(super) fn forget_before(&mut self, kept_from: Option<Moment>) {
        self.now += 1;
        self.in_view_from = kept_from.unwrap_or(self.now);
    }

    /// Notes a name. Tells whether it stood here once, and is out of view.
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

    /// Notes a file, by a path or the end of one. Gives it if it stood here once, and is out of view;
    /// not where several could be meant.
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

    /// The one file that a path can mean.
    pub(super) fn find(&self, path: &str) -> Option<FileId> {
        let is_meant = |id: &&FileId| is_same(path, self.path(**id));
        let mut meant = self.by_base.get(base(path))?.iter().filter(is_meant);
        meant.next().filter(|_| meant.next().is_none()).copied()
    }

    /// As much of a file's path as was ever named.
    pub(super) fn path(&self, file: FileId) -> &str {
        &self.files[file as usize].0
    }
}

/// Whether two paths of one name can mean the same file: by the folder it lies in, where both tell it.
/// More of a path differs from one way of writing it to the next, as in imports.
fn is_same(one: &str, other: &str) -> bool {
    folder(one).zip(folder(other)).is_none_or(|(one, other)| one == other)
}

/// The folder that a file lies in, without its own path.
pub(super) fn folder(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).nth(1).filter(|folder| !matches!(*folder, "" | "." | ".." | "~"))
}
