//! Reports on a run for users: progress, status, and how to resume it.

use super::{Job, JobState, Leg, Outcome, Run, Sort};
use crate::plan::{self, Case, Piece};
use crate::{Millis, Tokens};

/// The progress of a run, in pieces of its plan, or in jobs if it has no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Completed.
    pub done: usize,
    /// Total.
    pub of: usize,
}

/// The current status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A runner is active.
    Running,
    /// The runner is gone or was interrupted, and there is work left.
    Interrupted,
    Done,
    /// An agent failed.
    Failed,
    /// A limit was reached.
    Limited,
    /// The circuit breaker ended it: the run made no progress.
    Broken,
}

impl Standing {
    /// Returns whether there is work left but no active runner.
    pub fn is_resting(self) -> bool {
        !matches!(self, Self::Running | Self::Done)
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Limited => "limited",
            Self::Broken => "broken",
        }
    }
}

/// A piece of a plan and its latest job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTold<'r> {
    pub piece: &'r Piece,
    /// The last job that includes the piece; `None` if no job has begun it.
    pub job: Option<&'r Job>,
}

impl PieceTold<'_> {
    /// Returns the state as a word.
    pub fn state(&self) -> &'static str {
        match self.job.map(|job| &job.state) {
            None => "waiting",
            Some(JobState::Open) => "open",
            Some(JobState::Done { .. }) => "done",
            Some(JobState::Failed { .. }) => "failed",
        }
    }
}

impl Run {
    /// Returns the current status. `is_conducted` says whether the runner is still alive.
    pub fn standing(&self, is_conducted: bool) -> Standing {
        match &self.outcome {
            Some(Outcome::Done) => Standing::Done,
            Some(Outcome::Failed { .. }) => Standing::Failed,
            Some(Outcome::Limited { .. }) => Standing::Limited,
            Some(Outcome::Broken { .. }) => Standing::Broken,
            Some(Outcome::Interrupted { .. }) => Standing::Interrupted,
            None if is_conducted => Standing::Running,
            None => Standing::Interrupted,
        }
    }

    /// Returns the command that resumes the run; `None` if there is no work left.
    pub fn resume(&self) -> Option<String> {
        let command = match self.begun.sort {
            Sort::Task => "plimsoll run --resume",
            Sort::Plan => "plimsoll batch run --resume",
        };
        let is_done = self.outcome.as_ref().is_some_and(|outcome| !outcome.is_resumable());
        let raised = match &self.outcome {
            // With the same limit the run would end again at once.
            Some(Outcome::Limited { limit }) => format!(" {}", limit.raised()),
            _ => String::new(),
        };
        (!is_done).then(|| format!("{command} {}{raised}", self.id))
    }

    pub fn progress(&self) -> Progress {
        match &self.plan {
            Some(_) => {
                let is_done = |told: &PieceTold<'_>| told.job.is_some_and(Job::is_done);
                let done = self.pieces().filter(is_done).count();
                Progress { done, of: self.pieces().count() }
            }
            None => {
                let done = self.jobs.iter().filter(|job| job.is_done()).count();
                Progress { done, of: self.jobs.len().max(1) }
            }
        }
    }

    /// Returns the pieces of the plan, in order, with their jobs.
    pub fn pieces(&self) -> impl Iterator<Item = PieceTold<'_>> {
        let pieces = self.plan.iter().flat_map(|plan| plan.pieces());
        pieces.map(|piece| {
            let has = |job: &&Job| job.begun.pieces.contains(&piece.id);
            let job = self.jobs.iter().rev().find(has);
            PieceTold { piece, job }
        })
    }

    /// Returns the pieces that may be too large for a session and are not done.
    pub fn warned(&self) -> impl Iterator<Item = &Piece> {
        let open = self.pieces().filter(|told| told.state() != "done").map(|told| told.piece);
        open.filter(|piece| piece.warning.is_some())
    }

    /// Returns the open jobs that have a running session, with that session.
    pub fn at_work(&self) -> impl Iterator<Item = (&Job, &Leg)> {
        let open = self.jobs.iter().filter(|job| job.state == JobState::Open);
        let running = open.filter_map(|job| Some((job, job.legs.last()?)));
        running.filter(|(_, leg)| leg.end.is_none())
    }

    /// Returns the number of sessions that continued the work of an earlier session of the same
    /// job.
    pub fn restarts(&self) -> usize {
        self.jobs.iter().map(Job::restarts).sum()
    }

    /// Returns the number of sessions that retried a failed job.
    pub fn retries(&self) -> usize {
        let later = |job: &Job| job.legs.len().saturating_sub(1);
        self.jobs.iter().map(|job| later(job) - job.restarts()).sum()
    }

    /// Returns the real cost of the work so far, to compare with the estimate; `None` if unknown.
    pub fn measured(&self) -> Option<Tokens> {
        self.jobs.iter().filter_map(Job::measured).reduce(|sum, more| sum + more)
    }

    /// Returns the cases for calibration: each completed piece with its share of its job's tokens.
    pub fn cases(&self) -> impl Iterator<Item = Case> {
        self.pieces().filter_map(|told| {
            let (piece, job) = (told.piece, told.job?);
            let (at, measured) = job.taken()?;
            let of_job = self.pieces().filter(|other| other.job == Some(job));
            let together = plan::load(of_job.map(|other| other.piece));
            let share = piece.tokens as f64 / together.max(1) as f64;
            let measured = (measured as f64 * share).round() as Tokens;
            let predicted = piece.formula.unwrap_or(piece.tokens);
            (!piece.given).then_some(Case { at, kind: piece.kind, predicted, measured })
        })
    }
}

