//! Whether checkpoints are there, whole and ours; the index is told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plimsoll_extract::checkpoint::{Key, LARGEST_READ, Origin, Problem};

use super::folder::Folder;
use super::index::{self, Entry};
use super::list::{self, Listed, NotFound};
use super::{Place, file, key};

/// What a look at checkpoints came to.
#[derive(Debug)]
pub struct Checked {
    /// The checkpoints.
    pub checkpoints: Vec<Listed>,
    /// What the index needed, or why it was not told, in sentences.
    pub warnings: Vec<String>,
}

/// Looks at every checkpoint of a place, and at all that the index names.
pub fn verify_all(place: &Place) -> Result<Checked, NotFound> {
    let mut checkpoints = list::list(place)?;
    let key = key::read(&place.key)?;
    let known: BTreeSet<PathBuf> = checkpoints.iter().map(|listed| listed.path.clone()).collect();
    let indexed = index::entries(place);
    let others = indexed.iter().filter(|entry| !known.contains(&entry.path));
    checkpoints.extend(others.map(|entry| look_at_entry(place, key.as_ref(), entry)));
    Ok(told(place, checkpoints))
}

/// Looks at one checkpoint of a place.
pub fn verify_listed(place: &Place, listed: Listed) -> Checked {
    told(place, vec![listed])
}

/// Looks at a file that the user names. A link in its place leads to what it points to.
pub fn verify_file(place: &Place, path: &Path) -> Result<Checked, NotFound> {
    let key = key::read(&place.key)?;
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut listed = Listed::new(id, path.clone(), file::read(&path), key.as_ref());
    let own = listed.verdict.meta.as_ref().filter(|_| listed.verdict.origin == Origin::Own);
    if let Some(meta) = own {
        let is_there = place.in_project((&meta.project).into()).file(&meta.id) == listed.path;
        let problem = match meta.id == listed.id {
            false => Some(Problem::Renamed),
            true => (!is_there).then_some(Problem::Elsewhere),
        };
        listed.verdict.problems.extend(problem);
    }
    Ok(told(place, vec![listed]))
}

/// Those that the index names and that are not there, or not whole. Nobody is told.
pub fn phantoms(place: &Place) -> Result<Vec<Listed>, NotFound> {
    let key = key::read(&place.key)?;
    let looked = index::entries(place).into_iter();
    let looked = looked.map(|entry| look_at_entry(place, key.as_ref(), &entry));
    Ok(looked.filter(|listed| !listed.verdict.is_fine()).collect())
}

fn look_at_entry(place: &Place, key: Option<&Key>, entry: &Entry) -> Listed {
    let place = place.in_project(entry.project.clone());
    let unread = |text| Listed::new(entry.id.clone(), entry.path.clone(), text, key);
    match Folder::open(&place) {
        // Other tools keep theirs where they like.
        _ if place.file(&entry.id) != entry.path => unread(file::read(&entry.path)),
        Ok(Some(folder)) => list::look(&place, &folder, key, entry.id.clone(), LARGEST_READ),
        Ok(None) => unread(Err(Problem::Missing)),
        Err(closed) => unread(Err(Problem::Unreadable(closed.to_string()))),
    }
}

/// Tells the index what was found: what it names is marked, what is ours and missing is put in.
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
            known.into_iter().for_each(|entry| entry.verified = listed.verdict.is_fine());
        }
    });
    let warnings = match updated {
        Ok(mended) => mended.into_iter().collect(),
        Err(error) => vec![error.to_string()],
    };
    Checked { checkpoints, warnings }
}
