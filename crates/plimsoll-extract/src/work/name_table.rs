//! The names of a session's work with their scores: files, symbols and their files, and references.

use std::collections::HashMap;

use plimsoll_core::entry::Place;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::item_index::ItemIndex;
use super::names::NameKind;
use super::path;
use super::score::{Clock, UseScore};

/// Index of a file in the table.
pub(super) type FileId = u32;
type NameId = u32;

/// A symbol or a reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NameEntry {
    pub(super) kind: NameKind,
    pub(super) text: SmolStr,
    pub(super) score: UseScore,
    /// Place of the record that last mentioned the name.
    pub(super) place: Place,
    pub(super) ties: Ties,
}

/// Files that a symbol belongs to, with the strength of each link.
pub(super) type Ties = [Option<(FileId, f32)>; MOST_TIES];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FileEntry {
    /// Relative to the project if it is inside. For a file that was only mentioned, the path as
    /// mentioned.
    pub(super) path: SmolStr,
    /// Whether a tool received this path or the agent reported it. A mention never renames such a
    /// file.
    pub(super) is_known: bool,
    pub(super) score: UseScore,
    /// Place of the record that last mentioned the file.
    pub(super) place: Place,
}

/// The names of a session, limited to the most useful ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "StoredTable")]
pub(super) struct NameTable {
    pub(super) names: Vec<NameEntry>,
    pub(super) files: Vec<FileEntry>,
    /// Place of the current record.
    #[serde(skip)]
    pub(super) here: Place,
    #[serde(skip)]
    by_text: ItemIndex,
    #[serde(skip)]
    by_path: ItemIndex,
}

impl PartialEq for NameTable {
    fn eq(&self, other: &Self) -> bool {
        (&self.names, &self.files) == (&other.names, &other.files)
    }
}

/// The stored part of a table; the rest is derived.
#[derive(Deserialize)]
struct StoredTable {
    names: Vec<NameEntry>,
    files: Vec<FileEntry>,
}

impl From<StoredTable> for NameTable {
    fn from(StoredTable { names, files }: StoredTable) -> Self {
        Self { names, files, ..Self::default() }
    }
}

/// Number of names and files kept once there are twice as many.
#[derive(Clone, Copy)]
pub(super) struct TableLimits {
    pub(super) names: usize,
    pub(super) files: usize,
}

/// Maximum number of files that a symbol is linked to.
const MOST_TIES: usize = 3;

impl NameTable {
    /// Records a symbol or a reference.
    pub(super) fn name(&mut self, kind: NameKind, text: &str, weight: f32, now: Clock) -> NameId {
        self.index();
        let known = self.by_text.find(text, |id| self.names[id as usize].text == text);
        let id = known.unwrap_or_else(|| {
            let id = self.names.len() as NameId;
            self.by_text.add(text, id);
            let (text, score) = (text.into(), UseScore::default());
            self.names.push(NameEntry { kind, text, score, place: 0, ties: Ties::default() });
            id
        });
        let name = &mut self.names[id as usize];
        name.score.add(weight, now);
        name.place = self.here;
        id
    }

    /// Records a file that a tool received or the agent reported.
    pub(super) fn known_file(&mut self, path: &str, weight: f32, now: Clock) -> FileId {
        let id = self.file(path, weight, now);
        self.files[id as usize].is_known = true;
        id
    }

