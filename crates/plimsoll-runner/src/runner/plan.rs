//! Carries out a plan: batch after batch, each in fresh sessions, with a checkpoint in between.

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

use super::lifecycle::{JobEnd, JobOrder, RunProgress, Runner};
use super::output::{OutputTail, output_tail};
use crate::batch;
use crate::run::{next_jobs, replan, retry_pause};

/// How to carry out a plan.
#[derive(Clone, Copy)]
pub struct PlanOptions<'m> {
    pub pace: Pace,
    /// Pause before the first retry of a failed job, doubled with each further retry.
    pub pause: Duration,
    /// Receives news about the jobs.
    pub news: &'m (dyn Fn(JobNews<'_>) + Sync),
}

/// News about the jobs of a plan.
#[derive(Clone, Copy, Debug)]
pub enum JobNews<'a> {
    Done(&'a JobBegun),
    /// A job failed and will be retried.
    Retrying {
        job: &'a JobBegun,
        code: i32,
        /// The last output of the agent.
        output: &'a OutputTail,
        /// Time until the retry.
        pause: Duration,
    },
    /// A job failed for good.
    Failed {
        job: &'a JobBegun,
        code: i32,
        /// The last output of the agent.
        output: &'a OutputTail,
    },
    /// The remaining work was planned again.
    Replanned {
        why: &'a str,
        /// The run with its new plan.
        run: &'a Run,
    },
}

/// Returns the pause before the first retry.
#[cfg(not(feature = "test-switches"))]
pub fn default_pause(_: &World) -> Duration {
    DEFAULT_PAUSE
}

/// Returns the pause before the first retry, which a test can shorten.
#[cfg(feature = "test-switches")]
pub fn default_pause(world: &World) -> Duration {
    let set = world.env("PLIMSOLL_TEST_PAUSE_MS").and_then(|value| value.parse().ok());
    set.map_or(DEFAULT_PAUSE, Duration::from_millis)
}

const DEFAULT_PAUSE: Duration = Duration::from_secs(5);

