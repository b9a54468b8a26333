//! The checkpoints of a project, ours and others'.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use plimsoll_core::Millis;
use plimsoll_extract::checkpoint::{
    Glance, Key, LARGEST, LARGEST_READ, Meta, Origin, Problem, Verdict, check, split, summary,
};

use super::Place;
use super::folder::{Closed, Folder};
use super::key::{self, Unusable};

/// A file with a checkpoint's name.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The name, less its ending.
    pub id: String,
    /// The file.
    pub path: PathBuf,
    /// What a look at it came to.
    pub verdict: Verdict,
    /// What it is about, in a line.
    pub summary: String,
}

impl Listed {
    /// What a look at a file came to, by its text.
    pub(super) fn new(
        id: String,
        path: PathBuf,
        text: Result<String, Problem>,
        key: Option<&Key>,
    ) -> Self {
        let verdict = match &text {
            Ok(text) => check(text, key),
            Err(problem) => Verdict::unreadable(problem.clone()),
        };
        let parts = text.as_ref().ok().and_then(|text| split(text).ok());
        let summary = parts.map_or_else(String::new, |parts| summary(parts.body));
        Self { id, path, verdict, summary }
    }

    /// We made it here, and not a byte has changed since.
    pub fn is_own(&self) -> bool {
        self.verdict.is_sealed()
    }

    /// How old it says it is.
    pub fn age(&self, now: Millis) -> Option<Duration> {
        let created = self.verdict.meta.as_ref()?.created;
        Some(Duration::from_millis(u64::try_from(now - created).unwrap_or(0)))
    }

    /// Whether it is more than a day old: work goes on, and what it says may no longer be so.
    pub fn is_stale(&self, now: Millis) -> bool {
        const DAY: Duration = Duration::from_secs(24 * 3600);
        self.age(now).is_some_and(|age| age >= DAY)
    }
}

/// Why there is no checkpoint to show.
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
    /// There is none of ours.
    #[error("there is no checkpoint of ours in `{}`", .0.display())]
    NoneOwn(PathBuf),
    /// There is none of that name.
    #[error("there is no checkpoint `{0}` in `{folder}`", folder = .1.display())]
    Unknown(String, PathBuf),
    /// Several begin like that.
    #[error("`{0}` fits several checkpoints: {1}")]
    Ambiguous(String, String),
}

/// All checkpoints of a place, newest first. What cannot be read comes last.
pub fn list(place: &Place) -> Result<Vec<Listed>, NotFound> {
    let Some(folder) = Folder::open(place)? else { return Ok(Vec::new()) };
    let key = key::read(&place.key)?;
    let ids = folder.ids().map_err(|error| NotFound::Io(place.path(), error))?;
    let look = |id: String| look(place, &folder, key.as_ref(), id, LARGEST_READ);
    let mut listed: Vec<Listed> = ids.into_iter().map(look).collect();
    let moment =
        |listed: &Listed| listed.verdict.meta.as_ref().map(|meta| (meta.created, meta.iteration));
    listed.sort_by_key(|listed| std::cmp::Reverse(moment(listed)));
    Ok(listed)
}

/// The ids of all checkpoints of a place, whoever wrote them, newest first by their names.
pub fn ids(place: &Place) -> Result<Vec<String>, NotFound> {
    let Some(folder) = Folder::open(place)? else { return Ok(Vec::new()) };
    folder.ids().map_err(|error| NotFound::Io(place.path(), error))
}

/// The newest checkpoint that we sealed in this place. Others' are passed over, however new they say
/// they are.
pub fn newest_own(place: &Place) -> Result<Option<Listed>, NotFound> {
    newest_fitting(place, &|_| true)
}

/// The newest of those that we sealed in this place that fits.
pub fn newest_fitting(
    place: &Place,
    fits: &dyn Fn(&Meta) -> bool,
) -> Result<Option<Listed>, NotFound> {
    let Some(folder) = Folder::open(place)? else { return Ok(None) };
    let key = key::read(&place.key)?;
    let failed = |error| NotFound::Io(place.path(), error);
    let ids = folder.ids().map_err(failed)?;
    Ok(newest_among(place, &folder, key.as_ref(), ids, fits))
}