    /// Returns whether a tool named the file with this path.
    pub(super) fn knows(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.is_known && file.path == path)
    }

    /// Returns whether a tool named a file below this folder.
    pub(super) fn knows_below(&self, folder: &str) -> bool {
        let is_below = |path: &str| path != folder && path::is_below(folder, path);
        self.files.iter().any(|file| file.is_known && is_below(&file.path))
    }

    /// Records a file that a text mentions, by exactly this path.
    pub(super) fn file(&mut self, path: &str, weight: f32, now: Clock) -> FileId {
        let id = self.find_file(path);
        let file = &mut self.files[id as usize];
        file.score.add(weight, now);
        file.place = self.here;
        id
    }

    fn find_file(&mut self, path: &str) -> FileId {
        self.index();
        let same = |id: FileId| self.files[id as usize].path == path;
        self.by_path.find(path, same).unwrap_or_else(|| {
            let id = self.files.len() as FileId;
            self.by_path.add(path, id);
            let score = UseScore::default();
            self.files.push(FileEntry { path: path.into(), is_known: false, score, place: 0 });
            id
        })
    }

    /// Merges each mention of a path's end (`main.rs`) into the one known file it can mean
    /// (`src/main.rs`), and returns the new index of each file. A mention that can mean several
    /// files stays separate.
    pub(super) fn join_mentions(&mut self) -> Option<MovedFiles> {
        let mut known: HashMap<&str, Vec<FileId>> = HashMap::new();
        for (id, file) in (0..).zip(&self.files).filter(|(_, file)| file.is_known) {
            known.entry(base(&file.path)).or_default().push(id);
        }
        let meant = |file: &FileEntry| {
            let fits = |id: &&FileId| is_end_of(&file.path, &self.files[**id as usize].path);
            let mut fitting = known.get(base(&file.path))?.iter().filter(fits);
            let only = *fitting.next()?;
            (!file.is_known && fitting.next().is_none()).then_some(only)
        };
        let meant: Vec<Option<FileId>> = self.files.iter().map(meant).collect();
        if meant.iter().all(Option::is_none) {
            return None;
        }
        for (id, known) in meant.iter().enumerate() {
            if let Some(known) = *known {
                let (score, place) = (self.files[id].score, self.files[id].place);
                self.files[known as usize].join(score, place);
            }
        }
        let mut next = 0..;
        let mut moved: MovedFiles =
            meant.iter().map(|known| if known.is_none() { next.next() } else { None }).collect();
        let mut gone = meant.iter();
        self.files.retain(|_| gone.next().is_some_and(Option::is_none));
        for (id, known) in meant.iter().enumerate() {
            if let Some(known) = *known {
                moved[id] = moved[known as usize];
            }
        }
        self.move_ties(&moved);
        Some(moved)
    }

    fn move_ties(&mut self, moved: &MovedFiles) {
        for name in &mut self.names {
            for (file, weight) in std::mem::take(&mut name.ties).into_iter().flatten() {
                if let Some(file) = moved[file as usize] {
                    tie(&mut name.ties, file, weight);
                }
            }
        }
    }

    /// Records that a symbol belongs to a file.
    pub(super) fn tie(&mut self, symbol: NameId, file: FileId, weight: f32) {
        tie(&mut self.names[symbol as usize].ties, file, weight);
    }

    /// Adds everything that another table contains.
    pub(super) fn absorb(&mut self, other: Self) {
        self.names.reserve(other.names.len());
        self.index();
        self.by_text.reserve(other.names.len());
        let files: Vec<FileId> =
            other.files.into_iter().map(|file| self.absorb_file(file)).collect();
        for mut name in other.names {
            name.ties.iter_mut().flatten().for_each(|(file, _)| *file = files[*file as usize]);
            self.absorb_name(name);
        }
    }

    fn absorb_file(&mut self, other: FileEntry) -> FileId {
        let id = self.find_file(&other.path);
        let file = &mut self.files[id as usize];
        file.is_known |= other.is_known;
        file.join(other.score, other.place);
        id
    }

    fn absorb_name(&mut self, other: NameEntry) {
        let Some(id) =
            self.by_text.find(&other.text, |id| self.names[id as usize].text == other.text)
        else {
            self.by_text.add(&other.text, self.names.len() as NameId);
            return self.names.push(other);
        };
        let name = &mut self.names[id as usize];
        name.score.join(other.score);
        name.place = name.place.max(other.place);
        for (file, weight) in other.ties.into_iter().flatten() {
            tie(&mut name.ties, file, weight);
        }
    }

    /// Drops the least useful names if there are too many.
    ///
    /// `keep` selects files that are needed elsewhere. Returns the new index of each file, if any
    /// has moved.
    pub(super) fn shrink(
        &mut self,
        most: TableLimits,
        now: Clock,
        keep: impl Fn(FileId) -> bool,
    ) -> Option<MovedFiles> {
        if self.names.len() > 2 * most.names {
            let scores: Vec<f32> = self.names.iter().map(|name| name.score.at(now)).collect();
            let least = nth_largest(&scores, most.names);
            let mut scores = scores.into_iter();
            self.names.retain(|_| scores.next().is_some_and(|score| score > least));
        }
        (self.files.len() > 2 * most.files).then(|| self.shrink_files(most.files, now, keep))
    }

    fn shrink_files(
        &mut self,
        most: usize,
        now: Clock,
        keep: impl Fn(FileId) -> bool,
    ) -> MovedFiles {
        let scores: Vec<f32> = self.files.iter().map(|file| file.score.at(now)).collect();
        let least = nth_largest(&scores, most);
        let mut next = 0;
        let moved: MovedFiles = (0..self.files.len())
            .map(|id| {
                (scores[id] > least || keep(id as FileId)).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let mut places = moved.iter();
        self.files.retain(|_| places.next().is_some_and(Option::is_some));
        self.move_ties(&moved);
        moved
    }

    /// Rebuilds the indexes if they are out of date. This happens on first use, because most stored
    /// tables are loaded without a lookup.
    #[inline]
    fn index(&mut self) {
        if self.by_text.len() != self.names.len() {
            self.by_text = ItemIndex::of(self.names.iter().map(|name| name.text.as_str()));
        }
        if self.by_path.len() != self.files.len() {
            self.by_path = ItemIndex::of(self.files.iter().map(|file| file.path.as_str()));
        }
    }
}

impl FileEntry {
    fn join(&mut self, score: UseScore, place: Place) {
        self.score.join(score);
        self.place = self.place.max(place);
    }
}

/// Adds a link from a symbol to a file or strengthens it, as long as there is room.
fn tie(ties: &mut Ties, file: FileId, weight: f32) {
    let known = ties.iter().position(|tie| tie.is_some_and(|(known, _)| known == file));
    let free = || ties.iter().position(Option::is_none);
    if let Some(at) = known.or_else(free) {
        let (_, before) = ties[at].unwrap_or_default();
        ties[at] = Some((file, before + weight));
    }
}

/// The new index of each file; `None` for dropped files.
pub(super) type MovedFiles = Vec<Option<FileId>>;

fn nth_largest(scores: &[f32], n: usize) -> f32 {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|one, other| other.total_cmp(one));
    sorted.get(n).copied().unwrap_or(0.0)
}

