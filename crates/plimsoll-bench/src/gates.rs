//! The promises, each with what was measured.

use anyhow::Context as _;
use serde::Serialize;

use crate::accuracy::{ALL, Accuracy, COMPACTED, Score};
use crate::commits;
use crate::competitors::{NOOP, post_tool_use};
use crate::dashboard;
use crate::listing::Listing;
use crate::load;
use crate::packing;
use crate::precompact;
use crate::report::{Figures, Reading};
use crate::saves::Restoring;
use crate::serving;
use crate::spawn::Timing;
use crate::team;
use crate::triggers;
use crate::watching;

/// A promise and whether it was kept.
#[derive(Debug, Serialize)]
pub(crate) struct Gate {
    pub(crate) promise: String,
    pub(crate) measured: String,
    pub(crate) kept: bool,
}

/// Judges the figures; `rivals` pairs each seed's row with ours.
pub(crate) fn judge(figures: &Figures, rivals: &[(String, String)]) -> anyhow::Result<Vec<Gate>> {
    let mut gates = if figures.hook.is_empty() { Vec::new() } else { times(&figures.hook)? };
    gates.extend(counts(figures));
    for (seed, ours) in rivals {
        let (seed, ours) = (row(&figures.other, seed)?, row(&figures.other, ours)?);
        let times = seed.min_us / ours.min_us;
        let promise = format!("≥ 50 × faster than {}", seed.name);
        gates.push(Gate { promise, measured: format!("{times:.0} ×"), kept: times >= 50.0 });
    }
    if let Accuracy::Scores(scores) = &figures.accuracy {
        gates.extend(predictions(scores));
    }
    gates.extend(figures.listing.iter().flat_map(listing));
    gates.extend(figures.restoring.iter().flat_map(restoring));
    gates.extend(figures.committing.iter().flat_map(commits::gates));
    gates.extend(figures.painting.iter().flat_map(dashboard::gates));
    if let Some(checkpoints) = &figures.checkpoints {
        gates.extend(precompact::gates(checkpoints)?);
    }
    gates.extend(figures.watching.iter().flat_map(watching::gates));
    gates.extend(figures.triggers.iter().flat_map(triggers::gates));
    gates.extend(figures.serving.iter().flat_map(serving::gates));
    gates.extend(figures.team.iter().flat_map(team::gates));
    gates.extend(figures.packing.iter().flat_map(packing::gates));
    gates.extend(figures.load.iter().flat_map(load::gates));
    Ok(gates)
}

/// How long a person with many transcripts waits for the first screen, and what that takes.
fn listing(listing: &Listing) -> [Gate; 2] {
    let first = listing.warm.first_screen_ms;
    let peak = listing.warm.peak_bytes.max(listing.cold.peak_bytes) as f64 / 1e6;
    [
        Gate {
            promise: "first screen of all sessions ≤ 300 ms".to_owned(),
            measured: format!("{first:.0} ms"),
            kept: first <= 300.0,
        },
        Gate {
            promise: "peak memory of listing them ≤ 50 MB".to_owned(),
            measured: format!("{peak:.1} MB"),
            kept: peak <= 50.0,
        },
    ]
}

/// How long a person with many saves waits for one.
fn restoring(found: &Restoring) -> [Gate; 2] {
    [("newest", &found.newest), ("search", &found.search)].map(|(what, spread)| Gate {
        promise: format!("p95 of `rs`, {what}, in {} saves < 20 ms", found.saves),
        measured: format!("{:.1} ms", spread.p95_ms),
        kept: spread.p95_ms < 20.0,
    })
}

/// How well the next prompt was predicted on real transcripts.
fn predictions(scores: &[Score]) -> Vec<Gate> {
    let of = |name: &str, figure: fn(&Score) -> &str| {
        let score = scores.iter().find(|score| score.name == name);
        score.and_then(|score| figure(score).trim_end_matches('%').parse::<f64>().ok())
    };
    let error = |what: &str, percent: Option<f64>, limit: f64| {
        at_most(&format!("{what}, in percent,"), percent.unwrap_or(f64::NAN), limit)
    };
    vec![
        error("median error of predicted prompts", of(ALL, |score| &score.median), 0.05),
        error("p95 of that error", of(ALL, |score| &score.p95), 0.7),
        // The same as 99 % of calls within 5 %, which the script rounds to a tenth: too coarse.
        error("p99 of that error", of(ALL, |score| &score.p99), 5.0),
        error("median error right after a compaction", of(COMPACTED, |score| &score.median), 12.0),
    ]
}