impl Runner<'_> {
    /// Carries out the only job of a run without a plan. If the agent was killed, retries a few
    /// times after a pause: being killed is not giving up.
    pub fn carry_out_task(&self, begun: JobBegun, base: Duration) -> anyhow::Result<JobEnd> {
        const RETRIES: u32 = 2;
        let attempt = self.next_attempt(begun.job);
        let mut order = JobOrder { begun, prompt: None, restore: None, attempt };
        for tried in 1..=RETRIES {
            match self.carry_out(&order)? {
                JobEnd::Failed { code, .. } if killed_by(code).is_some() => {}
                end => return Ok(end),
            }
            if let Some(outcome) = self.wait_before_retry(retry_pause(base, tried)) {
                return Ok(JobEnd::Paused(outcome));
            }
            order.attempt += 1;
        }
        self.carry_out(&order)
    }

    /// Sets the plan of the run. The journal gets it redacted, the agents unredacted.
    pub fn set_plan(&self, plan: Plan) -> anyhow::Result<()> {
        self.store_plan(0, plan, None)
    }

    /// Stores plan `number`. The journal comes last: if the runner is killed before that, the next
    /// runner plans again.
    fn store_plan(&self, number: usize, mut plan: Plan, why: Option<String>) -> anyhow::Result<()> {
        self.files.write_plan(number, &plan).context("could not write down the plan")?;
        plan.for_each_text(|text| *text = redact(text).into_owned());
        self.record(What::Planned { plan, why })
    }

    /// Returns the current plan, unredacted, and its number.
    fn plan(&self) -> anyhow::Result<(usize, Plan)> {
        let number = self.state().replanned.len();
        Ok((number, self.files.read_plan(number).context("could not read the plan")?))
    }

    /// Carries out the rest of the plan as far as possible, and records why it ended. Retries jobs
    /// that failed before.
    pub fn carry_out_plan(&self, manner: &PlanOptions<'_>) -> anyhow::Result<Outcome> {
        let failed: Vec<JobBegun> =
            self.state().failed_jobs().map(|job| job.begun.clone()).collect();
        failed.into_iter().try_for_each(|job| self.record(What::JobBegun(job)))?;
        let outcome = loop {
            self.replan(manner)?;
            let jobs = next_jobs(&self.state(), manner.pace.session);
            if jobs.is_empty() {
                break final_outcome(&self.state());
            }
            match self.carry_out_batch(jobs, manner)? {
                // Reaching the limit of failures means that the work failed, not that a limit
                // paused it.
                Some(Outcome::Limited { limit: Limit::Failures(_) }) => {
                    break final_outcome(&self.state());
                }
                Some(outcome) => break outcome,
                None => {}
            }
        };
        self.record(What::Ended(outcome.clone()))?;
        Ok(outcome)
    }

    /// Carries out the jobs of a batch. Returns why the run ends here; `None` if it continues.
    fn carry_out_batch(
        &self,
        jobs: Vec<JobBegun>,
        manner: &PlanOptions<'_>,
    ) -> anyhow::Result<Option<Outcome>> {
        let workers = (manner.pace.at_once as usize).clamp(1, jobs.len());
        let queue = Mutex::new(VecDeque::from(jobs));
        let queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || loop {
            let Some(job) = queue().pop_front() else { return Ok(None) };
            let end = self.carry_out_with_retries(&job, manner);
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

    /// Carries out a job, with retries. Returns why the run ends here; `None` if it continues.
    fn carry_out_with_retries(
        &self,
        job: &JobBegun,
        manner: &PlanOptions<'_>,
    ) -> anyhow::Result<Option<Outcome>> {
        let mut order = self.order(job)?;
        let mut tried = 0;
        loop {
            let code = match self.carry_out(&order)? {
                JobEnd::Done { .. } => {
                    (manner.news)(JobNews::Done(job));
                    return Ok(None);
                }
                JobEnd::Paused(outcome) => return Ok(Some(outcome)),
                JobEnd::Failed { code, .. } => code,
            };
            tried += 1;
            let output = &self.output_tail(job.job);
            if tried > manner.pace.retries {
                let why = match killed_by(code) {
                    Some(signal) => format!("killed by signal {signal}"),
                    None => format!("exit code {code}"),
                };
                self.record(What::JobFailed { job: job.job, why })?;
                (manner.news)(JobNews::Failed { job, code, output });
                return Ok(None);
            }
            let pause = retry_pause(manner.pause, tried);
            (manner.news)(JobNews::Retrying { job, code, output, pause });
            if let Some(outcome) = self.wait_before_retry(pause) {
                return Ok(Some(outcome));
            }
            order.attempt += 1;
        }
    }

    /// Returns the last output of the agent in a job's last session.
    fn output_tail(&self, job: u32) -> OutputTail {
        let leg = self.state().job(job).map_or(0, |job| job.legs.len()) as u32;
        let words = output_tail(&self.context.env.paths, self.journal.run(), job, leg);
        words.unwrap_or_default()
    }

    /// Waits. Returns why the run must end meanwhile; `None` if it continues.
    fn wait_before_retry(&self, pause: Duration) -> Option<Outcome> {
        const STEP: Duration = Duration::from_millis(50);
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if let Some(outcome) = self.stop_reason() {
                return Some(outcome);
            }
            (self.context.progress)(RunProgress::Tick);
            thread::sleep(STEP.min(until.saturating_duration_since(Instant::now())));
        }
        None
    }

    /// Builds the order for a job from the current state of the run.
    fn order(&self, begun: &JobBegun) -> anyhow::Result<JobOrder> {
        let (_, plan) = self.plan()?;
        let named = |id: &String| plan.pieces().find(|piece| piece.id == *id);
        let pieces: Vec<&Piece> = begun.pieces.iter().filter_map(named).collect();
        let attempt = self.next_attempt(begun.job);
        let run = self.state();
        let done: Vec<&Piece> = plan.done.iter().chain(run.done_pieces()).collect();
        Ok(JobOrder {
            begun: begun.clone(),
            prompt: Some(batch::prompt(&pieces, &done)),
            restore: run.last_checkpoint().map(str::to_owned),
            attempt,
        })
    }

    /// Returns the number of the attempt that comes next or continues.
    fn next_attempt(&self, job: u32) -> u32 {
        let run = self.state();
        let last = run.job(job).and_then(|job| job.legs.last());
        last.map_or(1, attempt_after)
    }

    /// Plans the remaining work again if the last batch took far more than estimated.
    fn replan(&self, manner: &PlanOptions<'_>) -> anyhow::Result<()> {
        let (number, plan) = self.plan()?;
        let mut run = self.run();
        run.plan = Some(plan);
        let together = |files: &[String]| crate::task_files::co_changes(&self.project, files);
        let Some((plan, why)) = replan(&run, &together) else { return Ok(()) };
        self.store_plan(number + 1, plan, Some(why.clone()))?;
        (manner.news)(JobNews::Replanned { why: &why, run: &self.run() });
        Ok(())
    }
}

/// Returns the number of the attempt that follows or continues a session.
fn attempt_after(leg: &Leg) -> u32 {
    let failed = leg.end.as_ref().is_some_and(|(_, end)| matches!(end.how, Ending::Exited { .. }));
    leg.begun.attempt + u32::from(failed)
}

/// Returns the outcome of a run in which no job is left to do.
fn final_outcome(run: &Run) -> Outcome {
    let codes = run.failed_jobs().filter_map(|job| {
        let JobState::Failed { .. } = job.state else { return None };
        match job.legs.last()?.end.as_ref()?.1.how {
            Ending::Exited { code } => Some(code),
            _ => None,
        }
    });
    codes.last().map_or(Outcome::Done, |code| Outcome::Failed { code })
}
