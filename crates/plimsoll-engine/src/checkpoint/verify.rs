//! Whether checkpoints are there, whole and ours; the index is told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plimsoll_core::checkpoint::{Key, Origin, Parts, Problem, Verdict, check, split};

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
    let mut verdict = match file::read(&path) {
        Ok(text) => check(&text, key.as_ref()),
        Err(problem) => Verdict::unreadable(problem),
    };
    let meta = verdict.meta.as_ref().filter(|_| verdict.origin == Origin::Own);
    let place = place.in_project(meta.map_or_else(PathBuf::new, |meta| (&meta.project).into()));
    if let Some(meta) = meta {
        let problem = match meta.id == id {
            false => Some(Problem::Renamed),
            true => (place.file(&id) != path).then_some(Problem::Elsewhere),
        };
        verdict.problems.extend(problem);
    }
    Ok(told(&place, vec![Listed { id, path, verdict }]))
}

fn look_at_entry(place: &Place, key: Option<&Key>, entry: &Entry) -> Listed {
    let place = place.in_project(entry.project.clone());
    let verdict = match Folder::open(&place) {
        _ if place.file(&entry.id) != entry.path => match file::read(&entry.path) {
            Ok(text) => check(&text, key),
            Err(problem) => Verdict::unreadable(problem),
        },
        Ok(Some(folder)) => list::look(&place, &folder, key, &entry.id),
        Ok(None) => Verdict::unreadable(Problem::Missing),
        Err(closed) => Verdict::unreadable(Problem::Unreadable(closed.to_string())),
    };
    Listed { id: entry.id.clone(), path: entry.path.clone(), verdict }
}

/// Tells the index what was found: what it names is marked, what is ours and missing is put in.
fn told(place: &Place, checkpoints: Vec<Listed>) -> Checked {
    let (ours, others): (Vec<&Listed>, Vec<&Listed>) =
        checkpoints.iter().partition(|listed| listed.is_own());
    if ours.is_empty() && !place.index.exists() {
        return Checked { checkpoints, warnings: Vec::new() };
    }
    let updated = index::update(place, |entries| {
        ours.iter().filter_map(|listed| entry(place, listed)).for_each(|entry| {
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

fn entry(place: &Place, listed: &Listed) -> Option<Entry> {
    let meta = listed.verdict.meta.as_ref()?;
    let place = place.in_project((&meta.project).into());
    let text = list::text(&place, &meta.id).ok()?;
    let Parts { body, .. } = split(&text).ok()?;
    Some(Entry::new(&place, meta, body))
}
