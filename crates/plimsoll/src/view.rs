//! JSON views for `--json`. The field names are a promise to scripts.

use plimsoll_core::Tokens;
use plimsoll_core::forecast::Forecast;
use plimsoll_core::reading::{Band, ReadingSource};
use plimsoll_core::time::utc_second;
use plimsoll_core::trigger::{Trigger, TriggerSource};
use plimsoll_core::window::Window;
use plimsoll_engine::criteria::Criteria;
use plimsoll_engine::load::Measured;
use plimsoll_engine::watch::Standing;
use serde::Serialize;

/// A reading and its source.
#[derive(Serialize)]
pub(crate) struct ReadingView {
    pub(crate) used: Tokens,
    source: ReadingSource,
    percent: f64,
    band: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_version: Option<String>,
    window: WindowView,
    trigger: TriggerView,
    lines: ThresholdsView,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<CountedView>,
}

/// A window and its source.
#[derive(Serialize)]
pub(crate) struct WindowView {
    tokens: Tokens,
    source: &'static str,
}

/// The compaction trigger and its source.
#[derive(Serialize)]
pub(crate) struct TriggerView {
    tokens: Option<Tokens>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    compactions: Option<u32>,
}

#[derive(Serialize)]
struct ThresholdsView {
    ceiling: Tokens,
    checkpoint: Tokens,
    save: Tokens,
    warn: Tokens,
    restart: Tokens,
    moved: bool,
}

/// Tokens that the service counted for the last response.
#[derive(Serialize)]
struct CountedView {
    prompt_tokens: Tokens,
    output_tokens: Tokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_seconds: Option<i64>,
}

impl ReadingView {
    /// Returns the view of `measured` at `now` (milliseconds since the epoch).
    pub(crate) fn new(measured: &Measured, now: u64) -> Self {
        let Measured { reading, window, levels, .. } = measured;
        let anchor = reading.anchor.as_ref().filter(|anchor| anchor.prompt_tokens > 0);
        Self {
            used: reading.used,
            source: reading.source,
            percent: percent(reading.used, window.tokens),
            band: Band::of(reading.used, window.tokens).label(),
            model: measured.model.clone(),
            client_version: measured.version.clone(),
            window: (*window).into(),
            trigger: measured.trigger.into(),
            lines: ThresholdsView {
                ceiling: levels.ceiling,
                checkpoint: levels.checkpoint,
                save: levels.save,
                warn: levels.warn,
                restart: levels.restart,
                moved: measured.moved,
            },
            counted: anchor.map(|anchor| CountedView {
                prompt_tokens: anchor.prompt_tokens,
                output_tokens: anchor.output_tokens,
                age_seconds: anchor.time.map(|time| (now as i64 - time) / 1000),
            }),
        }
    }
}

/// A reading from the watcher.
#[derive(Serialize)]
pub(crate) struct WatchedReadingView<'a> {
    used: Tokens,
    source: ReadingSource,
    percent: f64,
    band: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    window: WindowView,
    trigger: TriggerView,
}

impl<'a> WatchedReadingView<'a> {
    pub(crate) fn new(standing: &'a Standing) -> Self {
        let Standing { reading, window, trigger, model, .. } = standing;
        Self {
            used: reading.used,
            source: reading.source,
            percent: percent(reading.used, window.tokens),
            band: Band::of(reading.used, window.tokens).label(),
            model: model.as_deref(),
            window: (*window).into(),
            trigger: (*trigger).into(),
        }
    }
}

/// Distance of a session from compaction or from a full window.
#[derive(Serialize)]
pub(crate) struct ForecastView {
    tokens: Tokens,
    turns: Option<f64>,
    minutes: Option<f64>,
}

impl From<Forecast> for ForecastView {
    fn from(forecast: Forecast) -> Self {
        let rounded = |value: f64| (value * 10.0).round() / 10.0;
        Self {
            tokens: forecast.tokens,
            turns: forecast.turns.map(rounded),
            minutes: forecast.minutes.map(rounded),
        }
    }
}

impl From<Window> for WindowView {
    fn from(window: Window) -> Self {
        Self { tokens: window.tokens, source: window.source.label() }
    }
}

impl From<Trigger> for TriggerView {
    fn from(trigger: Trigger) -> Self {
        let (source, compactions) = match trigger {
            Trigger::At { source: TriggerSource::Formula, .. } => ("formula", None),
            Trigger::At { source: TriggerSource::Learned { compactions }, .. } => {
                ("learned", Some(compactions))
            }
            Trigger::SwitchedOff => ("switched_off", None),
            Trigger::OnRefusal => ("on_refusal", None),
        };
        Self { tokens: trigger.tokens(), source, compactions }
    }
}

/// Figures that show whether plimsoll achieves its goals.
#[derive(Serialize)]
pub(crate) struct CriteriaView {
    days: u32,
    phantoms: u64,
    manual_checkpoints_per_day: f64,
    automatic_checkpoints_per_day: f64,
    longest_stretch: Option<StretchView>,
    full_windows: u64,
    full_windows_without_warning: u64,
    restores: u64,
    restore_score: Option<f64>,
}

/// The longest time that a session worked on a single prompt.
#[derive(Serialize)]
struct StretchView {
    session: String,
    seconds: u64,
    began: String,
}

impl From<&Criteria> for CriteriaView {
    fn from(criteria: &Criteria) -> Self {
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        Self {
            days: criteria.days,
            phantoms: criteria.phantoms,
            manual_checkpoints_per_day: rounded(criteria.manual_per_day()),
            automatic_checkpoints_per_day: rounded(criteria.automatic_per_day()),
            longest_stretch: criteria.longest.as_ref().map(|stretch| StretchView {
                session: stretch.session.to_string(),
                seconds: criteria.longest_millis() / 1000,
                began: utc_second(stretch.began),
            }),
            full_windows: criteria.overflows.total,
            full_windows_without_warning: criteria.overflows.without_warning,
            restores: criteria.restores,
            restore_score: criteria.kept().map(rounded),
        }
    }
}

/// Returns the percentage, rounded to one decimal.
pub(crate) fn percent(used: Tokens, window: Tokens) -> f64 {
    (used as f64 * 1000.0 / window.max(1) as f64).round() / 10.0
}