pub(super) fn base(path: &str) -> &str {
    let slash = path.bytes().rposition(|byte| matches!(byte, b'/' | b'\\'));
    slash.map_or(path, |at| &path[at + 1..])
}

/// Returns whether `short` is `long` or its last parts.
fn is_end_of(short: &str, long: &str) -> bool {
    long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(table: &NameTable) -> Vec<&str> {
        table.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn a_mention_counts_for_the_only_file_that_it_can_mean() {
        let mut table = NameTable::default();
        let mention = table.file("main.rs", 1.0, 1);
        let symbol = table.name(NameKind::Symbol, "run_all", 1.0, 1);
        table.tie(symbol, mention, 1.0);
        table.known_file("src/main.rs", 1.0, 2);
        table.join_mentions();
        assert_eq!(paths(&table), ["src/main.rs"]);
        assert_eq!(table.names[symbol as usize].ties[0].map(|(file, _)| file), Some(0));
    }

    #[test]
    fn a_mention_never_renames_or_replaces_a_file() {
        let mut table = NameTable::default();
        table.file("packages/web/package.json", 9.0, 1);
        table.known_file("package.json", 1.0, 2);
        table.file("node_modules/a/package.json", 9.0, 3);
        assert!(table.join_mentions().is_none());
        let all = ["packages/web/package.json", "package.json", "node_modules/a/package.json"];
        assert_eq!(paths(&table), all);
    }

    #[test]
    fn a_mention_that_can_mean_several_files_stays_apart() {
        let mut table = NameTable::default();
        table.known_file("a/lib.rs", 1.0, 1);
        table.known_file("b/lib.rs", 1.0, 2);
        table.file("lib.rs", 1.0, 3);
        assert!(table.join_mentions().is_none());
    }

    #[test]
    fn the_most_useful_are_kept() {
        let most = TableLimits { names: 3_000, files: 800 };
        let mut table = NameTable::default();
        for number in 0..2 * most.files as Clock + 1 {
            let file = table.file(&format!("src/f{number}.rs"), 1.0, number);
            let symbol = table.name(NameKind::Symbol, &format!("symbol_{number}"), 1.0, number);
            table.tie(symbol, file, 1.0);
        }
        let now = 2 * most.files as Clock + 1;
        let moved = table.shrink(most, now, |file| file == 0).unwrap();
        assert_eq!(table.files.len(), most.files + 1);
        assert_eq!((moved[0], table.files[0].path.as_str()), (Some(0), "src/f0.rs"));
        assert_eq!(moved[1], None);
        let last = table.names.last().unwrap().clone();
        let (home, _) = last.ties[0].unwrap();
        let path = table.files[home as usize].path.as_str();
        assert_eq!((last.text.as_str(), path), ("symbol_1600", "src/f1600.rs"));
        assert_eq!(table.file("src/f1600.rs", 1.0, now), home);
    }
}
