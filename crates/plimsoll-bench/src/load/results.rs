//! Tables, picture and gates of the load part.

use super::session::PROJECTS;
use super::{LoadResults, ResourceSample, SESSIONS};
use crate::gates::Gate;
use crate::percentiles::Percentiles;
use crate::plot::{Picture, line_chart};
use crate::section::PartResults;
use crate::table::{megabytes, table, with_title};

/// Extra handles that the server may have open while it reads the store.
const EXTRA_HANDLES: u64 = 3;
/// Threads that may still wait for more work before they end.
const EXTRA_THREADS: u64 = 2;
/// Maximum number of files, not counting transcripts and checkpoints: a fixed number, a spool and
/// two work files per session, and per project its cached settings and checkpoint bookkeeping.
const MAX_FILES: u64 = 20 + 3 * SESSIONS as u64 + 6 * PROJECTS as u64;

impl PartResults for LoadResults {
    const ABOUT: &'static str = "Sessions that call tools, with a hook after every call, and are compacted again and again; a server \
        watches them and ships to PostgreSQL. Nothing may be lost, nothing left behind, and nothing may grow but \
        checkpoints, which are kept.";

    fn tables(&self) -> String {
        let Self { readings, checkpoints, .. } = self;
        let (what, rate) = (self.label(), self.rate());
        let call = |(name, took): (&str, &Percentiles)| {
            let times = [took.p50_ms, took.p99_ms, took.max_ms].map(|time| format!("{time:.1}"));
            let [p50, p99, longest] = times;
            [name.to_owned(), took.calls.to_string(), p50, p99, longest]
        };
        let calls = [
            ("after a tool call", &self.tools),
            ("before a compaction", &self.compactions),
            ("after a compaction", &self.starts),
            ("all", &self.all),
        ];
        let head = ["hook", "calls", "p50 ms", "p99 ms", "longest ms"];
        with_title(
            &format!(
                "{what}, {rate:.0} tool calls a second: {readings} readings, {checkpoints} checkpoints"
            ),
            &table(head, calls.map(call)),
        ) + &with_title("What the server holds", &resource_table(&self.held))
    }

    fn picture(&self) -> Option<Picture> {
        let at = |held: &ResourceSample| (held.seconds as f64, held.memory_bytes as f64 / 1e6);
        let points: Vec<_> = self.held.iter().map(at).collect();
        Some(line_chart(&points, "Memory of the server over the run, in megabytes"))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let Self { tools, all, lost, held, left, asked_for, .. } = self;
        let (what, rate) = (self.label(), self.rate());
        let gate = |promise: &str, measured: String, kept| {
            Gate::new(format!("{what}: {promise}"), measured, kept)
        };
        let quick = |what: &str, took: &Percentiles| {
            let promise = format!("p99 of {what} < 20 ms");
            gate(&promise, format!("{:.1} ms", took.p99_ms), took.p99_ms < 20.0)
        };
        let flat = |what: &str, of: fn(&ResourceSample) -> u64, more: u64| {
            let (early, late) = thirds(held, of);
            let promise = format!("{what}, last third ≤ first third + {more}");
            gate(&promise, format!("{early}, then {late}"), late <= early + more)
        };
        let (early, late) = thirds(held, |held| held.memory_bytes);
        let grown = late as f64 / early as f64;
        let megabytes = [early, late].map(|bytes| bytes as f64 / 1e6);
        let files = held.iter().map(|held| held.files).max().unwrap_or(u64::MAX);
        Ok(vec![
            gate(
                &format!("≥ 95 % of {asked_for:.0} tool calls a second"),
                format!("{rate:.1}"),
                rate >= 0.95 * asked_for,
            ),
            quick("hooks after a tool call", tools),
            quick("all hooks, those that seal and restore among them", all),
            gate("nothing lost", join_or_none(lost), lost.is_empty()),
            gate(
                "memory of the server, last third / first third, ≤ 1.1",
                format!("{grown:.2} ({:.1} MB, then {:.1} MB)", megabytes[0], megabytes[1]),
                grown <= 1.1,
            ),
            flat("open handles of the server", |held| held.handles, EXTRA_HANDLES),
            flat("threads of the server", |held| held.threads, EXTRA_THREADS),
            flat("connections to the database", |held| held.connections, 0),
            gate(
                &format!("files beside transcripts and checkpoints ≤ {MAX_FILES}"),
                files.to_string(),
                files <= MAX_FILES,
            ),
            gate(
                "no process, connection or half-written file left behind",
                join_or_none(left),
                left.is_empty(),
            ),
        ])
    }
}

