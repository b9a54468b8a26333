//! HTML of the session page.

use maud::{Markup, html};
use plimsoll_core::Tokens;
use plimsoll_core::name::short;
use plimsoll_core::text::thousands;
use plimsoll_engine::fill::{Fill, Part};
use plimsoll_extract::save::Save;
use plimsoll_store::CheckpointRow;

use super::{MAX_LISTED, SessionPage, SessionWindow, SubagentLoad};
use crate::pages::parts::{ago, count_with_noun, moment, tokens};
use crate::pages::plot::plot;
use crate::pages::site::Site;

/// Maximum number of tools and of files listed.
const FILES: usize = 15;

pub(in crate::pages) fn session(site: &Site, session: &SessionPage) -> Markup {
    html! {
        div data-live="session" {
            (head(site, session))
            section aria-labelledby="curve" {
                h2 #curve { "Load over time" }
                @match plot(&session.plot) {
                    Some(picture) => { (picture) (legend()) }
                    None => p.quiet { "Nobody has answered in this session yet." },
                }
            }
            @if let Some(fill) = &session.fill { (fills(session, fill)) }
            @if !session.subagents.is_empty() { (subagents(session)) }
            div.columns {
                (checkpoints(site, &session.checkpoints))
                (saves(site, &session.saves))
            }
        }
    }
}

fn head(site: &Site, session: &SessionPage) -> Markup {
    let SessionPage { known, standing, .. } = session;
    let SessionWindow { load, lines, .. } = standing;
    let band = load.map_or("none", |load| load.band(lines));
    let compactions = known.as_ref().map_or(0, |row| row.compactions);
    html! {
        div class={ "head " (band) } {
            div {
                h1 { "Session " (short(&session.id)) }
                p.quiet {
                    @if let Some(whose) = &session.whose { (whose) " · " }
                    @if let Some(folder) = &session.folder { (folder) " · " }
                    (standing.model.as_deref().unwrap_or("no model yet")) " · "
                    @if session.is_live { strong { "running" } }
                    @else if let Some(row) = known { "last seen " (ago(row.session.last_seen)) }
                    @else { "not running" }
                }
                p.quiet.id { (session.id) }
                @if let Some(run) = &session.run {
                    p.quiet { "of run " a href=(site.run(run.as_str())) { (run.short()) } }
                }
            }
            @if let Some(load) = load {
                div.big {
                    (load.gauge(lines))
                    p {
                        span.percent { (load.percent()) } " "
                        span.band { (band) } " "
                        span { (load.tokens()) " of " (tokens(load.window)) " tokens" }
                    }
                    p.quiet {
                        @match load.trigger {
                            Some(trigger) => {
                                "compacts at " (tokens(trigger)) ", "
                                (tokens(trigger.saturating_sub(load.used))) " left"
                            },
                            None => "the client does not compact at a line",
                        }
                        @if compactions > 0 { " · " (count_with_noun(compactions, "compaction", "compactions")) }
                    }
                }
            }
        }
    }
}

fn legend() -> Markup {
    html! {
        ul.legend {
            li { svg viewBox="0 0 18 12" aria-hidden="true" { path.compaction d="M9 0v12" {} } "compaction" }
            li {
                svg viewBox="0 0 18 12" aria-hidden="true" {
                    circle.checkpoint cx="9" cy="6" r="4.5" {}
                    path.checkpoint d="M2 6h14" {}
                }
                "checkpoint"
            }
            li { svg viewBox="0 0 18 12" aria-hidden="true" { path.breakpoint d="M9 1.5l4.5 4.5l-4.5 4.5l-4.5 -4.5z" {} } "commit or test run" }
        }
    }
}

fn fills(session: &SessionPage, fill: &Fill) -> Markup {
    let sum: Tokens = fill.sides.iter().map(|part| part.tokens).sum();
    let used = session.standing.load.map_or(0, |load| load.used);
    let mut sides = fill.sides.clone();
    if let Some(rest @ 1..) = used.checked_sub(sum) {
        let name = "system prompt, and rest".to_owned();
        sides.push(Part { name, tokens: rest, texts: 0 });
        sides.sort_by_key(|part| std::cmp::Reverse(part.tokens));
    }
    let whole = used.max(sum).max(1);
    html! {
        section aria-labelledby="fill" {
            h2 #fill { "What fills the window" }
            p.quiet {
                "Estimates, since the last compaction"
                @if fill.partial { "; there was no time to weigh all of it" }
                "."
            }
            div.columns {
                (parts("By side", &sides, whole, sides.len()))
                (parts("By tool", &fill.tools, whole, FILES))
                (parts("By file", &files(session, fill), whole, FILES))
            }
        }
    }
}

