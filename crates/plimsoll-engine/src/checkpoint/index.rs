//! `index.json`: the checkpoints of all projects, for people and other tools.
//!
//! The index is derived from the checkpoint files. A broken one is rebuilt from the projects that
//! it still names.

mod append;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use plimsoll_core::Millis;
use plimsoll_core::time::utc_second;
use plimsoll_extract::checkpoint::{MAX_BYTES, Meta};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::file::replace;
use super::folder::Folder;
use super::list::Listed;
use super::{Place, key, list};
use crate::lock::lock;
use crate::paths::{self, Links};
use crate::world;

/// A checkpoint in the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    pub path: PathBuf,
    pub project: PathBuf,
    /// Creation time in UTC.
    pub created: String,
    /// Occasion on which the checkpoint was made.
    pub trigger: String,
    /// Whether the last check found the file present and intact.
    pub verified: bool,
    /// Number of the checkpoint within its project.
    pub iteration: u64,
    #[serde(default)]
    pub summary: String,
    /// Fields written by other tools.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Entry {
    /// Creates the entry of an intact checkpoint.
    pub(super) fn new(place: &Place, meta: &Meta, summary: String) -> Self {
        Self {
            id: meta.id.clone(),
            path: place.file(&meta.id),
            project: place.project.clone(),
            created: utc_second(meta.created),
            trigger: meta.occasion.label().to_owned(),
            verified: true,
            iteration: meta.iteration,
            summary,
            rest: Map::new(),
        }
    }

    /// Creates the entry of a listed checkpoint; `None` if it is not our own.
    pub(super) fn of(place: &Place, listed: &Listed) -> Option<Self> {
        let meta = listed.verdict.meta.as_ref().filter(|_| listed.is_own())?;
        let place = place.in_project((&meta.project).into());
        Some(Self::new(&place, meta, listed.summary.clone()))
    }
}

