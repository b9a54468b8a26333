//! `/api/runs`: all runs in brief, and one with its jobs and sessions.

use axum::Json;
use axum::extract::State;
use plimsoll_core::run::{Ending, Job, JobState, Leg, PieceTold, Run, RunId};
use plimsoll_core::time::utc;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::paths::Paths;
use plimsoll_engine::world::now;
use plimsoll_runner::runner::output_files;
use plimsoll_runner::runs;
use plimsoll_store::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::Problem;
use crate::http::params::{Params, PathParam};
use crate::http::problem::Problems;
use crate::state::{App, AppState};

/// A list of runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Runs {
    /// Most recently started first.
    pub(crate) runs: Vec<RunView>,
}

/// A run: work that continues over as many sessions as it needs.
#[derive(Serialize, ToSchema)]
pub struct RunView {
    /// Run id.
    pub run: String,
    /// `task` or `plan`.
    pub sort: &'static str,
    /// One-line title.
    pub title: String,
    /// Project folder.
    pub project: String,
    /// `running`, `interrupted`, `done`, `failed`, `limited` or `broken`.
    pub state: &'static str,
    /// Reason why the run ended or is interrupted.
    pub why: Option<String>,
    /// Number of completed tasks. Parts of split tasks count as tasks; a run without a plan has one
    /// task.
    pub done: usize,
    /// Total number of tasks.
    pub of: usize,
    /// Start time, in UTC.
    pub since: String,
    /// Time of the last journal entry, in UTC.
    pub until: String,
    /// Seconds during which a runner was active.
    pub seconds: u64,
    /// Number of sessions started.
    pub sessions: u32,
    /// Sessions that continued the work of an earlier session.
    pub restarts: usize,
    /// Sessions that retried failed work.
    pub retries: usize,
    /// Sum of the tokens in the window at the end of each session, as far as known.
    pub tokens: Option<Tokens>,
    /// Tokens that the sessions added to their windows, as far as known. Compare with `estimate`.
    pub measured: Option<Tokens>,
    /// Estimated tokens of the plan.
    pub estimate: Option<Tokens>,
    /// Command that resumes the run, if work is left and no runner is active.
    pub resume: Option<String>,
}

/// A run with its plan and jobs.
#[derive(Serialize, ToSchema)]
pub struct RunStory {
    #[serde(flatten)]
    pub run: RunView,
    /// Reason for each replacement of the plan.
    pub replanned: Vec<String>,
    /// Tasks of the plan, or parts of split tasks.
    pub pieces: Vec<PieceView>,
    /// Jobs in the order in which they started.
    pub jobs: Vec<JobView>,
}

/// A task of a run's plan, or a part of a split task.
#[derive(Serialize, ToSchema)]
pub struct PieceView {
    /// Id in the plan.
    pub piece: String,
    /// Description of the work.
    pub description: String,
    /// Kind of work, as a keyword.
    pub kind: &'static str,
    /// Estimated tokens.
    pub estimate: Tokens,
    /// `waiting`, `open`, `done` or `failed`.
    pub state: &'static str,
    /// Number of the last job that worked on the task.
    pub job: Option<u32>,
    /// Warning about the task, if any.
    pub warning: Option<String>,
}

/// A job: the work that one prompt gives to an agent.
#[derive(Serialize, ToSchema)]
pub struct JobView {
    /// Number of the job in the run.
    pub job: u32,
    /// One-line title.
    pub title: String,
    /// Number of the batch in the plan.
    pub batch: Option<u32>,
    /// Ids of the tasks, or parts of tasks, in the plan.
    pub pieces: Vec<String>,
    /// `open`, `done` or `failed`.
    pub state: &'static str,
    /// Reason for the failure.
    pub why: Option<String>,
    /// Start time, in UTC.
    pub since: String,
    /// Estimated tokens.
    pub estimate: Option<Tokens>,
    /// Tokens that the sessions added to their windows.
    pub measured: Option<Tokens>,
    /// Id of the checkpoint that describes the job.
    pub checkpoint: Option<String>,
    /// Last lines of the agent's output, if the job failed.
    pub last_words: Vec<String>,
    /// Sessions of the job, in order.
    pub legs: Vec<LegView>,
}

