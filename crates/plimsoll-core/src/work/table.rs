//! The names of a session's work, each with its score: files, symbols and where they belong, and
//! references.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::index::Index;
use super::names::NameKind;
use super::noted::Place;
use super::score::{Clock, Score};

/// A file's place in the table.
pub(super) type FileId = u32;
type NameId = u32;

/// A symbol or a reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Name {
    pub(super) kind: NameKind,
    pub(super) text: SmolStr,
    pub(super) score: Score,
    /// The record that named it last.
    pub(super) place: Place,
    pub(super) ties: Ties,
}

/// Files that a symbol belongs to, and how firmly.
pub(super) type Ties = [Option<(FileId, f32)>; MOST_TIES];

/// A file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct File {
    /// As much of its path as was ever named.
    pub(super) path: SmolStr,
    pub(super) score: Score,
    /// The record that named it last.
    pub(super) place: Place,
}

/// All names, the most useful of them at least.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub(super) struct Table {
    pub(super) names: Vec<Name>,
    pub(super) files: Vec<File>,
    /// The record that is being taken.
    #[serde(skip)]
    pub(super) here: Place,
    #[serde(skip)]
    by_text: Index,
    /// By the last part of their paths.
    #[serde(skip)]
    by_base: Index,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        (&self.names, &self.files) == (&other.names, &other.files)
    }
}

/// What is saved of a table; the rest follows from it.
#[derive(Deserialize)]
struct Kept {
    names: Vec<Name>,
    files: Vec<File>,
}

impl From<Kept> for Table {
    fn from(Kept { names, files }: Kept) -> Self {
        Self { names, files, ..Self::default() }
    }
}

/// How many names and files are kept when there are twice as many.
#[derive(Clone, Copy)]
pub(super) struct Most {
    pub(super) names: usize,
    pub(super) files: usize,
}

/// To how many files a symbol is tied at most.
const MOST_TIES: usize = 3;

impl Table {
    /// Notes a symbol or a reference.
    pub(super) fn name(&mut self, kind: NameKind, text: &str, weight: f32, now: Clock) -> NameId {
        self.index();
        let known = self.by_text.find(text, |id| self.names[id as usize].text == text);
        let id = known.unwrap_or_else(|| {
            let id = self.names.len() as NameId;
            self.by_text.add(text, id);
            let (text, score) = (text.into(), Score::default());
            self.names.push(Name { kind, text, score, place: 0, ties: Ties::default() });
            id
        });
        let name = &mut self.names[id as usize];
        name.score.add(weight, now);
        name.place = self.here;
        id
    }

    /// Notes a file, by a path or the end of one.
    pub(super) fn file(&mut self, path: &str, weight: f32, now: Clock) -> FileId {
        let id = self.find_file(path);
        let file = &mut self.files[id as usize];
        file.score.add(weight, now);
        file.place = self.here;
        id
    }

    fn find_file(&mut self, path: &str) -> FileId {
        self.index();
        let base = base(path);
        let same = |id: FileId| {
            let known = self.files[id as usize].path.as_str();
            is_end_of(path, known) || is_end_of(known, path)
        };
        if let Some(id) = self.by_base.find(base, same) {
            let file = &mut self.files[id as usize];
            if path.len() > file.path.len() {
                file.path = path.into();
            }
            return id;
        }
        let id = self.files.len() as FileId;
        self.by_base.add(base, id);
        self.files.push(File { path: path.into(), score: Score::default(), place: 0 });
        id
    }

    /// Notes that a symbol belongs to a file.
    pub(super) fn tie(&mut self, symbol: NameId, file: FileId, weight: f32) {
        tie(&mut self.names[symbol as usize].ties, file, weight);
    }

    /// Takes over all that another table knows.
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

    fn absorb_file(&mut self, other: File) -> FileId {
        let id = self.find_file(&other.path);
        let file = &mut self.files[id as usize];
        file.score.join(other.score);
        file.place = file.place.max(other.place);
        id
    }

    fn absorb_name(&mut self, other: Name) {
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

    /// Forgets the least useful names if there are too many.
    ///
    /// `keep` says which files are needed elsewhere. The new place of each file is given back, if
    /// any has moved.
    pub(super) fn shrink(
        &mut self,
        most: Most,
        now: Clock,
        keep: impl Fn(FileId) -> bool,
    ) -> Option<Moved> {
        if self.names.len() > 2 * most.names {
            let scores: Vec<f32> = self.names.iter().map(|name| name.score.at(now)).collect();
            let least = nth_largest(&scores, most.names);
            let mut scores = scores.into_iter();
            self.names.retain(|_| scores.next().is_some_and(|score| score > least));
        }
        (self.files.len() > 2 * most.files).then(|| self.shrink_files(most.files, now, keep))
    }

    fn shrink_files(&mut self, most: usize, now: Clock, keep: impl Fn(FileId) -> bool) -> Moved {
        let scores: Vec<f32> = self.files.iter().map(|file| file.score.at(now)).collect();
        let least = nth_largest(&scores, most);
        let mut next = 0;
        let moved: Moved = (0..self.files.len())
            .map(|id| {
                (scores[id] > least || keep(id as FileId)).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let mut places = moved.iter();
        self.files.retain(|_| places.next().is_some_and(Option::is_some));
        for tie in self.names.iter_mut().flat_map(|name| &mut name.ties) {
            *tie = tie.and_then(|(file, weight)| Some((moved[file as usize]?, weight)));
        }
        moved
    }

    /// Makes the indices anew if they are not of these names and files: when somebody asks, and nobody
    /// asks most of the tables that are read back.
    #[inline]
    fn index(&mut self) {
        if self.by_text.len() != self.names.len() {
            self.by_text = Index::of(self.names.iter().map(|name| name.text.as_str()));
        }
        if self.by_base.len() != self.files.len() {
            self.by_base = Index::of(self.files.iter().map(|file| base(&file.path)));
        }
    }
}

/// Ties a symbol to a file, or more firmly; not to more files than there is room for.
fn tie(ties: &mut Ties, file: FileId, weight: f32) {
    let known = ties.iter().position(|tie| tie.is_some_and(|(known, _)| known == file));
    let free = || ties.iter().position(Option::is_none);
    if let Some(at) = known.or_else(free) {
        let (_, before) = ties[at].unwrap_or_default();
        ties[at] = Some((file, before + weight));
    }
}

/// Where each file is after some were forgotten.
pub(super) type Moved = Vec<Option<FileId>>;

fn nth_largest(scores: &[f32], n: usize) -> f32 {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|one, other| other.total_cmp(one));
    sorted.get(n).copied().unwrap_or(0.0)
}

pub(super) fn base(path: &str) -> &str {
    let slash = path.bytes().rposition(|byte| matches!(byte, b'/' | b'\\'));
    slash.map_or(path, |at| &path[at + 1..])
}

/// Whether `short` is `long` or its last parts.
fn is_end_of(short: &str, long: &str) -> bool {
    long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_the_end_of_its_path() {
        let mut table = Table::default();
        let id = table.file("main.rs", 1.0, 1);
        assert_eq!(table.file("src/main.rs", 1.0, 2), id);
        assert_eq!(table.file("main.rs", 1.0, 3), id);
        assert_eq!(table.files[id as usize].path, "src/main.rs");
        assert_ne!(table.file("other/main.rs", 1.0, 4), id);
    }

    #[test]
    fn the_most_useful_are_kept() {
        let most = Most { names: 3_000, files: 800 };
        let mut table = Table::default();
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
        assert_eq!(table.file("f1600.rs", 1.0, now), home);
    }
}
