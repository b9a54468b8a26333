//! Lists and finds the checkpoints of a project, our own and foreign ones.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use plimsoll_core::Millis;
use plimsoll_extract::checkpoint::{
    CheckpointCheck, CheckpointProblem, MAX_BYTES, MAX_READ_BYTES, Meta, SealOrigin, SealedHeader,
    SealingKey, check, split, summary,
};

use super::Place;
use super::folder::{Closed, Folder, is_newer};
use super::key::{self, Unusable};

/// A file with a checkpoint's name.
#[derive(Clone, Debug)]
pub struct Listed {
    /// File name without extension.
    pub id: String,
    pub path: PathBuf,
    /// Result of checking the file.
    pub verdict: CheckpointCheck,
    /// One-line summary.
    pub summary: String,
}

impl Listed {
    /// Checks the text of a file.
    pub(super) fn new(
        id: String,
        path: PathBuf,
        text: Result<String, CheckpointProblem>,
        key: Option<&SealingKey>,
    ) -> Self {
        let verdict = match &text {
            Ok(text) => check(text, key),
            Err(problem) => CheckpointCheck::unreadable(problem.clone()),
        };
        let parts = text.as_ref().ok().and_then(|text| split(text).ok());
        let summary = parts.map_or_else(String::new, |parts| summary(parts.body));
        Self { id, path, verdict, summary }
    }

    /// Reports whether we sealed this file here and it is unchanged.
    pub fn is_own(&self) -> bool {
        self.verdict.is_own_and_valid()
    }

    /// Returns the age according to the front matter.
    pub fn age(&self, now: Millis) -> Option<Duration> {
        let created = self.verdict.meta.as_ref()?.created;
        Some(Duration::from_millis(u64::try_from(now - created).unwrap_or(0)))
    }

    /// Reports whether the checkpoint is more than a day old, so that its content may be out of
    /// date.
    pub fn is_stale(&self, now: Millis) -> bool {
        const DAY: Duration = Duration::from_secs(24 * 3600);
        self.age(now).is_some_and(|age| age >= DAY)
    }
}

/// Reason why a checkpoint cannot be listed or found.
#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    /// The folder cannot be used.
    #[error(transparent)]
    Closed(#[from] Closed),
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] Unusable),
    /// The folder cannot be read.
    #[error("could not list `{}`", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// No checkpoint in the folder is ours.
    #[error("there is no checkpoint of ours in `{}`", .0.display())]
    NoneOwn(PathBuf),
    #[error("there is no checkpoint `{0}` in `{folder}`", folder = .1.display())]
    Unknown(String, PathBuf),
    /// Several ids begin with the name.
    #[error("`{0}` fits several checkpoints: {1}")]
    Ambiguous(String, String),
}

/// Lists all checkpoints of a place, newest first, unreadable ones last.
pub fn list(place: &Place) -> Result<Vec<Listed>, NotFound> {
    let mut listed = Vec::new();
    for place in place.each_folder() {
        let Some(folder) = open(&place)? else { continue };
        let key = key::read(&place.key)?;
        let ids = folder.ids().map_err(|error| NotFound::Io(place.path(), error))?;
        listed.extend(
            ids.into_iter().map(|id| look(&place, &folder, key.as_ref(), id, MAX_READ_BYTES)),
        );
    }
    listed.sort_by_key(|listed| std::cmp::Reverse(moment(listed)));
    Ok(listed)
}

/// Returns the sort key from the front matter.
fn moment(listed: &Listed) -> Option<(Millis, u64)> {
    listed.verdict.meta.as_ref().map(|meta| (meta.created, meta.iteration))
}

/// Opens a folder of checkpoints; `None` if there is none. A folder of another agent that cannot be opened
/// does not hide the checkpoints in the others.
fn open(place: &Place) -> Result<Option<Folder>, NotFound> {
    match Folder::open(place) {
        Err(_) if place.is_other => Ok(None),
        opened => Ok(opened?),
    }
}

/// Lists the ids of all checkpoints of a place, our own and foreign ones, newest first by name.
pub fn ids(place: &Place) -> Result<Vec<String>, NotFound> {
    let mut ids = Vec::new();
    for place in place.each_folder() {
        let Some(folder) = open(&place)? else { continue };
        ids.extend(folder.ids().map_err(|error| NotFound::Io(place.path(), error))?);
    }
    if !place.other_folders.is_empty() {
        ids.sort_by(|one, other| is_newer(other, one).cmp(&is_newer(one, other)));
    }
    Ok(ids)
}

/// Returns the newest checkpoint that we sealed in this place. Foreign ones are skipped, whatever
/// age they claim.
pub fn newest_own(place: &Place) -> Result<Option<Listed>, NotFound> {
    newest_fitting(place, &|_| true)
}

/// Returns the newest checkpoint that we sealed in this place and that satisfies `fits`.
pub fn newest_fitting(
    place: &Place,
    fits: &dyn Fn(&Meta) -> bool,
) -> Result<Option<Listed>, NotFound> {
    let mut newest: Option<Listed> = None;
    for place in place.each_folder() {
        let Some(folder) = open(&place)? else { continue };
        let key = key::read(&place.key)?;
        let ids = folder.ids().map_err(|error| NotFound::Io(place.path(), error))?;
        let here = newest_among(&place, &folder, key.as_ref(), ids, fits);
        if here.as_ref().map(moment) > newest.as_ref().map(moment) {
            newest = here;
        }
    }
    Ok(newest)
}

