//! `/runs` and `/runs/{id}`: runs over many sessions.

use axum::extract::State;
use maud::{Markup, html};
use plimsoll_core::Tokens;
use plimsoll_core::name::short;
use plimsoll_core::run::{Job, Leg, Run, RunId};
use plimsoll_core::text::duration;

use super::frame::{PageError, Tab, page as framed};
use super::parts::{Pager, ago, count_with_noun, moment, short_path, tokens};
use super::site::Site;
use crate::http::api::runs::{JobView, RunStory, RunView, active_until, find_run, newest_runs};
use crate::http::{Params, PathParam, Problem};
use crate::state::AppState;

/// Runs per page.
const PAGE: u64 = 50;

/// Lists all runs.
pub(super) async fn list(
    State(app): State<AppState>,
    site: Site,
    params: Params,
) -> Result<Markup, PageError> {
    let number = params.number("page", 1..=1_000_000).map_err(PageError::of(&site))?.unwrap_or(1);
    let listed = app.with_store(move |app, store| {
        let runs = newest_runs(app, store, ((number - 1) * PAGE) as u32, PAGE as u32)?;
        Ok((runs, store.run_counts()?.runs))
    });
    let (runs, count) = listed.await.map_err(PageError::of(&site))?;
    let pager = Pager {
        list: "More runs",
        words: ["Newer", "Older"],
        number,
        pages: count.div_ceil(PAGE).max(1),
    };
    let body = html! {
        h1 { "Runs " span.count { (tokens(count)) } }
        div data-live="runs" {
            @if count == 0 {
                (nothing())
            } @else {
                (table(&site, &runs))
                (pager.links(|page| site.with("/runs", &[("page", &page.to_string())])))
            }
        }
    };
    Ok(framed(&site, Some(Tab::Runs), "Runs", &body))
}

fn nothing() -> Markup {
    html! {
        section.empty {
            h2 { "No run yet" }
            p {
                code { "plimsoll run -- AGENT…" } " keeps one long task going over fresh sessions, "
                code { "plimsoll batch run" } " carries out a plan: both appear here by themselves."
            }
        }
    }
}

fn table(site: &Site, runs: &[Run]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="A table that may be wider than the page" {
            table {
                thead {
                    tr {
                        th scope="col" { "Run" }
                        th scope="col" { "State" }
                        th scope="col" { "Done" }
                        th.figure scope="col" { "Sessions" }
                        th.figure scope="col" { "Tokens" }
                        th.figure scope="col" { "Took" }
                        th.figure scope="col" { "Began" }
                    }
                }
                tbody { @for run in runs { (row(site, run)) } }
            }
        }
    }
}

fn row(site: &Site, run: &Run) -> Markup {
    let view = RunView::of(run);
    html! {
        tr class=(band(view.state)) data-run=(view.run) {
            th scope="row" {
                a href=(site.run(&view.run)) { (view.title) }
                span.project { (short_path(view.project.as_ref())) }
            }
            td { span.band { (view.state) } }
            td.load { (gauge(&view)) span.of { (progress(&view)) } }
            td.figure { (view.sessions) span.of { (restart_note(&view)) } }
            td.figure { (tokens_used(&view)) }
            td.figure { (duration(view.seconds)) }
            td.figure { (ago(run.since)) }
        }
    }
}

/// Shows one run.
pub(super) async fn show(
    State(app): State<AppState>,
    site: Site,
    PathParam(id): PathParam,
) -> Result<Markup, PageError> {
    let unknown = || {
        let hint = "`plimsoll batch status --all` names the runs there are";
        Problem::not_found("no such run is known here", hint)
    };
    let id = RunId::new(&id).ok_or_else(unknown).map_err(PageError::of(&site))?;
    let found = app.with_store(move |app, store| {
        let run = find_run(app, store, &id)?;
        Ok((RunStory::of(&app.world.paths, &run), run))
    });
    let (told, run) = found.await.map_err(PageError::of(&site))?;
    let title = format!("Run {}", run.id.short());
    let body = html! { div data-live="run" { (story(&site, &run, &told)) } };
    Ok(framed(&site, Some(Tab::Runs), &title, &body))
}

