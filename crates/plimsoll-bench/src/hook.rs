//! Measures the hook: timed against small processes and the seeds' hooks, and counted.

use std::ffi::OsStr;
use std::path::Path;

use serde::Serialize;

use crate::bench::Bench;
use crate::bench_env::{self, BenchEnv};
use crate::competitors::{self, NOOP, OFF, post_tool_use};
use crate::count::{self, SystemCalls};
use crate::gates::{Gate, TimingFigure, at_most, find_timing};
use crate::plot::{Bar, Picture, Scale, bar_chart};
use crate::report;
use crate::section::PartResults;
use crate::spawn::{self, Competitor, Timing};
use crate::table::{megabytes, table, timing_table, with_title};

/// Results for the hook.
#[derive(Debug, Default, Serialize)]
pub(crate) struct HookResults {
    /// The no-op and the hook, timed with no larger processes in the run.
    small: Vec<Timing>,
    /// The same processes, timed in one run with the seeds' hooks.
    other: Vec<Timing>,
    /// Each seed's row in `other`, with its plimsoll counterpart.
    rivals: Vec<(String, String)>,
    /// Seeds' hooks that are missing on this machine.
    missing: Vec<String>,
    counts: Vec<ProcessCounts>,
    readings: Vec<ReadingCheck>,
}

/// Resources that one run of a process used.
#[derive(Debug, Serialize)]
struct ProcessCounts {
    name: String,
    instructions: u64,
    peak_bytes: u64,
    page_faults: u64,
    calls: SystemCalls,
    /// Bytes on stdout.
    printed: usize,
}

/// A reading and the true value of the generated transcript.
#[derive(Debug, Serialize)]
struct ReadingCheck {
    name: String,
    /// `None` if the binary printed no number.
    tokens: Option<u64>,
    truth: u64,
}

/// Counts the hook's work and, unless only counts are requested, times it.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<HookResults> {
    let (stage, noop) = (bench.stage()?, bench.noop_competitor());
    let hooks = competitors::hooks(stage, &bench.plimsoll)?;
    report::print_step("counting instructions, system calls, page faults and memory");
    let counts = counts(stage, &noop, &hooks)?;
    let readings = readings(stage, &bench.plimsoll)?;
    let mut hook = HookResults { counts, readings, ..HookResults::default() };
    if !bench.counted {
        time_hooks(bench, &noop, &hooks, &mut hook)?;
    }
    Ok(hook)
}

/// Times the hook with small processes, then with the seeds' hooks.
fn time_hooks(
    bench: &Bench,
    noop: &Competitor,
    hooks: &[Competitor],
    found: &mut HookResults,
) -> anyhow::Result<()> {
    let stage = bench.stage()?;
    report::print_step("timing it");
    let small = [std::slice::from_ref(noop), hooks].concat();
    found.small = spawn::race(stage, &small, if bench.quick { 60 } else { 300 })?;

    report::print_step("timing the seeds' hooks");
    let seeds = competitors::seeds(stage, &bench.seeds)?;
    let others: Vec<_> = seeds.present.iter().map(|seed| seed.competitor.clone()).collect();
    let rivals = hooks.iter().filter(|hook| seeds.counterparts().contains(&hook.name.as_str()));
    let large = [vec![noop.clone()], rivals.cloned().collect(), others].concat();
    found.other = spawn::race(stage, &large, if bench.quick { 8 } else { 40 })?;
    found.missing.clone_from(&seeds.missing);
    found.rivals = seeds.pairs();
    Ok(())
}

