//! `/team` and below: sessions, checkpoints and saves of all machines of a team, from its database.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Extension, Router};
use maud::{Markup, html};
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::name::short;
use plimsoll_core::settings::Lines;
use plimsoll_engine::settings::ByAgent;
use plimsoll_engine::world::now;
use plimsoll_extract::checkpoint::sections;
use plimsoll_store::postgres::{ClaimRow, MachineRow, TeamError, TeamStore, WithOwner};
use plimsoll_store::{CheckpointRow, MatchKind};

use super::frame::{PageError, Tab, page as framed, reloading_page};
use super::parts::{Pager, ago, count_with_noun, tokens};
use super::saves::{self, SaveQuery, SaveResults};
use super::session::{self, view};
use super::sessions::{SessionTableRow, past_row, table};
use super::site::Site;
use crate::http::{Params, PathParam, Problem};
use crate::state::AppState;
use crate::team::PageConnection;

/// Sessions per page.
const PAGE: u64 = 50;
/// Seconds until the browser reloads the list: there are no live events for other machines.
const RELOAD_SECONDS: u32 = 10;

/// Returns the routes of the team pages. They share a connection.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/team", get(sessions))
        .route("/team/session/{id}", get(session))
        .route("/team/checkpoint/{id}", get(checkpoint))
        .route("/team/saves", get(saves))
        .layer(Extension(Arc::<PageConnection>::default()))
}

/// Connects to the team database, or returns the open connection.
async fn open(app: &AppState, connection: &PageConnection) -> Result<Arc<TeamStore>, Problem> {
    let team = app.team();
    let url = team.database_url.as_ref().ok_or_else(|| {
        let hint = "set `team.database_url` in the file that `plimsoll config path` names";
        Problem::not_found("this machine belongs to no team", hint)
    })?;
    connection.get(url).await.map_err(|error| unavailable(app, &error))
}

/// Logs why the team database is unavailable, and returns the error for the client.
fn unavailable(app: &AppState, error: &TeamError) -> Problem {
    app.log.message(&error.to_string());
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, error, error.hint())
}

/// Names the person and the machine that sent a row.
fn owner_label<T>(it: &WithOwner<T>) -> String {
    format!("{} on {}", it.person, it.host)
}

/// Data of the list page.
struct TeamPage {
    machines: Vec<WithOwner<MachineRow>>,
    /// Machine to which the list is limited.
    only: Option<String>,
    rows: Vec<SessionTableRow>,
    count: u64,
    number: u64,
    claims: Vec<ClaimRow>,
    lines: Lines,
}

/// Shows the team's sessions.
async fn sessions(
    State(app): State<AppState>,
    Extension(connection): Extension<Arc<PageConnection>>,
    site: Site,
    params: Params,
) -> Result<Markup, PageError> {
    let site = site.of_team();
    let listed = list(&app, &connection, &params).await.map_err(PageError::of(&site))?;
    Ok(reloading_page(&site, Tab::Team, "Team", RELOAD_SECONDS, &render_list(&site, &listed)))
}

async fn list(
    app: &AppState,
    connection: &PageConnection,
    params: &Params,
) -> Result<TeamPage, Problem> {
    let number = params.number("page", 1..=1_000_000)?.unwrap_or(1);
    let only = params.text("machine").map(str::to_owned);
    let there = open(app, connection).await?;
    let failed = |error: TeamError| unavailable(app, &error);
    let (skipped, of) = (((number - 1) * PAGE) as u32, only.as_deref());
    let (rows, count, machines, claims) = tokio::try_join!(
        there.overview(of, skipped, PAGE as u32),
        there.session_count(of),
        there.machines(),
        there.claims("", now() as Millis),
    )
    .map_err(failed)?;
    let in_force = ByAgent::load(&app.world, &app.world.paths.data);
    let row = |it: &WithOwner<_>| past_row(&in_force, &it.value, Some(owner_label(it)));
    let rows = rows.iter().map(row).collect();
    let lines = app.settings().lines;
    Ok(TeamPage { machines, only, rows, count, number, claims, lines })
}

fn render_list(site: &Site, listed: &TeamPage) -> Markup {
    let TeamPage { machines, only, rows, count, number, lines, .. } = listed;
    let pager = Pager {
        list: "More of the sessions",
        words: ["Newer", "Older"],
        number: *number,
        pages: count.div_ceil(PAGE).max(1),
    };
    let to = |number: u64| {
        let number = number.to_string();
        let only = only.as_deref().map(|machine| ("machine", machine));
        let params: Vec<(&str, &str)> =
            std::iter::once(("page", number.as_str())).chain(only).collect();
        site.with("/team", &params)
    };
    html! {
        h1 { "Team" }
        (machine_list(site, machines, only.as_deref()))
        (claim_list(&listed.claims))
        section aria-labelledby="sessions" {
            h2 #sessions { "Sessions " span.count { (tokens(*count)) } }
            p.quiet { a href=(site.to(&site.saves_path())) { "Saves of everybody" } }
            @if rows.is_empty() { p.quiet { "Nobody has sent one yet." } }
            @else { (table(site, rows, lines, "Compacted")) }
            (pager.links(to))
        }
    }
}

fn machine_list(site: &Site, machines: &[WithOwner<MachineRow>], only: Option<&str>) -> Markup {
    html! {
        section aria-labelledby="machines" {
            h2 #machines { "Machines " span.count { (machines.len()) } }
            ul.list {
                @for machine in machines {
                    li {
                        a href=(site.with("/team", &[("machine", &machine.value.id)]))
                            aria-current=[(only == Some(&machine.value.id)).then_some("true")] {
                            (owner_label(machine))
                        }
                        p.quiet {
                            (count_with_noun(machine.value.sessions, "session", "sessions")) " · heard of "
                            (ago(machine.value.last_seen)) " · plimsoll " (machine.value.version)
                        }
                    }
                }
            }
            @if only.is_some() { p { a href=(site.to("/team")) { "All machines" } } }
        }
    }
}

