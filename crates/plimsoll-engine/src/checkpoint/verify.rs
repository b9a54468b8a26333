//! Verifies that checkpoints exist, are intact and are ours, and updates the index.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plimsoll_extract::checkpoint::{CheckpointProblem, MAX_READ_BYTES, SealOrigin, SealingKey};

use super::folder::Folder;
use super::index::{self, Entry};
use super::list::{self, Listed, NotFound};
use super::{Place, file, key};

/// Result of a verification.
#[derive(Debug)]
pub struct Checked {
    pub checkpoints: Vec<Listed>,
    /// Repairs and failures of the index, as sentences.
    pub warnings: Vec<String>,
}

/// Verifies every checkpoint of a place and of the index.
pub fn verify_all(place: &Place) -> Result<Checked, NotFound> {
    let mut checkpoints = list::list(place)?;
    let key = key::read(&place.key)?;
    let known: BTreeSet<PathBuf> = checkpoints.iter().map(|listed| listed.path.clone()).collect();
    let indexed = index::entries(place);
    let others = indexed.iter().filter(|entry| !known.contains(&entry.path));
    checkpoints.extend(others.map(|entry| look_at_entry(place, key.as_ref(), entry)));
    Ok(told(place, checkpoints))
}

/// Records a listed checkpoint in the index.
pub fn verify_listed(place: &Place, listed: Listed) -> Checked {
    told(place, vec![listed])
}

/// Verifies a file named by the user. A symbolic link is resolved first.
pub fn verify_file(place: &Place, path: &Path) -> Result<Checked, NotFound> {
    let key = key::read(&place.key)?;
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut listed = Listed::new(id, path.clone(), file::read(&path), key.as_ref());
    let own = listed.verdict.meta.as_ref().filter(|_| listed.verdict.origin == SealOrigin::Own);
    if let Some(meta) = own {
        let is_there = place.in_project((&meta.project).into()).file(&meta.id) == listed.path;
        let problem = match meta.id == listed.id {
            false => Some(CheckpointProblem::Renamed),
            true => (!is_there).then_some(CheckpointProblem::OtherProject),
        };
        listed.verdict.problems.extend(problem);
    }
    Ok(told(place, vec![listed]))
}

/// Returns the checkpoints that the index names and that are missing or damaged, without updating
/// the index.
pub fn phantoms(place: &Place) -> Result<Vec<Listed>, NotFound> {
    let key = key::read(&place.key)?;
    let looked = index::entries(place).into_iter();
    let looked = looked.map(|entry| look_at_entry(place, key.as_ref(), &entry));
    Ok(looked.filter(|listed| !listed.verdict.is_valid()).collect())
}

fn look_at_entry(place: &Place, key: Option<&SealingKey>, entry: &Entry) -> Listed {
    let place = place.in_project(entry.project.clone());
    let unread = |text| Listed::new(entry.id.clone(), entry.path.clone(), text, key);
    match Folder::open(&place) {
        // Other tools choose their own location.
        _ if place.file(&entry.id) != entry.path => unread(file::read(&entry.path)),
        Ok(Some(folder)) => list::look(&place, &folder, key, entry.id.clone(), MAX_READ_BYTES),
        Ok(None) => unread(Err(CheckpointProblem::Missing)),
        Err(closed) => unread(Err(CheckpointProblem::Unreadable(closed.to_string()))),
    }
}

/// Updates the index: marks its entries as verified or not, and adds missing checkpoints of ours.
fn told(place: &Place, checkpoints: Vec<Listed>) -> Checked {
    let (ours, others): (Vec<&Listed>, Vec<&Listed>) =
        checkpoints.iter().partition(|listed| listed.is_own());
    if ours.is_empty() && !place.index.exists() {
        return Checked { checkpoints, warnings: Vec::new() };
    }
    let updated = index::update(place, place.deadline(), |entries| {
        ours.iter().filter_map(|listed| Entry::of(place, listed)).for_each(|entry| {
            index::put(entries, entry);
        });
        for listed in others {
            let known = entries.iter_mut().find(|entry| entry.path == listed.path);
            known.into_iter().for_each(|entry| entry.verified = listed.verdict.is_valid());
        }
    });
    let warnings = match updated {
        Ok(mended) => mended.into_iter().collect(),
        Err(error) => vec![error.to_string()],
    };
    Checked { checkpoints, warnings }
}
