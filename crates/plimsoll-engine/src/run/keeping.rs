//! How long runs are kept, and what is kept for them.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use plimsoll_core::Millis;
use plimsoll_core::run::{Job, Run};

use super::journal::{ids, read};
use crate::paths::Paths;

/// How long a run is kept after something was last written about it.
const KEPT: Millis = 30 * 24 * 60 * 60 * 1000;

/// Removes runs that are long over, with all that belongs to them; gives how many. One that could be
/// resumed stays as long.
pub fn prune(paths: &Paths, now: Millis) -> io::Result<usize> {
    let mut removed = 0;
    for id in ids(paths)? {
        let run = read(paths, &id)?;
        if run.is_some_and(|run| now - run.until > KEPT) {
            match fs::remove_dir_all(paths.run_folder(&id)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => done?,
            }
            fs::remove_file(paths.run_journal(&id))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Which checkpoints runs that are not done go on from: those are never let go of.
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
    use std::path::Path;

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
        };
        let journal = Journal::begin(&paths, begun).unwrap();
        journal.append(What::Ended(Outcome::Done)).unwrap();
        fs::create_dir(paths.run_folder(journal.run())).unwrap();
        let now = now() as Millis;
        assert_eq!(prune(&paths, now + KEPT - 60_000).unwrap(), 0);
        assert_eq!(prune(&paths, now + KEPT + 60_000).unwrap(), 1);
        assert_eq!(fs::read_dir(paths.runs()).unwrap().count(), 0);
    }
}