/// The row of that name.
pub(crate) fn row<'a>(timings: &'a [Timing], name: &str) -> anyhow::Result<&'a Timing> {
    let found = timings.iter().find(|timing| timing.name == name);
    found.with_context(|| format!("`{name}` was not timed"))
}

/// What is taken of a row.
pub(crate) type Figure = fn(&Timing) -> f64;

fn times(hook: &[Timing]) -> anyhow::Result<Vec<Gate>> {
    let noop = row(hook, NOOP)?;
    let sizes = ["100 KB", "1 MB", "10 MB", "100 MB", "200 MB"].map(post_tool_use);
    let rows = sizes.iter().map(|name| row(hook, name)).collect::<anyhow::Result<Vec<_>>>()?;
    let (small, big) = (rows[0], rows[rows.len() - 1]);
    let worst = |of: Figure| rows.iter().map(|row| of(row)).fold(0.0, f64::max);
    let (min, cpu): (Figure, Figure) = (|row| row.min_us, |row| row.cpu_p50_us);
    Ok(vec![
        at_most("hook / no-op, minimums, any size", worst(min) / min(noop), 2.5),
        at_most("hook / no-op, median CPU, any size", worst(cpu) / cpu(noop), 2.5),
        at_most("200 MB / 100 KB, minimums", min(big) / min(small), 1.15),
        at_most("200 MB / 100 KB, median CPU", cpu(big) / cpu(small), 1.15),
    ])
}

pub(crate) fn at_most(what: &str, ratio: f64, limit: f64) -> Gate {
    let promise = format!("{what} ≤ {limit}");
    Gate { promise, measured: format!("{ratio:.2}"), kept: ratio <= limit }
}

fn counts(figures: &Figures) -> Vec<Gate> {
    if figures.counts.is_empty() {
        return Vec::new();
    }
    let hooks = || figures.counts.iter().filter(|count| count.name != NOOP);
    let whole = hooks().filter(|count| count.name != post_tool_use("trap"));
    let instructions = whole.map(|count| count.instructions).max().unwrap_or(u64::MAX);
    let peak = hooks().map(|count| count.peak_bytes).max().unwrap_or(u64::MAX) as f64 / 1e6;
    let syncs: u64 = hooks().map(|count| count.calls.syncs).sum();
    let printed: usize = hooks().map(|count| count.printed).sum();
    let wrong: Vec<_> = figures.readings.iter().filter(|reading| !right(reading)).collect();
    let named: Vec<_> = wrong.iter().map(|reading| reading.name.as_str()).collect();
    vec![
        Gate {
            promise: "instructions ≤ 150,000 (100 KB, 10 MB, 200 MB)".to_owned(),
            measured: instructions.to_string(),
            kept: instructions <= 150_000,
        },
        Gate {
            promise: "peak memory < 16 MB, trap file included".to_owned(),
            measured: format!("{peak:.1} MB"),
            kept: peak < 16.0,
        },
        Gate { promise: "no fsync".to_owned(), measured: syncs.to_string(), kept: syncs == 0 },
        Gate {
            promise: "the timed path is the quiet one".to_owned(),
            measured: format!("{printed} bytes printed"),
            kept: printed == 0,
        },
        Gate {
            promise: "readings within 1 % of the truth, trap file included".to_owned(),
            measured: if named.is_empty() { "all".to_owned() } else { named.join(", ") + " wrong" },
            kept: wrong.is_empty(),
        },
    ]
}

fn right(reading: &Reading) -> bool {
    reading.tokens.is_some_and(|tokens| tokens.abs_diff(reading.truth) * 100 <= reading.truth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tokens: Option<u64>, expected: bool) {
        assert_eq!(right(&Reading { name: String::new(), tokens, truth: 100_000 }), expected);
    }

    #[test]
    fn a_reading_is_right_within_one_percent() {
        check(Some(100_000), true);
        check(Some(99_000), true);
        check(Some(101_001), false);
        check(None, false);
    }

    #[test]
    fn a_ratio_at_its_limit_is_kept() {
        assert!(at_most("x", 2.5, 2.5).kept);
        assert!(!at_most("x", 2.51, 2.5).kept);
        assert!(!at_most("x", f64::NAN, 2.5).kept);
    }
}
