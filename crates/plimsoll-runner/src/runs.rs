//! Imports run journals into the store and reports the status of runs. Carrying out a run is the
//! job of [`runner`].
//!
//! A journal is small, so a journal that has grown is read from its start and all rows of its run
//! are replaced. Importing twice therefore gives the same result as importing once.

use std::collections::BTreeMap;
use std::io;

use anyhow::Context;
use plimsoll_core::run::{Job, JobState, Line, Process, Run, RunId, Standing};
use plimsoll_engine::jsonl::{self, JsonLines};
use plimsoll_engine::paths::Paths;
use plimsoll_engine::process::is_alive;
use plimsoll_engine::run_journal::{self, ids};
use plimsoll_store::{Batch, Bookmark, RunRow, SourceFile, Store};

use crate::run::redact_record;
use crate::runner::{self, OutputTail};

/// Imports new journal records into the store and returns the number of changed runs.
pub fn import_journals(paths: &Paths, store: &mut Store) -> anyhow::Result<usize> {
    let mut news = 0;
    let ids = ids(paths).context("could not list the journals of runs")?;
    for gone in store.run_ids()?.iter().filter(|known| !ids.contains(known)) {
        store.forget_run(gone)?;
        store.forget_file(&paths.run_journal(gone))?;
    }
    if ids.is_empty() {
        return Ok(0);
    }
    let known = store.bookmarks()?;
    for id in ids {
        let path = paths.run_journal(&id);
        let Some(journal) = JsonLines::open(&path).context("could not open a run's journal")?
        else {
            continue;
        };
        if known.get(&path) == Some(&(journal.inode(), journal.len())) {
            continue;
        }
        let source = SourceFile { path, inode: journal.inode() };
        news += store.ingest(&source, |here| read_journal(&journal, &id, &here))?.rows;
    }
    Ok(news)
}

fn read_journal(journal: &JsonLines, id: &RunId, here: &Bookmark) -> anyhow::Result<Batch> {
    let mut lines: Vec<Line> = Vec::new();
    let offset = jsonl::whole_lines(journal, 0, u64::MAX, |line| {
        // The runner never acts on a record before it is complete on disk, so skip a torn one.
        lines.extend(serde_json::from_slice(line.bytes).map(redact_record));
    })?;
    // An incomplete last line may still grow or stay torn, so it is not news.
    let has_news = offset != here.offset;
    let run = Run::fold(id.clone(), lines.clone()).filter(|_| has_news);
    let runs = run.map(|run| RunRow { run, lines }).into_iter().collect();
    Ok(Batch { runs, next: Bookmark { offset, reader_state: String::new() }, ..Batch::default() })
}

/// Returns the current status of a run.
pub fn status(run: &Run) -> Standing {
    run.standing(run.conductor.is_some_and(|conductor| is_alive(&conductor)))
}

/// Returns the last output of a failed job's agent; `None` if the job has not failed or its agent
/// printed nothing.
pub fn failed_job_output(paths: &Paths, run: &RunId, job: &Job) -> Option<OutputTail> {
    let is_failed = matches!(job.state, JobState::Failed { .. });
    let leg = job.legs.last().filter(|_| is_failed)?;
    runner::output_tail(paths, run, leg.begun.job, leg.begun.leg)
}

/// Returns the runs that a live process carries out, newest first.
pub fn active_runs(store: &Store) -> anyhow::Result<Vec<Run>> {
    let mut open = store.open_runs()?;
    open.retain(|run| status(run) == Standing::Running);
    Ok(open)
}

/// Detects changed runs: a journal has grown, or a runner process has died.
#[derive(Debug, Default)]
pub struct RunMonitor(BTreeMap<RunId, RunSnapshot>);

/// State of a run at the last poll.
#[derive(Debug, PartialEq, Eq)]
struct RunSnapshot {
    inode: u64,
    len: u64,
    status: Standing,
    /// The runner's process, if it was alive at the last poll.
    runner: Option<Process>,
}

