//! Sessions as JSON. These names are a promise to scripts.

use std::io::Write;

use plimsoll_core::time::utc_second;
use plimsoll_engine::sessions;
use plimsoll_engine::world::now;
use plimsoll_extract::board::PathClaim;
use serde::{Serialize, Serializer};

use crate::listing::Shown;
use crate::ui::json::Harmless;
use crate::view::{ForecastView, ReadingView};

#[derive(Serialize)]
struct SessionView {
    session: String,
    agent: &'static str,
    project: String,
    transcript: String,
    reading: ReadingView,
    forecast: ForecastView,
    compactions: Option<u64>,
    checkpoint: Option<CheckpointView>,
    claims: Vec<PathClaim>,
    subagents: Vec<SubagentView>,
}

/// The last checkpoint of a session.
#[derive(Serialize)]
struct CheckpointView {
    id: String,
    created: String,
    age_seconds: u64,
}

#[derive(Serialize)]
struct SubagentView {
    subagent: String,
    reading: ReadingView,
}

/// Prints an array, each session as soon as it is there.
pub(super) fn print(
    mut out: impl Write,
    sessions: impl Iterator<Item = Shown>,
) -> anyhow::Result<()> {
    let now = now();
    let mut json = serde_json::Serializer::pretty(Harmless(&mut out));
    json.collect_seq(sessions.map(|session| view(session, now)))?;
    writeln!(out)?;
    Ok(out.flush()?)
}

fn view(session: Shown, now: u64) -> SessionView {
    let Shown { found, measured, pace, checkpoint, claims, subagents } = session;
    SessionView {
        session: found.owner.session.to_string(),
        agent: found.agent.id().as_str(),
        project: measured.project.display().to_string(),
        transcript: found.path.display().to_string(),
        reading: ReadingView::new(&measured, now),
        forecast: ForecastView::from(sessions::forecast(&measured, pace.as_ref())),
        compactions: pace.map(|pace| pace.compactions),
        checkpoint: checkpoint.map(|last| CheckpointView {
            age_seconds: now.saturating_sub(last.created.max(0) as u64) / 1000,
            created: utc_second(last.created),
            id: last.id,
        }),
        claims,
        subagents: subagents
            .into_iter()
            .map(|(found, measured)| SubagentView {
                subagent: found.owner.subagent.map_or_else(String::new, |name| name.to_string()),
                reading: ReadingView::new(&measured, now),
            })
            .collect(),
    }
}
