//! Saves: written down so that they outlast a crash, and taken into the store.
//!
//! No transcript tells them, so the store cannot be where they live: it may be thrown away. They are
//! lines of one append-only file, the journal, synced before anybody is told that something was saved;
//! one sync does for any number of them. A hook, git's hook, a command and a server write the same
//! lines; whoever wants to read takes in first what is new ([`take_in`]).

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

/// The environment that is meant: the one named, else the one that the process's environment names,
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

/// Others have the journal for as long as a sync takes. A hook waits for nobody who is stopped.
pub const BRIEFLY: Duration = Duration::from_secs(1);
/// Who waits for a command waits for a disk that is busy, too.
pub const PATIENTLY: Duration = Duration::from_secs(30);

/// Keeps saves: they are on the disk when this returns, all of them. Waits so long for others.
///
/// Secrets and control characters are taken out on the way. A commit that has been saved before is
/// kept again, and is one save of its environment in the store all the same: see [`Store::save_of_commit`].
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

/// A save with its name and its moment.
fn named(new: NewSave) -> Save {
    Save { id: Uuid::now_v7().to_string(), created: now() as i64, what: new.sanitized() }
}

/// The store with every save in it, for whoever wants to read them; waits so long for others.
pub fn open(paths: &Paths, patience: Duration) -> anyhow::Result<Store> {
    let mut store = ingest::open_store(paths, patience)?;
    take_in(paths, &mut store)?;
    Ok(store)
}

/// Which checkpoints saves refer to: those are never let go of.
pub fn referred(paths: &Paths, patience: Duration) -> anyhow::Result<BTreeSet<String>> {
    if !paths.saves().exists() {
        return Ok(BTreeSet::new());
    }
    Ok(open(paths, patience)?.saved_checkpoints()?)
}

/// Takes what is new in the journal into the store; gives how many saves were new or have changed.
pub fn take_in(paths: &Paths, store: &mut Store) -> anyhow::Result<usize> {
    const BATCH: u64 = 1 << 20;
    let path = paths.saves();
    let Some(journal) = JsonLines::open(&path).context("could not open the journal of saves")?
    else {
        return Ok(0);
    };
    let source = SourceFile { path, inode: journal.inode() };
    // Mostly there is nothing new, and nobody need wait for the store's lock.
    let (mut rows, mut read_to) = (0, store.read_offset(&source)?);
    if read_to > journal.len() {
        // It was put back from a copy; what is known already stays once.
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
        // A torn line is one that nobody was told about.
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
