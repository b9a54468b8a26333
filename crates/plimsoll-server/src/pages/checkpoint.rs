//! `/checkpoint/{id}`: a checkpoint, its parent and children, and the changes since the parent.

use std::path::{Path, PathBuf};

use axum::extract::State;
use maud::{Markup, html};
use plimsoll_core::event::SessionId;
use plimsoll_core::name::short;
use plimsoll_engine::checkpoint::{self, Listed, Place, index};
use plimsoll_extract::checkpoint::{SealOrigin, SectionDiff, diff, sections, split};
use plimsoll_store::Store;

use super::frame::{PageError, page as framed};
use super::parts::{ago, tokens};
use super::site::Site;
use crate::http::{PathParam, Problem};
use crate::state::{App, AppState};

/// The page's data.
struct CheckpointPage {
    it: Listed,
    body: String,
    parent: Option<String>,
    children: Vec<String>,
    changed: Option<Vec<SectionDiff>>,
}

/// Shows a checkpoint.
pub(super) async fn page(
    State(app): State<AppState>,
    site: Site,
    PathParam(id): PathParam,
) -> Result<Markup, PageError> {
    let seen = app.with_store(move |app, store| load(app, store, &id)).await;
    let seen = seen.map_err(PageError::of(&site))?;
    let title = format!("Checkpoint {}", seen.it.id);
    Ok(framed(&site, None, &title, &render(&site, &seen)))
}

fn load(app: &App, store: &mut Store, id: &str) -> Result<CheckpointPage, Problem> {
    let unknown = || {
        let hint = "`plimsoll checkpoint list` names those of a project";
        Problem::not_found("no such checkpoint is known here", hint)
    };
    let (place, all) = find_folder(app, store, id)?.ok_or_else(unknown)?;
    let at = all.iter().position(|listed| listed.id == id).ok_or_else(unknown)?;
    let parent_of = |listed: &Listed| listed.verdict.meta.as_ref().and_then(|it| it.parent.clone());
    let children =
        all.iter().filter(|other| parent_of(other).as_deref() == Some(id)).map(|it| it.id.clone());
    let children = children.collect();
    // The parent's name comes from a file that anyone may have written, so only listed checkpoints
    // are opened.
    let parent = parent_of(&all[at]).filter(|name| all.iter().any(|listed| listed.id == *name));
    let body = read_body(&place, &all[at]);
    let changed = parent.as_ref().and_then(|name| all.iter().find(|listed| listed.id == *name));
    let changed = changed.map(|before| diff(&self::read_body(&place, before), &body));
    Ok(CheckpointPage { it: all[at].clone(), body, parent, children, changed })
}

/// Finds the folder of a checkpoint, and lists all checkpoints there. Only checkpoints listed in a
/// known folder are opened.
fn find_folder(
    app: &App,
    store: &Store,
    id: &str,
) -> Result<Option<(Place, Vec<Listed>)>, Problem> {
    let place = |project| Place::of_project(&app.world, project);
    let known = store.checkpoint(id)?.map(|row| row.project);
    let mut projects: Vec<PathBuf> = known.into_iter().collect();
    for place in Place::of_all_agents(&app.world, Path::new("")) {
        let indexed = index::entries(&place).into_iter().filter(|it| it.id == id);
        projects.extend(indexed.map(|entry| entry.project));
    }
    if projects.is_empty() {
        projects.extend(store.projects()?);
    }
    for place in projects.into_iter().map(place) {
        let is_here = checkpoint::ids(&place).is_ok_and(|ids| ids.iter().any(|it| it == id));
        if let Some(all) = is_here.then(|| checkpoint::list(&place).ok()).flatten() {
            return Ok(Some((place, all)));
        }
    }
    Ok(None)
}