/// Returns the files with paths relative to the project.
fn files(session: &SessionPage, fill: &Fill) -> Vec<Part> {
    let project = session.standing.project.as_ref().map(|it| format!("{}/", it.display()));
    let name = |name: &str| {
        let inside = project.as_deref().and_then(|project| name.strip_prefix(project));
        inside.unwrap_or(name).to_owned()
    };
    fill.files.iter().map(|part| Part { name: name(&part.name), ..part.clone() }).collect()
}

fn parts(title: &str, parts: &[Part], whole: Tokens, most: usize) -> Markup {
    html! {
        div.part {
            table.bars {
                caption { (title) }
                colgroup { col.name; col.number; col.picture; }
                thead.hidden { tr { th scope="col" { "What" } th scope="col" { "Tokens" } th scope="col" { "Share" } } }
                tbody {
                    @if parts.is_empty() { tr { td.quiet colspan="3" { "nothing yet" } } }
                    @for part in parts.iter().take(most) {
                        tr {
                            th scope="row" title=(part.name) { bdi { (part.name) } }
                            td.figure { (thousands(part.tokens)) }
                            td { (bar(part.tokens, whole)) }
                        }
                    }
                }
            }
            @if let Some(more @ 1..) = parts.len().checked_sub(most) {
                p.quiet { "and " (more) " more" }
            }
        }
    }
}

fn bar(tokens: Tokens, whole: Tokens) -> Markup {
    let percent = tokens as f64 * 100.0 / whole as f64;
    html! {
        svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=(format!("{percent:.0} %")) {
            rect.track x="0" y="0" width="100" height="8" {}
            rect.level x="0" y="0" width=(format!("{:.1}", percent.min(100.0))) height="8" {}
        }
    }
}

fn subagents(session: &SessionPage) -> Markup {
    html! {
        section aria-labelledby="subagents" {
            h2 #subagents { "Subagents " span.count { (session.subagents.len()) } }
            div.scroll tabindex="0" role="group" aria-label="Subagents" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Subagent" }
                            th scope="col" { "Load" }
                            th.figure scope="col" { "Share" }
                            th.figure scope="col" { "Tokens" }
                            th.figure scope="col" { "Seen" }
                        }
                    }
                    tbody { @for it in &session.subagents { (subagent(session, it)) } }
                }
            }
        }
    }
}

fn subagent(session: &SessionPage, it: &SubagentLoad) -> Markup {
    let band = it.load.map_or("none", |load| load.band(&session.standing.lines));
    html! {
        tr class=(band) {
            th scope="row" { (it.id) }
            @if let Some(load) = it.load {
                td.load { (load.gauge(&session.standing.lines)) }
                td.figure { span.percent { (load.percent()) } span.band { (band) } }
                td.figure { (load.tokens()) }
            } @else {
                td colspan="3" {}
            }
            td.figure { @if it.is_live { "running" } @else { (ago(it.last_seen)) } }
        }
    }
}

fn checkpoints(site: &Site, rows: &[CheckpointRow]) -> Markup {
    html! {
        section aria-labelledby="checkpoints" {
            h2 #checkpoints { "Checkpoints " span.count { (rows.len()) } }
            @if rows.is_empty() { p.quiet { "None was sealed yet." } }
            ul.list {
                @for row in rows {
                    li {
                        a href=(site.checkpoint(&row.id)) { (moment(row.created)) }
                        span.tag { (row.occasion) }
                        p { (row.summary) }
                    }
                }
            }
        }
    }
}

fn saves(site: &Site, saves: &[Save]) -> Markup {
    html! {
        section aria-labelledby="saves" {
            h2 #saves { "Saves and breakpoints " span.count { (saves.len()) } }
            @if saves.is_empty() { p.quiet { "None was made yet." } }
            ul.list {
                @for save in saves.iter().rev().take(MAX_LISTED) {
                    li {
                        a href=(format!("{}#{}", site.with(&site.saves_path(), &[("environment", save.what.environment.as_str())]), save.id)) { (moment(save.created)) }
                        span.tag { (save.what.kind.label()) }
                        p { (save.what.task) }
                    }
                }
            }
        }
    }
}