impl LoadResults {
    fn label(&self) -> String {
        format!("{SESSIONS} sessions for {} s", self.planned)
    }

    /// Returns the tool calls per second.
    fn rate(&self) -> f64 {
        self.tools.calls as f64 / self.seconds
    }
}

fn resource_table(held: &[ResourceSample]) -> String {
    let row = |held: &ResourceSample| {
        let ResourceSample { seconds, handles, threads, connections, files, checkpoints, .. } =
            held;
        let numbers = [seconds, handles, threads, connections, files, checkpoints];
        let [seconds, handles, threads, connections, files, checkpoints] =
            numbers.map(u64::to_string);
        let memory = megabytes(held.memory_bytes);
        [seconds, memory, handles, threads, connections, files, checkpoints]
    };
    let head =
        ["after s", "memory MB", "handles", "threads", "connections", "files", "checkpoints"];
    table(head, held.iter().map(row))
}

fn join_or_none(what: &[String]) -> String {
    if what.is_empty() { "none".to_owned() } else { format!("{}: {}", what.len(), what.join("; ")) }
}

/// Returns the medians of the first and the last third, after skipping the first quarter as
/// warm-up.
fn thirds(held: &[ResourceSample], of: fn(&ResourceSample) -> u64) -> (u64, u64) {
    let warm = &held[held.len() / 4..];
    let third = warm.len() / 3;
    (median(&warm[..third], of), median(&warm[warm.len() - third..], of))
}

fn median(held: &[ResourceSample], of: fn(&ResourceSample) -> u64) -> u64 {
    let mut values: Vec<u64> = held.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::Verdict;

    /// Returns the broken promises of a run whose samples are modified by `change`.
    fn broken_promises(change: impl Fn(u64, &mut ResourceSample)) -> Vec<String> {
        let held = |look| {
            let mut held = ResourceSample {
                seconds: look,
                memory_bytes: 20_000_000,
                handles: 30,
                threads: 7,
                connections: 3,
                files: 200,
                checkpoints: 10 * look,
            };
            change(look, &mut held);
            held
        };
        let took = || Percentiles::of(vec![1.0; 24]);
        let load = LoadResults {
            planned: 24,
            seconds: 24.0,
            asked_for: 1.0,
            tools: took(),
            compactions: took(),
            starts: took(),
            all: took(),
            lost: Vec::new(),
            readings: 1,
            checkpoints: 1,
            held: (1..=24).map(held).collect(),
            left: Vec::new(),
        };
        let broken = load.gates().unwrap().into_iter().filter(|gate| gate.verdict != Verdict::Kept);
        broken.map(|gate| format!("{}: {}", gate.promise, gate.measured)).collect()
    }

    #[test]
    fn constant_usage_is_not_a_leak() {
        assert_eq!(broken_promises(|_, _| {}), [""; 0]);
    }

    #[test]
    fn growth_during_warm_up_is_not_a_leak() {
        assert_eq!(
            broken_promises(|look, held| held.memory_bytes += 1_000_000 * look.min(6)),
            [""; 0]
        );
    }

    #[test]
    fn steady_growth_is_a_leak() {
        let grown = broken_promises(|look, held| {
            held.memory_bytes += 400_000 * look;
            held.handles += look;
            held.threads += look;
            held.connections += look;
            held.files += 10 * look;
        });
        assert_eq!(
            grown,
            [
                "64 sessions for 24 s: memory of the server, last third / first third, ≤ 1.1: 1.20 (24.0 MB, then 28.8 MB)",
                "64 sessions for 24 s: open handles of the server, last third ≤ first third + 3: 40, then 52",
                "64 sessions for 24 s: threads of the server, last third ≤ first third + 2: 17, then 29",
                "64 sessions for 24 s: connections to the database, last third ≤ first third + 0: 13, then 25",
                "64 sessions for 24 s: files beside transcripts and checkpoints ≤ 260: 440",
            ]
        );
    }
}
