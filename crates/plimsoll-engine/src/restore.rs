//! The texts that a session is given, with what the disk says of the files they name.

use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_extract::checkpoint::Meta;
use plimsoll_extract::work::{self, FileStatus, RestoreOrigin, Work};

use crate::capture;
use crate::checkpoint::{self, Place};
use crate::fate::fate;
use crate::world::now;

/// What a session is given back of its own work, of at most `budget` tokens.
///
/// The session knows what it changed itself, so only files that are gone are marked.
pub fn text(project: &Path, work: &Work, budget: usize) -> String {
    text_from(&RestoreOrigin::Transcript, project, work, budget)
}

/// The same with another origin than the session's own transcript.
pub fn text_from(origin: &RestoreOrigin<'_>, project: &Path, work: &Work, budget: usize) -> String {
    if budget == 0 {
        return String::new();
    }
    let is_there = project.is_dir();
    let gone = |path: &str| fate(project, Millis::MAX, path).filter(|_| is_there);
    work::restore_from(origin, work, budget, &gone)
}

/// What has changed on disk since a session last wrote anything; nothing where nothing has.
pub fn changed_since(place: &Place, session: &SessionId, work: &Work) -> String {
    /// A tool's work may be dated a little later than the record of it.
    const GRACE: Millis = 2_000;
    let Some(time) = work.time() else { return String::new() };
    let fate = |path: &'_ str| fate(&place.project, time + GRACE, path);
    let touched = work.touched_files().into_iter();
    let files: Vec<(&str, FileStatus)> =
        touched.filter_map(|path| Some((path, fate(path)?))).collect();
    let fits = |meta: &Meta| meta.session_id == session.as_str();
    let own = checkpoint::newest_fitting(place, &fits).ok().flatten();
    // A fork has none of its own yet.
    let last = own.or_else(|| checkpoint::newest_own(place).ok().flatten());
    let then = last.and_then(|last| last.verdict.meta?.git);
    let moved = then.and_then(|then| then.describe_change(&capture::git(&place.project)?));
    let pause = u64::try_from(now() as Millis - time).unwrap_or(0);
    work::render_pause_changes(&files, moved.as_deref(), pause)
}
