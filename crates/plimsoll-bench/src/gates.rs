//! Gates: promised limits, each with the measured value.

use anyhow::Context as _;
use serde::Serialize;

use crate::spawn::Timing;

/// A promise, the measured value, and whether it was kept.
#[derive(Debug, Serialize)]
pub(crate) struct Gate {
    pub(crate) promise: String,
    pub(crate) measured: String,
    pub(crate) verdict: Verdict,
}

/// Outcome of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Verdict {
    Kept,
    Missed,
    /// A prerequisite of the comparison is missing on this machine.
    NotJudged,
}

impl Verdict {
    /// Returns the word that tables show.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Missed => "MISSED",
            Self::NotJudged => "not judged",
        }
    }
}

impl Gate {
    pub(crate) fn new(promise: impl Into<String>, measured: impl Into<String>, kept: bool) -> Self {
        let verdict = if kept { Verdict::Kept } else { Verdict::Missed };
        Self { promise: promise.into(), measured: measured.into(), verdict }
    }

    /// Creates a gate that cannot be judged because `missing` is not available.
    pub(crate) fn not_judged(missing: &str, promise: impl Into<String>) -> Self {
        let measured = format!("{missing} is not here");
        Self { promise: promise.into(), measured, verdict: Verdict::NotJudged }
    }
}

/// Returns the timing named `name`.
pub(crate) fn find_timing<'a>(timings: &'a [Timing], name: &str) -> anyhow::Result<&'a Timing> {
    let found = timings.iter().find(|timing| timing.name == name);
    found.with_context(|| format!("`{name}` was not timed"))
}

/// Selects one figure of a timing.
pub(crate) type TimingFigure = fn(&Timing) -> f64;

pub(crate) fn at_most(what: &str, ratio: f64, limit: f64) -> Gate {
    Gate::new(format!("{what} ≤ {limit}"), format!("{ratio:.2}"), ratio <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_at_its_limit_is_kept() {
        let judged = |ratio| at_most("x", ratio, 2.5).verdict;
        assert_eq!(judged(2.5), Verdict::Kept);
        assert_eq!(judged(2.51), Verdict::Missed);
        assert_eq!(judged(f64::NAN), Verdict::Missed);
    }
}
