//! Saves: written to a crash-safe journal and imported into the store.
//!
//! Saves are not derived from transcripts, so the store, which may be deleted, cannot be their
//! home. They are lines of one append-only journal, which is synced before success is reported; one
//! sync covers any number of saves. Hooks, the git hook, commands and the server write the same
//! lines. Readers import new lines first ([`take_in`]).

mod session;

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use anyhow::Context;
use plimsoll_core::settings::keys::variables;
use plimsoll_extract::save::{InvalidEnvironment, NewSave, Save, SaveEnvironment};
use plimsoll_store::{Batch, Bookmark, SourceFile, Store};
use uuid::Uuid;

use crate::ingest;
use crate::journal;
use crate::jsonl::{self, JsonLines};
use crate::paths::Paths;
use crate::world::{World, now};

pub(crate) use session::of_captured;
pub use session::{Told, made_here, made_in, of_session};

/// Returns the environment for a save: the one named, else the one set in the process environment,
/// else the default.
pub fn environment(
    world: &World,
    named: Option<&str>,
) -> Result<SaveEnvironment, InvalidEnvironment> {
    let set = || variables::ENVIRONMENT.names.iter().find_map(|name| world.env(name));
    match named.map(str::to_owned).or_else(set) {
        Some(name) => SaveEnvironment::new(&name),
        None => Ok(SaveEnvironment::default()),
    }
}

/// For hooks: other writers hold the lock for one sync, and a stopped one must not block the hook.
pub const BRIEFLY: Duration = Duration::from_secs(1);
/// For commands, which may wait for a busy disk.
pub const PATIENTLY: Duration = Duration::from_secs(30);

/// Writes saves to the journal and syncs it. Waits up to `patience` for the lock.
///
/// Removes secrets and control characters. A commit saved twice is written twice, but is one save
/// of its environment in the store: see [`Store::save_of_commit`].
pub fn keep(paths: &Paths, new: Vec<NewSave>, patience: Duration) -> io::Result<Vec<Save>> {
    let saves: Vec<Save> = new.into_iter().map(named).collect();
    let mut bytes = Vec::new();
    for save in &saves {
        serde_json::to_writer(&mut bytes, save)?;
        bytes.push(b'\n');
    }
    journal::append(&paths.saves(), bytes, patience)?;
    Ok(saves)
}

/// Adds an id and the current time to a save.
fn named(new: NewSave) -> Save {
    Save { id: Uuid::now_v7().to_string(), created: now() as i64, what: new.sanitized() }
}

/// Opens the store with all saves imported. Waits up to `patience` for locks.
pub fn open(paths: &Paths, patience: Duration) -> anyhow::Result<Store> {
    let mut store = ingest::open_store(paths, patience)?;
    take_in(paths, &mut store)?;
    Ok(store)
}

/// Returns the checkpoints that saves refer to. These are never pruned.
pub fn referred(paths: &Paths, patience: Duration) -> anyhow::Result<BTreeSet<String>> {
    if !paths.saves().exists() {
        return Ok(BTreeSet::new());
    }
    Ok(open(paths, patience)?.saved_checkpoints()?)
}

/// Imports new lines of the journal into the store. Returns how many saves are new or changed.
pub fn take_in(paths: &Paths, store: &mut Store) -> anyhow::Result<usize> {
    const BATCH: u64 = 1 << 20;
    let path = paths.saves();
    let Some(journal) = JsonLines::open(&path).context("could not open the journal of saves")?
    else {
        return Ok(0);
    };
    let source = SourceFile { path, inode: journal.inode() };
    // Usually there is nothing new, and no need for the store's lock.
    let (mut rows, mut read_to) = (0, store.read_offset(&source)?);
    if read_to > journal.len() {
        // The journal was restored from a backup; saves that are known already are not duplicated.
        store.forget_file(&source.path)?;
        read_to = 0;
    }
    while read_to < journal.len() {
        let done = store.ingest(&source, |here| read(&journal, here, BATCH))?;
        rows += done.rows;
        if done.end_offset == read_to {
            break;
        }
        read_to = done.end_offset;
    }
    Ok(rows)
}

