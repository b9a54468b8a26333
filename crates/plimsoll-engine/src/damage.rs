//! Moves a damaged store aside. The store's content comes from files, so the next process to open
//! it rebuilds it. Only the machine's name is carried over.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_store::{Store, StoreError};

use crate::lock::lock;
use crate::log;
use crate::paths::{self, Paths};

/// How long to wait for another process that does the same.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reports whether an error was caused by a damaged store.
pub fn is_cause(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.any(|cause| matches!(cause, StoreError::Corrupt { .. }))
}

/// Moves a damaged store aside and returns its new path. `None` if the store is sound, possibly
/// because another process was faster.
pub fn put_aside(paths: &Paths) -> anyhow::Result<Option<PathBuf>> {
    let store = paths.store();
    let moved = || -> anyhow::Result<Option<PathBuf>> {
        let lock_file = paths::beside(&store, ".lock");
        let _locked = lock(|| paths::append(&lock_file), Instant::now() + PATIENCE)?;
        if !is_damaged(&store) {
            return Ok(None);
        }
        let (machine, aside) = (plimsoll_store::read_machine_id(&store), free_place(&store));
        move_to(&store, &aside)?;
        log::write(&paths.log(), &told(&aside));
        take_over(&store, machine)?;
        Ok(Some(aside))
    };
    moved().with_context(|| format!("could not put `{}` aside", store.display()))
}

/// Returns an unused path: an older damaged store may contain data that exists nowhere else.
fn free_place(store: &Path) -> PathBuf {
    let nth = |nth: usize| match nth {
        1 => paths::beside(store, ".damaged"),
        _ => paths::beside(store, &format!(".damaged-{nth}")),
    };
    let is_free = |place: &PathBuf| PARTS.iter().all(|part| !paths::beside(place, part).exists());
    (1..).map(nth).find(is_free).unwrap_or_else(|| nth(1))
}

/// Suffixes of a store's files. The write-ahead log goes first: SQLite would apply it to whatever
/// database file is beside it.
const PARTS: [&str; 3] = ["-wal", "-shm", ""];

/// Returns the message for people.
pub fn told(aside: &Path) -> String {
    format!(
        "the store was damaged and is made anew from your files; the old one is `{}`",
        aside.display()
    )
}

fn is_damaged(store: &Path) -> bool {
    match Store::open(store, PATIENCE) {
        Ok(store) => !store.is_intact(),
        Err(error) => matches!(error, StoreError::Corrupt { .. }),
    }
}

fn move_to(store: &Path, aside: &Path) -> io::Result<()> {
    for ending in PARTS {
        match fs::rename(paths::beside(store, ending), paths::beside(aside, ending)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            moved => moved?,
        }
    }
    Ok(())
}

/// Carries over the machine's name, by which a team knows this machine.
fn take_over(store: &Path, machine: Option<String>) -> anyhow::Result<()> {
    let Some(machine) = machine else { return Ok(()) };
    paths::append(store)?;
    Ok(Store::open(store, PATIENCE)?.set_machine_id(&machine)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(folder: &Path) -> Paths {
        Paths { home: folder.into(), data: folder.join("data"), config: folder.join("c.yaml") }
    }

    fn open(paths: &Paths) -> Result<Store, StoreError> {
        paths::append(&paths.store()).unwrap();
        Store::open(&paths.store(), PATIENCE)
    }

    #[test]
    fn a_sound_store_stays_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let machine = open(&paths).unwrap().machine_id().to_owned();
        assert_eq!(put_aside(&paths).unwrap(), None);
        assert_eq!(open(&paths).unwrap().machine_id(), machine);
    }

    #[test]
    fn a_damaged_one_makes_room_and_leaves_its_name_where_that_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let machine = open(&paths).unwrap().machine_id().to_owned();
        let mut bytes = fs::read(paths.store()).unwrap();
        // Damage a page in the middle: those at either end contain the table names.
        let middle = bytes.len() / 2 / 4_096 * 4_096;
        bytes[middle..middle + 4_096].fill(0xff);
        fs::write(paths.store(), bytes).unwrap();
        let first = put_aside(&paths).unwrap().unwrap();
        assert_eq!(open(&paths).unwrap().machine_id(), machine);
        fs::write(paths.store(), "no store, ".repeat(1000)).unwrap();
        let error = anyhow::Error::from(open(&paths).unwrap_err()).context("could not do it");
        assert!(is_cause(&error));
        let second = put_aside(&paths).unwrap().unwrap();
        assert!(first != second && first.exists() && second.exists());
        assert_ne!(open(&paths).unwrap().machine_id(), machine);
    }
}