impl RunMonitor {
    /// Returns the runs that changed since the last call, with their current status.
    pub fn poll(&mut self, paths: &Paths) -> io::Result<Vec<(RunId, Standing)>> {
        let mut news = Vec::new();
        for id in ids(paths)? {
            let Some(seen) = RunSnapshot::take(paths, &id, self.0.get(&id))? else { continue };
            if self.0.get(&id) != Some(&seen) {
                news.push((id.clone(), seen.status));
                self.0.insert(id, seen);
            }
        }
        Ok(news)
    }
}

impl RunSnapshot {
    /// Reads the journal only if it has grown. Checks in either case whether the runner is alive.
    fn take(paths: &Paths, id: &RunId, before: Option<&Self>) -> io::Result<Option<Self>> {
        let Some(journal) = JsonLines::open(&paths.run_journal(id))? else { return Ok(None) };
        let (inode, len) = (journal.inode(), journal.len());
        if let Some(same) = before.filter(|it| (it.inode, it.len) == (inode, len)) {
            let conductor = same.runner.filter(is_alive);
            let is_gone = same.runner.is_some() && conductor.is_none();
            let standing = if is_gone { Standing::Interrupted } else { same.status };
            return Ok(Some(Self { inode, len, status: standing, runner: conductor }));
        }
        let Some(run) = run_journal::read(paths, id)? else { return Ok(None) };
        let standing = status(&run);
        let conductor = run.conductor.filter(|_| standing == Standing::Running);
        Ok(Some(Self { inode, len, status: standing, runner: conductor }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    use plimsoll_core::event::SessionId;
    use plimsoll_core::plan::{Kind, Piece, Plan};
    use plimsoll_core::run::{
        Begun, Ending, Fingerprint, JobBegun, LegBegun, LegEnd, Limits, Outcome, Sort, What,
    };
    use plimsoll_engine::run_journal::Journal;

    use super::*;

    fn paths(folder: &Path) -> Paths {
        Paths { home: folder.into(), data: folder.join("data"), config: folder.join("c.yaml") }
    }

    fn begin_run(paths: &Paths) -> Journal {
        let begun = Begun {
            sort: Sort::Plan,
            project: "/p".to_owned(),
            title: "Careen the hull".to_owned(),
            command: vec!["agent".to_owned()],
            limits: Limits::default(),
            pace: None,
        };
        let journal = Journal::unwritten(paths).unwrap();
        journal.append(What::Begun(begun)).unwrap();
        journal.take_up(None, None).unwrap();
        journal
    }

    fn piece(id: &str, tokens: u64) -> Piece {
        let id = id.to_owned();
        Piece { id, tokens, formula: Some(tokens), kind: Kind::Fix, ..Piece::default() }
    }

    fn session() -> SessionId {
        SessionId::new("019a8f00-0000-7000-8000-0123456789ab").unwrap()
    }

    /// Records a run with one job of two pieces, estimated at 400 tokens; its window grew by 800.
    fn record_finished_job(journal: &Journal) {
        let plan = Plan {
            available: 900,
            batches: vec![vec![piece("1", 100), piece("2", 300)]],
            done: Vec::new(),
        };
        let job = JobBegun {
            job: 1,
            title: "Both".to_owned(),
            batch: Some(1),
            pieces: vec!["1".to_owned(), "2".to_owned()],
            tokens: Some(400),
        };
        let leg = LegBegun { job: 1, leg: 1, attempt: 1, session: Some(session()), restore: None };
        let end = LegEnd {
            job: 1,
            leg: 1,
            how: Ending::Exited { code: 0 },
            first: Some(1_000),
            used: Some(1_800),
            window: Some(200_000),
            responses: 9,
            checkpoint: Some("c1".to_owned()),
            fingerprint: Fingerprint::default(),
        };
        for what in [
            What::Planned { plan, why: None },
            What::JobBegun(job),
            What::LegBegun(leg),
            What::LegEnded(end),
            What::JobDone { job: 1, checkpoint: Some("c1".to_owned()) },
            What::Ended(Outcome::Done),
        ] {
            journal.append(what).unwrap();
        }
    }

    #[test]
    fn journals_rebuild_a_lost_store() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let journal = begin_run(&paths);
        record_finished_job(&journal);
        for _ in 0..2 {
            let mut store = Store::in_memory().unwrap();
            assert_eq!(import_journals(&paths, &mut store).unwrap(), 1);
            assert_eq!(import_journals(&paths, &mut store).unwrap(), 0, "nothing is new");
            let run = store.run(journal.run()).unwrap().unwrap();
            let told = journal.fold().unwrap();
            assert_eq!((&run.jobs, &run.outcome), (&told.jobs, &told.outcome));
            assert!(run.begun.command.is_empty(), "it may hold secrets");
            assert_eq!(store.runs(None, 0, 9).unwrap(), std::slice::from_ref(&run));
            assert_eq!(store.runs(Some(Path::new("/q")), 0, 9).unwrap(), []);
            assert_eq!(store.run_of(&session()).unwrap(), Some(run.id.clone()));
            let counts = store.run_counts().unwrap();
            assert_eq!((counts.runs, counts.sessions, counts.restarts), (1, 1, 0));
            assert_eq!((run.progress().done, run.progress().of), (2, 2));
        }
    }

    #[test]
    fn monitor_reports_a_grown_journal_and_a_dead_runner() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let mut lookout = RunMonitor::default();
        assert_eq!(lookout.poll(&paths).unwrap(), []);
        let journal = begin_run(&paths);
        let id = journal.run().clone();
        assert_eq!(lookout.poll(&paths).unwrap(), [(id.clone(), Standing::Running)]);
        assert_eq!(lookout.poll(&paths).unwrap(), [], "nothing has happened");
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let by = plimsoll_engine::process::named(child.id()).unwrap();
        journal.append(What::Conducted { by, limits: None, pace: None }).unwrap();
        assert_eq!(lookout.poll(&paths).unwrap(), [(id.clone(), Standing::Running)]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lookout.poll(&paths).unwrap(), [(id, Standing::Interrupted)]);
        assert_eq!(lookout.poll(&paths).unwrap(), [], "it is told once");
    }

    #[test]
    fn measured_tokens_of_a_job_are_shared_among_its_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        record_finished_job(&begin_run(&paths));
        let mut store = Store::in_memory().unwrap();
        import_journals(&paths, &mut store).unwrap();
        let cases = store.piece_cases().unwrap();
        let figures: Vec<_> = cases.iter().map(|case| (case.predicted, case.measured)).collect();
        assert_eq!(figures, [(100, 200), (300, 600)]);
    }

