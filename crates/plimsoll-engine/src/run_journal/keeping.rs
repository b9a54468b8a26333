//! Retention of runs and of their checkpoints.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_core::Millis;
use plimsoll_core::run::{Job, Run, RunId};

use super::journal::{ids, read};
use crate::paths::Paths;

/// How long a run is kept after its last event.
const KEPT: Millis = 30 * 24 * 60 * 60 * 1000;

/// Removes old runs with all their files, and returns their number. Runs that could be resumed are
/// kept for the same time. Called at the end of a session, so it reads no journal.
pub fn prune(paths: &Paths, now: Millis) -> io::Result<usize> {
    let mut removed = 0;
    for id in ids(paths)? {
        let journal = paths.run_journal(&id);
        if is_old(&journal, now) {
            match fs::remove_dir_all(paths.run_folder(&id)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => done?,
            }
            fs::remove_file(journal)?;
            removed += 1;
        }
    }
    sweep(paths, now);
    Ok(removed)
}

/// Removes folders of runs that never began because their process was killed.
fn sweep(paths: &Paths, now: Millis) {
    let entries = fs::read_dir(paths.runs()).into_iter().flatten().flatten();
    for entry in entries {
        let id = entry.file_name().to_str().and_then(RunId::new);
        if is_old(&entry.path(), now) && id.is_some_and(|id| !paths.run_journal(&id).exists()) {
            // If this fails, the next call tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Reports whether a file was not modified within the retention period.
fn is_old(path: &Path, now: Millis) -> bool {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| now - millis(modified) > KEPT)
}

fn millis(moment: SystemTime) -> Millis {
    moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as Millis)
}

/// Returns the checkpoints that unfinished runs continue from. These are never pruned.
pub fn referred(paths: &Paths) -> io::Result<BTreeSet<String>> {
    let mut referred = BTreeSet::new();
    for id in ids(paths)? {
        let is_open = |run: &Run| run.outcome.as_ref().is_none_or(|outcome| outcome.is_resumable());
        if let Some(run) = read(paths, &id)?.filter(is_open) {
            let of_legs = run.jobs.iter().filter_map(Job::checkpoint);
            referred.extend(of_legs.chain(run.last_checkpoint()).map(str::to_owned));
        }
    }
    Ok(referred)
}

#[cfg(test)]
mod tests {
    use plimsoll_core::run::{Begun, Limits, Outcome, Sort, What};

    use super::super::journal::Journal;
    use super::*;
    use crate::world::now;

    fn paths(folder: &Path) -> Paths {
        Paths { home: folder.into(), data: folder.join("data"), config: folder.join("c.yaml") }
    }

    #[test]
    fn runs_go_a_month_after_their_last_line() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let begun = Begun {
            sort: Sort::Task,
            project: "/p".to_owned(),
            title: String::new(),
            command: Vec::new(),
            limits: Limits::default(),
            pace: None,
        };
        let journal = Journal::unwritten(&paths).unwrap();
        journal.append(What::Begun(begun)).unwrap();
        journal.append(What::Ended(Outcome::Done)).unwrap();
        fs::create_dir(paths.run_folder(journal.run())).unwrap();
        fs::create_dir(paths.run_folder(Journal::unwritten(&paths).unwrap().run())).unwrap();
        let now = now() as Millis;
        assert_eq!(prune(&paths, now + KEPT - 60_000).unwrap(), 0);
        assert_eq!(prune(&paths, now + KEPT + 60_000).unwrap(), 1);
        assert_eq!(fs::read_dir(paths.runs()).unwrap().count(), 0);
    }
}
