//! `/ss`, `/rs` and `/sessions`: storing, restoring and listing session states.

use axum::Json;
use axum::extract::State;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::time::utc;
use plimsoll_engine::saves;
use plimsoll_extract::save::{NewSave, Save, SaveEnvironment, templates};
use plimsoll_store::{MatchKind, SaveFilter, SaveKinds, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Problem;
use super::body::JsonBody;
use super::params::Params;
use super::problem::Problems;
use super::session_saves::{SessionRef, fill_from_session};
use crate::state::{App, AppState};

/// Maximum and default number of saves in an answer.
const MAX_LIMIT: u64 = 100;
const DEFAULT_LIMIT: u64 = 10;

/// Session state to save.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SaveRequest {
    #[serde(default)]
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", default = "development")]
    environment: SaveEnvironment,
    /// Current task. Optional if `session_id` is given.
    #[serde(default, deserialize_with = "super::body::non_blank")]
    #[schema(value_type = String, pattern = r"\S", required = false)]
    task: Option<String>,
    /// Context needed to continue.
    #[serde(default)]
    context: Option<String>,
    /// Obstacles.
    #[serde(default)]
    blockers: Option<String>,
    /// Next steps.
    #[serde(default)]
    next_steps: Option<String>,
    /// Search terms.
    #[serde(default)]
    tags: Vec<String>,
    /// Important files and names.
    #[serde(default)]
    key_artifacts: Vec<String>,
    /// Agent session id. Missing fields are filled from its transcript.
    #[serde(default, deserialize_with = "super::body::non_blank")]
    #[schema(value_type = String, pattern = "^[A-Za-z0-9_-]{1,128}(@[A-Za-z0-9_-]{1,128})?$", required = false)]
    session_id: Option<String>,
}

/// Status of a stored save.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IsSaved {
    /// The save is on disk.
    Saved,
}

/// Answer to a stored save.
#[derive(Serialize, ToSchema)]
pub(crate) struct Saved {
    status: IsSaved,
    /// Id of the save.
    session_id: String,
    /// Command that restores the save.
    restart_command: String,
    /// The command as a sentence.
    message: String,
}

/// Save a session state
#[utoipa::path(post, path = "/ss", request_body = SaveRequest, responses((status = 200, body = Saved), Problems))]
pub(crate) async fn ss(
    State(app): State<AppState>,
    JsonBody(request): JsonBody<SaveRequest>,
) -> Result<Json<Saved>, Problem> {
    let environment = request.environment.clone();
    let (meant, said) = request.parts();
    let save = match meant.is_none() {
        true => said,
        false => fill_from_session(&app, meant, said.clone(), said, Occasion::Manual).await?,
    };
    if save.task.trim().is_empty() {
        let error = "there is nothing to save: no `task` is said";
        return Err(Problem::bad_request(error, "say what is being done in `task`"));
    }
    let save = app.writer.write(save).await?;
    Ok(Json(Saved {
        status: IsSaved::Saved,
        session_id: save.id,
        restart_command: templates::restart_command(&environment),
        message: templates::saved_message(&environment),
    }))
}

impl SaveRequest {
    /// Splits the request into the session it names and the fields it gives.
    fn parts(self) -> (SessionRef, NewSave) {
        let said = NewSave {
            environment: self.environment,
            task: self.task.unwrap_or_default(),
            context: self.context,
            blockers: self.blockers,
            next_steps: self.next_steps,
            tags: self.tags,
            key_artifacts: self.key_artifacts,
            ..NewSave::default()
        };
        (SessionRef { session: self.session_id, transcript: None }, said)
    }
}

/// A save.
#[derive(Serialize, ToSchema)]
pub(crate) struct SaveView {
    /// Id of the save.
    id: String,
    /// Time of creation, in UTC.
    created: String,
    environment: String,
    /// `manual`, `auto`, `commit` or `tests`.
    kind: &'static str,
    task: String,
    context: Option<String>,
    blockers: Option<String>,
    next_steps: Option<String>,
    tags: Vec<String>,
    key_artifacts: Vec<String>,
    /// Project folder.
    project: Option<String>,
    /// Agent session id.
    session: Option<String>,
    /// Id of the checkpoint with more detail.
    checkpoint: Option<String>,
    /// Commit hash.
    commit: Option<String>,
}

impl From<Save> for SaveView {
    fn from(save: Save) -> Self {
        let Save { id, created, what } = save;
        Self {
            id,
            created: utc(created),
            environment: what.environment.into(),
            kind: what.kind.label(),
            task: what.task,
            context: what.context,
            blockers: what.blockers,
            next_steps: what.next_steps,
            tags: what.tags,
            key_artifacts: what.key_artifacts,
            project: what.project,
            session: what.session,
            checkpoint: what.checkpoint,
            commit: what.commit,
        }
    }
}

