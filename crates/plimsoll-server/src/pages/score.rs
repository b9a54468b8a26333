//! `/score`: facts that compactions lost, and facts that the summary or the restore kept.

use std::time::{Duration, Instant};

use axum::extract::State;
use maud::{Markup, html};
use plimsoll_core::name::short;
use plimsoll_engine::{clock, score, sessions};
use plimsoll_extract::work::{Fact, FactKind, Judgement, RecallCounts};
use plimsoll_store::Store;

use super::frame::{Tab, page as framed, reloading_page};
use super::parts::{count_with_noun, tokens};
use super::site::Site;
use crate::http::Problem;
use crate::state::{App, AppState};

/// Scores of the newest compactions.
#[derive(Debug, Default)]
pub(crate) struct CompactionScores {
    compactions: Vec<ScoredCompaction>,
    /// Sessions analysed, and all sessions with compactions.
    sessions: usize,
    of: usize,
}

#[derive(Debug)]
struct ScoredCompaction {
    session: String,
    judgement: Judgement,
}

/// How long a score is shown before it is recomputed.
const MAX_AGE: Duration = Duration::from_secs(300);
/// Limits of one computation: time, and number of sessions.
const SCORE_TIMEOUT: Duration = Duration::from_secs(60);
const MOST_SESSIONS: usize = 100;
/// Number of compactions listed, and of lost names shown for each.
const LISTED: usize = 50;
const NAMES: usize = 8;
const TITLE: &str = "Score";

/// Shows what compactions lost and kept.
pub(super) async fn page(State(app): State<AppState>, site: Site) -> Markup {
    let (known, is_due) = app.score.get(MAX_AGE);
    if is_due {
        let app = app.clone();
        tokio::spawn(async move {
            let found = app.with_store(judge).await;
            app.score.put(found.ok());
        });
    }
    match known {
        Some(score) => framed(&site, Some(Tab::Score), TITLE, &render(&site, &score)),
        None => reloading_page(&site, Tab::Score, TITLE, 2, &waiting()),
    }
}

/// Scores the newest sessions with compactions, as many as the time limit allows.
fn judge(app: &App, store: &mut Store) -> Result<CompactionScores, Problem> {
    let deadline = Instant::now() + SCORE_TIMEOUT;
    let found = sessions::find(&app.world).map_err(|it| app.internal_error(&it))?;
    let compacted = score::compacted(store, &found)?;
    let mut told = CompactionScores { of: compacted.len(), ..CompactionScores::default() };
    for found in compacted.into_iter().take(MOST_SESSIONS).take_while(|_| Instant::now() < deadline)
    {
        // A session that cannot be read is left out, like one that the time limit excludes.
        let Ok(judged) = score::judge(&found.path) else { continue };
        let session = || found.owner.session.to_string();
        let judged = judged.into_iter();
        told.compactions
            .extend(judged.map(|judgement| ScoredCompaction { session: session(), judgement }));
        told.sessions += 1;
    }
    told.compactions.sort_by_key(|it| std::cmp::Reverse(it.judgement.time));
    Ok(told)
}

fn waiting() -> Markup {
    html! {
        h1 { (TITLE) }
        p role="status" { "Reading transcripts; this page comes back by itself." }
    }
}

fn render(site: &Site, score: &CompactionScores) -> Markup {
    let with_summary = score.compactions.iter().filter(|it| it.judgement.has_summary);
    let facts: Vec<&Fact> = with_summary.flat_map(|it| &it.judgement.facts).collect();
    let total = RecallCounts::of(facts.iter().copied());
    html! {
        h1 { (TITLE) }
        @if score.compactions.is_empty() {
            section.empty { p { "No conversation was compacted: nothing was lost that could be counted." } }
        } @else {
            p.lead { (total.headline()) }
            p.quiet {
                (count_with_noun(score.compactions.len() as u64, "compaction", "compactions")) " of "
                (count_with_noun(score.sessions as u64, "session", "sessions"))
                @if score.sessions < score.of { ", the newest of " (score.of) }
            }
            (kinds(&facts, total))
            (listed(site, &score.compactions))
        }
    }
}

fn kinds(facts: &[&Fact], total: RecallCounts) -> Markup {
    let of = |kind| RecallCounts::of(facts.iter().copied().filter(|fact| fact.kind == kind));
    html! {
        table {
            caption { "What the work needed after a compaction, and who kept it" }
            (head("Kind"))
            tbody {
                @for kind in FactKind::ALL { (figures(html! { (kind.label()) }, of(kind), true, &[])) }
                (figures(html! { strong { "all" } }, total, true, &[]))
            }
        }
    }
}

fn listed(site: &Site, compactions: &[ScoredCompaction]) -> Markup {
    let telling = || compactions.iter().filter(|it| !it.judgement.facts.is_empty());
    html! {
        section aria-labelledby="each" {
            h2 #each { "Compaction by compaction" }
            div.scroll tabindex="0" role="group" aria-label="Compactions" {
                table {
                    (head("Session"))
                    tbody { @for it in telling().take(LISTED) { (compaction(site, it)) } }
                }
            }
        }
    }
}

fn head(first: &str) -> Markup {
    html! {
        thead {
            tr {
                th scope="col" { (first) }
                @for name in ["Needed", "Summary", "Restore", "Together"] { th.figure scope="col" { (name) } }
                th scope="col" { "Kept" }
            }
        }
    }
}

fn compaction(site: &Site, it: &ScoredCompaction) -> Markup {
    let name = html! {
        a href=(site.session(&it.session)) { (short(&it.session)) } " "
        span.quiet { (it.judgement.time.map(clock::day).unwrap_or_default()) }
    };
    let lost = it.judgement.facts.iter().filter(|fact| !fact.in_summary && !fact.in_restore);
    let lost: Vec<&str> = lost.map(|fact| fact.name.as_str()).collect();
    figures(name, RecallCounts::of(&it.judgement.facts), it.judgement.has_summary, &lost)
}

fn figures(name: Markup, tally: RecallCounts, has_summary: bool, lost: &[&str]) -> Markup {
    let RecallCounts { needed, summary, restore, either: together } = tally;
    html! {
        tr {
            th scope="row" { (name) }
            td.figure { (tokens(needed)) }
            td.figure { (if has_summary { tally.share(summary) } else { "–".to_owned() }) }
            td.figure { (tally.share(restore)) }
            td.figure { (tally.share(together)) }
            td {
                (kept_bar(tally))
                @if !lost.is_empty() {
                    span.of {
                        (lost.len()) " lost: " (lost[..lost.len().min(NAMES)].join(", "))
                        @if lost.len() > NAMES { ", …" }
                    }
                }
            }
        }
    }
}

/// Draws the needed facts as a bar: kept by the summary, added by the restore, lost.
fn kept_bar(tally: RecallCounts) -> Markup {
    let part = |count: u64| count as f64 * 100.0 / tally.needed.max(1) as f64;
    let (summary, together) = (part(tally.summary), part(tally.either));
    let told = format!("summary {summary:.0} %, with the restore {together:.0} %");
    html! {
        @if tally.needed > 0 {
            svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=(told) {
                rect.track x="0" y="0" width="100" height="8" {}
                rect.added x="0" y="0" width=(format!("{together:.1}")) height="8" {}
                rect.level x="0" y="0" width=(format!("{summary:.1}")) height="8" {}
            }
        }
    }
}