impl Job {
    /// Returns the checkpoint that describes the job: the one it was closed with, or the newest one
    /// of its sessions.
    pub fn told_by(&self) -> Option<&str> {
        match &self.state {
            JobState::Done { checkpoint: Some(id), .. } => Some(id),
            _ => self.checkpoint(),
        }
    }

    /// Returns the number of sessions that continued the work of an earlier one.
    fn restarts(&self) -> usize {
        let goes_on = |pair: &&[Leg]| pair[0].begun.attempt == pair[1].begun.attempt;
        self.legs.windows(2).filter(goes_on).count()
    }

    /// Returns when the job was completed, and its real cost.
    fn taken(&self) -> Option<(Millis, Tokens)> {
        match self.state {
            JobState::Done { at, .. } => Some((at, self.measured()?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Line, RunId};
    use super::*;

    fn run(lines: &[&str]) -> Run {
        let begun =
            r#"{"at":0,"what":"begun","sort":"plan","project":"/p","title":"t","command":[]}"#;
        let lines = std::iter::once(&begun).chain(lines);
        let lines: Vec<Line> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        Run::fold(RunId::new("019a8f00-0000-7000-8000-0123456789ab").unwrap(), lines).unwrap()
    }

    #[test]
    fn a_run_without_an_end_stands_as_its_conductor_does() {
        let open = run(&[]);
        assert_eq!(open.standing(true), Standing::Running);
        assert_eq!(open.standing(false), Standing::Interrupted);
        let command = "plimsoll batch run --resume 019a8f00-0000-7000-8000-0123456789ab";
        assert_eq!(open.resume().as_deref(), Some(command));
        let done = run(&[r#"{"at":1,"what":"ended","outcome":"done"}"#]);
        assert_eq!((done.standing(false), done.resume()), (Standing::Done, None));
        assert!(open.standing(false).is_resting() && !done.standing(false).is_resting());
    }

    #[test]
    fn a_piece_that_was_given_to_a_second_job_stands_as_that_does() {
        let plan = r#"{"at":1,"what":"planned","plan":{"available":9,"batches":[[{"id":"1","description":"d","tokens":5,"formula":4}],[{"id":"2","description":"d","tokens":5}]]}}"#;
        let job = |number: u32| {
            format!(r#"{{"at":2,"what":"job_begun","job":{number},"title":"t","pieces":["1"]}}"#)
        };
        let failed = r#"{"at":3,"what":"job_failed","job":1,"why":"w"}"#;
        let tried = run(&[plan, &job(1), failed]);
        assert_eq!(
            tried.pieces().map(|told| told.state()).collect::<Vec<_>>(),
            ["failed", "waiting"]
        );
        let again = run(&[plan, &job(1), failed, &job(2)]);
        assert_eq!(again.progress(), Progress { done: 0, of: 2 });
        assert_eq!(again.pieces().next().unwrap().state(), "open");
        assert_eq!(again.at_work().next(), None, "no session has begun");
        let done = r#"{"at":4,"what":"job_done","job":2}"#;
        let done = run(&[plan, &job(1), failed, &job(2), done]);
        assert_eq!(done.progress(), Progress { done: 1, of: 2 });
        assert_eq!(done.cases().count(), 0, "nobody has measured it");
    }
    #[test]
    fn a_session_that_tries_again_is_no_restart_and_each_that_runs_is_at_work() {
        let job = |job: u32| format!(r#"{{"at":1,"what":"job_begun","job":{job},"title":"t"}}"#);
        let leg = |job: u32, leg: u32, attempt: u32| {
            format!(r#"{{"at":2,"what":"leg_begun","job":{job},"leg":{leg},"attempt":{attempt}}}"#)
        };
        let end = |leg: u32, first: Tokens, used: Tokens| {
            format!(
                r#"{{"at":3,"what":"leg_ended","job":1,"leg":{leg},"how":"stopped","first":{first},"used":{used}}}"#
            )
        };
        let lines = [job(1), leg(1, 1, 1), end(1, 10, 90), leg(1, 2, 1), end(2, 20, 60)];
        let mut lines: Vec<String> = lines.into();
        lines.extend([leg(1, 3, 2), job(2), leg(2, 1, 1)]);
        let told = run(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((told.restarts(), told.retries()), (1, 1));
        let at_work: Vec<_> =
            told.at_work().map(|(_, leg)| (leg.begun.job, leg.begun.leg)).collect();
        assert_eq!(at_work, [(1, 3), (2, 1)]);
        assert_eq!((told.measured(), told.held()), (Some(120), Some(150)));
        assert_eq!((run(&[]).measured(), run(&[]).held()), (None, None), "nobody knows");
    }
}
