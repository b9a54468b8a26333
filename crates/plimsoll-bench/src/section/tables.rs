//! The tables of each part.

use crate::accuracy::{Accuracy, Score};
use crate::commits::Committing;
use crate::competitors::NOOP;
use crate::count::Calls;
use crate::dashboard::Painting;
use crate::figures::Figures;
use crate::hook::{Count, Hook, Reading};
use crate::listing::{Listing, Run};
use crate::load::{Held, Load, Took};
use crate::packing::{Packing, Row};
use crate::part::Part;
use crate::precompact::{Checkpoints, Extraction};
use crate::saves::{Restoring, Spread};
use crate::serving::{Contest, Serving};
use crate::spawn::Timing;
use crate::team::Team;
use crate::triggers::{Asked, Triggers};
use crate::watching::{self, Watching};

/// The tables of a part, each with a heading; nothing if it was not run.
pub(super) fn of(part: Part, figures: &Figures) -> Option<String> {
    match part {
        Part::Hook => figures.hook.as_ref().map(hook),
        Part::Accuracy => figures.accuracy.as_ref().map(accuracy),
        Part::Checkpoints => figures.checkpoints.as_ref().map(checkpoints),
        Part::Listing => figures.listing.as_ref().map(listing),
        Part::Saves => figures.restoring.as_ref().map(restoring),
        Part::Commits => figures.committing.as_ref().map(committing),
        Part::Dashboard => figures.painting.as_ref().map(painting),
        Part::Watcher => figures.watching.as_ref().map(watching),
        Part::Triggers => figures.triggers.as_ref().map(triggers),
        Part::Server => figures.serving.as_ref().map(serving),
        Part::Team => figures.team.as_ref().map(team),
        Part::Packing => figures.packing.as_ref().map(packing),
        Part::Load => figures.load.as_ref().map(load),
    }
}

/// A table: what is in the first column is to the left, and all else to the right.
pub(super) fn table<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let rule = format!("|---|{}\n", "---:|".repeat(N - 1));
    let row = |row: [String; N]| line(&row.each_ref().map(String::as_str));
    line(&head) + &rule + &rows.into_iter().map(row).collect::<String>()
}