fn story(site: &Site, run: &Run, told: &RunStory) -> Markup {
    let RunStory { run: view, replanned, pieces, jobs } = told;
    html! {
        section.head class=(band(view.state)) {
            div {
                h1 { (view.title) }
                p.quiet { (view.project) }
                p.id { (view.run) }
            }
            div.big {
                p { span.percent { (view.state) } " " (progress(view)) }
                (gauge(view))
            }
        }
        (facts(run, view))
        @for why in replanned { p { "Planned again: " (why) } }
        @for piece in run.warned() {
            @if let Some(warning) = &piece.warning { p { "Task " code { (piece.id) } ": " (warning) } }
        }
        @for (job, view) in run.jobs.iter().zip(jobs) { (render_job(site, job, view)) }
        @if !pieces.is_empty() {
            h2 { "Plan " span.count { (count_with_noun(pieces.len() as u64, "task", "tasks")) } }
            (plan(pieces))
        }
    }
}

fn facts(run: &Run, view: &RunView) -> Markup {
    html! {
        dl.facts {
            dt { "Began" } dd { (moment(run.since)) }
            dt { "Took" } dd { (duration(run.spent(active_until(run)).seconds)) }
            dt { "Sessions" } dd { (view.sessions) " " span.quiet { (restart_note(view)) } }
            dt { "Tokens" } dd { (tokens_used(view)) }
            @if let Some(why) = &view.why { dt { "Ended" } dd { (why) } }
            @if let Some(resume) = &view.resume { dt { "Go on with" } dd { code { (resume) } } }
        }
    }
}

fn render_job(site: &Site, job: &Job, view: &JobView) -> Markup {
    let printed = view.legs.last().map_or(&[][..], |leg| &leg.printed);
    html! {
        section class=(band(view.state)) {
            h2 {
                @if let Some(batch) = view.batch { "Batch " (batch) ": " }
                (view.title) " " span.band { (view.state) }
            }
            p.quiet {
                (job_summary(view))
                @if let Some(id) = &view.checkpoint {
                    " · checkpoint " a href=(site.checkpoint(id)) { (id) }
                }
            }
            @if let Some(why) = &view.why { p { (why) } }
            @if !view.last_words.is_empty() { pre { (view.last_words.join("\n")) } }
            @if !printed.is_empty() {
                p.quiet { "What the agent printed last: " @for file in printed { code { (file) } " " } }
            }
            (legs(site, &job.legs))
        }
    }
}

/// Describes a job's tasks, and its measured and estimated tokens.
fn job_summary(view: &JobView) -> String {
    let tasks = match &view.pieces[..] {
        [] => None,
        [one] => Some(format!("task {one}")),
        many => Some(format!("tasks {}", many.join(", "))),
    };
    let measured = view.measured.map(|taken| format!("{} tokens", tokens(taken)));
    let estimate = view.estimate.map(|estimate| format!("{} estimated", tokens(estimate)));
    [tasks, measured, estimate].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn legs(site: &Site, legs: &[Leg]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="A table that may be wider than the page" {
            table {
                thead {
                    tr {
                        th.figure scope="col" { "No." }
                        th scope="col" { "Session" }
                        th scope="col" { "Ended" }
                        th.figure scope="col" { "Tokens" }
                        th.figure scope="col" { "Answers" }
                        th scope="col" { "Checkpoint" }
                        th.figure scope="col" { "Began" }
                    }
                }
                tbody { @for leg in legs { (render_leg(site, leg)) } }
            }
        }
    }
}

