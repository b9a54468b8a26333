//! Carries out one job over as many sessions as it needs.

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::run::{Ending, JobState, LegBegun, LegEnd, Limits, Outcome, Process, What};
use plimsoll_engine::checkpoint::Place;
use plimsoll_engine::resume;
use plimsoll_engine::run_variables as variables;
use plimsoll_engine::settings;
use plimsoll_engine::world::now;
use plimsoll_extract::work::{CONTINUES_WORK, FOLLOWS_WORK};
use uuid::Uuid;

use super::lifecycle::{JobEnd, JobOrder, RunProgress, Runner};
use super::session_process::{self, ProcessParameters, SessionProcess, StderrTarget};
use super::session_result::{AgentSession, unknown_end};

impl Runner<'_> {
    /// Carries out a job. Waits for a session that a previous runner left running, then starts new
    /// sessions until an agent exits without having been stopped, or no further session is allowed.
    pub fn carry_out(&self, order: &JobOrder) -> anyhow::Result<JobEnd> {
        let job = order.begun.job;
        if let Some(done) = self.finished_job(job) {
            return Ok(done);
        }
        if let Some(end) = self.unrecorded_success(job) {
            return self.close_job(&end);
        }
        loop {
            let (leg, mut running) = match self.open_session(job) {
                Some((leg, process)) => {
                    (self.context.progress)(RunProgress::SessionFound {
                        job: &order.begun,
                        leg: &leg,
                    });
                    let running =
                        SessionProcess::find(&self.files.session_prefix(job, leg.leg), process);
                    (leg, running.context("could not look for the agent that was left")?)
                }
                None => {
                    // Threads check the limits and start a session one after another.
                    let _turn = self.lock_starts();
                    match self.start_refusal(job) {
                        Some(outcome) => return Ok(JobEnd::Paused(outcome)),
                        None => self.begin_session(order)?,
                    }
                }
            };
            let halted = self.wait(&leg, &mut running)?;
            if let Some(end) = self.finish_session(&leg, &mut running, halted)? {
                return Ok(end);
            }
        }
    }

    /// Returns the result of a job that is already done.
    fn finished_job(&self, job: u32) -> Option<JobEnd> {
        let run = self.state();
        let known = run.job(job)?;
        let JobState::Done { checkpoint, .. } = &known.state else { return None };
        let out = self.files.stdout(job, known.legs.len() as u32);
        Some(JobEnd::Done { checkpoint: checkpoint.clone(), out })
    }

    /// Returns the end of the last session if it was successful. That happens if the runner was
    /// killed before it recorded the job as done.
    fn unrecorded_success(&self, job: u32) -> Option<LegEnd> {
        let run = self.state();
        let (_, end) = run.job(job)?.legs.last()?.end.as_ref()?;
        (end.how == Ending::Exited { code: 0 }).then(|| end.clone())
    }

    /// Returns the session that a previous runner started and whose end is not recorded.
    fn open_session(&self, job: u32) -> Option<(LegBegun, Option<Process>)> {
        let run = self.state();
        let last = run.job(job)?.legs.last()?;
        last.end.is_none().then(|| (last.begun.clone(), last.process))
    }

    /// Returns why no further session of a job may be started; `None` if one may.
    fn start_refusal(&self, job: u32) -> Option<Outcome> {
        let run = self.state();
        let interrupted = self.context.halt.signal().map(|signal| Outcome::Interrupted { signal });
        let broken = || run.breaker(job).open().map(|repeats| Outcome::Broken { repeats });
        let limit = || run.begun.limits.reached(&run.spent(now() as Millis));
        interrupted.or_else(broken).or_else(|| limit().map(|limit| Outcome::Limited { limit }))
    }

    /// Returns why running sessions must end (a signal or the time limit); `None` if they may
    /// continue.
    pub(super) fn stop_reason(&self) -> Option<Outcome> {
        if let Some(signal) = self.context.halt.signal() {
            return Some(Outcome::Interrupted { signal });
        }
        let run = self.state();
        let limits = Limits { seconds: run.begun.limits.seconds, ..Limits::default() };
        let limit = limits.reached(&run.spent(now() as Millis))?;
        Some(Outcome::Limited { limit })
    }

    /// Starts the next session of a job. The journal records the session before it starts. It
    /// records the job no earlier: a job whose first session is not allowed has not begun.
    fn begin_session(&self, order: &JobOrder) -> anyhow::Result<(LegBegun, SessionProcess)> {
        if self.state().job(order.begun.job).is_none() {
            self.record(What::JobBegun(order.begun.clone()))?;
        }
        let begun = self.next_session(order);
        self.record(What::LegBegun(begun.clone()))?;
        (self.context.progress)(RunProgress::SessionBegun { job: &order.begun, leg: &begun });
        let running = self.start_process(order, &begun).context("could not start the agent")?;
        if let Some(process) = running.process() {
            self.record(What::LegStarted { job: begun.job, leg: begun.leg, process })?;
        }
        Ok((begun, running))
    }

    fn next_session(&self, order: &JobOrder) -> LegBegun {
        let run = self.state();
        let job = run.job(order.begun.job);
        let last = job.and_then(|job| job.checkpoint()).map(str::to_owned);
        let session = self.agent.agent().and_then(|_| SessionId::new(&Uuid::now_v7().to_string()));
        LegBegun {
            job: order.begun.job,
            leg: job.map_or(0, |job| job.legs.len()) as u32 + 1,
            attempt: order.attempt,
            session,
            restore: last.or_else(|| order.restore.clone()),
        }
    }

    fn start_process(&self, order: &JobOrder, begun: &LegBegun) -> std::io::Result<SessionProcess> {
        let LegBegun { job, leg, session, restore, .. } = begun;
        let prompt = self.prompt(order, begun);
        let command = self.agent.command_line(session.as_ref(), prompt.as_deref());
        let mut variables = vec![(variables::RUN, self.journal.run().to_string())];
        variables.extend(session.iter().map(|session| (variables::SESSION, session.to_string())));
        variables.extend(restore.iter().map(|id| (variables::CHECKPOINT, id.clone())));
        if restore.is_some() && *restore == order.restore {
            variables.push((variables::DONE, "1".to_owned()));
        }
        let err = self.files.stderr(*job, *leg);
        SessionProcess::start(&ProcessParameters {
            command: &command,
            project: &self.project,
            variables: &variables,
            prefix: &self.files.session_prefix(*job, *leg),
            stdin: &self.stdin_file(begun, prompt.as_deref())?,
            stdout: &self.files.stdout(*job, *leg),
            stderr: (self.context.stderr == StderrTarget::File).then_some(&*err),
        })
    }

    /// Returns the file for the agent's stdin: the prompt if the agent reads it there, else the
    /// user's piped input.
    fn stdin_file(&self, begun: &LegBegun, prompt: Option<&str>) -> std::io::Result<PathBuf> {
        match prompt.filter(|prompt| self.agent.reads_on_stdin(prompt)) {
            Some(prompt) => self.files.write_prompt(begun.job, begun.leg, prompt),
            None => Ok(self.files.stdin()),
        }
    }

    /// Builds the prompt. An agent without plimsoll's hooks gets the checkpoint as part of it.
    fn prompt(&self, order: &JobOrder, begun: &LegBegun) -> Option<String> {
        let prompt = order.prompt.clone()?;
        let restore = begun.restore.as_deref().filter(|_| begun.session.is_none());
        let agent = self.agent.checkpoint_agent();
        let place = Place::of(self.context.env, agent, self.project.clone());
        let last = restore.and_then(|id| resume::named(&place, id, None).ok()?);
        let budget = || settings::load(self.context.env, agent, &self.project).settings.budget();
        let what_now = if begun.restore == order.restore { FOLLOWS_WORK } else { CONTINUES_WORK };
        Some(match last {
            Some(last) => format!("{prompt}\n\n{}\n\n{what_now}", last.text(budget())),
            None => prompt,
        })
    }

    /// Records how a session ended and returns the end of the job; `None` if a new session must
    /// continue it.
    fn finish_session(
        &self,
        leg: &LegBegun,
        running: &mut SessionProcess,
        halted: Option<Outcome>,
    ) -> anyhow::Result<Option<JobEnd>> {
        let LegBegun { job, leg: number, .. } = *leg;
        let left = session_process::collect_exit_code(
            &self.files.session_prefix(job, number),
            self.journal.run(),
        );
        let code = running.exit_code(left).context("could not see how the agent ended")?;
        let looked = self.agent_session(leg);
        let how = match (code, &halted) {
            _ if looked.as_ref().is_some_and(AgentSession::was_stopped) => Ending::Stopped,
            // The agent was asked to end before it had, so its exit code does not matter.
            (_, Some(_)) => Ending::Halted,
            (Some(code), None) => Ending::Exited { code },
            (None, None) => Ending::Lost,
        };
        let end = match looked {
            Some(looked) => looked.end(job, number, how)?,
            None => unknown_end(job, number, how),
        };
        self.record(What::LegEnded(end.clone()))?;
        (self.context.progress)(RunProgress::SessionEnded(&end));
        self.job_end(end, halted)
    }

    fn job_end(&self, end: LegEnd, halted: Option<Outcome>) -> anyhow::Result<Option<JobEnd>> {
        let LegEnd { job, leg, how, .. } = end;
        let out = self.files.stdout(job, leg);
        Ok(match how {
            Ending::Exited { code: 0 } => Some(self.close_job(&end)?),
            Ending::Exited { code } => Some(JobEnd::Failed { code, out }),
            Ending::Stopped | Ending::Lost | Ending::Halted => halted.map(JobEnd::Paused),
        })
    }

    /// Records that a job is done, after its checkpoint is sealed. Jobs are closed one at a time.
    fn close_job(&self, end: &LegEnd) -> anyhow::Result<JobEnd> {
        let LegEnd { job, leg, .. } = *end;
        let _turn = self.lock_starts();
        // A last session without a checkpoint falls back to that of an earlier session.
        let last = self.state().job(job).and_then(|job| job.checkpoint().map(str::to_owned));
        let checkpoint = self.seal_job_checkpoint(job, last)?;
        self.record(What::JobDone { job, checkpoint: checkpoint.clone() })?;
        Ok(JobEnd::Done { checkpoint, out: self.files.stdout(job, leg) })
    }

    /// Returns the agent's session; `None` if the agent is unknown.
    pub(super) fn agent_session<'l>(&'l self, leg: &'l LegBegun) -> Option<AgentSession<'l>> {
        Some(AgentSession {
            world: self.context.env,
            agent: self.agent.agent()?,
            project: &self.project,
            session: leg.session.as_ref()?,
            restored: leg.restore.as_deref(),
        })
    }
}