/// A table below a heading, and a line after it.
fn titled(title: &str, table: &str) -> String {
    format!("### {title}\n\n{table}\n")
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

fn hook(found: &Hook) -> String {
    let mut text = String::new();
    if !found.small.is_empty() {
        text += &titled("Among small processes", &timings(&found.small, &[]));
        text += &titled(
            "Beside the seeds' own hooks, in one run",
            &timings(&found.other, &found.missing),
        );
        text += "Memory is at most this: a child starts from the benchmark's own peak, the no-op's row.\n\n";
    }
    let count = |count: &Count| {
        let Count { name, instructions, peak_bytes, calls: Calls { total, syncs }, .. } = count;
        let numbers = [instructions, total, syncs].map(u64::to_string);
        let [instructions, total, syncs] = numbers;
        [name.clone(), instructions, megabytes(*peak_bytes), total, syncs]
    };
    let head = ["process", "instructions", "peak memory MB", "system calls", "fsyncs"];
    text += &titled("Counted", &table(head, found.counts.iter().map(count)));
    let reading = |Reading { name, tokens, truth }: &Reading| {
        let tokens = tokens.map_or("none".to_owned(), |tokens| tokens.to_string());
        [name.clone(), tokens, truth.to_string()]
    };
    let readings = found.readings.iter().map(reading);
    text + &titled("Readings", &table(["transcript", "read", "truth"], readings))
}

const TIMED: [&str; 9] = [
    "process",
    "rounds",
    "min µs",
    "p50 µs",
    "p99 µs",
    "CPU p50 µs",
    "memory ≤ MB",
    "× no-op (min)",
    "× no-op (CPU)",
];

fn timings(timings: &[Timing], missing: &[String]) -> String {
    let noop = timings.iter().find(|timing| timing.name == NOOP);
    let (min, cpu) = noop.map_or((f64::NAN, f64::NAN), |noop| (noop.min_us, noop.cpu_p50_us));
    let timed = |row: &Timing| {
        let times = [row.min_us, row.p50_us, row.p99_us, row.cpu_p50_us];
        let [least, p50, p99, cpu_p50] = times.map(|time| format!("{time:.0}"));
        let ratios = [row.min_us / min, row.cpu_p50_us / cpu];
        let [by_min, by_cpu] = ratios.map(|ratio| format!("{ratio:.2}"));
        let (rounds, memory) = (row.rounds.to_string(), megabytes(row.rss_bytes));
        [row.name.clone(), rounds, least, p50, p99, cpu_p50, memory, by_min, by_cpu]
    };
    let absent = |name: &String| {
        let mut row: [String; 9] = Default::default();
        row[0].clone_from(name);
        row[1] = "not here".to_owned();
        row
    };
    table(TIMED, timings.iter().map(timed).chain(missing.iter().map(absent)))
}

fn accuracy(accuracy: &Accuracy) -> String {
    let scores = match accuracy {
        Accuracy::NotHere(path) => {
            return format!("Real transcripts to predict are not here: `{path}`\n");
        }
        Accuracy::Scores(scores) => scores,
    };
    let row = |score: &Score| {
        let Score { name, calls, median, p95, p99, .. } = score;
        let Score { within_1_percent, within_5_percent, unanswered, .. } = score;
        [name, calls, median, p95, p99, within_1_percent, within_5_percent, unanswered]
            .map(String::clone)
    };
    let head = [
        "calls of",
        "calls",
        "median error",
        "p95",
        "p99",
        "within 1 %",
        "within 5 %",
        "no answer",
    ];
    table(head, scores.iter().map(row))
}

fn checkpoints(found: &Checkpoints) -> String {
    let extraction = |Extraction { size, bytes, min_us, counts }: &Extraction| {
        let speed = *bytes as f64 / min_us / 1e3;
        [
            size.clone(),
            format!("{:.1}", min_us / 1e3),
            format!("{speed:.2}"),
            format!("{counts:.1}"),
        ]
    };
    let extraction = found.extraction.iter().map(extraction);
    let head = ["transcript", "ms", "GB/s", "× newline count"];
    titled("From saved state", &timings(&found.saved, &[]))
        + &titled("Whole transcripts", &timings(&found.whole, &found.missing))
        + &titled("Extraction", &table(head, extraction))
}

fn listing(listing: &Listing) -> String {
    let Listing { transcripts, bytes, cold, warm } = listing;
    let row = |(name, run): (&str, &Run)| {
        let Run { first_screen_ms, total_ms, peak_bytes } = run;
        let times = [first_screen_ms, total_ms].map(|time| format!("{time:.0}"));
        let [first, total] = times;
        [name.to_owned(), first, total, megabytes(*peak_bytes)]
    };
    let head = ["`plimsoll status --all`", "first screen ms", "all ms", "memory ≤ MB"];
    let title = format!("{transcripts} sessions, {} MB", bytes / 1_000_000);
    titled(&title, &table(head, [("cold", cold), ("warm", warm)].map(row)))
}

fn restoring(restoring: &Restoring) -> String {
    let Restoring { saves, taken_in_s, newest, search } = restoring;
    let title = format!("{saves} saves, taken in within {taken_in_s:.0} s");
    titled(&title, &spreads("`plimsoll rs`", [("newest", newest), ("search", search)]))
}

fn committing(committing: &Committing) -> String {
    let Committing { with_hook, without, added } = committing;
    let rows = [("without the hook", without), ("with it", with_hook), ("the hook's part", added)];
    spreads("`git commit`", rows)
}

fn painting(painting: &Painting) -> String {
    let Painting { sessions, rows, bytes, answer, paint } = painting;
    let title = format!("{sessions} sessions: {rows} rows, {bytes} bytes");
    let rows = [("answer", answer), ("first contentful paint", paint)];
    titled(&title, &spreads("headless Chromium", rows))
}

fn spreads<'a>(what: &str, rows: impl IntoIterator<Item = (&'a str, &'a Spread)>) -> String {
    let row = |(name, Spread { calls, p50_ms, p95_ms }): (&str, &Spread)| {
        let [p50, p95] = [p50_ms, p95_ms].map(|time| format!("{time:.1}"));
        [name.to_owned(), calls.to_string(), p50, p95]
    };
    table([what, "calls", "p50 ms", "p95 ms"], rows.into_iter().map(row))
}

fn team(found: &Team) -> String {
    spreads("page", found.pages.iter().map(|(name, spread)| (*name, spread)))
}