/// The whole file.
#[derive(Serialize)]
struct Index {
    version: &'static str,
    /// Newest last.
    checkpoints: Vec<Item>,
    /// In UTC.
    last_updated: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item {
    /// An item of another tool that we cannot parse.
    Strange(Value),
    Known(Entry),
}

/// Error of an update of the index.
#[derive(Debug, thiserror::Error)]
#[error("could not {task} the index `{}`: {why}", path.display())]
pub struct Unindexed {
    task: &'static str,
    path: PathBuf,
    why: io::Error,
}

/// Adds a new checkpoint. Returns a note if a broken index had to be rebuilt.
pub(super) fn add(
    place: &Place,
    entry: Entry,
    deadline: Instant,
) -> Result<Option<String>, Unindexed> {
    let open = Open::new(place, deadline)?;
    let bytes = open.bytes()?;
    match append::appended(&bytes, &entry, &now()) {
        Some(bytes) => open.put(&bytes).map(|()| None),
        None => open.change(place, &bytes, |entries| put(entries, entry)),
    }
}

/// Adds an entry or replaces the one for the same file.
pub(super) fn put(entries: &mut Vec<Entry>, mut entry: Entry) {
    match entries.iter_mut().find(|known| known.path == entry.path) {
        Some(known) => {
            entry.rest = std::mem::take(&mut known.rest);
            *known = entry;
        }
        None => entries.push(entry),
    }
}

/// Reads the entries of the index; empty if the index is missing or broken.
pub fn entries(place: &Place) -> Vec<Entry> {
    match read(&place.index).map(|bytes| parse(&bytes)) {
        Ok(Found::Whole { entries, .. }) => entries,
        _ => Vec::new(),
    }
}

/// Returns the projects that the index names. Entries are not kept in memory: there may be
/// thousands, and a server calls this often.
pub fn projects(place: &Place) -> BTreeSet<PathBuf> {
    read(&place.index).map(|bytes| named(&bytes)).unwrap_or_default()
}

/// Removes the index, its lock and the folders that are empty then, below `top`. Leaves an index
/// that other tools write to. Returns whether the index was removed.
pub fn remove(index: &Path, top: &Path) -> io::Result<bool> {
    match parse(&read(index)?) {
        Found::Whole { strange, .. } if strange.is_empty() => {}
        _ => return Ok(false),
    }
    for file in [index.to_owned(), paths::beside(index, ".lock")] {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    let above =
        index.ancestors().skip(1).take_while(|folder| folder.starts_with(top) && *folder != top);
    for folder in above {
        if std::fs::remove_dir(folder).is_err() {
            break; // Not empty.
        }
    }
    Ok(true)
}

/// Changes the index under its lock; readers see the old or the new version. Returns a note if a
/// broken index had to be rebuilt.
pub(super) fn update(
    place: &Place,
    deadline: Instant,
    change: impl FnOnce(&mut Vec<Entry>),
) -> Result<Option<String>, Unindexed> {
    let open = Open::new(place, deadline)?;
    let bytes = open.bytes()?;
    open.change(place, &bytes, change)
}

/// The locked index.
struct Open {
    path: PathBuf,
    _locked: File,
}

impl Open {
    fn new(place: &Place, deadline: Instant) -> Result<Self, Unindexed> {
        // The user may have replaced the index by a symbolic link.
        let is_link = fs::read_link(&place.index).is_ok();
        let path = if is_link { paths::canonical(&place.index) } else { place.index.clone() };
        let failed = |task, why| Unindexed { task, path: path.clone(), why };
        let open = || paths::append(&paths::beside(&path, ".lock"));
        let _locked = lock(open, deadline).map_err(|why| failed("lock", why))?;
        Ok(Self { path, _locked })
    }

    fn bytes(&self) -> Result<Vec<u8>, Unindexed> {
        read(&self.path).map_err(|why| self.failed("read", why))
    }

    /// Changes the entries of an index with these bytes. Returns a note if a broken index had to be
    /// rebuilt.
    fn change(
        &self,
        place: &Place,
        bytes: &[u8],
        change: impl FnOnce(&mut Vec<Entry>),
    ) -> Result<Option<String>, Unindexed> {
        let (mut entries, strange, mended) = match parse(bytes) {
            Found::Whole { entries, strange } => (entries, strange, None),
            Found::Broken(projects) => {
                let (entries, told) = mend(place, projects);
                (entries, Vec::new(), Some(told))
            }
        };
        let before = entries.clone();
        change(&mut entries);
        if entries == before && mended.is_none() {
            return Ok(None);
        }
        let bytes = written(entries, strange).map_err(|why| self.failed("write", why.into()))?;
        self.put(&bytes)?;
        Ok(mended)
    }

    /// Replaces the index.
    fn put(&self, bytes: &[u8]) -> Result<(), Unindexed> {
        // Not synced: an index lost in a crash is rebuilt from the files.
        replace(&self.path, bytes).map_err(|why| self.failed("write", why))
    }

    fn failed(&self, task: &'static str, why: io::Error) -> Unindexed {
        Unindexed { task, path: self.path.clone(), why }
    }
}

fn mend(place: &Place, projects: BTreeSet<PathBuf>) -> (Vec<Entry>, String) {
    let projects = projects.into_iter().chain([place.project.clone()]).collect::<BTreeSet<_>>();
    let entries = sealed(place, projects);
    let (path, count) = (place.index.display(), entries.len());
    let told = format!("the index `{path}` was broken; made anew with {count} checkpoints");
    (entries, told)
}

/// Returns the entries of all checkpoints that we sealed in these projects.
fn sealed(place: &Place, projects: impl IntoIterator<Item = PathBuf>) -> Vec<Entry> {
    // Without the key no checkpoint can be identified as ours.
    let key = key::read(&place.key).ok().flatten();
    let mut entries = Vec::new();
    for project in projects {
        let place = place.in_project(project);
        let Ok(Some(folder)) = Folder::open(&place) else { continue };
        let ids = folder.ids().unwrap_or_default().into_iter();
        let listed = ids.map(|id| list::look(&place, &folder, key.as_ref(), id, MAX_BYTES));
        entries.extend(listed.filter_map(|listed| Entry::of(&place, &listed)));
    }
    entries
}

enum Found {
    /// A valid index.
    Whole { entries: Vec<Entry>, strange: Vec<Value> },
    /// A broken index, with the projects that its text still names.
    Broken(BTreeSet<PathBuf>),
}

/// Reads the bytes of an index; a missing one reads as [`EMPTY`].
fn read(path: &Path) -> io::Result<Vec<u8>> {
    const MOST: u64 = 64 << 20;
    let file = match paths::open(path, Links::Followed) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(EMPTY.to_owned()),
        opened => opened?,
    };
    paths::read_whole(&file, file.metadata()?.len(), MOST)
}

const EMPTY: &[u8] = br#"{"checkpoints": []}"#;

fn parse(bytes: &[u8]) -> Found {
    let index = serde_json::from_slice(bytes).ok();
    let items = index.and_then(|mut index: Value| match index.get_mut("checkpoints")?.take() {
        Value::Array(items) => Some(items),
        _ => None,
    });
    let Some(items) = items else { return Found::Broken(named(bytes)) };
    let (mut entries, mut strange) = (Vec::with_capacity(items.len()), Vec::new());
    for item in items {
        match Entry::deserialize(&item) {
            Ok(entry) => entries.push(entry),
            Err(_) => strange.push(item),
        }
    }
    Found::Whole { entries, strange }
}

/// Finds the projects that an index names, even if it is broken.
fn named(bytes: &[u8]) -> BTreeSet<PathBuf> {
    const KEY: &str = "\"project\"";
    let text = String::from_utf8_lossy(bytes);
    let project = |(at, _): (usize, &str)| {
        let rest = text[at + KEY.len()..].trim_start().strip_prefix(':')?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        values.next()?.ok().map(PathBuf::from).filter(|path| path.is_absolute())
    };
    text.match_indices(KEY).filter_map(project).collect()
}

fn written(mut entries: Vec<Entry>, strange: Vec<Value>) -> serde_json::Result<Vec<u8>> {
    entries.sort_by(|one, other| {
        (&one.created, one.iteration).cmp(&(&other.created, other.iteration))
    });
    let known = entries.into_iter().map(Item::Known);
    let checkpoints = strange.into_iter().map(Item::Strange).chain(known).collect();
    let index = Index { version: VERSION, checkpoints, last_updated: now() };
    let mut bytes = serde_json::to_vec_pretty(&index)?;
    bytes.push(b'\n');
    Ok(bytes)
}

const VERSION: &str = "1.0";

fn now() -> String {
    utc_second(world::now() as Millis)
}
