//! Texts that restore work into a session, with the state on disk of the files they name.

use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_extract::checkpoint::Meta;
use plimsoll_extract::work::{self, FileStatus, RestoreOrigin, Work};

use crate::capture;
use crate::checkpoint::{self, Place};
use crate::fate::fate;
use crate::world::now;

/// Returns the restore of a session's own work, of at most `budget` tokens.
///
/// The session knows its own changes, so only missing files are marked.
pub fn text(project: &Path, work: &Work, budget: usize) -> String {
    text_from(&RestoreOrigin::Transcript, project, work, budget)
}

/// Like [`text`], from another origin than the session's transcript.
pub fn text_from(origin: &RestoreOrigin<'_>, project: &Path, work: &Work, budget: usize) -> String {
    if budget == 0 {
        return String::new();
    }
    let is_there = project.is_dir();
    let gone = |path: &str| fate(project, Millis::MAX, path).filter(|_| is_there);
    work::restore_from(origin, work, budget, &gone)
}

/// Describes what changed on disk since a session's last record; empty if nothing did.
pub fn changed_since(place: &Place, session: &SessionId, work: &Work) -> String {
    /// A file may be written slightly later than the record of the tool call.
    const GRACE: Millis = 2_000;
    let Some(time) = work.time() else { return String::new() };
    let fate = |path: &'_ str| fate(&place.project, time + GRACE, path);
    let touched = work.touched_files().into_iter();
    let files: Vec<(&str, FileStatus)> =
        touched.filter_map(|path| Some((path, fate(path)?))).collect();
    let fits = |meta: &Meta| meta.session_id == session.as_str();
    let own = checkpoint::newest_fitting(place, &fits).ok().flatten();
    // A forked session has no checkpoint of its own yet.
    let last = own.or_else(|| checkpoint::newest_own(place).ok().flatten());
    let then = last.and_then(|last| last.verdict.meta?.git);
    let moved = then.and_then(|then| then.describe_change(&capture::git(&place.project)?));
    let pause = u64::try_from(now() as Millis - time).unwrap_or(0);
    work::render_pause_changes(&files, moved.as_deref(), pause)
}