/// Returns the text of a checkpoint: as sealed here, or as found in a file from elsewhere.
fn read_body(place: &Place, listed: &Listed) -> String {
    let own = checkpoint::read_own(place, &listed.id).ok().flatten().filter(|_| listed.is_own());
    own.map(|(_, body)| body).unwrap_or_else(|| {
        let text = checkpoint::text(place, &listed.id).unwrap_or_default();
        split(&text).map_or(text.clone(), |parts| parts.body.to_owned())
    })
}

fn render(site: &Site, seen: &CheckpointPage) -> Markup {
    let CheckpointPage { it, body, changed, .. } = seen;
    html! {
        h1 { "Checkpoint" }
        p.lead { (it.summary) }
        (verdict(it))
        (facts(site, seen))
        @if let Some(changed) = changed { (render_changes(changed)) }
        section aria-labelledby="text" {
            h2 #text { "What it says" }
            @for (name, text) in sections(body) {
                @if !name.is_empty() { h3 { (name) } }
                pre.text tabindex="0" { (text.trim_end()) }
            }
        }
    }
}

/// Shows whether the checkpoint was sealed here and is unchanged.
fn verdict(it: &Listed) -> Markup {
    let (class, said) = match (it.is_own(), it.verdict.origin) {
        (true, _) => ("fine", "verified: sealed here, and not a byte has changed since"),
        (false, SealOrigin::Own) => ("bad", "not what was sealed"),
        (false, SealOrigin::Foreign) => ("strange", "foreign: somebody else's, and not sealed"),
        (false, SealOrigin::OtherKey) => ("strange", "foreign: sealed with another key"),
        (false, SealOrigin::Forged) => ("bad", "forged: its seal is wrong"),
    };
    html! {
        p class={ "verdict " (class) } { (said) }
        @for problem in &it.verdict.problems { p.verdict.bad { (problem) } }
    }
}

fn facts(site: &Site, seen: &CheckpointPage) -> Markup {
    let meta = seen.it.verdict.meta.as_ref();
    let session =
        meta.map(|meta| meta.session_id.as_str()).filter(|id| SessionId::new(id).is_some());
    html! {
        dl.facts {
            dt { "Id" } dd { (seen.it.id) }
            @if let Some(meta) = meta {
                dt { "Made" } dd { (ago(meta.created)) " · " (meta.occasion.label()) @if meta.partial { " · partial" } }
                dt { "Project" } dd { (meta.project) }
                @if let Some(session) = session {
                    dt { "Session" } dd { a href=(site.session(session)) { (short(session)) } }
                }
                @if let (Some(used), Some(window)) = (meta.used, meta.window) {
                    dt { "Window" } dd { (tokens(used)) " of " (tokens(window)) " tokens" }
                }
                @if let Some(git) = &meta.git {
                    dt { "Repository" }
                    dd {
                        (git.branch.as_deref().unwrap_or("no branch")) " "
                        code { (short(git.head.as_deref().unwrap_or("no commit"))) }
                        @if git.dirty { " with changes" }
                    }
                }
            }
            dt { "Goes on from" }
            dd {
                @match &seen.parent {
                    Some(parent) => a href=(site.checkpoint(parent)) { (parent) },
                    None => "nothing: it is the first, or its parent is gone",
                }
            }
            @if !seen.children.is_empty() {
                dt { "Went on in" }
                dd { @for child in &seen.children { a href=(site.checkpoint(child)) { (child) } " " } }
            }
        }
    }
}

/// Shows the changes since the parent.
fn render_changes(changed: &[SectionDiff]) -> Markup {
    html! {
        section aria-labelledby="news" {
            h2 #news { "New since the one before" }
            @if changed.is_empty() { p.quiet { "Nothing." } }
            @for SectionDiff { section, added, removed } in changed {
                h3 { @if section.is_empty() { "Before the sections" } @else { (section) } }
                ul.diff {
                    @for line in removed { li { del { span.sign { "− " } (line) } } }
                    @for line in added { li { ins { span.sign { "+ " } (line) } } }
                }
            }
        }
    }
}
