//! Removes old checkpoints.

use std::time::Duration;

use plimsoll_core::Millis;

use super::folder::Folder;
use super::list::{self, Listed, NotFound};
use super::{Place, index};

/// Result of pruning.
#[derive(Debug, Default)]
pub struct Pruned {
    pub removed: Vec<Listed>,
    /// Number of our own checkpoints that are left.
    pub kept: usize,
    /// Failures, as sentences.
    pub warnings: Vec<String>,
}

/// Maximum age of a checkpoint, and maximum number per project.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
const MOST: usize = 50;

/// Returns the checkpoints of a place that may be removed, and how many stay: those older than a
/// week or not among the newest fifty. Never the newest, one that is referred to, or a foreign one.
pub fn outlived(
    place: &Place,
    now: Millis,
    is_referred: &dyn Fn(&str) -> bool,
) -> Result<(Vec<Listed>, usize), NotFound> {
    let own: Vec<Listed> = list::list(&place.alone())?.into_iter().filter(Listed::is_own).collect();
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

/// Removes the checkpoints that [`outlived`] returns.
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
    // Update the index first, so that it never names a missing file.
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
