//! The state of a run, folded from its journal.

use serde::Serialize;

use super::{
    Begun, Breaker, JobBegun, LegBegun, LegEnd, Line, Outcome, Process, RunId, Spent, What,
};
use crate::plan::Plan;
use crate::{Millis, Tokens};

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    pub id: RunId,
    #[serde(flatten)]
    pub begun: Begun,
    /// When it began.
    pub since: Millis,
    /// The time of the last journal record.
    pub until: Millis,
    /// Active time in milliseconds. Pauses between two runner processes do not count.
    pub conducted: Millis,
    /// The process that executes the run, or the last one that did.
    pub conductor: Option<Process>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// Why the plan was replaced, once per replacement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replanned: Vec<String>,
    /// Jobs in the order in which they began.
    pub jobs: Vec<Job>,
    /// `None` while the run continues, or if its runner was killed.
    pub outcome: Option<Outcome>,
    /// The last batch begun before the current plan was made.
    #[serde(skip)]
    planned_after: Option<u32>,
    /// When the run was last started or resumed.
    #[serde(skip)]
    taken_up: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Job {
    #[serde(flatten)]
    pub begun: JobBegun,
    /// When it began.
    pub since: Millis,
    /// The sessions of the job, in order.
    pub legs: Vec<Leg>,
    pub state: JobState,
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum JobState {
    /// There is work left.
    Open,
    Done {
        at: Millis,
        /// The checkpoint that describes the result.
        checkpoint: Option<String>,
    },
    /// The job has failed for good.
    Failed { at: Millis, why: String },
}

/// A session of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leg {
    #[serde(flatten)]
    pub begun: LegBegun,
    /// When it began.
    pub since: Millis,
    /// `None` if the runner was killed before it could record the process.
    pub process: Option<Process>,
    /// The time of the end, and its details.
    pub end: Option<(Millis, LegEnd)>,
}

impl Run {
    /// Folds a journal; `None` if its first record does not begin a run.
    pub fn fold(id: RunId, lines: impl IntoIterator<Item = Line>) -> Option<Self> {
        let mut lines = lines.into_iter();
        let Line { at, what: What::Begun(begun) } = lines.next()? else { return None };
        let mut run = Self {
            id,
            begun,
            since: at,
            until: at,
            conducted: 0,
            conductor: None,
            plan: None,
            replanned: Vec::new(),
            jobs: Vec::new(),
            outcome: None,
            planned_after: None,
            taken_up: at,
        };
        lines.for_each(|line| run.take(line));
        Some(run)
    }

    /// Applies one more record. Ignores records that do not fit the state.
    pub fn take(&mut self, Line { at, what }: Line) {
        match &what {
            What::Conducted { .. } => self.taken_up = at,
            _ => self.conducted = self.conducted_by(at),
        }
        self.until = self.until.max(at);
        match what {
            What::Begun(_) => {}
            What::Conducted { by, limits, pace } => {
                (self.conductor, self.outcome) = (Some(by), None);
                self.begun.limits = limits.unwrap_or(self.begun.limits);
                self.begun.pace = pace.or(self.begun.pace);
            }
            What::Planned { plan, why } => {
                self.retitle(&plan);
                (self.plan, self.planned_after) = (Some(plan), self.last_batch());
                self.replanned.extend(why);
            }
            What::JobBegun(begun) => self.begin(at, begun),
            What::LegBegun(begun) => self.begin_leg(at, begun),
            What::LegStarted { job, leg, process } => {
                if let Some(leg) = self.leg_mut(job, leg) {
                    leg.process = Some(process);
                }
            }
            What::LegEnded(end) => {
                if let Some(leg) = self.leg_mut(end.job, end.leg) {
                    leg.end = Some((at, end));
                }
            }
            What::JobDone { job, checkpoint } => self.close(job, JobState::Done { at, checkpoint }),
            What::JobFailed { job, why } => self.close(job, JobState::Failed { at, why }),
            What::Ended(outcome) => self.outcome = Some(outcome),
        }
    }

    /// Updates the title if it contains the size of the previous plan.
    fn retitle(&mut self, plan: &Plan) {
        let extent = self.plan.as_ref().map(Plan::extent);
        let about = extent.and_then(|extent| self.begun.title.strip_suffix(&extent));
        if let Some(about) = about {
            self.begun.title = format!("{about}{}", plan.extent());
        }
    }

    /// Begins a job. A failed job may begin again when the user resumes the run.
    fn begin(&mut self, at: Millis, begun: JobBegun) {
        match self.job_mut(begun.job) {
            Some(job) if job.is_done() => {}
            Some(job) => job.state = JobState::Open,
            None => {
                self.jobs.push(Job { begun, since: at, legs: Vec::new(), state: JobState::Open });
            }
        }
    }

