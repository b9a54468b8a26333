//! The figures, and how they are printed. Nothing else prints.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this module is the report")]

use std::time::Duration;

use serde::Serialize;

use crate::accuracy::{Accuracy, Score};
use crate::commits::Committing;
use crate::competitors::NOOP;
use crate::count::Calls;
use crate::dashboard::Painting;
use crate::gates::Gate;
use crate::listing::{Listing, Run};
use crate::load::{Held, Load, Took};
use crate::packing::{self, Packing};
use crate::precompact::{Checkpoints, Extraction};
use crate::saves::{Restoring, Spread};
use crate::serving::Serving;
use crate::spawn::Timing;
use crate::team::Team;
use crate::triggers::{Asked, Triggers};
use crate::watching::{self, Watching};

/// Everything one run found out; what it did not look at is empty.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Figures {
    /// The no-op and the hook, among small processes.
    pub(crate) hook: Vec<Timing>,
    /// The same in a run with the seeds' hooks.
    pub(crate) other: Vec<Timing>,
    /// Seeds' hooks that are not on this machine.
    pub(crate) missing: Vec<String>,
    pub(crate) counts: Vec<Count>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) accuracy: Accuracy,
    /// Listing the sessions of a large home.
    pub(crate) listing: Option<Listing>,
    /// Restoring from a hundred thousand saves.
    pub(crate) restoring: Option<Restoring>,
    /// Commits with git's hook and without.
    pub(crate) committing: Option<Committing>,
    /// The dashboard with a thousand sessions.
    pub(crate) painting: Option<Painting>,
    /// Checkpoints before a compaction.
    pub(crate) checkpoints: Option<Checkpoints>,
    /// Watching sessions that grow.
    pub(crate) watching: Option<Watching>,
    /// Sessions that cross a line at once.
    pub(crate) triggers: Option<Triggers>,
    /// Serving beside the seed's service.
    pub(crate) serving: Option<Serving>,
    /// The pages of a team.
    pub(crate) team: Option<Team>,
    /// Plans of random and real task sets.
    pub(crate) packing: Option<Packing>,
    /// Many sessions at once.
    pub(crate) load: Option<Load>,
    pub(crate) gates: Vec<Gate>,
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

/// Says what is being done; a full run takes minutes.
pub(crate) fn note(text: &str) {
    eprintln!("{text} …");
}

/// Says what is held while sessions work for so long.
pub(crate) fn progress(held: &Held, lasts: Duration) {
    let Held { seconds, handles, threads, connections, files, checkpoints, .. } = held;
    let megabytes = held.memory_bytes as f64 / 1e6;
    eprintln!(
        "{seconds:5} of {} s: {megabytes:.1} MB, {handles} handles, {threads} threads, {connections} connections, {files} files, {checkpoints} checkpoints",
        lasts.as_secs()
    );
}

/// Says which promises were not kept, and gives their number.
pub(crate) fn missed<'a>(gates: impl Iterator<Item = &'a Gate>) -> usize {
    let say = |Gate { promise, measured, .. }: &Gate| eprintln!("missed: {promise}: {measured}");
    gates.inspect(|gate| say(gate)).count()
}

/// Prints all tables as Markdown.
pub(crate) fn print(figures: &Figures) {
    if !figures.hook.is_empty() {
        races(figures);
    }
    if !figures.counts.is_empty() {
        counts(figures);
    }
    accuracy(&figures.accuracy);
    figures.listing.iter().for_each(listing);
    figures.restoring.iter().for_each(restoring);
    figures.committing.iter().for_each(committing);
    figures.painting.iter().for_each(painting);
    figures.checkpoints.iter().for_each(checkpoints);
    figures.watching.iter().for_each(watching);
    figures.triggers.iter().for_each(triggers);
    figures.serving.iter().for_each(serving);
    figures.team.iter().for_each(team);
    figures.packing.iter().for_each(packing);
    figures.load.iter().for_each(load);
    println!("\n## Promises\n\n| promise | measured | |\n|---|---:|---|");
    for Gate { promise, measured, kept } in &figures.gates {
        println!("| {promise} | {measured} | {} |", if *kept { "ok" } else { "MISSED" });
    }
}

fn counts(figures: &Figures) {
    println!("\n## Counted\n");
    println!("| process | instructions | peak memory MB | system calls | fsyncs |");
    println!("|---|---:|---:|---:|---:|");
    for Count { name, instructions, peak_bytes, calls, .. } in &figures.counts {
        let (peak, Calls { total, syncs }) = (*peak_bytes as f64 / 1e6, calls);
        println!("| {name} | {instructions} | {peak:.1} | {total} | {syncs} |");
    }
    println!("\n## Readings\n\n| transcript | read | truth |\n|---|---:|---:|");
    for Reading { name, tokens, truth } in &figures.readings {
        let tokens = tokens.map_or("none".to_owned(), |tokens| tokens.to_string());
        println!("| {name} | {tokens} | {truth} |");
    }
}

