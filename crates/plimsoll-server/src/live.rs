//! Live state of the machine's sessions: current readings, and a broadcast of changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_agents::Owner;
use plimsoll_core::Tokens;
use plimsoll_core::metrics::ContextMetrics;
use plimsoll_core::reading::{Band, ReadingSource};
use plimsoll_core::time::utc;
use plimsoll_core::usage::share;
use plimsoll_engine::watch::{Change, Notice, Standing};
use plimsoll_extract::save::Save;
use serde::Serialize;
use tokio::sync::{broadcast, watch};
use utoipa::ToSchema;

/// Live windows and the broadcast of changes. Clones share both.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    news: broadcast::Sender<News>,
    over: watch::Sender<bool>,
    windows: Arc<Mutex<Windows>>,
}

/// Live windows by session and subagent.
pub(crate) type Windows = BTreeMap<(String, Option<String>), LiveReading>;

/// A live event.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum News {
    /// A window's reading has changed.
    Reading(LiveReading),
    /// A session or subagent has started.
    Started(Named),
    /// The client has compacted a conversation.
    Compacted(Named),
    /// A session was asked for a checkpoint.
    Asked(Named),
    /// A session or subagent has written nothing for a while.
    Idle(Named),
    /// A session or subagent has ended.
    Ended(Named),
    /// A session's process disappeared without ending the session.
    Died(Named),
    /// A run's journal has grown, or its runner has disappeared.
    Run {
        /// Run id.
        run: String,
        /// State of the run.
        state: &'static str,
    },
    /// A save is on disk.
    Saved {
        /// Id of the save.
        id: String,
        /// Environment of the save.
        environment: String,
        /// Saved task.
        task: String,
    },
}

/// Session or subagent of an event.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Named {
    /// Session id.
    pub(crate) session: String,
    /// Subagent id, if the event is about a subagent.
    pub(crate) subagent: Option<String>,
    /// Time of the event, in UTC. For a reading, the time of the session's last write.
    pub(crate) at: String,
}

/// Reading of a live window.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LiveReading {
    #[serde(flatten)]
    pub(crate) of: Named,
    /// Tokens in the window.
    pub(crate) used: Tokens,
    /// Window size in tokens.
    pub(crate) window: Tokens,
    /// Used share in percent, with one decimal.
    pub(crate) percent: f64,
    /// Name for that share: `healthy`, `warning`, `critical` or `overflow`.
    pub(crate) status: &'static str,
    /// `measured`, or `estimated` if the service has reported no token count since the last
    /// compaction or at all.
    #[schema(value_type = String)]
    pub(crate) source: ReadingSource,
    /// Tokens at which the client compacts, if it does.
    pub(crate) trigger: Option<Tokens>,
    /// Model of the last response.
    pub(crate) model: Option<String>,
    /// Folder in which the agent was started.
    pub(crate) project: String,
    /// Activity in the session's context.
    pub(crate) context_metrics: Metrics,
    /// `context_high` if a checkpoint is due, otherwise `normal`.
    pub(crate) context_status: &'static str,
    /// `trigger_checkpoint` or `none`.
    pub(crate) recommended_action: &'static str,
}

/// Activity in a session's context.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Metrics {
    /// Used share of the window, from 0 to 1.
    estimated_usage: f64,
    /// Prompts and model responses since the window was last emptied.
    message_count: u64,
    /// Tool calls since the window was last emptied.
    tool_calls: u64,
    /// Time of the last checkpoint, in UTC.
    last_checkpoint: Option<String>,
}

impl From<ContextMetrics> for Metrics {
    fn from(metrics: ContextMetrics) -> Self {
        let ContextMetrics { estimated_usage, message_count, tool_calls, last_checkpoint } =
            metrics;
        Self { estimated_usage, message_count, tool_calls, last_checkpoint }
    }
}

impl News {
    pub(crate) fn saved(save: &Save) -> Self {
        let Save { id, what, .. } = save;
        let (environment, task) = (what.environment.to_string(), what.task.clone());
        Self::Saved { id: id.clone(), environment, task }
    }

    /// Returns the name of the server-sent event.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Reading(_) => "reading",
            Self::Started(_) => "started",
            Self::Compacted(_) => "compacted",
            Self::Asked(_) => "asked",
            Self::Idle(_) => "idle",
            Self::Ended(_) => "ended",
            Self::Died(_) => "died",
            Self::Run { .. } => "run",
            Self::Saved { .. } => "saved",
        }
    }
}

impl LiveReading {
    fn new(of: Named, standing: Standing) -> Self {
        let (used, window) = (standing.reading.used, standing.window.tokens);
        Self {
            of,
            used,
            window,
            percent: (share(used, window) * 10.0).round() / 10.0,
            status: Band::of(used, window).label(),
            source: standing.reading.source,
            trigger: standing.trigger.within(window),
            context_metrics: standing.metrics().into(),
            context_status: standing.status().label(),
            recommended_action: standing.status().action(),
            model: standing.model,
            project: standing.project.to_string_lossy().into_owned(),
        }
    }
}

/// Number of events a slow listener may fall behind before it misses some.
const LAG: usize = 1024;

impl Default for Live {
    fn default() -> Self {
        let (news, over) = (broadcast::Sender::new(LAG), watch::Sender::new(false));
        Self { news, over, windows: Arc::default() }
    }
}

impl Live {
    /// Sends an event to all listeners. Without listeners the event is not built.
    pub(crate) fn send(&self, news: impl FnOnce() -> News) {
        if self.has_listeners() {
            // The last listener may have left since the check.
            let _ = self.news.send(news());
        }
    }

    /// Returns whether there are listeners.
    pub(crate) fn has_listeners(&self) -> bool {
        self.news.receiver_count() > 0
    }

    /// Records a notice of the watcher and sends it to the listeners.
    pub(crate) fn record(&self, notice: Notice) {
        let Notice { at, owner: Owner { session, subagent }, change } = notice;
        let (session, subagent) = (session.to_string(), subagent.map(|name| name.to_string()));
        let key = (session.clone(), subagent.clone());
        let of = Named { session, subagent, at: utc(at as i64) };
        let news = match change {
            Change::Read(standing) => {
                let reading = LiveReading::new(of, *standing);
                self.windows().insert(key, reading.clone());
                News::Reading(reading)
            }
            Change::Ended | Change::Died => {
                self.windows().remove(&key);
                if matches!(change, Change::Died) { News::Died(of) } else { News::Ended(of) }
            }
            Change::Started => News::Started(of),
            Change::Compacted(_) => News::Compacted(of),
            Change::Asked(_) => News::Asked(of),
            Change::Idle => News::Idle(of),
        };
        self.send(|| news);
    }

    pub(crate) fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the readings of all live windows, and receivers for later events and for the
    /// server's end.
    pub(crate) fn subscribe(
        &self,
    ) -> (Vec<News>, broadcast::Receiver<News>, watch::Receiver<bool>) {
        let windows = self.windows();
        let known = windows.values().cloned().map(News::Reading).collect();
        (known, self.news.subscribe(), self.over.subscribe())
    }

    /// Ends all streams, because the server is shutting down.
    pub(crate) fn end(&self) {
        self.over.send_replace(true);
    }
}
