//! The hook: timed among small processes and beside the seeds' hooks, and counted.

use std::ffi::OsStr;
use std::path::Path;

use serde::Serialize;

use crate::competitors::{self, NOOP, OFF, post_tool_use};
use crate::count::{self, Calls};
use crate::figures::Bench;
use crate::gates::{Figure, Gate, at_most, row};
use crate::report;
use crate::spawn::{self, Competitor, Timing};
use crate::stage::{self, Stage};

/// What was found out about the hook.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Hook {
    /// The no-op and the hook, among small processes.
    pub(crate) small: Vec<Timing>,
    /// The same in a run with the seeds' hooks.
    pub(crate) other: Vec<Timing>,
    /// Each seed's row in it, with ours that does the same.
    pub(crate) rivals: Vec<(String, String)>,
    /// Seeds' hooks that are not on this machine.
    pub(crate) missing: Vec<String>,
    pub(crate) counts: Vec<Count>,
    pub(crate) readings: Vec<Reading>,
}

/// What one run of a process did.
#[derive(Debug, Serialize)]
pub(crate) struct Count {
    pub(crate) name: String,
    pub(crate) instructions: u64,
    pub(crate) peak_bytes: u64,
    pub(crate) calls: Calls,
    /// Bytes on stdout.
    pub(crate) printed: usize,
}

/// A reading beside the truth the transcript was written with.
#[derive(Debug, Serialize)]
pub(crate) struct Reading {
    pub(crate) name: String,
    /// `None` where the binary gave no number.
    pub(crate) tokens: Option<u64>,
    pub(crate) truth: u64,
}

/// Counts what the hook does and, unless only that is asked for, times it.
pub(crate) fn time(bench: &Bench) -> anyhow::Result<Hook> {
    let (stage, noop) = (bench.stage()?, bench.nothing());
    let hooks = competitors::hooks(stage, &bench.plimsoll)?;
    report::note("counting instructions, system calls and memory");
    let counts = counts(stage, &noop, &hooks)?;
    let readings = readings(stage, &bench.plimsoll)?;
    let mut hook = Hook { counts, readings, ..Hook::default() };
    if !bench.counted {
        race(bench, &noop, &hooks, &mut hook)?;
    }
    Ok(hook)
}

/// Times the hook among small processes, then beside the seeds' hooks.
fn race(
    bench: &Bench,
    noop: &Competitor,
    hooks: &[Competitor],
    found: &mut Hook,
) -> anyhow::Result<()> {
    let stage = bench.stage()?;
    report::note("timing it");
    let small = [std::slice::from_ref(noop), hooks].concat();
    found.small = spawn::race(stage, &small, if bench.quick { 60 } else { 300 })?;

    report::note("timing the seeds' hooks");
    let seeds = competitors::seeds(stage, &bench.seeds)?;
    let others: Vec<_> = seeds.present.iter().map(|seed| seed.competitor.clone()).collect();
    let rivals = hooks.iter().filter(|hook| seeds.rivals().contains(&hook.name.as_str()));
    let large = [vec![noop.clone()], rivals.cloned().collect(), others].concat();
    found.other = spawn::race(stage, &large, if bench.quick { 8 } else { 40 })?;
    found.missing.clone_from(&seeds.missing);
    found.rivals = seeds.pairs();
    Ok(())
}

/// What the no-op does, and the hook where its path may differ.
fn counts(stage: &Stage, noop: &Competitor, hooks: &[Competitor]) -> anyhow::Result<Vec<Count>> {
    let counted = ["100 KB", "10 MB", "200 MB", "trap"].map(competitors::post_tool_use);
    let hooks = hooks.iter().filter(|hook| counted.contains(&hook.name) || hook.name == OFF);
    std::iter::once(noop)
        .chain(hooks)
        .map(|competitor| {
            // The first run fills the settings cache.
            let printed = spawn::output(stage, competitor)?.stdout.len();
            Ok(Count {
                name: competitor.name.clone(),
                instructions: count::instructions(stage, competitor)?,
                peak_bytes: count::peak_memory(stage, competitor)?,
                calls: count::system_calls(stage, competitor)?,
                printed,
            })
        })
        .collect()
}

