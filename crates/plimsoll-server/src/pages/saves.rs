//! `/saves`: session states, newest first or by search.

use std::ops::Range;

use axum::extract::State;
use maud::{Markup, html};
use plimsoll_core::name::short;
use plimsoll_core::text::places;
use plimsoll_extract::save::{Save, SaveEnvironment};
use plimsoll_store::{MatchKind, SaveFilter, Store};

use super::frame::{PageError, Tab, page as framed};
use super::parts::{ago, tokens};
use super::site::Site;
use crate::http::{Params, Problem, ingest_saves, kinds_to_list};
use crate::state::{App, AppState};

/// Maximum number of saves on the page.
pub(super) const MAX_LISTED: u32 = 50;
/// Length of an excerpt in bytes.
const SNIPPET: usize = 240;

/// The visitor's search and filters.
pub(super) struct SaveQuery {
    pub(super) query: String,
    environment: Option<SaveEnvironment>,
    all: bool,
}

impl SaveQuery {
    /// Returns the filter for a search.
    pub(super) fn search_filter(&self) -> SaveFilter<'_> {
        SaveFilter { environment: self.environment.as_ref(), ..SaveFilter::default() }
    }

    /// Returns the filter for a list without a search.
    pub(super) fn list_filter(&self) -> SaveFilter<'_> {
        SaveFilter { kinds: kinds_to_list(self.all), ..self.search_filter() }
    }
}

pub(super) struct SaveResults {
    /// Saves, each with its owner on a team page.
    pub(super) saves: Vec<(Save, Option<String>)>,
    pub(super) by: Option<MatchKind>,
    /// Environments, each with its number of saves if known.
    pub(super) environments: Vec<(SaveEnvironment, Option<u64>)>,
}

/// Shows session states, newest first or by search.
pub(super) async fn page(
    State(app): State<AppState>,
    site: Site,
    params: Params,
) -> Result<Markup, PageError> {
    let asked = parse_query(&params).map_err(PageError::of(&site))?;
    let found = app.with_store(move |app, store| Ok((find(app, store, &asked)?, asked))).await;
    let (found, asked) = found.map_err(PageError::of(&site))?;
    Ok(framed(&site, Some(Tab::Saves), "Saves", &render(&site, &asked, &found)))
}

pub(super) fn parse_query(params: &Params) -> Result<SaveQuery, Problem> {
    let environment = params.text("environment").filter(|name| !name.is_empty());
    let hint = "choose one of the list";
    let environment = environment.map(SaveEnvironment::new).transpose();
    Ok(SaveQuery {
        query: params.text("q").unwrap_or_default().trim().to_owned(),
        environment: environment.map_err(|error| Problem::bad_request(error, hint))?,
        all: params.text("all").is_some(),
    })
}

fn find(app: &App, store: &mut Store, asked: &SaveQuery) -> Result<SaveResults, Problem> {
    ingest_saves(app, store)?;
    let environments = store.environments()?;
    let searched = store.search_saves(&asked.query, &asked.search_filter(), MAX_LISTED)?;
    let (saves, by) = match searched {
        Some(found) => (found.saves, Some(found.matched_by)),
        None => (store.saves_to_restore(&asked.list_filter(), MAX_LISTED)?, None),
    };
    let saves = saves.into_iter().map(|save| (save, None)).collect();
    let environments = environments.into_iter().map(|(name, count)| (name, Some(count))).collect();
    Ok(SaveResults { saves, by, environments })
}

pub(super) fn render(site: &Site, asked: &SaveQuery, found: &SaveResults) -> Markup {
    html! {
        h1 { "Saves" }
        (form(site, asked, found))
        div data-live="saves" {
            p.quiet role="status" { (result_summary(asked, found)) }
            @for (save, whose) in &found.saves { (card(site, asked, save, whose.as_deref())) }
            @if found.saves.is_empty() && asked.query.is_empty() {
                section.empty {
                    h2 { "No save yet" }
                    p { "Run " code { "plimsoll ss" } ", or " code { "/ss" } " inside your agent." }
                }
            }
        }
    }
}

fn form(site: &Site, asked: &SaveQuery, found: &SaveResults) -> Markup {
    html! {
        form.search method="get" action=(site.saves_path()) role="search" {
            label { "Search " input type="search" name="q" value=(asked.query) placeholder="words, files, errors"; }
            label {
                "Environment "
                select name="environment" {
                    option value="" { "all" }
                    @for (name, count) in &found.environments {
                        option value=(name.as_str()) selected[asked.environment.as_ref() == Some(name)] {
                            (name.as_str()) @if let Some(count) = count { " (" (tokens(*count)) ")" }
                        }
                    }
                }
            }
            label { input type="checkbox" name="all" value="1" checked[asked.all]; " commits and tests too" }
            @if let Some(token) = &site.token { input type="hidden" name="token" value=(token); }
            button type="submit" { "Search" }
        }
    }
}

