//! What is promised of many sessions at once.

use super::session::PROJECTS;
use super::{Held, Load, SESSIONS};
use crate::gates::Gate;

/// What the server may hold more at one moment than at another: a store that is being read.
const HANDLES: u64 = 3;
/// Threads that wait a while for more work before they end.
const THREADS: u64 = 2;
/// How many files there are at most, transcripts and checkpoints aside: some whatever happens, a spool
/// and two of the work for each session, and for each project its cached settings and what keeps its
/// checkpoints in order.
const FILES: u64 = 20 + 3 * SESSIONS as u64 + 6 * PROJECTS as u64;

/// Judges a run.
pub(crate) fn gates(load: &Load) -> Vec<Gate> {
    let Load { hooks, lost, held, left, .. } = load;
    let gate = |promise: &str, measured: String, kept| Gate {
        promise: format!("{SESSIONS} sessions at once: {promise}"),
        measured,
        kept,
    };
    let flat = |what: &str, of: fn(&Held) -> u64, more: u64| {
        let (early, late) = thirds(held, of);
        let promise = format!("{what}, last third ≤ first third + {more}");
        gate(&promise, format!("{early}, then {late}"), late <= early + more)
    };
    let (early, late) = thirds(held, |held| held.memory_bytes);
    let grown = late as f64 / early as f64;
    let megabytes = [early, late].map(|bytes| bytes as f64 / 1e6);
    let files = held.iter().map(|held| held.files).max().unwrap_or(u64::MAX);
    vec![
        gate("p99 of a hook < 20 ms", format!("{:.1} ms", hooks.p99_ms), hooks.p99_ms < 20.0),
        gate("nothing lost", listed(lost), lost.is_empty()),
        gate(
            "memory of the server, last third / first third, ≤ 1.1",
            format!("{grown:.2} ({:.1} MB, then {:.1} MB)", megabytes[0], megabytes[1]),
            grown <= 1.1,
        ),
        flat("open handles of the server", |held| held.handles, HANDLES),
        flat("threads of the server", |held| held.threads, THREADS),
        flat("connections to the database", |held| held.connections, 0),
        gate(
            &format!("files beside transcripts and checkpoints ≤ {FILES}"),
            files.to_string(),
            files <= FILES,
        ),
        gate(
            "no process, connection or half-written file left behind",
            listed(left),
            left.is_empty(),
        ),
    ]
}

fn listed(what: &[String]) -> String {
    if what.is_empty() { "none".to_owned() } else { format!("{}: {}", what.len(), what.join("; ")) }
}

/// The medians of the first and of the last third, once a quarter has passed to get warm.
fn thirds(held: &[Held], of: fn(&Held) -> u64) -> (u64, u64) {
    let warm = &held[held.len() / 4..];
    let third = warm.len() / 3;
    (median(&warm[..third], of), median(&warm[warm.len() - third..], of))
}

fn median(held: &[Held], of: fn(&Held) -> u64) -> u64 {
    let mut values: Vec<u64> = held.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::Took;
    use super::*;

    /// A run in which the server holds this at each look, and which of its promises are broken.
    fn broken(change: impl Fn(u64, &mut Held)) -> Vec<String> {
        let held = |look| {
            let mut held = Held {
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
        let took = || Took { calls: 1, p50_ms: 1.0, p99_ms: 1.0, max_ms: 1.0 };
        let load = Load {
            sessions: SESSIONS,
            seconds: 24,
            hooks: took(),
            compactions: took(),
            lost: Vec::new(),
            readings: 1,
            checkpoints: 1,
            held: (1..=24).map(held).collect(),
            left: Vec::new(),
        };
        let broken = gates(&load).into_iter().filter(|gate| !gate.kept);
        broken.map(|gate| format!("{}: {}", gate.promise, gate.measured)).collect()
    }

    #[test]
    fn what_stays_as_it_is_is_no_leak() {
        assert_eq!(broken(|_, _| {}), [""; 0]);
    }

    #[test]
    fn getting_warm_is_no_leak() {
        assert_eq!(broken(|look, held| held.memory_bytes += 1_000_000 * look.min(6)), [""; 0]);
    }

    #[test]
    fn whatever_grows_with_the_time_is_a_leak() {
        let grown = broken(|look, held| {
            held.memory_bytes += 400_000 * look;
            held.handles += look;
            held.threads += look;
            held.connections += look;
            held.files += 10 * look;
        });
        assert_eq!(
            grown,
            [
                "64 sessions at once: memory of the server, last third / first third, ≤ 1.1: 1.20 (24.0 MB, then 28.8 MB)",
                "64 sessions at once: open handles of the server, last third ≤ first third + 3: 40, then 52",
                "64 sessions at once: threads of the server, last third ≤ first third + 2: 17, then 29",
                "64 sessions at once: connections to the database, last third ≤ first third + 0: 13, then 25",
                "64 sessions at once: files beside transcripts and checkpoints ≤ 260: 440",
            ]
        );
    }
}
