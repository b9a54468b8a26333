//! The runner: it carries out one run.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use plimsoll_core::Tokens;
use plimsoll_core::run::{
    Begun, JobBegun, LegBegun, LegEnd, Limits, Outcome, Pace, Process, Run, RunId, Sort, What,
};
use plimsoll_engine::run_journal::{self as journal, Journal};
use plimsoll_engine::world::World;
use plimsoll_extract::redact::redact;

use super::agent::{AgentCommand, AgentCommandError};
use super::files::RunFiles;
use super::session_process::StderrTarget;
use super::stop_flag::StopFlag;

/// Environment and callbacks of a runner.
#[derive(Clone, Copy)]
pub struct RunContext<'w> {
    pub env: &'w World,
    /// Ends the run from outside.
    pub halt: &'w StopFlag,
    /// Receives progress events.
    pub progress: &'w (dyn Fn(RunProgress<'_>) + Sync),
    /// Destination of the agents' stderr.
    pub stderr: StderrTarget,
}

/// Progress event of a run.
#[derive(Clone, Copy, Debug)]
pub enum RunProgress<'a> {
    /// A session is being started.
    SessionBegun {
        job: &'a JobBegun,
        leg: &'a LegBegun,
    },
    /// A session of a previous runner is still open; the runner waits for it.
    SessionFound {
        job: &'a JobBegun,
        leg: &'a LegBegun,
    },
    /// Sent at intervals during a session or a pause.
    Tick,
    /// Usage of a session's window.
    Load {
        job: u32,
        leg: u32,
        used: Tokens,
        window: Tokens,
    },
    /// Output of an agent that prints its progress.
    Output(&'a [u8]),
    SessionEnded(&'a LegEnd),
}

/// A job to carry out, with its prompt and its starting point.
#[derive(Clone, Debug)]
pub struct JobOrder {
    pub begun: JobBegun,
    /// `None` if the agent's command already says what to do.
    pub prompt: Option<String>,
    /// Checkpoint that the first session continues from.
    pub restore: Option<String>,
    /// Number of this attempt, starting at 1.
    pub attempt: u32,
}

/// Result of carrying out a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// Done, and recorded as done in the journal.
    Done {
        /// Checkpoint that covers the job.
        checkpoint: Option<String>,
        /// Output of the last session.
        out: PathBuf,
    },
    /// The agent failed. The journal does not record this: the caller decides whether to retry.
    Failed {
        code: i32,
        /// Output of the last session.
        out: PathBuf,
    },
    /// Not done, and no further session may be started for now.
    Paused(Outcome),
}

/// Why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error("there is no run `{0}`")]
    Unknown(RunId),
    /// Another process carries it out.
    #[error("process {} conducts it", .0.map_or("?".to_owned(), |by| by.pid.to_string()))]
    Busy(Option<Process>),
    #[error("it is done")]
    Done,
    #[error("its agent cannot be started any more: {0}")]
    Unfit(#[from] AgentCommandError),
    #[error("its files cannot be used: {0}")]
    Io(#[from] std::io::Error),
}

/// Returns the agent that a run was begun with.
pub fn agent_of(world: &World, run: &Run) -> Result<AgentCommand, ResumeError> {
    let command = RunFiles::of(&world.paths, &run.id).read_command()?;
    Ok(match run.begun.sort {
        Sort::Task => AgentCommand::for_task(world, command)?,
        Sort::Plan => AgentCommand::for_plan(world, command)?,
    })
}

/// Carries out a run. It holds the run's lock, so there is only one per run.
pub struct Runner<'w> {
    pub(super) context: RunContext<'w>,
    pub(super) agent: AgentCommand,
    pub(super) project: PathBuf,
    pub(super) journal: Journal,
    pub(super) files: RunFiles,
    run: Mutex<Run>,
    /// Held while a session is started or a job is closed.
    start_lock: Mutex<()>,
    _lock: File,
}

impl<'w> Runner<'w> {
    /// Begins a run. Stores the user's piped input, so that every session can read it.
    pub fn begin(
        stage: RunContext<'w>,
        agent: AgentCommand,
        begun: Begun,
        input: Option<&mut dyn Read>,
    ) -> std::io::Result<Self> {
        let command = begun.command.iter().map(|word| redact(word).into_owned()).collect();
        let title = redact(&begun.title).into_owned();
        let paths = &stage.env.paths;
        let journal = Journal::unwritten(paths)?;
        let files = RunFiles::of(paths, journal.run());
        let lock =
            files.lock()?.ok_or_else(|| std::io::Error::other("another process holds it"))?;
        files.write_command(agent.command())?;
        input.map_or(Ok(()), |input| files.write_stdin(input))?;
        // The first record comes last, so that every run with a journal can be resumed.
        journal.append(What::Begun(Begun { command, title, ..begun }))?;
        Self::open(stage, agent, journal, files, lock, (None, None))
    }

    /// Resumes a run that is paused or whose runner has died.
    pub fn resume(
        stage: RunContext<'w>,
        run: &Run,
        limits: Limits,
        pace: Option<Pace>,
    ) -> Result<Self, ResumeError> {
        let paths = &stage.env.paths;
        let files = RunFiles::of(paths, &run.id);
        let lock = files.lock()?.ok_or(ResumeError::Busy(run.conductor))?;
        // The run may have ended since the caller read it.
        let run = journal::read(paths, &run.id)?.ok_or(ResumeError::Unknown(run.id.clone()))?;
        if run.outcome == Some(Outcome::Done) {
            return Err(ResumeError::Done);
        }
        let agent = agent_of(stage.env, &run)?;
        let anew = (Some(limits.or(run.begun.limits)), pace);
        Ok(Self::open(stage, agent, Journal::of(paths, run.id), files, lock, anew)?)
    }

    fn open(
        stage: RunContext<'w>,
        agent: AgentCommand,
        journal: Journal,
        files: RunFiles,
        lock: File,
        (limits, pace): (Option<Limits>, Option<Pace>),
    ) -> std::io::Result<Self> {
        journal.take_up(limits, pace)?;
        let run = journal.fold()?;
        let project = PathBuf::from(&run.begun.project);
        let (run, turn) = (Mutex::new(run), Mutex::new(()));
        Ok(Self {
            context: stage,
            agent,
            project,
            journal,
            files,
            run,
            start_lock: turn,
            _lock: lock,
        })
    }

    /// Returns the current state of the run.
    pub fn run(&self) -> Run {
        self.state().clone()
    }

    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the agent whose sessions it runs; `None` if plimsoll does not know it.
    pub fn agent(&self) -> Option<&'static dyn plimsoll_agents::Agent> {
        self.agent.agent()
    }

    /// Whether the windows of its sessions can be measured.
    pub fn can_measure(&self) -> bool {
        self.agent.agent().is_some()
    }

    /// Whether the agents' output has already been passed on as it was printed.
    pub fn streams_progress(&self) -> bool {
        self.agent.streams_progress()
    }

    /// Appends a record to the journal. It is on disk when this returns.
    pub fn record(&self, what: What) -> anyhow::Result<()> {
        let mut run = self.state();
        run.take(self.journal.append(what).context("could not write the journal of the run")?);
        Ok(())
    }

    /// Keeps other threads from starting sessions and closing jobs.
    pub(super) fn lock_starts(&self) -> MutexGuard<'_, ()> {
        self.start_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