    #[test]
    fn removing_a_journal_removes_the_run_but_not_its_calibration_cases() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let journal = begin_run(&paths);
        record_finished_job(&journal);
        let mut store = Store::in_memory().unwrap();
        import_journals(&paths, &mut store).unwrap();
        fs::remove_file(paths.run_journal(journal.run())).unwrap();
        assert_eq!(import_journals(&paths, &mut store).unwrap(), 0);
        assert_eq!(store.runs(None, 0, 9).unwrap(), []);
        assert_eq!(store.run_of(&session()).unwrap(), None);
        assert_eq!(store.piece_cases().unwrap().len(), 2);
    }

    #[test]
    fn importing_a_growing_or_torn_journal_stores_the_run_once() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let journal = begin_run(&paths);
        let mut store = Store::in_memory().unwrap();
        assert_eq!(import_journals(&paths, &mut store).unwrap(), 1);
        assert_eq!(active_runs(&store).unwrap().len(), 1, "this process conducts it");
        let path = paths.run_journal(journal.run());
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"{\"at\":9,\"what\":\"job_be").unwrap();
        assert_eq!(import_journals(&paths, &mut store).unwrap(), 0, "half a line tells nothing");
        record_finished_job(&journal);
        assert_eq!(import_journals(&paths, &mut store).unwrap(), 1);
        let runs = store.runs(None, 0, 9).unwrap();
        assert_eq!(runs.len(), 1);
        assert_eq!(status(&runs[0]), Standing::Done);
        assert!(active_runs(&store).unwrap().is_empty());
    }
}