fn races(figures: &Figures) {
    println!("## The hook, among small processes\n");
    timings(&figures.hook, &[]);
    println!("\n## Beside the seeds' own hooks, in one run\n");
    timings(&figures.other, &figures.missing);
    println!(
        "\nMemory is at most this: a child starts from the benchmark's own peak, the no-op's row."
    );
}

fn timings(timings: &[Timing], missing: &[String]) {
    let noop = timings.iter().find(|timing| timing.name == NOOP);
    let (min, cpu) = noop.map_or((f64::NAN, f64::NAN), |noop| (noop.min_us, noop.cpu_p50_us));
    println!(
        "| process | rounds | min µs | p50 µs | p99 µs | CPU p50 µs | memory ≤ MB | × no-op (min) | × no-op (CPU) |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for row in timings {
        println!(
            "| {} | {} | {:.0} | {:.0} | {:.0} | {:.0} | {:.1} | {:.2} | {:.2} |",
            row.name,
            row.rounds,
            row.min_us,
            row.p50_us,
            row.p99_us,
            row.cpu_p50_us,
            row.rss_bytes as f64 / 1e6,
            row.min_us / min,
            row.cpu_p50_us / cpu,
        );
    }
    for name in missing {
        println!("| {name} | not here | | | | | | | |");
    }
}