/// A session of a job.
#[derive(Serialize, ToSchema)]
pub struct LegView {
    /// Number of the session in the job.
    pub leg: u32,
    /// Attempt at the job, counted from 1.
    pub attempt: u32,
    /// Session id, if the agent accepts an id from the runner.
    pub session: Option<String>,
    /// Start time, in UTC.
    pub since: String,
    /// End time, in UTC.
    pub until: Option<String>,
    /// How the session ended: `stopped`, `exited`, `lost` or `halted`.
    pub how: Option<&'static str>,
    /// Exit code of the agent, if it exited.
    pub code: Option<i32>,
    /// Tokens in the window at the end.
    pub used: Option<Tokens>,
    /// Window size in tokens.
    pub window: Option<Tokens>,
    /// Number of model responses.
    pub responses: Option<u32>,
    /// Id of the session's checkpoint.
    pub checkpoint: Option<String>,
    /// Files with the agent's output.
    pub printed: Vec<String>,
}

impl RunView {
    /// Describes the current state of a run.
    pub fn of(run: &Run) -> Self {
        let standing = runs::status(run);
        let (spent, progress) = (run.spent(active_until(run)), run.progress());
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

/// Returns the end of the time span a run has used: now while a runner is active, otherwise the
/// last journal entry.
pub(crate) fn active_until(run: &Run) -> Millis {
    match runs::status(run) {
        plimsoll_core::run::Standing::Running => now() as Millis,
        _ => run.until,
    }
}

impl RunStory {
    /// Describes the current state of a run, with its plan and jobs.
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
            last_words: runs::failed_job_output(paths, run, job)
                .map(|it| it.lines)
                .unwrap_or_default(),
            legs: job.legs.iter().map(|leg| LegView::of(paths, run, leg)).collect(),
        }
    }
}

impl LegView {
    fn of(paths: &Paths, run: &RunId, leg: &Leg) -> Self {
        let printed = output_files(paths, run, leg.begun.job, leg.begun.leg);
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

/// List the runs of this machine
#[utoipa::path(get, path = "/api/runs", params(
    ("limit" = Option<u64>, Query, minimum = 1, maximum = 1000, nullable = false, description = "How many at most; 100 if it is not given"),
), responses((status = 200, body = Runs), Problems))]
pub(crate) async fn list(
    State(app): State<AppState>,
    params: Params,
) -> Result<Json<Runs>, Problem> {
    let limit = params.number("limit", 1..=1000)?.unwrap_or(100) as u32;
    let found = app.with_store(move |app, store| newest_runs(app, store, 0, limit)).await?;
    Ok(Json(Runs { runs: found.iter().map(RunView::of).collect() }))
}

/// Returns the most recently started runs, after reading new journal entries.
pub(crate) fn newest_runs(
    app: &App,
    store: &mut Store,
    skip: u32,
    limit: u32,
) -> Result<Vec<Run>, Problem> {
    ingest_runs(app, store)?;
    Ok(store.runs(None, skip, limit)?)
}

/// Show one run with its plan, jobs and sessions
#[utoipa::path(get, path = "/api/runs/{run}", params(
    ("run" = String, Path, pattern = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", description = "Its name"),
), responses((status = 200, body = RunStory), Problems))]
pub(crate) async fn show(
    State(app): State<AppState>,
    PathParam(run): PathParam,
) -> Result<Json<RunStory>, Problem> {
    let hint = "`plimsoll batch status --all` names the runs there are";
    let id = RunId::new(&run).ok_or_else(|| {
        Problem::bad_request("the name of a run is a UUID in small letters", hint)
    })?;
    let told = app.with_store(move |app, store| {
        Ok(RunStory::of(&app.world.paths, &find_run(app, store, &id)?))
    });
    Ok(Json(told.await?))
}

/// Returns the run with this id, after reading new journal entries.
pub(crate) fn find_run(app: &App, store: &mut Store, id: &RunId) -> Result<Run, Problem> {
    ingest_runs(app, store)?;
    store.run(id)?.ok_or_else(|| {
        let hint = "`plimsoll batch status --all` names the runs there are";
        Problem::not_found("no such run is known here", hint)
    })
}

/// Reads new entries of the run journals into the store.
pub(crate) fn ingest_runs(app: &App, store: &mut Store) -> Result<(), Problem> {
    runs::import_journals(&app.world.paths, store)
        .map(drop)
        .map_err(|error| app.internal_error(&error))
}