/// What the binary reads on each transcript, beside the truth.
fn readings(stage: &Stage, plimsoll: &Path) -> anyhow::Result<Vec<Reading>> {
    let read = |transcript: &stage::Transcript| {
        let path = transcript.path.as_os_str();
        let [measure, option, tokens] = ["measure", "--transcript", "--tokens"].map(OsStr::new);
        let argv = [plimsoll.as_os_str(), measure, option, path, tokens];
        let output = spawn::output(stage, &Competitor::new("plimsoll measure", argv))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(Reading {
            name: transcript.label.to_owned(),
            tokens: text.trim().parse().ok(),
            truth: transcript.truth.prompt_tokens + transcript.truth.output_tokens,
        })
    };
    stage.transcripts.iter().map(read).collect()
}

/// Judges what was promised of the hook.
pub(crate) fn gates(found: &Hook) -> anyhow::Result<Vec<Gate>> {
    let mut gates = if found.small.is_empty() { Vec::new() } else { timed(&found.small)? };
    gates.extend(counted(found));
    for (seed, ours) in &found.rivals {
        let (seed, ours) = (row(&found.other, seed)?, row(&found.other, ours)?);
        let times = seed.min_us / ours.min_us;
        let promise = format!("≥ 50 × faster than {}", seed.name);
        gates.push(Gate { promise, measured: format!("{times:.0} ×"), kept: times >= 50.0 });
    }
    Ok(gates)
}

fn timed(hook: &[Timing]) -> anyhow::Result<Vec<Gate>> {
    let (noop, off) = (row(hook, NOOP)?, row(hook, OFF)?);
    let sizes = ["100 KB", "1 MB", "10 MB", "100 MB", "200 MB"].map(post_tool_use);
    let rows = sizes.iter().map(|name| row(hook, name)).collect::<anyhow::Result<Vec<_>>>()?;
    let (small, big) = (rows[0], rows[rows.len() - 1]);
    let worst = |of: Figure| rows.iter().map(|row| of(row)).fold(0.0, f64::max);
    let (min, cpu): (Figure, Figure) = (|row| row.min_us, |row| row.cpu_p50_us);
    Ok(vec![
        at_most("hook / no-op, minimums, any size", worst(min) / min(noop), 2.0),
        at_most("hook / no-op, median CPU, any size", worst(cpu) / cpu(noop), 2.0),
        at_most("hook switched off / no-op, minimums", min(off) / min(noop), 1.5),
        at_most("hook switched off / no-op, median CPU", cpu(off) / cpu(noop), 1.5),
        at_most("200 MB / 100 KB, minimums", min(big) / min(small), 1.15),
        at_most("200 MB / 100 KB, median CPU", cpu(big) / cpu(small), 1.15),
    ])
}

fn counted(found: &Hook) -> Vec<Gate> {
    let hooks = || found.counts.iter().filter(|count| count.name != NOOP);
    let whole = hooks().filter(|count| count.name != post_tool_use("trap"));
    let instructions = whole.map(|count| count.instructions).max().unwrap_or(u64::MAX);
    let peak = hooks().map(|count| count.peak_bytes).max().unwrap_or(u64::MAX) as f64 / 1e6;
    let syncs: u64 = hooks().map(|count| count.calls.syncs).sum();
    let printed: usize = hooks().map(|count| count.printed).sum();
    let wrong: Vec<_> = found.readings.iter().filter(|reading| !right(reading)).collect();
    let named: Vec<_> = wrong.iter().map(|reading| reading.name.as_str()).collect();
    vec![
        Gate {
            promise: "instructions ≤ 60,000 (100 KB, 10 MB, 200 MB)".to_owned(),
            measured: instructions.to_string(),
            kept: instructions <= 60_000,
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
}
