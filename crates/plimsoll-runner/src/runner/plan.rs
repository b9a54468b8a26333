//! Carrying out a plan: batch after batch, each in fresh sessions, with a checkpoint between.

use std::collections::VecDeque;
use std::panic;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_core::plan::{Piece, Plan};
use plimsoll_core::run::{
    Ending, JobBegun, JobState, Leg, Limit, Outcome, Pace, Run, What, killed_by,
};
use plimsoll_engine::world::World;
use plimsoll_extract::redact::redact;

use super::conductor::{Conductor, JobEnd, Order, Progress};
use super::output::{LastWords, last_words};
use crate::batch;
use crate::run::{next_jobs, pause, replan};

/// How a plan is carried out.
#[derive(Clone, Copy)]
pub struct Manner<'m> {
    /// What was said about that.
    pub pace: Pace,
    /// How long to wait before a job that fails is tried again for the first time; before each other time twice as
    /// long.
    pub pause: Duration,
    /// Who is told what becomes of the jobs.
    pub news: &'m (dyn Fn(News<'_>) + Sync),
}

/// What becomes of the jobs of a plan.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// One is done.
    Done(&'a JobBegun),
    /// One has failed and will be tried again.
    Waits {
        /// Which.
        job: &'a JobBegun,
        /// With what exit code it failed.
        code: i32,
        /// What the agent said last.
        words: &'a LastWords,
        /// How long that takes.
        pause: Duration,
    },
    /// One has failed for good.
    Failed {
        /// Which.
        job: &'a JobBegun,
        /// With what exit code it failed.
        code: i32,
        /// What the agent said last.
        words: &'a LastWords,
    },
    /// What is left was planned again.
    Replanned {
        /// Why.
        why: &'a str,
        /// How the run stands now.
        run: &'a Run,
    },
}

/// How long to wait before something that failed is tried again.
pub fn usual_pause(world: &World) -> Duration {
    /// Tests have no time.
    const VARIABLE: &str = "PLIMSOLL_TEST_PAUSE_MS";
    const USUAL: Duration = Duration::from_secs(5);
    let set = world.env(VARIABLE).and_then(|value| value.parse().ok());
    set.map_or(USUAL, Duration::from_millis)
}

