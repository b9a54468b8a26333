//! Endpoints for scripts that report a good moment to save: a nearly full window, a commit, a test
//! run.

use axum::Json;
use axum::extract::State;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::usage::Usage;
use plimsoll_extract::save::templates::{self, Commit, NearlyFullWindow, TestRun};
use plimsoll_extract::save::{NewSave, SaveEnvironment};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Problem;
use super::body::{Count, JsonBody, Seconds, TokenCount, WindowSize};
use super::problem::Problems;
use super::saves::{IsSaved, ingest_saves};
use super::session_saves::{SessionRef, attach_live_session, fill_from_session};
use crate::state::{App, AppState};

/// Status of a request that stored nothing.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum IsDisabled {
    /// Disabled in the configuration.
    Disabled,
}

/// Answer of a hook that is disabled in the configuration.
#[derive(Serialize, ToSchema)]
pub(crate) struct Disabled {
    status: IsDisabled,
}

const DISABLED: Disabled = Disabled { status: IsDisabled::Disabled };

/// Answer of a hook.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Outcome<T> {
    /// The save was stored.
    Saved(T),
    /// The hook is disabled in the configuration.
    Disabled(Disabled),
}

/// Report of a nearly full window.
#[derive(Deserialize, ToSchema)]
pub(crate) struct AutoSaveRequest {
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    environment: SaveEnvironment,
    used_tokens: TokenCount,
    #[serde(default)]
    #[schema(default = 200_000)]
    max_tokens: WindowSize,
    /// Current task, if the caller knows it.
    #[serde(default)]
    inferred_task: Option<String>,
    /// Context needed to continue, if the caller knows it.
    #[serde(default)]
    inferred_context: Option<String>,
    /// Agent session id. Missing fields are filled from its transcript.
    #[serde(default)]
    #[schema(pattern = "^[A-Za-z0-9_-]{1,128}(@[A-Za-z0-9_-]{1,128})?$")]
    session_id: Option<String>,
    /// Path of the session's transcript, instead of `session_id`. Must be one of the agent's
    /// transcripts.
    #[serde(default)]
    transcript_path: Option<String>,
}

/// Answer to a saved window.
#[derive(Serialize, ToSchema)]
pub(crate) struct AutoSaved {
    status: IsSaved,
    /// Id of the save.
    session_id: String,
    /// Fullness of the window in percent.
    percent_at_save: f64,
    /// Command that restores the save.
    restart_command: String,
    /// The command as a sentence.
    message: String,
}

/// Save a session whose window is nearly full
#[utoipa::path(post, path = "/context/auto-save", request_body = AutoSaveRequest,
    responses((status = 200, body = Outcome<AutoSaved>), Problems))]
pub(crate) async fn auto_save(
    State(app): State<AppState>,
    JsonBody(request): JsonBody<AutoSaveRequest>,
) -> Result<Json<Outcome<AutoSaved>>, Problem> {
    let settings = app.settings();
    if !settings.enabled {
        return Ok(Json(Outcome::Disabled(DISABLED)));
    }
    let (used, window) = (request.used_tokens.0, request.max_tokens.0);
    let environment = request.environment.clone();
    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let (task, context) = (said(request.inferred_task), said(request.inferred_context));
    let plain = templates::full_window_save(environment.clone(), NearlyFullWindow { used, window });
    let save = NewSave {
        task: task.clone().unwrap_or_default(),
        context: context.clone(),
        next_steps: None,
        ..plain.clone()
    };
    let plain =
        NewSave { task: task.unwrap_or(plain.task), context: context.or(plain.context), ..plain };
    let meant = SessionRef { session: request.session_id, transcript: request.transcript_path };
    let save = match meant.is_none() {
        true => plain,
        false => fill_from_session(&app, meant, save, plain, Occasion::Auto).await?,
    };
    let save = app.writer.write(save).await?;
    Ok(Json(Outcome::Saved(AutoSaved {
        status: IsSaved::Saved,
        session_id: save.id,
        percent_at_save: Usage::of(used, window, &settings.lines).percent,
        restart_command: templates::restart_command(&environment),
        message: templates::saved_message(&environment),
    })))
}

/// Report of a commit, sent by a git hook.
#[derive(Deserialize, ToSchema)]
pub(crate) struct GitCommitRequest {
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    environment: SaveEnvironment,
    #[schema(pattern = "^[0-9A-Fa-f]{7,64}$")]
    commit_sha: String,
    commit_message: String,
    /// Empty if no branch is checked out.
    branch: String,
    files_changed: Count,
}