fn render_leg(site: &Site, leg: &Leg) -> Markup {
    let end = leg.end.as_ref().map(|(_, end)| end);
    let checkpoint = end.and_then(|end| end.checkpoint.as_deref());
    html! {
        tr {
            th.figure scope="row" { (leg.begun.leg) }
            td {
                @match &leg.begun.session {
                    Some(session) => a.id href=(site.session(session.as_str())) { (short(session.as_str())) },
                    None => span.quiet { "no transcript" },
                }
            }
            td { (ending(leg)) }
            td.figure {
                @if let Some(used) = end.and_then(|end| end.used) { (tokens(used)) }
                @if let Some(window) = end.and_then(|end| end.window) { span.of { "of " (tokens(window)) } }
            }
            td.figure { @if let Some(end) = end.filter(|end| end.used.is_some()) { (end.responses) } }
            td {
                @match checkpoint {
                    Some(id) => a href=(site.checkpoint(id)) { (id) },
                    None => span.quiet { "none" },
                }
            }
            td.figure { (moment(leg.since)) }
        }
    }
}

/// Describes how a session ended.
fn ending(leg: &Leg) -> String {
    use plimsoll_core::run::{Ending, killed_by};
    match leg.end.as_ref().map(|(_, end)| end.how) {
        None => "runs".to_owned(),
        Some(Ending::Stopped) => "full: stopped by us".to_owned(),
        Some(Ending::Exited { code: 0 }) => "by itself".to_owned(),
        Some(Ending::Exited { code }) => match killed_by(code) {
            Some(signal) => format!("killed by signal {signal}"),
            None => format!("exit code {code}"),
        },
        Some(Ending::Lost) => "killed, or gone".to_owned(),
        Some(Ending::Halted) => "ended by us".to_owned(),
    }
}

fn plan(pieces: &[crate::http::api::runs::PieceView]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="A table that may be wider than the page" {
            table {
                thead {
                    tr {
                        th scope="col" { "Task" }
                        th scope="col" { "What" }
                        th scope="col" { "Kind" }
                        th scope="col" { "State" }
                        th.figure scope="col" { "Estimate" }
                    }
                }
                tbody {
                    @for piece in pieces {
                        tr class=(band(piece.state)) {
                            th scope="row" { (piece.piece) }
                            td {
                                (piece.description)
                                @if let Some(warning) = &piece.warning { span.of { (warning) } }
                            }
                            td { (piece.kind) }
                            td { span.band { (piece.state) } }
                            td.figure { (tokens(piece.estimate)) }
                        }
                    }
                }
            }
        }
    }
}

/// Draws the progress of a run, with a text for screen readers.
fn gauge(view: &RunView) -> Markup {
    const WIDTH: usize = 200;
    let width = (WIDTH * view.done).checked_div(view.of).unwrap_or(0).max(1);
    html! {
        svg.gauge viewBox="-8 0 216 22" role="img" aria-label=(progress(view)) {
            rect.track x="0" y="7" width="200" height="8" rx="2" {}
            rect.level x="0" y="7" width=(width) height="8" rx="2" {}
        }
    }
}

fn progress(view: &RunView) -> String {
    format!("{} of {} done", view.done, count_with_noun(view.of as u64, "task", "tasks"))
}

/// Describes how many sessions were restarts or retries.
fn restart_note(view: &RunView) -> String {
    let restarts = (view.restarts as u64, "restart", "restarts");
    let retries = (view.retries as u64, "retry", "retries");
    let some = [restarts, retries].into_iter().filter(|(count, ..)| *count > 0);
    some.map(|(count, one, many)| count_with_noun(count, one, many)).collect::<Vec<_>>().join(", ")
}

/// Shows the tokens used. With an estimate these are the measured tokens, which compare with it;
/// otherwise the sum of the windows.
fn tokens_used(view: &RunView) -> Markup {
    let taken = if view.estimate.is_some() { view.measured } else { view.tokens };
    html! {
        @match taken {
            Some(taken) => (tokens(taken)),
            None => span.quiet { "unknown" },
        }
        " " (estimate_note(view.estimate))
    }
}

fn estimate_note(estimate: Option<Tokens>) -> Markup {
    html! { @if let Some(estimate) = estimate { span.of { (tokens(estimate)) " estimated" } } }
}

/// Returns the CSS class that gives a state its colour.
fn band(state: &str) -> &'static str {
    match state {
        "done" | "running" => "healthy",
        "interrupted" | "limited" | "open" => "warning",
        "failed" | "broken" => "overflow",
        _ => "none",
    }
}
