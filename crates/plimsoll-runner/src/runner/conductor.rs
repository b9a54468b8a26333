//! Who carries a run out.

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

use super::agent::{Agent, Unfit};
use super::files::Files;
use super::halt::Halt;
use super::leg::Errors;

/// What surrounds a conductor.
#[derive(Clone, Copy)]
pub struct Stage<'w> {
    /// The environment.
    pub world: &'w World,
    /// What ends the run from elsewhere.
    pub halt: &'w Halt,
    /// Who is told how it goes.
    pub progress: &'w (dyn Fn(Progress<'_>) + Sync),
    /// Where what agents complain about goes.
    pub errors: Errors,
}

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A session is started.
    Begun {
        /// What for.
        job: &'a JobBegun,
        /// The session.
        leg: &'a LegBegun,
    },
    /// A session that another conductor has started is waited for.
    Found {
        /// What it was started for.
        job: &'a JobBegun,
        /// The session.
        leg: &'a LegBegun,
    },
    /// Time passes, in a session or in a pause.
    Passes,
    /// How full its window is.
    Load {
        /// The job.
        job: u32,
        /// The leg.
        leg: u32,
        /// What the window holds.
        used: Tokens,
        /// How large it is.
        window: Tokens,
    },
    /// The agent has printed this, where what it prints tells of its work.
    Printed(&'a [u8]),
    /// A session has ended.
    Ended(&'a LegEnd),
}

/// What is asked of an agent.
#[derive(Clone, Debug)]
pub struct Order {
    /// The job.
    pub begun: JobBegun,
    /// What the agent is told, where that does not stand in its command.
    pub prompt: Option<String>,
    /// The checkpoint that its first session goes on from.
    pub restore: Option<String>,
    /// How many times it has been tried, this time included.
    pub attempt: u32,
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// It is done, and the journal tells so.
    Done {
        /// The checkpoint that tells of it.
        checkpoint: Option<String>,
        /// What the last session printed.
        out: PathBuf,
    },
    /// The agent gave up. Nothing is said in the journal: whether it is tried again is the caller's.
    Failed {
        /// With this exit code.
        code: i32,
        /// What the last session printed.
        out: PathBuf,
    },
    /// It is not done, and no further session may be started for now.
    Rests(Outcome),
}

/// Why a run cannot be taken up again.
#[derive(Debug, thiserror::Error)]
pub enum NotTakenUp {
    /// There is none of that name.
    #[error("there is no run `{0}`")]
    Unknown(RunId),
    /// Somebody conducts it.
    #[error("process {} conducts it", .0.map_or("?".to_owned(), |by| by.pid.to_string()))]
    Busy(Option<Process>),
    /// It is done.
    #[error("it is done")]
    Done,
    /// Its agent cannot be started any more.
    #[error("its agent cannot be started any more: {0}")]
    Unfit(#[from] Unfit),
    /// Its files cannot be used.
    #[error("its files cannot be used: {0}")]
    Io(#[from] std::io::Error),
}

/// The agent that a run was begun with.
pub fn agent_of(world: &World, run: &Run) -> Result<Agent, NotTakenUp> {
    let command = Files::of(&world.paths, &run.id).command()?;
    Ok(match run.begun.sort {
        Sort::Task => Agent::of_task(world, command)?,
        Sort::Plan => Agent::of_plan(world, command)?,
    })
}

/// Who carries a run out: one per run, as long as this value lives.
pub struct Conductor<'w> {
    pub(super) stage: Stage<'w>,
    pub(super) agent: Agent,
    pub(super) project: PathBuf,
    pub(super) journal: Journal,
    pub(super) files: Files,
    run: Mutex<Run>,
    /// Whoever begins a session or closes a job holds it.
    turn: Mutex<()>,
    _lock: File,
}

impl<'w> Conductor<'w> {
    /// Begins a run. What the user piped in is kept for every session.
    pub fn begin(
        stage: Stage<'w>,
        agent: Agent,
        begun: Begun,
        input: Option<&mut dyn Read>,
    ) -> std::io::Result<Self> {
        let command = begun.command.iter().map(|word| redact(word).into_owned()).collect();
        let title = redact(&begun.title).into_owned();
        let paths = &stage.world.paths;
        let journal = Journal::unwritten(paths)?;
        let files = Files::of(paths, journal.run());
        let lock =
            files.lock()?.ok_or_else(|| std::io::Error::other("another process holds it"))?;
        files.keep_command(agent.command())?;
        input.map_or(Ok(()), |input| files.keep_input(input))?;
        // Only now, so that whatever has a journal can be taken up.
        journal.append(What::Begun(Begun { command, title, ..begun }))?;
        Self::conduct(stage, agent, journal, files, lock, (None, None))
    }

    /// Takes up a run that rests, or whose conductor is gone.
    pub fn take_up(
        stage: Stage<'w>,
        run: &Run,
        limits: Limits,
        pace: Option<Pace>,
    ) -> Result<Self, NotTakenUp> {
        let paths = &stage.world.paths;
        let files = Files::of(paths, &run.id);
        let lock = files.lock()?.ok_or(NotTakenUp::Busy(run.conductor))?;
        // It may have ended since somebody looked.
        let run = journal::read(paths, &run.id)?.ok_or(NotTakenUp::Unknown(run.id.clone()))?;
        if run.outcome == Some(Outcome::Done) {
            return Err(NotTakenUp::Done);
        }
        let agent = agent_of(stage.world, &run)?;
        let anew = (Some(limits.or(run.begun.limits)), pace);
        Ok(Self::conduct(stage, agent, Journal::of(paths, run.id), files, lock, anew)?)
    }

    fn conduct(
        stage: Stage<'w>,
        agent: Agent,
        journal: Journal,
        files: Files,
        lock: File,
        (limits, pace): (Option<Limits>, Option<Pace>),
    ) -> std::io::Result<Self> {
        journal.take_up(limits, pace)?;
        let run = journal.fold()?;
        let project = PathBuf::from(&run.begun.project);
        let (run, turn) = (Mutex::new(run), Mutex::new(()));
        Ok(Self { stage, agent, project, journal, files, run, turn, _lock: lock })
    }

    /// How the run stands.
    pub fn run(&self) -> Run {
        self.state().clone()
    }

    /// The project it works in.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Whether anybody can tell how full the windows of its agents are.
    pub fn measures(&self) -> bool {
        self.agent.adapter().is_some()
    }

    /// Whether what its agents print has been passed on while it came.
    pub fn streams(&self) -> bool {
        self.agent.streams()
    }

    /// Writes what has happened; it is on the disk when this returns.
    pub fn note(&self, what: What) -> anyhow::Result<()> {
        let mut run = self.state();
        run.take(self.journal.append(what).context("could not write the journal of the run")?);
        Ok(())
    }

    /// Keeps other threads from beginning sessions and closing jobs.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
