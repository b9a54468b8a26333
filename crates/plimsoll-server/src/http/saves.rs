//! Session states, saved and found again.

use axum::Json;
use axum::extract::State;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::save::{Environment, NewSave, Save, words};
use plimsoll_core::time::utc;
use plimsoll_engine::saves;
use plimsoll_store::{Match, SaveFilter, SaveKinds, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Problem;
use super::body::Sent;
use super::params::Params;
use super::problem::Problems;
use super::session::{Meant, filled};
use crate::state::{App, AppState};

/// How many saves are given at most, and where nothing is said.
const MOST: u64 = 100;
const USUAL: u64 = 10;

/// What is to be saved.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SaveRequest {
    #[serde(default)]
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", default = "development")]
    environment: Environment,
    /// What is being done; may be left out where a session tells it.
    #[serde(default, deserialize_with = "super::body::said")]
    #[schema(value_type = String, pattern = r"\S", required = false)]
    task: Option<String>,
    /// What one must know to go on.
    #[serde(default)]
    context: Option<String>,
    /// What is in the way.
    #[serde(default)]
    blockers: Option<String>,
    /// What comes next.
    #[serde(default)]
    next_steps: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    tags: Vec<String>,
    /// Files and names that matter.
    #[serde(default)]
    key_artifacts: Vec<String>,
    /// The agent's session that it is of: what is not said is taken from its transcript.
    #[serde(default, deserialize_with = "super::body::said")]
    #[schema(value_type = String, pattern = "^[A-Za-z0-9_-]{1,128}$", required = false)]
    session_id: Option<String>,
}

/// The word that it was saved.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IsSaved {
    /// It is on disk.
    Saved,
}

/// What came of saving.
#[derive(Serialize, ToSchema)]
pub(crate) struct Saved {
    status: IsSaved,
    /// The save's id.
    session_id: String,
    /// The command that restores it.
    restart_command: String,
    /// The same in a sentence.
    message: String,
}

/// Save a session state
#[utoipa::path(post, path = "/ss", request_body = SaveRequest, responses((status = 200, body = Saved), Problems))]
pub(crate) async fn ss(
    State(app): State<AppState>,
    Sent(request): Sent<SaveRequest>,
) -> Result<Json<Saved>, Problem> {
    let environment = request.environment.clone();
    let (meant, said) = request.parts();
    let save = match meant.is_none() {
        true => said,
        false => filled(&app, meant, said.clone(), said, Occasion::Manual).await?,
    };
    if save.task.trim().is_empty() {
        let error = "there is nothing to save: no `task` is said";
        return Err(Problem::bad(error, "say what is being done in `task`"));
    }
    let save = app.writer.keep(save).await?;
    Ok(Json(Saved {
        status: IsSaved::Saved,
        session_id: save.id,
        restart_command: words::restart_command(&environment),
        message: words::saved(&environment),
    }))
}

impl SaveRequest {
    /// Which session is meant, and what is said.
    fn parts(self) -> (Meant, NewSave) {
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
        (Meant { session: self.session_id, transcript: None }, said)
    }
}

