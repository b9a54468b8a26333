//! Run journals: any runner can compute the state of a run from any lines.

use plimsoll_core::run::{Job, Line, Run, RunId};
use plimsoll_core::settings::SessionPer;
use plimsoll_runner::batch::CoChanges;
use plimsoll_runner::run::{next_jobs, redact_record, replan};

pub(crate) fn run(input: &[u8]) {
    let lines: Vec<Line> = input
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    for line in &lines {
        let written = serde_json::to_vec(line).unwrap();
        assert_eq!(serde_json::from_slice::<Line>(&written).unwrap(), *line, "written is read");
        let once = redact_record(line.clone());
        assert_eq!(redact_record(once.clone()), once, "cleaning again changes nothing");
    }
    let id = || RunId::new("019a8f00-0000-7000-8000-0123456789ab").unwrap();
    let Some(whole) = Run::fold(id(), lines.clone()) else { return };
    // A runner that takes over halfway reaches the same state.
    let middle = lines.len().div_ceil(2);
    let mut taken_over = Run::fold(id(), lines[..middle].to_vec()).unwrap();
    lines[middle..].iter().cloned().for_each(|line| taken_over.take(line));
    assert_eq!(taken_over, whole);
    call_queries(&whole);
}

/// Calls all queries of a run.
fn call_queries(run: &Run) {
    for per in [SessionPer::Batch, SessionPer::Task] {
        let jobs = next_jobs(run, per);
        assert!(jobs.iter().all(|job| !run.job(job.job).is_some_and(Job::is_done)), "{jobs:?}");
    }
    let _ = (run.spent(run.until), run.standing(false), run.resume(), run.restarts());
    let _ = (run.done_pieces(), run.open_pieces(), run.cases().count(), run.at_work().count());
    let _ = replan(run, &|_| CoChanges::default());
    let progress = run.progress();
    assert!(progress.done <= progress.of);
    for job in &run.jobs {
        let number = job.begun.job;
        let _ = (run.breaker(number).open(), job.measured(), job.checkpoint());
    }
}
