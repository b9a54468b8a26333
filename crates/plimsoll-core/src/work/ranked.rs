//! Names with their scores: recency × use.

use std::collections::HashMap;

use super::names::NameKind;

/// A file's place in the table.
pub(super) type FileId = u32;
/// A symbol's or reference's place.
pub(super) type NameId = u32;

/// A score that fades: what was used lately counts most, and nothing is ever worth nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Score {
    hot: f32,
    cold: f32,
    at: u32,
    pub(super) uses: u32,
}

const HALF_LIFE: f32 = 120.0;
const FLOOR: f32 = 0.05;

impl Score {
    /// Adds a use at `clock`; several at the same moment count once, by the largest.
    fn add(&mut self, weight: f32, clock: u32) {
        if self.uses > 0 && self.at == clock {
            return;
        }
        self.hot = self.hot * fade(clock - self.at) + weight;
        self.cold += weight;
        self.at = clock;
        self.uses += 1;
    }

    pub(super) fn now(&self, clock: u32) -> f32 {
        self.hot * fade(clock - self.at) + FLOOR * self.cold
    }
}

fn fade(age: u32) -> f32 {
    (-(age as f32) / HALF_LIFE).exp2()
}

#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) kind: NameKind,
    pub(super) text: String,
    pub(super) score: Score,
    /// Files a symbol belongs to.
    pub(super) files: Vec<(FileId, Score)>,
}

#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) score: Score,
}

/// All names.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    pub(super) names: Vec<Name>,
    pub(super) files: Vec<File>,
    by_text: HashMap<String, NameId>,
    by_base: HashMap<String, Vec<FileId>>,
}

impl Ranked {
    pub(super) fn add(&mut self, kind: NameKind, text: &str, weight: f32, clock: u32) -> NameId {
        let id = match self.by_text.get(text) {
            Some(id) => *id,
            None => {
                let id = self.names.len() as NameId;
                self.names.push(Name { kind, text: text.to_owned(), score: Score::default(), files: Vec::new() });
                self.by_text.insert(text.to_owned(), id);
                id
            }
        };
        self.names[id as usize].score.add(weight, clock);
        id
    }

    pub(super) fn add_file(&mut self, path: &str, weight: f32, clock: u32) -> FileId {
        let id = self.find_file(path);
        self.files[id as usize].score.add(weight, clock);
        id
    }

    /// The file that a path, or the end of one, stands for.
    fn find_file(&mut self, path: &str) -> FileId {
        let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let known = self.by_base.entry(base.to_owned()).or_default();
        let same = |file: &FileId| {
            let known = self.files[*file as usize].path.as_str();
            is_end_of(path, known) || is_end_of(known, path)
        };
        if let Some(id) = known.iter().copied().find(same) {
            let file = &mut self.files[id as usize];
            if path.len() > file.path.len() {
                file.path = path.to_owned();
            }
            return id;
        }
        let id = self.files.len() as FileId;
        known.push(id);
        self.files.push(File { path: path.to_owned(), score: Score::default() });
        id
    }

    pub(super) fn tie(&mut self, symbol: NameId, file: FileId, weight: f32, clock: u32) {
        let files = &mut self.names[symbol as usize].files;
        match files.iter().position(|(known, _)| *known == file) {
            Some(at) => files[at].1.add(weight, clock),
            None if files.len() < 8 => {
                let mut score = Score::default();
                score.add(weight, clock);
                files.push((file, score));
            }
            None => {}
        }
    }
}

/// Whether `short` is `long` or its last parts.
fn is_end_of(short: &str, long: &str) -> bool {
    long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
}