/// Finds a checkpoint by name: `latest` for our newest, or an id or an unambiguous prefix of one.
pub fn find(place: &Place, name: &str) -> Result<Listed, NotFound> {
    if name == "latest" {
        return newest_own(place)?.ok_or_else(|| NotFound::NoneOwn(place.path()));
    }
    let mut fitting = list(place)?;
    fitting.retain(|listed| !name.is_empty() && listed.id.starts_with(name));
    if let Some(at) = fitting.iter().position(|listed| listed.id == name) {
        return Ok(fitting.swap_remove(at));
    }
    match fitting.len() {
        0 => Err(NotFound::Unknown(name.to_owned(), place.path())),
        1 => Ok(fitting.swap_remove(0)),
        _ => {
            let ids: Vec<&str> = fitting.iter().map(|listed| listed.id.as_str()).collect();
            Err(NotFound::Ambiguous(name.to_owned(), ids.join(", ")))
        }
    }
}

/// Reads front matter and body of a checkpoint; `None` if we did not seal it or it has changed.
/// Returns the bytes that were checked, because the file may change afterwards.
pub fn read_own(place: &Place, id: &str) -> Result<Option<(Meta, String)>, NotFound> {
    for place in place.each_folder() {
        if let Some(read) = read_own_in(&place, id)? {
            return Ok(Some(read));
        }
    }
    Ok(None)
}

fn read_own_in(place: &Place, id: &str) -> Result<Option<(Meta, String)>, NotFound> {
    let Some(folder) = open(place)? else { return Ok(None) };
    let key = key::read(&place.key)?;
    let Ok(text) = folder.read(id, MAX_BYTES) else { return Ok(None) };
    let body = split(&text).map(|parts| parts.body.to_owned()).unwrap_or_default();
    let listed = judged(place, id.to_owned(), Ok(text), key.as_ref());
    let own = listed.verdict.meta.filter(|_| listed.verdict.problems.is_empty());
    Ok(own.filter(|_| listed.verdict.origin == SealOrigin::Own).map(|meta| (meta, body)))
}

/// Reads the whole text of a checkpoint, our own or foreign. For display only.
pub fn text(place: &Place, id: &str) -> Result<String, CheckpointProblem> {
    let unreadable = |closed: Closed| CheckpointProblem::Unreadable(closed.to_string());
    for place in place.each_folder() {
        match Folder::open(&place).map_err(unreadable)?.map(|it| it.read(id, MAX_READ_BYTES)) {
            None | Some(Err(CheckpointProblem::Missing)) => {}
            Some(read) => return read,
        }
    }
    Err(CheckpointProblem::Missing)
}

/// Returns the part of a session's name that the ids of its checkpoints contain.
fn id_part(session: &str) -> &str {
    let own = session.split('@').next().unwrap_or_default();
    &own[..own.len().min(8)]
}

/// Returns our newest checkpoint among these ids, optionally only of one session.
pub(super) fn newest_of(
    place: &Place,
    folder: &Folder,
    key: Option<&SealingKey>,
    mut ids: Vec<String>,
    session: Option<&str>,
) -> Option<Listed> {
    let begin = session.map_or("", id_part);
    ids.retain(|id| id.contains(begin));
    let is_meant = |meta: &Meta| session.is_none_or(|session| meta.session_id == session);
    newest_among(place, folder, key, ids, &is_meant)
}

/// Returns id and iteration of our newest checkpoint among these ids, optionally only of one
/// session. Reads the front matter alone.
pub(super) fn last<'i>(
    place: &Place,
    folder: &Folder,
    key: &SealingKey,
    ids: &'i [String],
    session: Option<&str>,
) -> Option<(&'i str, u64)> {
    let begin = session.map_or("", id_part);
    let project = place.project.to_string_lossy();
    ids.iter().filter(|id| id.contains(begin)).take(MOST).find_map(|id| {
        let text = folder.read_beginning(id)?;
        let glance = SealedHeader::parse(&text, key)?;
        let is_here = glance.has_value("id", id) && glance.has_value("project", &project);
        let is_meant = session.is_none_or(|session| glance.has_value("session_id", session));
        (is_here && is_meant).then(|| (id.as_str(), glance.iteration()))
    })
}

/// Bounds the search in a folder with any number of foreign files.
const MOST: usize = 500;

fn newest_among(
    place: &Place,
    folder: &Folder,
    key: Option<&SealingKey>,
    ids: Vec<String>,
    fits: &dyn Fn(&Meta) -> bool,
) -> Option<Listed> {
    // None of our own files is longer than `LARGEST`.
    let mut newest = ids.into_iter().take(MOST).map(|id| look(place, folder, key, id, MAX_BYTES));
    newest.find(|listed| listed.is_own() && listed.verdict.meta.as_ref().is_some_and(fits))
}

/// Checks a file in a place. A copy of our own checkpoint under another name or in another project
/// is reported as a problem.
pub(super) fn look(
    place: &Place,
    folder: &Folder,
    key: Option<&SealingKey>,
    id: String,
    largest: usize,
) -> Listed {
    let text = folder.read(&id, largest);
    judged(place, id, text, key)
}

fn judged(
    place: &Place,
    id: String,
    text: Result<String, CheckpointProblem>,
    key: Option<&SealingKey>,
) -> Listed {
    let path = place.file(&id);
    let mut listed = Listed::new(id, path, text, key);
    let own = listed.verdict.meta.as_ref().filter(|_| listed.verdict.origin == SealOrigin::Own);
    if let Some(meta) = own {
        let is_renamed = meta.id != listed.id;
        let is_elsewhere = *meta.project != *place.project.to_string_lossy();
        listed.verdict.problems.extend(is_renamed.then_some(CheckpointProblem::Renamed));
        listed.verdict.problems.extend(is_elsewhere.then_some(CheckpointProblem::OtherProject));
    }
    listed
}