    fn begin_leg(&mut self, at: Millis, begun: LegBegun) {
        if let Some(job) = self.job_mut(begun.job) {
            job.legs.push(Leg { begun, since: at, process: None, end: None });
        }
    }

    /// Closes a job. A completed job stays done.
    fn close(&mut self, job: u32, state: JobState) {
        if let Some(job) = self.job_mut(job).filter(|job| !job.is_done()) {
            job.state = state;
        }
    }

    /// Returns the last batch that had begun when the current plan was made.
    pub fn planned_after(&self) -> Option<u32> {
        self.planned_after
    }

    /// Returns a job by its number.
    pub fn job(&self, number: u32) -> Option<&Job> {
        self.jobs.iter().find(|job| job.begun.job == number)
    }

    fn job_mut(&mut self, number: u32) -> Option<&mut Job> {
        self.jobs.iter_mut().find(|job| job.begun.job == number)
    }

    fn leg_mut(&mut self, job: u32, number: u32) -> Option<&mut Leg> {
        self.job_mut(job)?.legs.iter_mut().find(|leg| leg.begun.leg == number)
    }

    /// Returns all sessions, job by job.
    pub fn legs(&self) -> impl Iterator<Item = &Leg> {
        self.jobs.iter().flat_map(|job| &job.legs)
    }

    /// Returns the resources used by `now`, for an active run.
    pub fn spent(&self, now: Millis) -> Spent {
        let failed = |job: &&Job| matches!(job.state, JobState::Failed { .. });
        let conducted = self.conducted_by(now);
        Spent {
            sessions: self.legs().count() as u32,
            tokens: self.held().unwrap_or(0),
            seconds: u64::try_from(conducted).unwrap_or(0) / 1000,
            failures: self.jobs.iter().filter(failed).count() as u32,
        }
    }

    /// Returns the tokens in the windows of all sessions at their ends, added up. The token limit
    /// counts these. `None` if nothing was measured.
    pub fn held(&self) -> Option<Tokens> {
        self.legs().filter_map(Leg::used).reduce(Tokens::saturating_add)
    }

    /// Returns the active time by `now`. The clock may have been changed in between, by any amount.
    fn conducted_by(&self, now: Millis) -> Millis {
        self.conducted.saturating_add(now.saturating_sub(self.until).max(0))
    }

    /// Returns the circuit breaker of a job. Sessions before the last resume do not count, because
    /// the user has looked at the run since.
    pub fn breaker(&self, job: u32) -> Breaker {
        let mut breaker = Breaker::default();
        let legs = self.job(job).into_iter().flat_map(|job| &job.legs);
        let ends = legs.filter_map(|leg| leg.end.as_ref()).filter(|(at, _)| *at >= self.taken_up);
        ends.for_each(|(_, end)| breaker.note(end));
        breaker
    }
}

impl Job {
    pub fn is_done(&self) -> bool {
        matches!(self.state, JobState::Done { .. })
    }

    /// Returns the newest checkpoint of its sessions.
    pub fn checkpoint(&self) -> Option<&str> {
        let ends = self.legs.iter().rev().filter_map(|leg| leg.end.as_ref());
        ends.filter_map(|(_, end)| end.checkpoint.as_deref()).next()
    }

    /// Returns the tokens that its sessions have added to their windows: the real cost of the work.
    pub fn measured(&self) -> Option<Tokens> {
        let ends = self.legs.iter().filter_map(|leg| leg.end.as_ref());
        let grown = ends.filter_map(|(_, end)| Some(end.used?.saturating_sub(end.first?)));
        grown.reduce(Tokens::saturating_add)
    }
}

impl Leg {
    /// Returns the tokens in the window at the end.
    pub fn used(&self) -> Option<Tokens> {
        self.end.as_ref()?.1.used
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ending, Fingerprint, Limits, Sort};
    use super::*;
    use crate::plan::Piece;

    fn id() -> RunId {
        RunId::new("019a8f00-0000-7000-8000-0123456789ab").unwrap()
    }

    fn begun() -> What {
        What::Begun(Begun {
            sort: Sort::Task,
            project: "/p".to_owned(),
            title: "Mend it".to_owned(),
            command: vec!["agent".to_owned()],
            limits: Limits::default(),
            pace: None,
        })
    }

    fn conducted(pid: u32) -> What {
        What::Conducted { by: Process { pid, started: 1 }, limits: None, pace: None }
    }