/// Selection of session states to restore.
#[derive(Deserialize, ToSchema)]
pub(crate) struct RestoreRequest {
    #[serde(default)]
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", default = "development")]
    environment: SaveEnvironment,
    /// Search words. Without them the newest saves are returned.
    #[serde(default)]
    query: Option<String>,
    /// Maximum number of saves.
    #[serde(default)]
    limit: Limit,
    /// Include saves of commits and tests. Without this they are returned only if there are no
    /// others.
    #[serde(default)]
    all: bool,
    /// Former name of `all`.
    #[serde(default)]
    #[schema(ignore)]
    include_auto: bool,
}

/// Maximum number of saves.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[schema(value_type = u64, minimum = 1, maximum = 100, default = 10)]
struct Limit(#[serde(deserialize_with = "super::body::limit")] u64);

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT_LIMIT)
    }
}

/// A list of saves.
#[derive(Serialize, ToSchema)]
pub(crate) struct Saves {
    /// How the saves were found: `newest`, or by which match of the query: all `words`, `parts` of
    /// words, `corrected` words or `some` words.
    by: &'static str,
    /// Number of saves in `sessions`.
    count: usize,
    /// Saves, best match or newest first.
    sessions: Vec<SaveView>,
}

impl Saves {
    fn new(by: &'static str, saves: Vec<Save>) -> Self {
        let sessions: Vec<SaveView> = saves.into_iter().map(SaveView::from).collect();
        Self { by, count: sessions.len(), sessions }
    }
}

/// Restore the newest session states of an environment, or those that match a query
#[utoipa::path(post, path = "/rs", request_body = RestoreRequest, responses((status = 200, body = Saves), Problems))]
pub(crate) async fn rs(
    State(app): State<AppState>,
    JsonBody(request): JsonBody<RestoreRequest>,
) -> Result<Json<Saves>, Problem> {
    app.with_store(move |app, store| restore(app, store, &request)).await.map(Json)
}

fn restore(app: &App, store: &mut Store, request: &RestoreRequest) -> Result<Saves, Problem> {
    ingest_saves(app, store)?;
    let filter = SaveFilter { environment: Some(&request.environment), ..SaveFilter::default() };
    let limit = request.limit.0 as u32;
    let query = request.query.as_deref().unwrap_or_default();
    if let Some(found) = store.search_saves(query, &filter, limit)? {
        return Ok(Saves::new(label(&found.matched_by), found.saves));
    }
    let filter = SaveFilter { kinds: kinds_to_list(request.all || request.include_auto), ..filter };
    Ok(Saves::new("newest", store.saves_to_restore(&filter, limit)?))
}

/// Returns the kinds of saves to list: all, or only those that users restore.
pub(crate) fn kinds_to_list(all: bool) -> SaveKinds {
    if all { SaveKinds::All } else { SaveKinds::Restorable }
}

/// Names the way in which saves match a query.
fn label(by: &MatchKind) -> &'static str {
    match by {
        MatchKind::AllWords => "words",
        MatchKind::WordParts => "parts",
        MatchKind::Corrected(_) => "corrected",
        MatchKind::SomeWords => "some",
    }
}

/// List the newest session states
#[utoipa::path(get, path = "/sessions", params(
    ("environment" = Option<String>, Query, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", nullable = false, description = "Of this environment only"),
    ("limit" = Option<u64>, Query, minimum = 1, maximum = 100, nullable = false, description = "How many at most; 10 if it is not given"),
    ("all" = Option<bool>, Query, nullable = false, description = "Also saves of commits and tests, which are otherwise listed only if there is nothing else"),
), responses((status = 200, body = Saves), Problems))]
pub(crate) async fn sessions(
    State(app): State<AppState>,
    params: Params,
) -> Result<Json<Saves>, Problem> {
    let environment = params.text("environment").map(parse_environment).transpose()?;
    let limit = params.number("limit", 1..=MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT) as u32;
    let kinds = kinds_to_list(params.flag("all")? || params.flag("include_auto")?);
    let listed = move |app: &App, store: &mut Store| {
        ingest_saves(app, store)?;
        let filter =
            SaveFilter { environment: environment.as_ref(), kinds, ..SaveFilter::default() };
        Ok(Saves::new("newest", store.saves_to_restore(&filter, limit)?))
    };
    app.with_store(listed).await.map(Json)
}

/// Validates the name of an environment.
fn parse_environment(name: &str) -> Result<SaveEnvironment, Problem> {
    let hint = "give it as in `environment=development`";
    SaveEnvironment::new(name).map_err(|error| Problem::bad_request(error, hint))
}

/// Reads new entries of the save journal into the store.
pub(crate) fn ingest_saves(app: &App, store: &mut Store) -> Result<(), Problem> {
    saves::take_in(&app.world.paths, store).map(drop).map_err(|error| app.internal_error(&error))
}
