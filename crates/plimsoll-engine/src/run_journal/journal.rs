//! The journal of a run: one file to which its runner appends events before or right after they
//! happen.

use std::fs;
use std::io;
use std::time::Duration;

use plimsoll_core::Millis;
use plimsoll_core::run::{Limits, Line, Pace, Run, RunId, What};
use uuid::Uuid;

use crate::journal;
use crate::jsonl::{self, JsonLines};
use crate::paths::Paths;
use crate::process;
use crate::world::now;

/// How long to wait for another process that appends.
const PATIENCE: Duration = Duration::from_secs(30);

/// The journal of a run that this process executes.
#[derive(Clone, Debug)]
pub struct Journal {
    paths: Paths,
    run: RunId,
}

impl Journal {
    /// Creates a run id, without writing anything yet.
    pub fn unwritten(paths: &Paths) -> io::Result<Self> {
        let id = Uuid::now_v7().to_string();
        let run = RunId::new(&id).ok_or_else(|| io::Error::other("a UUID is no name of a run"))?;
        Ok(Self::of(paths, run))
    }

    /// Returns the journal of an existing run.
    pub fn of(paths: &Paths, run: RunId) -> Self {
        Self { paths: paths.clone(), run }
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Records that this process executes the run from now on.
    pub fn take_up(&self, limits: Option<Limits>, pace: Option<Pace>) -> io::Result<Line> {
        self.append(What::Conducted { by: process::this(), limits, pace })
    }

    /// Appends an event and syncs the file.
    pub fn append(&self, what: What) -> io::Result<Line> {
        let line = Line { at: now() as Millis, what };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        journal::append(&self.paths.run_journal(&self.run), bytes, PATIENCE)?;
        Ok(line)
    }

    /// Returns the state of the run.
    pub fn fold(&self) -> io::Result<Run> {
        let gone = || io::Error::new(io::ErrorKind::NotFound, "its journal has no beginning");
        read(&self.paths, &self.run)?.ok_or_else(gone)
    }
}

/// Returns the state of a run; `None` if there is none. Torn lines and lines of a later version are
/// skipped.
pub fn read(paths: &Paths, run: &RunId) -> io::Result<Option<Run>> {
    let Some(file) = JsonLines::open(&paths.run_journal(run))? else { return Ok(None) };
    let mut lines = Vec::new();
    jsonl::whole_lines(&file, 0, u64::MAX, |line| {
        lines.extend(serde_json::from_slice::<Line>(line.bytes));
    })?;
    Ok(Run::fold(run.clone(), lines))
}

/// Lists the ids of all runs, newest first.
pub fn ids(paths: &Paths) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(paths.runs()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut ids: Vec<RunId> =
        names.filter_map(|name| RunId::new(name.strip_suffix(".jsonl")?)).collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    Ok(ids)
}

/// Returns the newest run that satisfies `fits`.
pub fn newest(paths: &Paths, fits: impl Fn(&Run) -> bool) -> io::Result<Option<Run>> {
    for id in ids(paths)? {
        if let Some(run) = read(paths, &id)?.filter(&fits) {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use plimsoll_core::run::{Begun, Outcome, Sort};

    use super::*;

    fn paths(folder: &Path) -> Paths {
        Paths { home: folder.into(), data: folder.join("data"), config: folder.join("c.yaml") }
    }

    fn begin(paths: &Paths, title: &str) -> Journal {
        let journal = Journal::unwritten(paths).unwrap();
        let begun = Begun {
            sort: Sort::Task,
            project: "/p".to_owned(),
            title: title.to_owned(),
            command: vec!["agent".to_owned()],
            limits: Limits::default(),
            pace: None,
        };
        journal.append(What::Begun(begun)).unwrap();
        journal
    }

    #[test]
    fn what_was_written_is_told_whatever_came_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let journal = begin(&paths, "one");
        journal.take_up(None, None).unwrap();
        let path = paths.run_journal(journal.run());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"at\":1,\"what\":\"of a later version\"}\n{\"at\":2,\"wh").unwrap();
        assert!(is_conducted_here(&journal));
        journal.append(What::Ended(Outcome::Done)).unwrap();
        assert_eq!(journal.fold().unwrap().outcome, Some(Outcome::Done));
    }

    fn is_conducted_here(journal: &Journal) -> bool {
        let conductor = journal.fold().unwrap().conductor;
        conductor.is_some_and(|by| process::is_alive(&by) && by.pid == std::process::id())
    }

    #[test]
    fn runs_are_listed_newest_first_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        assert!(ids(&paths).unwrap().is_empty());
        let one = begin(&paths, "one");
        let two = begin(&paths, "two");
        fs::create_dir(paths.run_folder(one.run())).unwrap();
        fs::write(paths.runs().join("notes.jsonl"), "").unwrap();
        assert_eq!(ids(&paths).unwrap(), [two.run().clone(), one.run().clone()]);
        let found = newest(&paths, |run| run.begun.title == "one").unwrap().unwrap();
        assert_eq!(found.id, *one.run());
    }
}
