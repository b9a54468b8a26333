//! What changes, as JSON. These names are a promise to scripts.

use std::io::Write;

use plimsoll_core::Tokens;
use plimsoll_core::metrics::ContextMetrics;
use plimsoll_core::time::utc;
use plimsoll_engine::watch::{Change, Notice};
use serde::Serialize;

use crate::ui::json::write_json;
use crate::view::WatchedReadingView;

#[derive(Serialize)]
struct NoticeView<'a> {
    at: String,
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent: Option<&'a str>,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<WatchedReadingView<'a>>,
    #[serde(flatten)]
    context: Option<ContextView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction: Option<CompactionView>,
}

/// How a session's context stands, and what is to be done about it.
#[derive(Serialize)]
struct ContextView {
    context_metrics: ContextMetrics,
    context_status: &'static str,
    recommended_action: &'static str,
}

#[derive(Serialize)]
struct CompactionView {
    automatic: bool,
    tokens_before: Option<Tokens>,
    tokens_after: Option<Tokens>,
}

/// Prints a change as an object in a line.
pub(super) fn print(out: &mut impl Write, notice: &Notice) -> anyhow::Result<()> {
    write_json(out, &view(notice))
}

fn view(notice: &Notice) -> NoticeView<'_> {
    let (mut project, mut reading, mut compaction) = (None, None, None);
    let (mut context, mut reason) = (None, None);
    let change = match &notice.change {
        Change::Started => "started",
        Change::Read(standing) => {
            project = Some(standing.project.display().to_string());
            reading = Some(WatchedReadingView::new(standing));
            context = Some(ContextView {
                context_metrics: standing.metrics(),
                context_status: standing.status().label(),
                recommended_action: standing.status().action(),
            });
            "reading"
        }
        Change::Compacted(boundary) => {
            compaction = Some(CompactionView {
                automatic: boundary.automatic,
                tokens_before: boundary.tokens_before,
                tokens_after: boundary.tokens_after,
            });
            "compacted"
        }
        Change::Asked(why) => {
            reason = Some(why.to_string());
            "asked"
        }
        Change::Idle => "idle",
        Change::Ended => "ended",
        Change::Died => "died",
    };
    NoticeView {
        at: utc(notice.at as i64),
        session: notice.owner.session.as_str(),
        subagent: notice.owner.subagent.as_ref().map(|subagent| subagent.as_str()),
        change,
        project,
        reading,
        context,
        reason,
        compaction,
    }
}