fn read(journal: &JsonLines, here: Bookmark, most: u64) -> anyhow::Result<Batch> {
    let mut batch = Batch::default();
    batch.next.offset = jsonl::whole_lines(journal, here.offset, most, |line| {
        // The write of a torn line was never reported as successful.
        batch.saves.extend(serde_json::from_slice::<Save>(line.bytes));
    })?;
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::thread;

    use plimsoll_store::{SaveFilter, SaveKinds};

    use super::*;

    const ALL: SaveFilter<'static> =
        SaveFilter { environment: None, project: None, kinds: SaveKinds::All };

    fn paths(folder: &Path) -> Paths {
        Paths { home: folder.into(), data: folder.join("data"), config: folder.join("c.yaml") }
    }

    fn keep(paths: &Paths, new: Vec<NewSave>) -> io::Result<Vec<Save>> {
        super::keep(paths, new, PATIENTLY)
    }

    fn new(task: &str) -> NewSave {
        NewSave { task: task.to_owned(), ..NewSave::default() }
    }

    #[test]
    fn what_is_kept_is_found_in_any_store_made_later() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let kept = keep(&paths, vec![new("one"), new("two")]).unwrap();
        for _ in 0..2 {
            let mut store = Store::in_memory().unwrap();
            assert_eq!(take_in(&paths, &mut store).unwrap(), 2);
            assert_eq!(take_in(&paths, &mut store).unwrap(), 0);
            let newest = store.newest_saves(&ALL, 9).unwrap();
            assert_eq!(newest, [kept[1].clone(), kept[0].clone()]);
        }
    }

    #[test]
    fn a_torn_line_costs_nothing_but_itself() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let mut store = Store::in_memory().unwrap();
        keep(&paths, vec![new("one")]).unwrap();
        let mut bytes = fs::read(paths.saves()).unwrap();
        bytes.extend_from_slice(&bytes.clone()[..20]);
        fs::write(paths.saves(), bytes).unwrap();
        assert_eq!(take_in(&paths, &mut store).unwrap(), 1);
        keep(&paths, vec![new("two")]).unwrap();
        assert_eq!(take_in(&paths, &mut store).unwrap(), 1);
        assert_eq!(store.newest_saves(&ALL, 9).unwrap().len(), 2);
    }

    #[test]
    fn a_journal_that_was_put_back_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let mut store = Store::in_memory().unwrap();
        keep(&paths, vec![new("one")]).unwrap();
        let copy = fs::read(paths.saves()).unwrap();
        keep(&paths, vec![new("two")]).unwrap();
        assert_eq!(take_in(&paths, &mut store).unwrap(), 2);
        fs::write(paths.saves(), copy).unwrap();
        keep(&paths, vec![]).unwrap();
        assert_eq!(take_in(&paths, &mut store).unwrap(), 0, "it is known");
        keep(&paths, vec![new("a longer one than the second was")]).unwrap();
        assert_eq!(take_in(&paths, &mut store).unwrap(), 1);
        assert_eq!(store.newest_saves(&ALL, 9).unwrap().len(), 3);
    }

    #[test]
    fn nobody_waits_for_long_for_one_who_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        keep(&paths, vec![new("one")]).unwrap();
        let stopped = fs::File::open(paths.saves()).unwrap();
        stopped.lock().unwrap();
        let error = super::keep(&paths, vec![new("two")], Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(stopped);
        keep(&paths, vec![new("two")]).unwrap();
    }

    #[test]
    fn many_may_keep_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        keep(&paths, vec![new("one"), new("two")]).unwrap();
                    }
                });
            }
        });
        let mut store = Store::in_memory().unwrap();
        assert_eq!(take_in(&paths, &mut store).unwrap(), 320);
    }
}