    fn job(job: u32) -> What {
        let title = "Mend it".to_owned();
        What::JobBegun(JobBegun { job, title, batch: None, pieces: Vec::new(), tokens: None })
    }

    fn leg(job: u32, leg: u32) -> What {
        What::LegBegun(LegBegun { job, leg, attempt: 1, session: None, restore: None })
    }

    fn end(job: u32, leg: u32, used: Tokens) -> What {
        What::LegEnded(LegEnd {
            job,
            leg,
            how: Ending::Stopped,
            first: Some(10),
            used: Some(used),
            window: None,
            responses: 9,
            checkpoint: Some(format!("c{leg}")),
            fingerprint: Fingerprint::default(),
        })
    }

    fn run(lines: Vec<(Millis, What)>) -> Run {
        Run::fold(id(), lines.into_iter().map(|(at, what)| Line { at, what })).unwrap()
    }

    #[test]
    fn a_journal_tells_how_a_run_stands() {
        let run = run(vec![
            (0, begun()),
            (1_000, conducted(7)),
            (2_000, job(1)),
            (2_000, leg(1, 1)),
            (60_000, end(1, 1, 100)),
            (60_000, leg(1, 2)),
            (90_000, end(1, 2, 40)),
            (91_000, What::JobDone { job: 1, checkpoint: Some("c2".to_owned()) }),
            (91_000, What::Ended(Outcome::Done)),
        ]);
        let spent = Spent { sessions: 2, tokens: 140, seconds: 90, failures: 0 };
        assert_eq!(run.spent(91_000), spent);
        assert_eq!(run.jobs[0].measured(), Some(120));
        assert_eq!(run.jobs[0].checkpoint(), Some("c2"));
        assert!(run.jobs[0].is_done());
        assert_eq!(run.outcome, Some(Outcome::Done));
    }

    #[test]
    fn no_clock_and_no_count_is_too_far_off() {
        let mut run = run(vec![
            (Millis::MIN, begun()),
            (Millis::MAX, job(u32::MAX)),
            (Millis::MIN, leg(u32::MAX, 1)),
            (0, end(u32::MAX, 1, Tokens::MAX)),
            (0, leg(u32::MAX, 2)),
            (0, end(u32::MAX, 2, Tokens::MAX)),
        ]);
        assert_eq!(run.spent(Millis::MIN).tokens, Tokens::MAX);
        assert_eq!(run.jobs[0].measured(), Some(Tokens::MAX));
        let piece = |id: &str| Piece { id: id.to_owned(), tokens: Tokens::MAX, ..Piece::default() };
        let plan =
            Plan { available: 1, batches: vec![vec![piece("a"), piece("b")]], done: Vec::new() };
        run.take(Line { at: 0, what: What::Planned { plan, why: None } });
        assert_eq!(run.cases().count(), 0);
    }

    #[test]
    fn pauses_between_two_conductors_take_no_time() {
        let mut run = run(vec![(0, begun()), (0, conducted(7)), (10_000, job(1))]);
        assert_eq!(run.spent(15_000).seconds, 15);
        run.take(Line { at: 3_600_000, what: conducted(8) });
        assert_eq!(run.spent(3_605_000).seconds, 15);
        assert_eq!(run.conductor.map(|by| by.pid), Some(8));
    }

    #[test]
    fn whoever_takes_a_run_up_again_opens_its_end_and_closes_its_breaker() {
        let mut lines = vec![(0, begun()), (0, conducted(7)), (0, job(1))];
        for number in 1..=3 {
            lines.push((1, leg(1, number)));
            lines.push((1, end(1, number, 100)));
        }
        let mut run = run(lines);
        let repeats = run.breaker(1).open().unwrap();
        run.take(Line { at: 2, what: What::Ended(Outcome::Broken { repeats }) });
        run.take(Line { at: 3, what: conducted(8) });
        assert_eq!(run.outcome, None);
        assert_eq!(run.breaker(1).open(), None);
    }

    #[test]
    fn a_job_that_is_done_stays_done_and_foreign_lines_change_nothing() {
        let done = What::JobDone { job: 1, checkpoint: None };
        let run = run(vec![
            (0, begun()),
            (0, job(1)),
            (1, done),
            (2, What::JobFailed { job: 1, why: "late".to_owned() }),
            (2, end(4, 4, 4)),
            (2, job(1)),
        ]);
        assert!(run.jobs[0].is_done());
        assert_eq!(run.jobs.len(), 1);
        let beheaded = [Line { at: 0, what: conducted(7) }];
        assert_eq!(Run::fold(id(), beheaded), None);
    }
}