/// A save.
#[derive(Serialize, ToSchema)]
pub(crate) struct SaveView {
    /// Its id.
    id: String,
    /// When it was made, in UTC.
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
    /// The project it was made in.
    project: Option<String>,
    /// The agent's session that it is of.
    session: Option<String>,
    /// The checkpoint that tells more.
    checkpoint: Option<String>,
    /// The commit it was made at.
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

/// Which session states are to be restored.
#[derive(Deserialize, ToSchema)]
pub(crate) struct RestoreRequest {
    #[serde(default)]
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", default = "development")]
    environment: Environment,
    /// Words to search for; without any the newest are given.
    #[serde(default)]
    query: Option<String>,
    /// How many at most.
    #[serde(default)]
    limit: Limit,
    /// Also saves of commits and tests, which are otherwise given only if there is nothing else.
    #[serde(default)]
    all: bool,
    /// The former name of `all`.
    #[serde(default)]
    #[schema(ignore)]
    include_auto: bool,
}

/// How many at most.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[schema(value_type = u64, minimum = 1, maximum = 100, default = 10)]
struct Limit(#[serde(deserialize_with = "super::body::limit")] u64);

impl Default for Limit {
    fn default() -> Self {
        Self(USUAL)
    }
}

/// Saves that were asked for.
#[derive(Serialize, ToSchema)]
pub(crate) struct Saves {
    /// How they were found: `newest`, or by which of a query's `words`, `parts` of them, `corrected` words or `some` words.
    by: &'static str,
    /// How many there are.
    count: usize,
    /// The saves, best or newest first.
    sessions: Vec<SaveView>,
}

impl Saves {
    fn new(by: &'static str, saves: Vec<Save>) -> Self {
        let sessions: Vec<SaveView> = saves.into_iter().map(SaveView::from).collect();
        Self { by, count: sessions.len(), sessions }
    }
}

/// Restore the newest session states of an environment, or those that fit a query
#[utoipa::path(post, path = "/rs", request_body = RestoreRequest, responses((status = 200, body = Saves), Problems))]
pub(crate) async fn rs(
    State(app): State<AppState>,
    Sent(request): Sent<RestoreRequest>,
) -> Result<Json<Saves>, Problem> {
    app.with_store(move |app, store| restored(app, store, &request)).await.map(Json)
}

fn restored(app: &App, store: &mut Store, request: &RestoreRequest) -> Result<Saves, Problem> {
    take_in(app, store)?;
    let filter = SaveFilter { environment: Some(&request.environment), ..SaveFilter::default() };
    let limit = request.limit.0 as u32;
    let query = request.query.as_deref().unwrap_or_default();
    if let Some(found) = store.search_saves(query, &filter, limit)? {
        return Ok(Saves::new(label(&found.by), found.saves));
    }
    let filter = SaveFilter { kinds: kinds(request.all || request.include_auto), ..filter };
    Ok(Saves::new("newest", store.saves_to_restore(&filter, limit)?))
}

/// Which kinds of saves are listed: all, or those that a user restores.
pub(crate) fn kinds(all: bool) -> SaveKinds {
    if all { SaveKinds::All } else { SaveKinds::Restorable }
}

/// How saves fit a query.
fn label(by: &Match) -> &'static str {
    match by {
        Match::Words => "words",
        Match::Parts => "parts",
        Match::Corrected(_) => "corrected",
        Match::Some => "some",
    }
}

/// The newest session states
#[utoipa::path(get, path = "/sessions", params(
    ("environment" = Option<String>, Query, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", nullable = false, description = "Of this environment only"),
    ("limit" = Option<u64>, Query, minimum = 1, maximum = 100, nullable = false, description = "How many at most; 10 if it is not given"),
    ("all" = Option<bool>, Query, nullable = false, description = "Also saves of commits and tests, which are otherwise listed only if there is nothing else"),
), responses((status = 200, body = Saves), Problems))]
pub(crate) async fn sessions(
    State(app): State<AppState>,
    params: Params,
) -> Result<Json<Saves>, Problem> {
    let environment = params.text("environment").map(environment).transpose()?;
    let limit = params.number("limit", 1..=MOST)?.unwrap_or(USUAL) as u32;
    let kinds = kinds(params.switch("all")? || params.switch("include_auto")?);
    let listed = move |app: &App, store: &mut Store| {
        take_in(app, store)?;
        let filter =
            SaveFilter { environment: environment.as_ref(), kinds, ..SaveFilter::default() };
        Ok(Saves::new("newest", store.saves_to_restore(&filter, limit)?))
    };
    app.with_store(listed).await.map(Json)
}

/// An environment, if it can be one.
fn environment(name: &str) -> Result<Environment, Problem> {
    let hint = "give it as in `environment=development`";
    Environment::new(name).map_err(|error| Problem::bad(error, hint))
}

/// Takes what the journal has news of into the store.
pub(crate) fn take_in(app: &App, store: &mut Store) -> Result<(), Problem> {
    saves::take_in(&app.world.paths, store).map(drop).map_err(|error| app.failed(&error))
}
