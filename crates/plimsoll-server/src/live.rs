//! What happens right now: kept for who asks, told to everybody who listens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_agents::Owner;
use plimsoll_core::Tokens;
use plimsoll_core::metrics::ContextMetrics;
use plimsoll_core::reading::{Band, ReadingSource};
use plimsoll_core::save::Save;
use plimsoll_core::time::utc;
use plimsoll_core::usage::share;
use plimsoll_engine::watch::{Change, Notice, Standing};
use serde::Serialize;
use tokio::sync::{broadcast, watch};
use utoipa::ToSchema;

/// The news of the machine's sessions; a clone tells the same listeners.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    news: broadcast::Sender<News>,
    over: watch::Sender<bool>,
    windows: Arc<Mutex<Windows>>,
}

/// The windows that are live, by session and subagent.
pub(crate) type Windows = BTreeMap<(String, Option<String>), LiveReading>;

/// One piece of news.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum News {
    /// A window holds more or less than before.
    Reading(LiveReading),
    /// A session or subagent has begun.
    Started(Named),
    /// A conversation was compacted.
    Compacted(Named),
    /// A session was asked for a checkpoint.
    Asked(Named),
    /// Nothing was written for a while.
    Idle(Named),
    /// A session or subagent is over.
    Ended(Named),
    /// Its process is gone.
    Died(Named),
    /// A run has gone on, or its conductor has gone.
    Run {
        /// Its name.
        run: String,
        /// How it stands.
        state: &'static str,
    },
    /// A save is on disk.
    Saved {
        /// Its id.
        id: String,
        /// Its environment.
        environment: String,
        /// What it is about.
        task: String,
    },
}

/// Whom news are of.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Named {
    /// The session.
    pub(crate) session: String,
    /// Its subagent, if it is of one.
    pub(crate) subagent: Option<String>,
    /// When it was noticed, in UTC; of a reading, when the session last wrote.
    pub(crate) at: String,
}

/// How a live window stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LiveReading {
    #[serde(flatten)]
    pub(crate) of: Named,
    /// The tokens in it.
    pub(crate) used: Tokens,
    /// Its size.
    pub(crate) window: Tokens,
    /// The share in percent, with one decimal.
    pub(crate) percent: f64,
    /// The name for that share.
    pub(crate) status: &'static str,
    /// `measured`, or `estimated` where the service has counted nothing since the last compaction, or
    /// ever.
    #[schema(value_type = String)]
    pub(crate) source: ReadingSource,
    /// Where the client compacts, if it does.
    pub(crate) trigger: Option<Tokens>,
    /// The model that answered last.
    pub(crate) model: Option<String>,
    /// The folder the agent was started in.
    pub(crate) project: String,
    /// How its context stands, in short.
    pub(crate) context_metrics: Metrics,
    /// `context_high` where a checkpoint is due, else `normal`.
    pub(crate) context_status: &'static str,
    /// What is to be done: `trigger_checkpoint` or `none`.
    pub(crate) recommended_action: &'static str,
}

/// How a session's context stands, in short.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Metrics {
    /// The share of the window that is used, from 0 to 1.
    estimated_usage: f64,
    /// Prompts, and answers of the model, since the window was last emptied.
    message_count: u64,
    /// Calls of tools since then.
    tool_calls: u64,
    /// When the last checkpoint was sealed, in UTC.
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
    /// The news of a save.
    pub(crate) fn saved(save: &Save) -> Self {
        let Save { id, what, .. } = save;
        let (environment, task) = (what.environment.to_string(), what.task.clone());
        Self::Saved { id: id.clone(), environment, task }
    }

    /// What the event is called.
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

/// How much a slow listener may lag behind before it misses something.
const LAG: usize = 1024;

impl Default for Live {
    fn default() -> Self {
        let (news, over) = (broadcast::Sender::new(LAG), watch::Sender::new(false));
        Self { news, over, windows: Arc::default() }
    }
}

impl Live {
    /// Tells everybody who listens; if nobody does, there is nothing to be made.
    pub(crate) fn tell(&self, news: impl FnOnce() -> News) {
        if self.is_heard() {
            // The last one may have left just now.
            let _ = self.news.send(news());
        }
    }

    /// Whether anybody listens.
    pub(crate) fn is_heard(&self) -> bool {
        self.news.receiver_count() > 0
    }

    /// Takes what the watcher has noticed.
    pub(crate) fn notice(&self, notice: Notice) {
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
        self.tell(|| news);
    }

    /// The windows that are live.
    pub(crate) fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How all live windows stand, and what happens from then on.
    pub(crate) fn listen(&self) -> (Vec<News>, broadcast::Receiver<News>, watch::Receiver<bool>) {
        let windows = self.windows();
        let known = windows.values().cloned().map(News::Reading).collect();
        (known, self.news.subscribe(), self.over.subscribe())
    }

    /// Ends all streams: the server is about to.
    pub(crate) fn end(&self) {
        self.over.send_replace(true);
    }
}