/// Answer to a saved commit.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommitSaved {
    status: IsSaved,
    /// Id of the save. Repeated reports of one commit get the same id.
    session_id: String,
    /// First 8 characters of the commit hash.
    commit: String,
}

/// Save at a commit
#[utoipa::path(post, path = "/hooks/git-commit", request_body = GitCommitRequest,
    responses((status = 200, body = Outcome<CommitSaved>), Problems))]
pub(crate) async fn git_commit(
    State(app): State<AppState>,
    JsonBody(request): JsonBody<GitCommitRequest>,
) -> Result<Json<Outcome<CommitSaved>>, Problem> {
    let settings = app.settings();
    if !settings.saves_commits() {
        return Ok(Json(Outcome::Disabled(DISABLED)));
    }
    let GitCommitRequest { environment, commit_sha, commit_message, branch, files_changed } =
        request;
    let sha = check_sha(commit_sha)?;
    let wanted = environment.clone();
    let save = templates::commit_save(
        environment,
        &Commit { sha: &sha, message: &commit_message, branch: &branch, files: files_changed.0 },
    );
    let commit = templates::short_sha(&sha);
    if let Some(session_id) = find_commit_save(&app, &wanted, &sha).await? {
        return Ok(Json(Outcome::Saved(CommitSaved {
            status: IsSaved::Saved,
            session_id,
            commit,
        })));
    }
    let at = sha.to_ascii_lowercase();
    let save = app.blocking(move |app| Ok(attach_live_session(app, &at, save))).await?;
    let kept = app.writer.write(save).await?.id;
    // Another request may have saved the same commit first.
    let session_id = find_commit_save(&app, &wanted, &sha).await?.unwrap_or(kept);
    Ok(Json(Outcome::Saved(CommitSaved { status: IsSaved::Saved, session_id, commit })))
}

fn check_sha(sha: String) -> Result<String, Problem> {
    let is_sha = (7..=64).contains(&sha.len()) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    let error = "`commit_sha` must be 7 to 64 hexadecimal digits";
    is_sha
        .then_some(sha)
        .ok_or_else(|| Problem::bad_request(error, "`git rev-parse HEAD` prints it"))
}

/// Returns the id of the environment's save for a commit, if there is one.
async fn find_commit_save(
    app: &AppState,
    environment: &SaveEnvironment,
    sha: &str,
) -> Result<Option<String>, Problem> {
    let (environment, sha) = (environment.clone(), sha.to_ascii_lowercase());
    app.with_store(move |app: &App, store| {
        ingest_saves(app, store)?;
        Ok(store.save_of_commit(&environment, &sha)?.map(|save| save.id))
    })
    .await
}

/// Report of a test run.
#[derive(Deserialize, ToSchema)]
pub(crate) struct TestResultRequest {
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    environment: SaveEnvironment,
    passed: bool,
    test_count: Count,
    #[serde(default)]
    #[schema(default = 0)]
    failed_count: Count,
    duration_seconds: Seconds,
    #[serde(default)]
    test_command: Option<String>,
}

/// Answer to a saved test run.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestsSaved {
    status: IsSaved,
    /// Id of the save.
    session_id: String,
    /// Whether all tests passed.
    tests_passed: bool,
}

/// Save at a test run
#[utoipa::path(post, path = "/hooks/test-result", request_body = TestResultRequest,
    responses((status = 200, body = Outcome<TestsSaved>), Problems))]
pub(crate) async fn test_result(
    State(app): State<AppState>,
    JsonBody(request): JsonBody<TestResultRequest>,
) -> Result<Json<Outcome<TestsSaved>>, Problem> {
    let settings = app.settings();
    if !settings.saves_tests() {
        return Ok(Json(Outcome::Disabled(DISABLED)));
    }
    let run = TestRun {
        passed: request.passed,
        count: Some(request.test_count.0),
        failed: request.failed_count.0,
        seconds: request.duration_seconds.0,
        command: request.test_command.as_deref().filter(|command| !command.trim().is_empty()),
        names: &[],
    };
    let save = app.writer.write(templates::test_run_save(request.environment, &run)).await?;
    Ok(Json(Outcome::Saved(TestsSaved {
        status: IsSaved::Saved,
        session_id: save.id,
        tests_passed: request.passed,
    })))
}
