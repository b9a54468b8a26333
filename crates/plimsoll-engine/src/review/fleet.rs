//! The state of all sessions, as shown to a reviewer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plimsoll_agents::Owner;
use plimsoll_core::event::SessionId;
use plimsoll_core::metrics::{ContextMetrics, ContextStatus};
use plimsoll_core::review::{ESCALATE, TRIGGER};
use plimsoll_core::settings::Lines;
use plimsoll_core::time::utc_second;
use plimsoll_core::{Millis, Tokens};
use serde::Serialize;

use crate::watch::{Change, Notice, Standing};

/// The sessions that are alive.
#[derive(Default)]
pub(super) struct Fleet {
    sessions: BTreeMap<String, Known>,
    /// Whether anything changed since the last review.
    pub(super) has_news: bool,
}

/// A session that is alive.
pub(super) struct Known {
    pub(super) session: SessionId,
    pub(super) project: PathBuf,
    pub(super) status: ContextStatus,
    metrics: ContextMetrics,
    used: Tokens,
    window: Tokens,
    model: Option<String>,
    is_idle: bool,
}

impl Fleet {
    /// Applies notices of the watcher. Sessions in the folder `own` are a reviewer's and are
    /// skipped.
    pub(super) fn notice(&mut self, news: &[Notice], own: &Path) {
        for Notice { owner: Owner { session, subagent }, change, .. } in news {
            if subagent.is_some() {
                continue;
            }
            let known = self.sessions.get_mut(session.as_str());
            match change {
                Change::Read(standing) if standing.project != own => {
                    self.has_news = true;
                    self.sessions.insert(session.to_string(), Known::new(session, standing));
                }
                Change::Ended | Change::Died => drop(self.sessions.remove(session.as_str())),
                Change::Idle => known.into_iter().for_each(|known| known.is_idle = true),
                Change::Read(_) | Change::Started | Change::Compacted(_) | Change::Asked(_) => {}
            }
        }
    }

    pub(super) fn sessions(&self) -> impl Iterator<Item = &Known> {
        self.sessions.values()
    }

    /// Returns the reviewer's input. `before` is the first reviewer's answer, if this is the
    /// second.
    pub(super) fn shown(&self, lines: &Lines, now: Millis, before: Option<&str>) -> Vec<u8> {
        let line = lines.checkpoint;
        let state = State {
            timestamp: utc_second(now),
            criteria: [
                format!("Context utilization > {line}%? (trigger checkpoint)"),
                "Time since last checkpoint > 30 minutes with active work?".to_owned(),
            ],
            answer: format!(
                "Answer with two lines. STATUS: context_high or normal. RECOMMENDED_ACTION: {TRIGGER} \
                 followed by the names of the sessions, or {ESCALATE} if somebody who knows better \
                 should look, or none."
            ),
            first_answer: before,
            sessions: self.sessions().map(View::of).collect(),
        };
        // The state contains nothing that cannot be serialized.
        serde_json::to_vec(&state).unwrap_or_default()
    }
}

impl Known {
    fn new(session: &SessionId, standing: &Standing) -> Self {
        Self {
            session: session.clone(),
            project: standing.project.clone(),
            status: standing.status(),
            metrics: standing.metrics(),
            used: standing.reading.used,
            window: standing.window.tokens,
            model: standing.model.clone(),
            is_idle: false,
        }
    }
}

/// These field names are a promise to users' commands.
#[derive(Serialize)]
struct State<'a> {
    timestamp: String,
    criteria: [String; 2],
    answer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_answer: Option<&'a str>,
    sessions: Vec<View<'a>>,
}

#[derive(Serialize)]
struct View<'a> {
    session: &'a str,
    project: String,
    model: Option<&'a str>,
    idle: bool,
    used: Tokens,
    window: Tokens,
    context_metrics: &'a ContextMetrics,
    context_status: &'static str,
    recommended_action: &'static str,
}

impl<'a> View<'a> {
    fn of(known: &'a Known) -> Self {
        Self {
            session: known.session.as_str(),
            project: known.project.display().to_string(),
            model: known.model.as_deref(),
            idle: known.is_idle,
            used: known.used,
            window: known.window,
            context_metrics: &known.metrics,
            context_status: known.status.label(),
            recommended_action: known.status.action(),
        }
    }
}