/// The checkpoint that is meant by `name`: `latest` is the newest of ours; the beginning of an id is
/// enough where only one begins like that.
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

/// The body of a checkpoint that we sealed, and what its front matter says; nothing if it is not what
/// we sealed. What is given is what was checked: the file may be another by now.
pub fn read_own(place: &Place, id: &str) -> Result<Option<(Meta, String)>, NotFound> {
    let Some(folder) = Folder::open(place)? else { return Ok(None) };
    let key = key::read(&place.key)?;
    let Ok(text) = folder.read(id, LARGEST) else { return Ok(None) };
    let body = split(&text).map(|parts| parts.body.to_owned()).unwrap_or_default();
    let listed = judged(place, id.to_owned(), Ok(text), key.as_ref());
    let own = listed.verdict.meta.filter(|_| listed.verdict.problems.is_empty());
    Ok(own.filter(|_| listed.verdict.origin == Origin::Own).map(|meta| (meta, body)))
}

/// The whole text of a checkpoint, whoever wrote it: to be shown, and nothing else.
pub fn text(place: &Place, id: &str) -> Result<String, Problem> {
    let folder = Folder::open(place).map_err(|closed| Problem::Unreadable(closed.to_string()))?;
    folder.ok_or(Problem::Missing)?.read(id, LARGEST_READ)
}

/// The newest checkpoint of ours among these, or of ours of a session.
pub(super) fn newest_of(
    place: &Place,
    folder: &Folder,
    key: Option<&Key>,
    mut ids: Vec<String>,
    session: Option<&str>,
) -> Option<Listed> {
    let begin = session.map_or("", |session| &session[..session.len().min(8)]);
    ids.retain(|id| id.contains(begin));
    let is_meant = |meta: &Meta| session.is_none_or(|session| meta.session_id == session);
    newest_among(place, folder, key, ids, &is_meant)
}

/// The newest checkpoint of ours among these, or of ours of a session, with its iteration: by its
/// front matter alone.
pub(super) fn last<'i>(
    place: &Place,
    folder: &Folder,
    key: &Key,
    ids: &'i [String],
    session: Option<&str>,
) -> Option<(&'i str, u64)> {
    let begin = session.map_or("", |session| &session[..session.len().min(8)]);
    let project = place.project.to_string_lossy();
    ids.iter().filter(|id| id.contains(begin)).take(MOST).find_map(|id| {
        let text = folder.read_beginning(id)?;
        let glance = Glance::of(&text, key)?;
        let is_here = glance.says("id", id) && glance.says("project", &project);
        let is_meant = session.is_none_or(|session| glance.says("session_id", session));
        (is_here && is_meant).then(|| (id.as_str(), glance.iteration()))
    })
}

/// However many files somebody puts there, a look must come to an end.
const MOST: usize = 500;

fn newest_among(
    place: &Place,
    folder: &Folder,
    key: Option<&Key>,
    ids: Vec<String>,
    fits: &dyn Fn(&Meta) -> bool,
) -> Option<Listed> {
    // None of ours is longer.
    let mut newest = ids.into_iter().take(MOST).map(|id| look(place, folder, key, id, LARGEST));
    newest.find(|listed| listed.is_own() && listed.verdict.meta.as_ref().is_some_and(fits))
}

/// Looks at a file in a place: a copy of ours under another name or in another project is not what
/// we sealed.
pub(super) fn look(
    place: &Place,
    folder: &Folder,
    key: Option<&Key>,
    id: String,
    largest: usize,
) -> Listed {
    let text = folder.read(&id, largest);
    judged(place, id, text, key)
}

fn judged(place: &Place, id: String, text: Result<String, Problem>, key: Option<&Key>) -> Listed {
    let path = place.file(&id);
    let mut listed = Listed::new(id, path, text, key);
    let own = listed.verdict.meta.as_ref().filter(|_| listed.verdict.origin == Origin::Own);
    if let Some(meta) = own {
        let is_renamed = meta.id != listed.id;
        let is_elsewhere = *meta.project != *place.project.to_string_lossy();
        listed.verdict.problems.extend(is_renamed.then_some(Problem::Renamed));
        listed.verdict.problems.extend(is_elsewhere.then_some(Problem::Elsewhere));
    }
    listed
}