/// Counts the work of the no-op, and of the hook where its code path may differ.
fn counts(
    stage: &BenchEnv,
    noop: &Competitor,
    hooks: &[Competitor],
) -> anyhow::Result<Vec<ProcessCounts>> {
    let counted = ["100 KB", "10 MB", "200 MB", "trap"].map(competitors::post_tool_use);
    let hooks = hooks.iter().filter(|hook| counted.contains(&hook.name) || hook.name == OFF);
    std::iter::once(noop)
        .chain(hooks)
        .map(|competitor| {
            // The first run fills the settings cache. The session began long ago, so the first
            // calls also write its overdue checkpoint.
            spawn::run_untimed(stage, competitor)?;
            spawn::run_untimed(stage, competitor)?;
            let printed = spawn::run_untimed(stage, competitor)?.stdout.len();
            Ok(ProcessCounts {
                name: competitor.name.clone(),
                instructions: count::instructions(stage, competitor)?,
                peak_bytes: count::peak_memory(stage, competitor)?,
                page_faults: count::page_faults(stage, competitor)?,
                calls: count::system_calls(stage, competitor)?,
                printed,
            })
        })
        .collect()
}

/// Measures every transcript with the binary and pairs each reading with the truth.
fn readings(stage: &BenchEnv, plimsoll: &Path) -> anyhow::Result<Vec<ReadingCheck>> {
    let read = |transcript: &bench_env::GeneratedTranscript| {
        let path = transcript.path.as_os_str();
        let [measure, option, tokens] = ["measure", "--transcript", "--tokens"].map(OsStr::new);
        let argv = [plimsoll.as_os_str(), measure, option, path, tokens];
        let output = spawn::run_untimed(stage, &Competitor::new("plimsoll measure", argv))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(ReadingCheck {
            name: transcript.label.to_owned(),
            tokens: text.trim().parse().ok(),
            truth: transcript.truth.prompt_tokens + transcript.truth.output_tokens,
        })
    };
    stage.transcripts.iter().map(read).collect()
}

fn timing_gates(hook: &[Timing]) -> anyhow::Result<Vec<Gate>> {
    let (noop, off) = (find_timing(hook, NOOP)?, find_timing(hook, OFF)?);
    let sizes = ["100 KB", "1 MB", "10 MB", "100 MB", "200 MB"].map(post_tool_use);
    let rows =
        sizes.iter().map(|name| find_timing(hook, name)).collect::<anyhow::Result<Vec<_>>>()?;
    let (small, big) = (rows[0], rows[rows.len() - 1]);
    let worst = |of: TimingFigure| rows.iter().map(|row| of(row)).fold(0.0, f64::max);
    let (min, cpu): (TimingFigure, TimingFigure) = (|row| row.min_us, |row| row.cpu_p50_us);
    Ok(vec![
        at_most("hook / no-op, minimums, any size", worst(min) / min(noop), 2.0),
        at_most("hook / no-op, median CPU, any size", worst(cpu) / cpu(noop), 2.0),
        at_most("hook switched off / no-op, minimums", min(off) / min(noop), 1.5),
        at_most("hook switched off / no-op, median CPU", cpu(off) / cpu(noop), 1.5),
        at_most("200 MB / 100 KB, minimums", min(big) / min(small), 1.15),
        at_most("200 MB / 100 KB, median CPU", cpu(big) / cpu(small), 1.15),
    ])
}

fn count_gates(found: &HookResults) -> Vec<Gate> {
    let hooks = || found.counts.iter().filter(|count| count.name != NOOP);
    let whole = hooks().filter(|count| count.name != post_tool_use("trap"));
    let instructions = whole.map(|count| count.instructions).max().unwrap_or(u64::MAX);
    let peak = hooks().map(|count| count.peak_bytes).max().unwrap_or(u64::MAX) as f64 / 1e6;
    let syncs: u64 = hooks().map(|count| count.calls.syncs).sum();
    let printed: usize = hooks().map(|count| count.printed).sum();
    let wrong: Vec<_> = found.readings.iter().filter(|reading| !is_accurate(reading)).collect();
    let named: Vec<_> = wrong.iter().map(|reading| reading.name.as_str()).collect();
    let right = if named.is_empty() { "all".to_owned() } else { named.join(", ") + " wrong" };
    vec![
        Gate::new(
            "instructions ≤ 60,000 (100 KB, 10 MB, 200 MB)",
            instructions.to_string(),
            instructions <= 60_000,
        ),
        Gate::new("peak memory < 16 MB, trap file included", format!("{peak:.1} MB"), peak < 16.0),
        Gate::new("no fsync", syncs.to_string(), syncs == 0),
        Gate::new(
            "the timed path is the quiet one",
            format!("{printed} bytes printed"),
            printed == 0,
        ),
        Gate::new("readings within 1 % of the truth, trap file included", right, wrong.is_empty()),
    ]
}

