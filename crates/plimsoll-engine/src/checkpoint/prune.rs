//! Letting go of old checkpoints.

use std::time::Duration;

use plimsoll_core::Millis;

use super::folder::Folder;
use super::list::{self, Listed, NotFound};
use super::{Place, index};

/// What pruning came to.
#[derive(Debug, Default)]
pub struct Pruned {
    /// The checkpoints that are gone.
    pub removed: Vec<Listed>,
    /// How many of ours are left.
    pub kept: usize,
    /// What did not succeed, in sentences.
    pub warnings: Vec<String>,
}

/// How long a checkpoint is kept, and how many of a project are.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
const MOST: usize = 50;

/// The checkpoints of a place that have had their time: older than a week, or not among the newest
/// fifty. Never the newest, never one that is referred to, and never what is not ours.
pub fn outlived(
    place: &Place,
    now: Millis,
    is_referred: &dyn Fn(&str) -> bool,
) -> Result<(Vec<Listed>, usize), NotFound> {
    let own: Vec<Listed> = list::list(place)?.into_iter().filter(Listed::is_own).collect();
    let all = own.len();
    let is_outlived = |(at, listed): &(usize, Listed)| {
        let is_old = listed.age(now).is_some_and(|age| age > LONGEST);
        *at > 0 && (is_old || *at >= MOST) && !is_referred(&listed.id)
    };
    let outlived = own.into_iter().enumerate().filter(is_outlived).map(|(_, listed)| listed);
    let outlived: Vec<Listed> = outlived.collect();
    let kept = all - outlived.len();
    Ok((outlived, kept))
}

/// Removes the checkpoints of a place that have had their time.
pub fn prune(
    place: &Place,
    now: Millis,
    is_referred: &dyn Fn(&str) -> bool,
) -> Result<Pruned, NotFound> {
    let (outlived, kept) = outlived(place, now, is_referred)?;
    let mut pruned = Pruned { kept, ..Pruned::default() };
    let Some(folder) = Folder::open(place)?.filter(|_| !outlived.is_empty()) else {
        return Ok(pruned);
    };
    // Out of the index first: whatever happens in between, it never names what is not there.
    let is_gone = |path| outlived.iter().any(|listed| listed.path == path);
    match index::update(place, place.deadline(), |entries| {
        entries.retain(|entry| !is_gone(entry.path.clone()))
    }) {
        Ok(mended) => pruned.warnings.extend(mended),
        Err(error) => {
            let warnings = vec![error.to_string()];
            return Ok(Pruned { kept: kept + outlived.len(), warnings, ..Pruned::default() });
        }
    }
    for listed in outlived {
        match folder.remove(&listed.id) {
            Ok(()) => pruned.removed.push(listed),
            Err(error) => {
                pruned
                    .warnings
                    .push(format!("could not remove `{}`: {error}", listed.path.display()));
            }
        }
    }
    Ok(pruned)
}
