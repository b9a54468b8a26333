//! Percentiles of call durations.

use serde::Serialize;

/// Percentiles of some calls, in milliseconds.
#[derive(Debug, Serialize)]
pub(crate) struct Percentiles {
    pub(crate) calls: usize,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
}

impl Percentiles {
    pub(crate) fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |share: usize| {
            let place = (times.len() * share / 100).min(times.len().saturating_sub(1));
            times.get(place).copied().unwrap_or(f64::NAN)
        };
        let calls = times.len();
        Self { calls, p50_ms: at(50), p95_ms: at(95), p99_ms: at(99), max_ms: at(100) }
    }
}
