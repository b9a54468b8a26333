//! Runs: all of them at a glance, and one with its jobs and sessions.

use axum::Json;
use axum::extract::State;
use plimsoll_core::run::{Ending, Job, JobState, Leg, PieceTold, Run, RunId};
use plimsoll_core::time::utc;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::paths::Paths;
use plimsoll_engine::run::printed;
use plimsoll_engine::runs;
use plimsoll_engine::world::now;
use plimsoll_store::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::Problem;
use crate::http::params::{Name, Params};
use crate::http::problem::Problems;
use crate::state::{App, AppState};

/// Runs at a glance.
#[derive(Serialize, ToSchema)]
pub(crate) struct Runs {
    /// Those that began last first.
    pub(crate) runs: Vec<RunView>,
}

/// A run: work that goes on over as many sessions as it takes.
#[derive(Serialize, ToSchema)]
pub struct RunView {
    /// Its name.
    pub run: String,
    /// `task`, or `plan`.
    pub sort: &'static str,
    /// What it is about, in a line.
    pub title: String,
    /// The project it works in.
    pub project: String,
    /// `running`, `interrupted`, `done`, `failed`, `limited` or `broken`.
    pub state: &'static str,
    /// Why it ended, or rests.
    pub why: Option<String>,
    /// How many tasks of its plan are done, parts of tasks counted as tasks; without a plan it is one.
    pub done: usize,
    /// Of how many.
    pub of: usize,
    /// When it began, in UTC.
    pub since: String,
    /// When it was last heard of, in UTC.
    pub until: String,
    /// For how long somebody has conducted it.
    pub seconds: u64,
    /// How many sessions it has started.
    pub sessions: u32,
    /// How many of them went on with what one before them had begun.
    pub restarts: usize,
    /// How many of them tried again what had failed.
    pub retries: usize,
    /// What the windows of all its sessions held at their ends, added up, as far as it is known.
    pub tokens: Option<Tokens>,
    /// What its sessions have put into their windows, as far as it is known: to be compared with the
    /// estimate.
    pub measured: Option<Tokens>,
    /// What its plan is estimated to take.
    pub estimate: Option<Tokens>,
    /// The command that takes it up again, where there is something left to do and nobody does it.
    pub resume: Option<String>,
}

/// A run with all there is to tell of it.
#[derive(Serialize, ToSchema)]
pub struct RunStory {
    /// The run.
    #[serde(flatten)]
    pub run: RunView,
    /// Why its plan took the place of an earlier one, each time that happened.
    pub replanned: Vec<String>,
    /// The tasks of its plan, or parts of them.
    pub pieces: Vec<PieceView>,
    /// Its jobs, in the order they began.
    pub jobs: Vec<JobView>,
}

/// A task of a run's plan, or a part of one that was split.
#[derive(Serialize, ToSchema)]
pub struct PieceView {
    /// Its name in the plan.
    pub piece: String,
    /// What is to be done.
    pub description: String,
    /// The keyword it goes by.
    pub kind: &'static str,
    /// What it is estimated to take.
    pub estimate: Tokens,
    /// `waiting`, `open`, `done` or `failed`.
    pub state: &'static str,
    /// The job that it was given to last.
    pub job: Option<u32>,
    /// What is wrong with it.
    pub warning: Option<String>,
}

/// What one prompt asks of an agent.
#[derive(Serialize, ToSchema)]
pub struct JobView {
    /// Its number in the run.
    pub job: u32,
    /// What it is about, in a line.
    pub title: String,
    /// The batch of the plan.
    pub batch: Option<u32>,
    /// The tasks, or parts of tasks, by their names in the plan.
    pub pieces: Vec<String>,
    /// `open`, `done` or `failed`.
    pub state: &'static str,
    /// Why it has failed.
    pub why: Option<String>,
    /// When it began, in UTC.
    pub since: String,
    /// What it was estimated to take.
    pub estimate: Option<Tokens>,
    /// What its sessions have put into their windows.
    pub measured: Option<Tokens>,
    /// The checkpoint that tells of it.
    pub checkpoint: Option<String>,
    /// What the agent said last, line by line, where it has failed.
    pub last_words: Vec<String>,
    /// Its sessions, in order.
    pub legs: Vec<LegView>,
}

/// A session of a job.
#[derive(Serialize, ToSchema)]
pub struct LegView {
    /// Its number in the job.
    pub leg: u32,
    /// How many times the job had been tried.
    pub attempt: u32,
    /// The session, where the agent takes its name from us.
    pub session: Option<String>,
    /// When it began, in UTC.
    pub since: String,
    /// When it ended, in UTC.
    pub until: Option<String>,
    /// How it ended: `stopped`, `exited`, `lost` or `halted`.
    pub how: Option<&'static str>,
    /// The exit code of the agent, where it ended by itself.
    pub code: Option<i32>,
    /// What its window held at the end.
    pub used: Option<Tokens>,
    /// How large that is.
    pub window: Option<Tokens>,
    /// How many times the model answered.
    pub responses: Option<u32>,
    /// The checkpoint that was sealed of it.
    pub checkpoint: Option<String>,
    /// The files that hold what its agent printed.
    pub printed: Vec<String>,
}