fn watching(found: &Watching) -> String {
    let Watching { sessions, seconds, plimsoll, naive } = found;
    let row = |(name, run): (&str, &watching::Run)| {
        let busy = [format!("{:.1}", run.cpu_percent), format!("{:.2}", run.idle_cpu_percent)];
        let [p50, p99] = [run.lag_p50_ms, run.lag_p99_ms].map(|lag| format!("{lag:.0}"));
        let [cpu, idle] = busy;
        let [appends, missed] = [run.appends, run.missed].map(|count| count.to_string());
        [name.to_owned(), cpu, idle, megabytes(run.peak_bytes), p50, p99, appends, missed]
    };
    let head = [
        "watcher",
        "CPU % of a core",
        "… while nothing happens",
        "memory ≤ MB",
        "lag p50 ms",
        "lag p99 ms",
        "appends",
        "missed",
    ];
    let rows = [("`plimsoll watch --json`", plimsoll), ("re-reads what has changed", naive)];
    titled(&format!("{sessions} sessions, {seconds} s"), &table(head, rows.map(row)))
}

fn triggers(found: &Triggers) -> String {
    let row = |(name, asked): (&str, &Asked)| {
        let Asked { asked, missed, twice, first_ms, p50_ms, last_ms } = asked;
        let [asked, missed, twice] = [asked, missed, twice].map(usize::to_string);
        let [first, p50, last] = [first_ms, p50_ms, last_ms].map(i64::to_string);
        [name.to_owned(), asked, missed, twice, first, p50, last]
    };
    let head = ["who decides", "asked", "missed", "twice", "first ms", "p50 ms", "last ms"];
    let rows = [("hooks, within 10 s", &found.hooks), ("the watcher", &found.watcher)];
    table(head, rows.map(row))
}

fn serving(serving: &Serving) -> String {
    let row = |(name, contest, p99): (&str, &Contest, f64)| {
        let some = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let ours = format!("{:.0}", contest.ours);
        let (seeds, times) = (some(contest.seeds, 0), some(contest.times(), 1));
        [name.to_owned(), ours, seeds, times, format!("{p99:.1}")]
    };
    let head = ["request", "plimsoll /s", "seed's service /s", "times", "p99 ms, 50 clients"];
    let rows = [
        ("usage", &serving.usage, serving.usage_p99_ms),
        ("durable save", &serving.saves, serving.saves_p99_ms),
    ];
    table(head, rows.map(row))
}

fn packing(found: &Packing) -> String {
    let random = ["over % of", "30 tasks", "100 tasks", "1000 tasks", "10000 tasks"];
    let real = ["over % of", "50000 available", "100000 available", "150000 available"];
    titled("Random task sets", &by_scale(random, &found.rows))
        + &titled("Of this repository", &by_scale(real, &found.rows))
}

/// How far plans are over the bound, a row for task sets of one kind and a column for each scale.
fn by_scale<const N: usize>(head: [&str; N], rows: &[Row]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| head.contains(&row.scale.as_str())) {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    let cell = |name: &str, scale: &str| {
        let row = rows.iter().find(|row| row.name == name && row.scale == scale);
        row.map_or(String::new(), |row| format!("{:.1}", row.over_percent()))
    };
    let row = |name| {
        head.map(|scale| if scale == head[0] { String::from(name) } else { cell(name, scale) })
    };
    table(head, names.into_iter().map(row))
}

fn load(found: &Load) -> String {
    let Load { sessions, seconds, readings, checkpoints, .. } = found;
    let call = |(name, took): (&str, &Took)| {
        let times = [took.p50_ms, took.p99_ms, took.max_ms].map(|time| format!("{time:.1}"));
        let [p50, p99, longest] = times;
        [name.to_owned(), took.calls.to_string(), p50, p99, longest]
    };
    let calls = [("hook", &found.hooks), ("PreCompact", &found.compactions)].map(call);
    let held = |held: &Held| {
        let Held { seconds, handles, threads, connections, files, checkpoints, .. } = held;
        let numbers = [seconds, handles, threads, connections, files, checkpoints];
        let [seconds, handles, threads, connections, files, checkpoints] =
            numbers.map(u64::to_string);
        let memory = megabytes(held.memory_bytes);
        [seconds, memory, handles, threads, connections, files, checkpoints]
    };
    let head =
        ["after s", "memory MB", "handles", "threads", "connections", "files", "checkpoints"];
    titled(
        &format!(
            "{sessions} sessions, {seconds} s: {readings} readings, {checkpoints} checkpoints"
        ),
        &table(["call", "calls", "p50 ms", "p99 ms", "longest ms"], calls),
    ) + &titled("What the server holds", &table(head, found.held.iter().map(held)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_names_to_the_left_and_numbers_to_the_right() {
        let rows = [["hook", "1"], ["no-op", "2"]].map(|row| row.map(str::to_owned));
        let expected = "| process | µs |\n|---|---:|\n| hook | 1 |\n| no-op | 2 |\n";
        assert_eq!(table(["process", "µs"], rows), expected);
    }
}