impl Conductor<'_> {
    /// Carries out the one job of a run that has no plan. An agent that was killed did not give up: it is
    /// tried again, after a pause, a few times.
    pub fn carry_out_task(&self, begun: JobBegun, base: Duration) -> anyhow::Result<JobEnd> {
        const RETRIES: u32 = 2;
        let attempt = self.next_attempt(begun.job);
        let mut order = Order { begun, prompt: None, restore: None, attempt };
        for tried in 1..=RETRIES {
            match self.carry_out(&order)? {
                JobEnd::Failed { code, .. } if killed_by(code).is_some() => {}
                end => return Ok(end),
            }
            if let Some(outcome) = self.rest(pause(base, tried)) {
                return Ok(JobEnd::Rests(outcome));
            }
            order.attempt += 1;
        }
        self.carry_out(&order)
    }

    /// Gives the run its plan. The journal gets it without secrets, the agents with them.
    pub fn set_plan(&self, plan: Plan) -> anyhow::Result<()> {
        self.keep_plan(0, plan, None)
    }

    /// Keeps the plan of that number. The journal is told of it last: what it does not tell of is planned
    /// again by whoever takes the run up.
    fn keep_plan(&self, number: usize, mut plan: Plan, why: Option<String>) -> anyhow::Result<()> {
        self.files.keep_plan(number, &plan).context("could not write down the plan")?;
        plan.for_each_text(|text| *text = redact(text).into_owned());
        self.note(What::Planned { plan, why })
    }

    /// The plan as it stands, secrets and all, and its number.
    fn plan(&self) -> anyhow::Result<(usize, Plan)> {
        let number = self.state().replanned.len();
        Ok((number, self.files.plan(number).context("could not read the plan")?))
    }

    /// Carries the plan out, from where it stands to its end or as far as may be, and writes down why it
    /// ended there. What has failed before is tried again.
    pub fn carry_out_plan(&self, manner: &Manner<'_>) -> anyhow::Result<Outcome> {
        let failed: Vec<JobBegun> =
            self.state().failed_jobs().map(|job| job.begun.clone()).collect();
        failed.into_iter().try_for_each(|job| self.note(What::JobBegun(job)))?;
        let outcome = loop {
            self.replan(manner)?;
            let jobs = next_jobs(&self.state(), manner.pace.session);
            if jobs.is_empty() {
                break outcome(&self.state());
            }
            match self.carry_out_batch(jobs, manner)? {
                // As many have failed as may: that is how the work ended, and no mere limit.
                Some(Outcome::Limited { limit: Limit::Failures(_) }) => {
                    break outcome(&self.state());
                }
                Some(outcome) => break outcome,
                None => {}
            }
        };
        self.note(What::Ended(outcome.clone()))?;
        Ok(outcome)
    }

    /// Carries out the jobs of a batch; gives why the run ends here, if it does.
    fn carry_out_batch(
        &self,
        jobs: Vec<JobBegun>,
        manner: &Manner<'_>,
    ) -> anyhow::Result<Option<Outcome>> {
        let workers = (manner.pace.at_once as usize).clamp(1, jobs.len());
        let queue = Mutex::new(VecDeque::from(jobs));
        let queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || loop {
            let Some(job) = queue().pop_front() else { return Ok(None) };
            let end = self.see_through(&job, manner);
            if !matches!(end, Ok(None)) {
                queue().clear();
                return end;
            }
        };
        let ends: Vec<anyhow::Result<Option<Outcome>>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.map(|end| end.unwrap_or_else(|panic| panic::resume_unwind(panic))).collect()
        });
        let ends: Vec<Option<Outcome>> = ends.into_iter().collect::<anyhow::Result<_>>()?;
        Ok(ends.into_iter().flatten().next())
    }

    /// Sees a job through to its end, tried as often as may be; gives why the run ends here, if it does.
    fn see_through(&self, job: &JobBegun, manner: &Manner<'_>) -> anyhow::Result<Option<Outcome>> {
        let mut order = self.order(job)?;
        let mut tried = 0;
        loop {
            let code = match self.carry_out(&order)? {
                JobEnd::Done { .. } => {
                    (manner.news)(News::Done(job));
                    return Ok(None);
                }
                JobEnd::Rests(outcome) => return Ok(Some(outcome)),
                JobEnd::Failed { code, .. } => code,
            };
            tried += 1;
            let words = &self.last_words(job.job);
            if tried > manner.pace.retries {
                let why = match killed_by(code) {
                    Some(signal) => format!("killed by signal {signal}"),
                    None => format!("exit code {code}"),
                };
                self.note(What::JobFailed { job: job.job, why })?;
                (manner.news)(News::Failed { job, code, words });
                return Ok(None);
            }
            let pause = pause(manner.pause, tried);
            (manner.news)(News::Waits { job, code, words, pause });
            if let Some(outcome) = self.rest(pause) {
                return Ok(Some(outcome));
            }
            order.attempt += 1;
        }
    }

    /// What the agent of a job's last session said at last.
    fn last_words(&self, job: u32) -> LastWords {
        let leg = self.state().job(job).map_or(0, |job| job.legs.len()) as u32;
        let words = last_words(&self.stage.world.paths, self.journal.run(), job, leg);
        words.unwrap_or_default()
    }

    /// Waits; gives why the run ends meanwhile, if it does.
    fn rest(&self, pause: Duration) -> Option<Outcome> {
        const STEP: Duration = Duration::from_millis(50);
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if let Some(outcome) = self.is_over() {
                return Some(outcome);
            }
            (self.stage.progress)(Progress::Passes);
            thread::sleep(STEP.min(until.saturating_duration_since(Instant::now())));
        }
        None
    }

    /// What is asked of an agent for a job, by how the run stands now.
    fn order(&self, begun: &JobBegun) -> anyhow::Result<Order> {
        let (_, plan) = self.plan()?;
        let named = |id: &String| plan.pieces().find(|piece| piece.id == *id);
        let pieces: Vec<&Piece> = begun.pieces.iter().filter_map(named).collect();
        let attempt = self.next_attempt(begun.job);
        let run = self.state();
        let done: Vec<&Piece> = plan.done.iter().chain(run.done_pieces()).collect();
        Ok(Order {
            begun: begun.clone(),
            prompt: Some(batch::prompt(&pieces, &done)),
            restore: run.last_checkpoint().map(str::to_owned),
            attempt,
        })
    }

    /// Which attempt at a job comes next, or is gone on with.
    fn next_attempt(&self, job: u32) -> u32 {
        let run = self.state();
        let last = run.job(job).and_then(|job| job.legs.last());
        last.map_or(1, next_attempt)
    }

    /// Plans again what is left, if the batch before has taken far more than was estimated.
    fn replan(&self, manner: &Manner<'_>) -> anyhow::Result<()> {
        let (number, plan) = self.plan()?;
        let mut run = self.run();
        run.plan = Some(plan);
        let together = |files: &[String]| crate::task_files::together(&self.project, files);
        let Some((plan, why)) = replan(&run, &together) else { return Ok(()) };
        self.keep_plan(number + 1, plan, Some(why.clone()))?;
        (manner.news)(News::Replanned { why: &why, run: &self.run() });
        Ok(())
    }
}

/// Which attempt comes after, or goes on with, a leg.
fn next_attempt(leg: &Leg) -> u32 {
    let failed = leg.end.as_ref().is_some_and(|(_, end)| matches!(end.how, Ending::Exited { .. }));
    leg.begun.attempt + u32::from(failed)
}

/// How a run ends in which nothing is left that could be done.
fn outcome(run: &Run) -> Outcome {
    let codes = run.failed_jobs().filter_map(|job| {
        let JobState::Failed { .. } = job.state else { return None };
        match job.legs.last()?.end.as_ref()?.1.how {
            Ending::Exited { code } => Some(code),
            _ => None,
        }
    });
    codes.last().map_or(Outcome::Done, |code| Outcome::Failed { code })
}