impl RunView {
    /// A run as it stands right now.
    pub fn of(run: &Run) -> Self {
        let standing = runs::standing(run);
        let (spent, progress) = (run.spent(last_moment(run)), run.progress());
        Self {
            run: run.id.to_string(),
            sort: run.begun.sort.label(),
            title: run.begun.title.clone(),
            project: run.begun.project.clone(),
            state: standing.label(),
            why: run.outcome.as_ref().map(ToString::to_string),
            done: progress.done,
            of: progress.of,
            since: utc(run.since),
            until: utc(run.until),
            seconds: spent.seconds,
            sessions: spent.sessions,
            restarts: run.restarts(),
            retries: run.retries(),
            tokens: run.held(),
            measured: run.measured(),
            estimate: run.plan.as_ref().map(|plan| plan.tokens()),
            resume: run.resume().filter(|_| standing.is_resting()),
        }
    }
}

/// Until when a run's time counts: as long as somebody conducts it, it is now.
pub(crate) fn last_moment(run: &Run) -> Millis {
    match runs::standing(run) {
        plimsoll_core::run::Standing::Running => now() as Millis,
        _ => run.until,
    }
}

impl RunStory {
    /// A run as it stands right now, with all there is to tell of it.
    pub fn of(paths: &Paths, run: &Run) -> Self {
        Self {
            replanned: run.replanned.clone(),
            pieces: run.pieces().map(PieceView::of).collect(),
            jobs: run.jobs.iter().map(|job| JobView::of(paths, &run.id, job)).collect(),
            run: RunView::of(run),
        }
    }
}

impl PieceView {
    fn of(told: PieceTold<'_>) -> Self {
        let PieceTold { piece, job } = told;
        Self {
            piece: piece.id.clone(),
            description: piece.description.clone(),
            kind: piece.kind.word(),
            estimate: piece.tokens,
            state: told.state(),
            job: job.map(|job| job.begun.job),
            warning: piece.warning.clone(),
        }
    }
}

impl JobView {
    fn of(paths: &Paths, run: &RunId, job: &Job) -> Self {
        let (state, why) = match &job.state {
            JobState::Open => ("open", None),
            JobState::Done { .. } => ("done", None),
            JobState::Failed { why, .. } => ("failed", Some(why.clone())),
        };
        let begun = &job.begun;
        Self {
            job: begun.job,
            title: begun.title.clone(),
            batch: begun.batch,
            pieces: begun.pieces.clone(),
            state,
            why,
            since: utc(job.since),
            estimate: begun.tokens,
            measured: job.measured(),
            checkpoint: job.told_by().map(str::to_owned),
            last_words: runs::last_words(paths, run, job).map(|it| it.lines).unwrap_or_default(),
            legs: job.legs.iter().map(|leg| LegView::of(paths, run, leg)).collect(),
        }
    }
}

impl LegView {
    fn of(paths: &Paths, run: &RunId, leg: &Leg) -> Self {
        let printed = printed(paths, run, leg.begun.job, leg.begun.leg);
        let end = leg.end.as_ref().map(|(_, end)| end);
        Self {
            leg: leg.begun.leg,
            attempt: leg.begun.attempt,
            session: leg.begun.session.as_ref().map(ToString::to_string),
            since: utc(leg.since),
            until: leg.end.as_ref().map(|(at, _)| utc(*at)),
            how: end.map(|end| end.how.label()),
            code: end.and_then(|end| match end.how {
                Ending::Exited { code } => Some(code),
                _ => None,
            }),
            used: end.and_then(|end| end.used),
            window: end.and_then(|end| end.window),
            responses: end.map(|end| end.responses),
            checkpoint: end.and_then(|end| end.checkpoint.clone()),
            printed: printed.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
        }
    }
}

/// The runs of this machine
#[utoipa::path(get, path = "/api/runs", params(
    ("limit" = Option<u64>, Query, minimum = 1, maximum = 1000, nullable = false, description = "How many at most; 100 if it is not given"),
), responses((status = 200, body = Runs), Problems))]
pub(crate) async fn list(
    State(app): State<AppState>,
    params: Params,
) -> Result<Json<Runs>, Problem> {
    let limit = params.number("limit", 1..=1000)?.unwrap_or(100) as u32;
    let found = app.with_store(move |app, store| newest(app, store, 0, limit)).await?;
    Ok(Json(Runs { runs: found.iter().map(RunView::of).collect() }))
}

/// The runs that began last, with whatever their journals tell by now.
pub(crate) fn newest(
    app: &App,
    store: &mut Store,
    skip: u32,
    limit: u32,
) -> Result<Vec<Run>, Problem> {
    take_in(app, store)?;
    Ok(store.runs(None, skip, limit)?)
}

/// One run: what it is at, its sessions, and what came of them
#[utoipa::path(get, path = "/api/runs/{run}", params(
    ("run" = String, Path, pattern = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", description = "Its name"),
), responses((status = 200, body = RunStory), Problems))]
pub(crate) async fn show(
    State(app): State<AppState>,
    Name(run): Name,
) -> Result<Json<RunStory>, Problem> {
    let hint = "`plimsoll batch status --all` names the runs there are";
    let id = RunId::new(&run)
        .ok_or_else(|| Problem::bad("the name of a run is a UUID in small letters", hint))?;
    let told = app
        .with_store(move |app, store| Ok(RunStory::of(&app.world.paths, &find(app, store, &id)?)));
    Ok(Json(told.await?))
}

/// The run of that name.
pub(crate) fn find(app: &App, store: &mut Store, id: &RunId) -> Result<Run, Problem> {
    take_in(app, store)?;
    store.run(id)?.ok_or_else(|| {
        let hint = "`plimsoll batch status --all` names the runs there are";
        Problem::missing("no such run is known here", hint)
    })
}

/// Takes in what is new in the journals of runs.
pub(crate) fn take_in(app: &App, store: &mut Store) -> Result<(), Problem> {
    runs::take_in(&app.world.paths, store).map(drop).map_err(|error| app.failed(&error))
}
