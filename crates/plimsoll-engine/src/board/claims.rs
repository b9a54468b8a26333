//! Claims on paths: one file each, changed by one process at a time.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_core::Millis;
use plimsoll_extract::board::PathClaim;
use plimsoll_extract::checkpoint::sha256;

use super::listed;
use crate::lock::lock;
use crate::paths::{self, Links, Paths};
use crate::world::now;

/// Reason why a path cannot be claimed.
#[derive(Debug, thiserror::Error)]
pub enum NotClaimed {
    /// Another holder has a claim in the way.
    #[error("`{}` is claimed by `{}`", .0.path.display(), .0.holder)]
    Held(PathClaim),
    #[error("could not write the claim")]
    Io(#[from] io::Error),
}

/// Reason why a claim cannot be released.
#[derive(Debug, thiserror::Error)]
pub enum NotReleased {
    /// The path is not claimed.
    #[error("`{}` is not claimed", .0.display())]
    Unknown(PathBuf),
    /// Another holder has the claim.
    #[error("`{}` is claimed by `{}`", .0.path.display(), .0.holder)]
    NotYours(PathClaim),
    #[error("could not remove the claim")]
    Io(#[from] io::Error),
}

/// Claims a path for `holder` for `time`. Claiming a path again extends the claim.
pub fn claim(
    paths: &Paths,
    path: PathBuf,
    holder: &str,
    time: Duration,
) -> Result<PathClaim, NotClaimed> {
    let _locked = locked(paths)?;
    let since = now() as Millis;
    let until = since.saturating_add(time.as_millis() as Millis);
    let new = PathClaim { path, holder: holder.to_owned(), since, until };
    let held = claims(paths)?;
    if let Some(other) = held.iter().find(|held| held.conflicts_with(&new)) {
        return Err(NotClaimed::Held(other.clone()));
    }
    let own = held.into_iter().find(|held| held.path == new.path);
    let claim = PathClaim { since: own.map_or(since, |own| own.since), ..new };
    paths::put(&file(paths, &claim.path), &serde_json::to_vec(&claim).map_err(io::Error::from)?)?;
    Ok(claim)
}

/// Releases a claim on a path. With `holder`, only that holder's claim is released.
pub fn release(paths: &Paths, path: &Path, holder: Option<&str>) -> Result<PathClaim, NotReleased> {
    let _locked = locked(paths)?;
    let found = claims(paths)?.into_iter().find(|claim| claim.path == path);
    let claim = found.ok_or_else(|| NotReleased::Unknown(path.to_owned()))?;
    if holder.is_some_and(|holder| holder != claim.holder) {
        return Err(NotReleased::NotYours(claim));
    }
    fs::remove_file(file(paths, path))?;
    Ok(claim)
}

/// Lists the claims in effect, ordered by path.
pub fn claims(paths: &Paths) -> io::Result<Vec<PathClaim>> {
    let now = now() as Millis;
    let files = listed(&paths.claims())?.into_iter().filter(|file| !is_unfinished(file));
    let mut claims: Vec<PathClaim> = files.filter_map(|file| read(&file)).collect();
    claims.retain(|claim| claim.is_active(now));
    claims.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(claims)
}

/// Removes expired claims and the temporary files of killed processes.
pub(super) fn tidy(paths: &Paths) -> io::Result<()> {
    let now = now() as Millis;
    let is_over =
        |file: &Path| is_unfinished(file) || read(file).is_some_and(|claim| !claim.is_active(now));
    if !listed(&paths.claims())?.iter().any(|file| is_over(file)) {
        return Ok(());
    }
    let _locked = locked(paths)?;
    for file in listed(&paths.claims())?.iter().filter(|file| is_over(file)) {
        fs::remove_file(file)?;
    }
    Ok(())
}

/// Reports whether a file is a temporary one. Writers hold the lock, so under the lock such a file
/// is left over from a killed process.
fn is_unfinished(file: &Path) -> bool {
    file.extension().is_none_or(|ending| ending != "json")
}

fn read(file: &Path) -> Option<PathClaim> {
    serde_json::from_slice(&paths::read_bytes(file, Links::Refused).ok()?).ok()
}

/// Returns the file of the claim on `path`.
fn file(paths: &Paths, path: &Path) -> PathBuf {
    let name = sha256(path.as_os_str().as_encoded_bytes());
    paths.claims().join(format!("{}.json", &name[..32]))
}

/// Locks the claims against changes by other processes.
fn locked(paths: &Paths) -> io::Result<File> {
    const PATIENCE: Duration = Duration::from_secs(2);
    lock(|| paths::append(&paths.claims_lock()), Instant::now() + PATIENCE)
}