fn result_summary(asked: &SaveQuery, found: &SaveResults) -> String {
    let count = found.saves.len();
    match &found.by {
        None => format!("The newest {count}."),
        Some(_) if count == 0 => format!("Nothing fits “{}”.", asked.query),
        Some(MatchKind::AllWords) => format!("{count} with all of these words, best first."),
        Some(MatchKind::WordParts) => format!("{count} with these parts of words, best first."),
        Some(MatchKind::Corrected(words)) => {
            let words: Vec<String> = words.iter().map(|(_, to)| format!("“{to}”")).collect();
            format!("{count} with {} in place of what you wrote.", words.join(", "))
        }
        Some(MatchKind::SomeWords) => format!("{count} with some of these words, best first."),
    }
}

fn card(site: &Site, asked: &SaveQuery, save: &Save, whose: Option<&str>) -> Markup {
    let what = &save.what;
    let texts =
        [("Context", &what.context), ("Blockers", &what.blockers), ("Next", &what.next_steps)];
    let mark = |text: &str| highlight(text, &asked.query);
    html! {
        article.save id=(save.id) {
            h2 { (mark(&what.task)) }
            p.quiet {
                (ago(save.created)) " · "
                @if let Some(whose) = whose { (whose) " · " }
                (what.environment.as_str()) " · " (what.kind.label())
                @if let Some(session) = &what.session {
                    " · session " a href=(site.session(session)) { (short(session)) }
                }
                @if let Some(checkpoint) = &what.checkpoint {
                    " · " a href=(site.checkpoint(checkpoint)) { "checkpoint" }
                }
                @if let Some(commit) = &what.commit { " · commit " code { (short(commit)) } }
            }
            dl.texts {
                @for (name, text) in texts {
                    @if let Some(text) = text { dt { (name) } dd { (mark(text)) } }
                }
                @if !what.key_artifacts.is_empty() {
                    dt { "Files" } dd { (mark(&what.key_artifacts.join(", "))) }
                }
            }
            @if !what.tags.is_empty() {
                p.tags { @for tag in &what.tags { span.tag { (mark(tag)) } } }
            }
        }
    }
}

/// Renders text with search hits highlighted. Long text is cut to the part around the first hit.
fn highlight(text: &str, query: &str) -> Markup {
    let hits = places(text, query);
    let part = excerpt(text, hits.first().map_or(0, |hit| hit.start));
    html! {
        @if part.start > 0 { "… " }
        @for (is_hit, piece) in pieces(text, &part, &hits) {
            @if is_hit { mark { (piece) } } @else { (piece) }
        }
        @if part.end < text.len() { " …" }
    }
}

/// Splits a part of a text into hits (`true`) and the text between them.
fn pieces<'t>(text: &'t str, part: &Range<usize>, hits: &[Range<usize>]) -> Vec<(bool, &'t str)> {
    let mut at = part.start;
    let mut pieces = Vec::new();
    for hit in hits.iter().filter(|hit| hit.start >= part.start && hit.end <= part.end) {
        pieces.extend([(false, &text[at..hit.start]), (true, &text[hit.clone()])]);
        at = hit.end;
    }
    pieces.push((false, &text[at..part.end]));
    pieces
}

/// Returns the range to show: the whole text if it is short, otherwise an excerpt around `place`.
fn excerpt(text: &str, place: usize) -> Range<usize> {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    match text.len() <= SNIPPET {
        true => 0..text.len(),
        false => {
            let start = boundary(place.saturating_sub(SNIPPET / 3));
            start..boundary((start + SNIPPET).min(text.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_highlighted_and_text_is_escaped() {
        let marked = highlight("A <b>leak</b> in the Leaky hull", "leak hull").into_string();
        assert_eq!(
            marked,
            "A &lt;b&gt;<mark>leak</mark>&lt;/b&gt; in the <mark>Leak</mark>y <mark>hull</mark>"
        );
    }

    #[test]
    fn long_text_is_cut_around_the_hit() {
        let text = format!("{} überall ein leak {}", "ä".repeat(400), "ö".repeat(400));
        let marked = highlight(&text, "leak").into_string();
        assert!(marked.starts_with("… ") && marked.ends_with(" …"), "{marked}");
        assert!(marked.contains("<mark>leak</mark>") && marked.len() < 2 * SNIPPET, "{marked}");
    }
}