fn is_accurate(reading: &ReadingCheck) -> bool {
    reading.tokens.is_some_and(|tokens| tokens.abs_diff(reading.truth) * 100 <= reading.truth)
}

impl PartResults for HookResults {
    const ABOUT: &'static str = "Whole processes, from their start to their end: the hook after a tool call on transcripts of every size, \
        beside a static process that does nothing, then beside the hooks of the projects plimsoll grew out of. \
        It must cost little more than the no-op, and the same at any size.";

    fn tables(&self) -> String {
        let mut text = String::new();
        if !self.small.is_empty() {
            text += &with_title("Among small processes", &timing_table(&self.small, &[]));
            text += &with_title(
                "Beside the seeds' own hooks, in one run",
                &timing_table(&self.other, &self.missing),
            );
            text += "Memory is at most this: a child starts from the benchmark's own peak, the no-op's row.\n\n";
        }
        let count = |count: &ProcessCounts| {
            let ProcessCounts { name, instructions, peak_bytes, page_faults, calls, .. } = count;
            let SystemCalls { total, syncs } = calls;
            let numbers = [instructions, page_faults, total, syncs].map(u64::to_string);
            let [instructions, page_faults, total, syncs] = numbers;
            [name.clone(), instructions, megabytes(*peak_bytes), page_faults, total, syncs]
        };
        let head =
            ["process", "instructions", "peak memory MB", "page faults", "system calls", "fsyncs"];
        text += &with_title("Counted", &table(head, self.counts.iter().map(count)));
        let reading = |ReadingCheck { name, tokens, truth }: &ReadingCheck| {
            let tokens = tokens.map_or("none".to_owned(), |tokens| tokens.to_string());
            [name.clone(), tokens, truth.to_string()]
        };
        let readings = self.readings.iter().map(reading);
        text + &with_title("Readings", &table(["transcript", "read", "truth"], readings))
    }

    fn picture(&self) -> Option<Picture> {
        let is_new = |row: &&Timing| !self.small.iter().any(|small| small.name == row.name);
        let rows = self.small.iter().chain(self.other.iter().filter(is_new));
        let bars: Vec<_> = rows.map(|row| Bar::new(&row.name, row.p50_us / 1e3)).collect();
        let about = "Medians of the hook, of a no-op and of other hooks, in milliseconds, on a logarithmic scale";
        (!bars.is_empty()).then(|| bar_chart(&Scale::logarithmic(&bars), &bars, about))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let mut gates = if self.small.is_empty() { Vec::new() } else { timing_gates(&self.small)? };
        gates.extend(count_gates(self));
        let promise = |seed: &str| format!("≥ 50 × faster than {seed}");
        for (seed, ours) in &self.rivals {
            let (seed, ours) = (find_timing(&self.other, seed)?, find_timing(&self.other, ours)?);
            let times = seed.min_us / ours.min_us;
            gates.push(Gate::new(promise(&seed.name), format!("{times:.0} ×"), times >= 50.0));
        }
        gates.extend(self.missing.iter().map(|seed| Gate::not_judged(seed, promise(seed))));
        Ok(gates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tokens: Option<u64>, expected: bool) {
        assert_eq!(
            is_accurate(&ReadingCheck { name: String::new(), tokens, truth: 100_000 }),
            expected
        );
    }

    #[test]
    fn a_reading_is_right_within_one_percent() {
        check(Some(100_000), true);
        check(Some(99_000), true);
        check(Some(101_001), false);
        check(None, false);
    }
}