fn accuracy(accuracy: &Accuracy) {
    let scores = match accuracy {
        Accuracy::NotAsked => return,
        Accuracy::NotHere(path) => {
            return println!("\nReal transcripts to predict are not here: `{path}`");
        }
        Accuracy::Scores(scores) => scores,
    };
    println!("\n## Predicted prompt sizes on real transcripts\n");
    println!(
        "| calls of | calls | median error | p95 | p99 | within 1 % | within 5 % | no answer |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for Score { name, calls, median, p95, p99, within_1_percent, within_5_percent, unanswered } in
        scores
    {
        println!(
            "| {name} | {calls} | {median} | {p95} | {p99} | {within_1_percent} | {within_5_percent} | {unanswered} |"
        );
    }
}

fn restoring(restoring: &Restoring) {
    let Restoring { saves, taken_in_s, newest, search } = restoring;
    println!("\n## Restoring from {saves} saves, taken in within {taken_in_s:.0} s\n");
    spreads("`plimsoll rs`", &[("newest", newest), ("search", search)]);
}

fn committing(committing: &Committing) {
    let Committing { with_hook, without, added } = committing;
    println!("\n## A commit\n");
    let rows = [("without the hook", without), ("with it", with_hook), ("the hook's part", added)];
    spreads("`git commit`", &rows);
}

fn painting(painting: &Painting) {
    let Painting { sessions, rows, bytes, answer, paint } = painting;
    println!("\n## The dashboard with {sessions} sessions: {rows} rows, {bytes} bytes\n");
    spreads("headless Chromium", &[("answer", answer), ("first contentful paint", paint)]);
}

fn spreads(what: &str, rows: &[(&str, &Spread)]) {
    println!("| {what} | calls | p50 ms | p95 ms |\n|---|---:|---:|---:|");
    for (name, Spread { calls, p50_ms, p95_ms }) in rows {
        println!("| {name} | {calls} | {p50_ms:.1} | {p95_ms:.1} |");
    }
}

fn team(found: &Team) {
    println!("\n## Pages of a team: a million readings, a hundred thousand checkpoints\n");
    println!("| page | opened | p50 ms | p95 ms |\n|---|---:|---:|---:|");
    for (name, Spread { calls, p50_ms, p95_ms }) in &found.pages {
        println!("| {name} | {calls} | {p50_ms:.1} | {p95_ms:.1} |");
    }
}

fn packing(found: &Packing) {
    println!("\n## Plans beside the least number of batches\n");
    println!("| task sets | sets | tasks | pieces | batches | bound | over % | slowest ms |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for row in &found.rows {
        let (over, slowest) = (row.over_percent(), row.slowest_ms);
        let packing::Row { name, sets, tasks, pieces, batches, bound, .. } = row;
        println!(
            "| {name} | {sets} | {tasks} | {pieces} | {batches} | {bound} | {over:.1} | {slowest:.1} |"
        );
    }
}

fn watching(found: &Watching) {
    let Watching { sessions, seconds, plimsoll, naive } = found;
    println!("\n## Watching {sessions} sessions that grow once a second, for {seconds} s\n");
    println!(
        "| watcher | CPU % of a core | … while nothing happens | memory ≤ MB | lag p50 ms | lag p99 ms | appends | missed |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for (name, run) in [("`plimsoll watch --json`", plimsoll), ("re-reads what has changed", naive)]
    {
        let watching::Run { cpu_percent, idle_cpu_percent, lag_p50_ms, lag_p99_ms, .. } = run;
        let (peak, appends, missed) = (run.peak_bytes as f64 / 1e6, run.appends, run.missed);
        println!(
            "| {name} | {cpu_percent:.1} | {idle_cpu_percent:.2} | {peak:.1} | {lag_p50_ms:.0} | {lag_p99_ms:.0} | {appends} | {missed} |"
        );
    }
    println!(
        "| naive / plimsoll | {:.1} × | | {:.1} × | {:.1} × | {:.1} × | | |",
        naive.cpu_percent / plimsoll.cpu_percent,
        naive.peak_bytes as f64 / plimsoll.peak_bytes as f64,
        naive.lag_p50_ms / plimsoll.lag_p50_ms,
        naive.lag_p99_ms / plimsoll.lag_p99_ms,
    );
}

fn triggers(found: &Triggers) {
    println!("\n## {} sessions cross the checkpoint line at once\n", found.sessions);
    println!("| who decides | asked | missed | twice | first ms | p50 ms | last ms |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, asked) in [("hooks, within 10 s", &found.hooks), ("the watcher", &found.watcher)] {
        let Asked { asked, missed, twice, first_ms, p50_ms, last_ms } = asked;
        println!("| {name} | {asked} | {missed} | {twice} | {first_ms} | {p50_ms} | {last_ms} |");
    }
}

fn serving(serving: &Serving) {
    println!("\n## Serving, 32 connections\n");
    println!("| request | plimsoll /s | seed's service /s | times | p99 ms, 50 clients |");
    println!("|---|---:|---:|---:|---:|");
    for (name, contest, p99) in [
        ("usage", &serving.usage, serving.usage_p99_ms),
        ("durable save", &serving.saves, serving.saves_p99_ms),
    ] {
        let some = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let (seeds, times) = (some(contest.seeds, 0), some(contest.times(), 1));
        println!("| {name} | {:.0} | {seeds} | {times} | {p99:.1} |", contest.ours);
    }
}

fn listing(listing: &Listing) {
    let Listing { transcripts, bytes, cold, warm } = listing;
    println!("\n## Listing {transcripts} sessions, {} MB\n", bytes / 1_000_000);
    println!("| `plimsoll status --all` | first screen ms | all ms | memory ≤ MB |");
    println!("|---|---:|---:|---:|");
    for (name, run) in [("cold", cold), ("warm", warm)] {
        let Run { first_screen_ms, total_ms, peak_bytes } = run;
        let peak = *peak_bytes as f64 / 1e6;
        println!("| {name} | {first_screen_ms:.0} | {total_ms:.0} | {peak:.1} |");
    }
}

fn checkpoints(found: &Checkpoints) {
    println!("\n## A checkpoint, from saved state\n");
    timings(&found.saved, &[]);
    println!(
        "\n## Whole transcripts: the newline count, the extraction, a checkpoint from nothing\n"
    );
    timings(&found.whole, &found.missing);
    println!(
        "\n## Extraction\n\n| transcript | ms | GB/s | × newline count |\n|---|---:|---:|---:|"
    );
    for Extraction { size, bytes, min_us, counts } in &found.extraction {
        let speed = *bytes as f64 / min_us / 1e3;
        println!("| {size} | {:.1} | {speed:.2} | {counts:.1} |", min_us / 1e3);
    }
    let peak = found.peak_bytes as f64 / 1e6;
    println!("\nPeak memory from nothing at 200 MB: {peak:.1} MB; fsyncs: {}.", found.syncs);
}

fn load(figures: &Load) {
    let Load { sessions, seconds, readings, checkpoints, .. } = figures;
    println!("\n## {sessions} sessions at once, for {seconds} s\n");
    println!(
        "{readings} readings, {checkpoints} checkpoints kept; server, watcher and PostgreSQL beside them.\n"
    );
    println!("| call | calls | p50 ms | p99 ms | longest ms |\n|---|---:|---:|---:|---:|");
    for (name, took) in [("hook", &figures.hooks), ("PreCompact", &figures.compactions)] {
        let Took { calls, p50_ms, p99_ms, max_ms } = took;
        println!("| {name} | {calls} | {p50_ms:.1} | {p99_ms:.1} | {max_ms:.1} |");
    }
    println!(
        "\n| after s | memory MB | handles | threads | connections | files | checkpoints |\n|---:|---:|---:|---:|---:|---:|---:|"
    );
    for held in &figures.held {
        let Held { seconds, handles, threads, connections, files, checkpoints, .. } = held;
        let megabytes = held.memory_bytes as f64 / 1e6;
        println!(
            "| {seconds} | {megabytes:.1} | {handles} | {threads} | {connections} | {files} | {checkpoints} |"
        );
    }
}