fn claim_list(claims: &[ClaimRow]) -> Markup {
    html! {
        @if !claims.is_empty() {
            section aria-labelledby="claims" {
                h2 #claims { "Claimed " span.count { (claims.len()) } }
                ul.list {
                    @for claim in claims {
                        li { code { (claim.value.path.display()) } p.quiet { (claim.value.holder) " · " (owner_label(claim)) } }
                    }
                }
            }
        }
    }
}

/// Shows one of the team's sessions.
async fn session(
    State(app): State<AppState>,
    Extension(connection): Extension<Arc<PageConnection>>,
    site: Site,
    PathParam(id): PathParam,
) -> Result<Markup, PageError> {
    let site = site.of_team();
    let session = load_session(&app, &connection, &id).await.map_err(PageError::of(&site))?;
    let title = format!("Session {}", short(&session.id));
    Ok(framed(&site, Some(Tab::Team), &title, &view::session(&site, &session)))
}

async fn load_session(
    app: &AppState,
    connection: &PageConnection,
    id: &str,
) -> Result<session::SessionPage, Problem> {
    let unknown =
        || Problem::not_found("no such session was sent", "`/team` lists those that were");
    let id = SessionId::new(id).ok_or_else(unknown)?;
    let there = open(app, connection).await?;
    let (known, points, checkpoints, saves) = tokio::try_join!(
        there.session(&id),
        there.series(&id),
        there.checkpoints_of(&id, session::MAX_LISTED as u32),
        there.saves_of_session(&id),
    )
    .map_err(|error| unavailable(app, &error))?;
    let known = known.ok_or_else(unknown)?;
    let owner = owner_label(&known);
    Ok(session::from_team_rows(app, owner, known.value, &points, checkpoints, saves))
}

/// Shows one of the team's checkpoints.
async fn checkpoint(
    State(app): State<AppState>,
    Extension(connection): Extension<Arc<PageConnection>>,
    site: Site,
    PathParam(id): PathParam,
) -> Result<Markup, PageError> {
    let site = site.of_team();
    let found = load_checkpoint(&app, &connection, &id).await.map_err(PageError::of(&site))?;
    Ok(framed(
        &site,
        Some(Tab::Team),
        &format!("Checkpoint {id}"),
        &render_checkpoint(&site, &found),
    ))
}

async fn load_checkpoint(
    app: &AppState,
    connection: &PageConnection,
    id: &str,
) -> Result<WithOwner<CheckpointRow>, Problem> {
    let there = open(app, connection).await?;
    let found = there.checkpoint(id).await.map_err(|error| unavailable(app, &error))?;
    let hint = "the pages of sessions list those that were";
    found.ok_or_else(|| Problem::not_found("no such checkpoint was sent", hint))
}

fn render_checkpoint(site: &Site, found: &WithOwner<CheckpointRow>) -> Markup {
    let it = &found.value;
    html! {
        h1 { "Checkpoint" }
        p.lead { (it.summary) }
        p.verdict.strange { "sent by another machine: its seal is verified where it was made" }
        dl.facts {
            dt { "Id" } dd { (it.id) }
            dt { "Whose" } dd { (owner_label(found)) }
            dt { "Made" } dd { (ago(it.created)) " · " (it.occasion) @if it.partial { " · partial" } }
            dt { "Project" } dd { (it.project.display()) }
            dt { "Session" } dd { a href=(site.session(&it.session)) { (short(&it.session)) } }
            @if let (Some(used), Some(window)) = (it.used, it.window) {
                dt { "Window" } dd { (tokens(used)) " of " (tokens(window)) " tokens" }
            }
        }
        section aria-labelledby="text" {
            h2 #text { "What it says" }
            @for (name, text) in sections(&it.body) {
                @if !name.is_empty() { h3 { (name) } }
                pre.text tabindex="0" { (text.trim_end()) }
            }
        }
    }
}

/// Shows the team's saves, newest first or by search.
async fn saves(
    State(app): State<AppState>,
    Extension(connection): Extension<Arc<PageConnection>>,
    site: Site,
    params: Params,
) -> Result<Markup, PageError> {
    let site = site.of_team();
    let asked = saves::parse_query(&params).map_err(PageError::of(&site))?;
    let found = async {
        let there = open(&app, &connection).await?;
        find(&there, &asked).await.map_err(|error| unavailable(&app, &error))
    };
    let found = found.await.map_err(PageError::of(&site))?;
    Ok(framed(&site, Some(Tab::Team), "Saves", &saves::render(&site, &asked, &found)))
}

async fn find(there: &TeamStore, asked: &SaveQuery) -> Result<SaveResults, TeamError> {
    let searched =
        there.search_saves(&asked.query, &asked.search_filter(), saves::MAX_LISTED).await?;
    let (found, by) = match searched {
        Some(found) => (found, Some(MatchKind::AllWords)),
        None => (there.newest_saves(&asked.list_filter(), saves::MAX_LISTED).await?, None),
    };
    let saves = found.into_iter().map(|it| (it.value.clone(), Some(owner_label(&it)))).collect();
    let environments = there.environments().await?.into_iter().map(|name| (name, None)).collect();
    Ok(SaveResults { saves, by, environments })
}
