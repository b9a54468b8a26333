//! Groups the files of a task that stay together when the task is split.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use plimsoll_core::Tokens;

/// How often two files changed in the same commit, keyed by the sorted pair of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoChanges(BTreeMap<(String, String), u32>);

impl CoChanges {
    /// Counts the files of one commit. A commit that changed very many files says nothing about
    /// pairs, so it is ignored.
    pub fn add_commit(&mut self, files: &[String]) {
        const TELLING: usize = 32;
        let files: BTreeSet<&String> = files.iter().collect();
        if files.len() > TELLING {
            return;
        }
        for one in &files {
            for other in files.range::<String, _>((Bound::Excluded(*one), Bound::Unbounded)) {
                *self.0.entry(((*one).clone(), (*other).clone())).or_default() += 1;
            }
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str, u32)> {
        self.0.iter().map(|((one, other), count)| (one.as_str(), other.as_str(), *count))
    }
}

/// Strength of the relation between two files, and their indexes.
type FileRelation = (u32, usize, usize);

/// Further common commits make no difference.
const MAX_COMMITS: u32 = 8;
/// Strength of one common commit.
const COMMIT_STRENGTH: u32 = 4;
/// Strength of a common module.
const MODULE_STRENGTH: u32 = 12;
/// Strength of a common folder.
const FOLDER_STRENGTH: u32 = 6;

/// Groups files so that each group fits and related files stay together.
///
/// Joins the most closely related files first, as long as their total cost `fits`. Finally
/// unrelated groups are combined to fill up the room. A file that does not fit forms a group of its
/// own.
pub(super) fn group_files(
    files: &[String],
    costs: &[Tokens],
    together: &CoChanges,
    fits: &dyn Fn(Tokens) -> bool,
) -> Vec<FileGroup> {
    let mut groups: Vec<FileGroup> = costs
        .iter()
        .enumerate()
        .map(|(file, cost)| FileGroup { files: vec![file], cost: *cost })
        .collect();
    let mut of: Vec<usize> = (0..files.len()).collect();
    for (_, one, other) in relations(files, together) {
        let (into, from) = (of[one].min(of[other]), of[one].max(of[other]));
        if into != from && fits(groups[into].cost.saturating_add(groups[from].cost)) {
            let joined = std::mem::take(&mut groups[from]);
            joined.files.iter().for_each(|file| of[*file] = into);
            groups[into].join(joined);
        }
    }
    merge_small_groups(groups, fits)
}

/// Some files of a task and their total cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileGroup {
    /// Indexes in the task's list, in order.
    pub(super) files: Vec<usize>,
    pub(super) cost: Tokens,
}

impl FileGroup {
    /// Returns the cost of each file; empty if there is only one file, which cannot be split.
    pub(super) fn costs(&self, all: &[Tokens]) -> Vec<Tokens> {
        match self.files.len() {
            1 => Vec::new(),
            _ => self.files.iter().map(|file| all[*file]).collect(),
        }
    }

    fn join(&mut self, other: Self) {
        self.files.extend(other.files);
        self.files.sort_unstable();
        self.cost = self.cost.saturating_add(other.cost);
    }
}

/// Adds each group to the first one with enough room.
fn merge_small_groups(groups: Vec<FileGroup>, fits: &dyn Fn(Tokens) -> bool) -> Vec<FileGroup> {
    let mut filled: Vec<FileGroup> = Vec::new();
    for group in groups.into_iter().filter(|group| !group.files.is_empty()) {
        match filled.iter_mut().find(|with| fits(with.cost.saturating_add(group.cost))) {
            Some(with) => with.join(group),
            None => filled.push(group),
        }
    }
    filled
}

/// Returns related pairs of files, the strongest relation first.
fn relations(files: &[String], together: &CoChanges) -> Vec<FileRelation> {
    let mut strength: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let mut tie = |one: usize, other: usize, by: u32| {
        *strength.entry((one.min(other), one.max(other))).or_default() += by;
    };
    let places: HashMap<&str, usize> =
        files.iter().enumerate().map(|(at, file)| (file.as_str(), at)).collect();
    for (one, other, count) in together.pairs() {
        if let (Some(one), Some(other)) = (places.get(one), places.get(other)) {
            tie(*one, *other, COMMIT_STRENGTH * count.min(MAX_COMMITS));
        }
    }
    let order = indexes_by_path(files);
    relate_neighbours(&order, |at| module(&files[at]), &mut |one, other| {
        tie(one, other, MODULE_STRENGTH)
    });
    let folders =
        relate_neighbours(&order, |at| folder(&files[at]).to_owned(), &mut |one, other| {
            tie(one, other, FOLDER_STRENGTH);
        });
    for at in &order {
        // `a/b.rs` is the head of the files in `a/b`.
        if let Some(within) = folders.get(stem(&files[*at])) {
            tie(*at, *within, MODULE_STRENGTH);
        }
    }
    order.windows(2).for_each(|pair| {
        let depth = common_folders(&files[pair[0]], &files[pair[1]]);
        tie(pair[0], pair[1], depth.min(FOLDER_STRENGTH - 1));
    });
    let mut ties: Vec<FileRelation> = strength.into_iter().map(|((a, b), by)| (by, a, b)).collect();
    ties.sort_by_key(|(by, one, other)| (std::cmp::Reverse(*by), *one, *other));
    ties
}

/// Relates each file to the next one with the same `of`, which is enough to join all of them.
/// Returns the last file for each value.
fn relate_neighbours(
    order: &[usize],
    of: impl Fn(usize) -> String,
    tie: &mut dyn FnMut(usize, usize),
) -> HashMap<String, usize> {
    let mut last = HashMap::new();
    for at in order {
        if let Some(before) = last.insert(of(*at), *at) {
            tie(before, *at);
        }
    }
    last
}

fn indexes_by_path(files: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|at| &files[*at]);
    order
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns a file's path without its extensions. For a file that stands for its folder, such as
/// `mod.rs`, returns the folder.
fn stem(file: &str) -> &str {
    const FOR_FOLDER: [&str; 3] = ["mod", "index", "__init__"];
    let name = file.rfind('/').map_or(0, |slash| slash + 1);
    let end = file[name..].find('.').filter(|dot| *dot > 0).map_or(file.len(), |dot| name + dot);
    match FOR_FOLDER.contains(&&file[name..end]) && name > 0 {
        true => &file[..name - 1],
        false => &file[..end],
    }
}

/// Returns the module of a file: the same for `a/src/b.rs`, `a/src/b/mod.rs` and
/// `a/tests/test_b.rs`.
fn module(file: &str) -> String {
    const KINDS: [&str; 6] = ["src", "lib", "test", "tests", "spec", "__tests__"];
    let (folders, name) = stem(file).rsplit_once('/').unwrap_or(("", stem(file)));
    let name = name.strip_prefix("test_").or_else(|| name.strip_suffix("_test")).unwrap_or(name);
    let package = folders.split('/').take_while(|folder| !KINDS.contains(folder));
    package.chain([name]).collect::<Vec<_>>().join("/")
}

fn common_folders(one: &str, other: &str) -> u32 {
    let folders = |file| folder(file).split('/').collect::<Vec<_>>();
    let (one, other) = (folders(one), folders(other));
    one.iter().zip(&other).take_while(|(one, other)| one == other && !one.is_empty()).count() as u32
}
