//! Prometheus metrics of the server.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::Method;
use plimsoll_engine::criteria::Criteria;
use plimsoll_store::RunCounts;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::live::{Live, LiveReading};

/// Metrics of one server. Clones share the counters.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<RequestLabels, Counter>,
    seconds: Histogram,
    /// Saves written to disk.
    pub(crate) saves: Counter,
    /// Disk syncs that wrote saves.
    pub(crate) commits: Counter,
    /// Open event streams.
    pub(crate) listeners: Gauge,
    /// Live sessions.
    sessions: Gauge,
    /// Used share of the fullest live window.
    fullest: Gauge<f64, AtomicU64>,
    /// Success criteria of plimsoll; absent until first computed.
    criteria: Vec<(Figure, Unlabelled)>,
    /// Rows waiting for the team database; absent without a team.
    team_waiting: Unlabelled,
    /// Active runs, sessions of all runs, and sessions that continued earlier work.
    runs: [Gauge; 3],
}

/// A gauge without labels that is absent until set.
type Unlabelled = Family<Vec<(String, String)>, Gauge<f64, AtomicU64>>;

/// Reads one figure from the criteria.
type Figure = fn(&Criteria) -> Option<f64>;

const RUNS: [(&str, &str); 3] = [
    ("runs_active", "Runs that are conducted right now"),
    ("run_sessions", "Sessions of all runs that are known"),
    ("run_restarts", "Sessions that went on with what one before them had begun"),
];

const CRITERIA: [(&str, &str, Figure); 8] = [
    ("phantoms", "Checkpoints that are named and not there or not whole", |it| {
        Some(it.phantoms as f64)
    }),
    ("manual_checkpoints_per_day", "Checkpoints that somebody asked for", |it| {
        Some(it.manual_per_day())
    }),
    ("automatic_checkpoints_per_day", "Checkpoints that were made by themselves", |it| {
        Some(it.automatic_per_day())
    }),
    ("longest_stretch_seconds", "The longest that a session worked on one prompt", |it| {
        Some(it.longest_millis() as f64 / 1000.0)
    }),
    ("full_windows", "Windows that ran full in the last days", |it| {
        Some(it.overflows.total as f64)
    }),
    ("full_windows_unwarned", "Those of them without a word before", |it| {
        Some(it.overflows.without_warning as f64)
    }),
    ("restores", "Sessions given back what was lost, in the last days", |it| {
        Some(it.restores as f64)
    }),
    ("restore_score", "Share of what was needed after compactions that was kept", Criteria::kept),
];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: MethodLabel,
    route: String,
    status: u16,
}

/// HTTP method as a label. Unknown methods become `other`, so that clients cannot create labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct MethodLabel(&'static str);

impl EncodeLabelValue for MethodLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.0.encode(encoder)
    }
}

impl From<&Method> for MethodLabel {
    fn from(method: &Method) -> Self {
        const KNOWN: [&str; 7] = ["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"];
        let known = KNOWN.into_iter().find(|known| *known == method.as_str());
        Self(known.unwrap_or("other"))
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("plimsoll");
        let metrics = Self {
            requests: Family::default(),
            seconds: Histogram::new([
                0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0,
            ]),
            saves: Counter::default(),
            commits: Counter::default(),
            listeners: Gauge::default(),
            sessions: Gauge::default(),
            fullest: Gauge::default(),
            criteria: Vec::new(),
            team_waiting: Family::default(),
            runs: Default::default(),
            registry: Arc::default(),
        };
        registry.register("http_requests", "Requests answered", metrics.requests.clone());
        let seconds = metrics.seconds.clone();
        registry.register_with_unit("http", "Time to an answer", Unit::Seconds, seconds);
        registry.register("saves", "Saves on disk", metrics.saves.clone());
        registry.register("commits", "Transactions of saves", metrics.commits.clone());
        registry.register("listeners", "Open event streams", metrics.listeners.clone());
        registry.register("sessions_live", "Sessions that are live", metrics.sessions.clone());
        let fullest = metrics.fullest.clone();
        registry.register("fullest_window", "Share of the fullest window in use", fullest);
        for ((name, about), gauge) in RUNS.into_iter().zip(&metrics.runs) {
            registry.register(name, about, gauge.clone());
        }
        let waiting = metrics.team_waiting.clone();
        registry.register("team_waiting_rows", "Rows that wait for the team's database", waiting);
        let criteria = CRITERIA.map(|(name, about, figure)| {
            let gauge = Unlabelled::default();
            registry.register(name, about, gauge.clone());
            (figure, gauge)
        });
        Self { registry: Arc::new(registry), criteria: criteria.to_vec(), ..metrics }
    }

    /// Counts an answered request.
    pub(crate) fn count_request(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let answer = RequestLabels { method: method.into(), route: route.to_owned(), status };
        self.requests.get_or_create(&answer).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// Updates the gauges of live sessions.
    pub(crate) fn set_live(&self, live: &Live) {
        let windows = live.windows();
        self.sessions.set(windows.keys().filter(|(_, subagent)| subagent.is_none()).count() as i64);
        let share = |reading: &LiveReading| reading.used as f64 / reading.window.max(1) as f64;
        self.fullest.set(windows.values().map(share).fold(0.0, f64::max));
    }

    /// Sets the success criteria.
    pub(crate) fn set_criteria(&self, found: &Criteria) {
        for (figure, gauge) in &self.criteria {
            if let Some(value) = figure(found) {
                gauge.get_or_create(&Vec::new()).set(value);
            }
        }
    }

    /// Sets the gauges of runs.
    pub(crate) fn set_runs(&self, active: usize, counts: RunCounts) {
        let values = [active as u64, counts.sessions, counts.restarts];
        for (gauge, value) in self.runs.iter().zip(values) {
            gauge.set(value as i64);
        }
    }

    /// Sets the number of rows waiting for the team database; `None` removes the gauge.
    pub(crate) fn set_team_waiting(&self, rows: Option<u64>) {
        match rows {
            Some(rows) => drop(self.team_waiting.get_or_create(&Vec::new()).set(rows as f64)),
            None => self.team_waiting.clear(),
        }
    }

    /// Encodes all metrics in OpenMetrics format.
    pub(crate) fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
