//! Times `plimsoll status --all` in a home with as many transcripts as a busy year leaves.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use plimsoll_testbed::generator::{self, GeneratorOptions};
use serde::Serialize;
use tempfile::TempDir;
use wait4::Wait4 as _;

use crate::gates::Gate;
use crate::section::PartResults;
use crate::table::{megabytes, table, with_title};

const TRANSCRIPTS: usize = 2_000;
const PROJECTS: usize = 40;
/// Transcript sizes, used in rotation: half a megabyte on average.
const SIZES: [u64; 10] =
    [50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000, 700_000, 1_100_000, 1_500_000];
/// Lines on one screen.
const SCREEN: usize = 40;
const WARM_RUNS: usize = 7;

/// Timings of listing all sessions.
#[derive(Debug, Serialize)]
pub(crate) struct ListingTimings {
    transcripts: usize,
    bytes: u64,
    /// With an empty store.
    cold: ListingRun,
    /// With a full store: the run with the median time to the first screen.
    warm: ListingRun,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct ListingRun {
    /// Time until the first screen was full.
    first_screen_ms: f64,
    total_ms: f64,
    peak_bytes: u64,
}

/// Writes the transcripts and lists them.
pub(crate) fn time_listing(plimsoll: &Path) -> anyhow::Result<ListingTimings> {
    let home = TempDir::new().context("could not make a temporary folder")?;
    let bytes = write_transcripts(home.path(), TRANSCRIPTS, PROJECTS, &SIZES)?;
    let cold = run_status(plimsoll, home.path())?;
    let mut warm = Vec::new();
    for _ in 0..WARM_RUNS {
        warm.push(run_status(plimsoll, home.path())?);
    }
    warm.sort_by(|one, other| one.first_screen_ms.total_cmp(&other.first_screen_ms));
    Ok(ListingTimings { transcripts: TRANSCRIPTS, bytes, cold, warm: warm[WARM_RUNS / 2] })
}

/// Writes `transcripts` transcripts over `projects` projects, with `sizes` in rotation. Returns
/// their total bytes.
pub(crate) fn write_transcripts(
    home: &Path,
    transcripts: usize,
    projects: usize,
    sizes: &[u64],
) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for (number, size) in (0..transcripts).zip(sizes.iter().copied().cycle()) {
        let folder = home.join(format!(".claude/projects/-project-{}", number % projects));
        fs::create_dir_all(&folder)?;
        let draft = folder.join("draft.jsonl");
        let options = GeneratorOptions { size, seed: number as u64, ..GeneratorOptions::default() };
        let truth = generator::write(BufWriter::new(File::create(&draft)?), &options)
            .context("could not write a transcript")?;
        fs::rename(draft, folder.join(truth.session_id).with_extension("jsonl"))?;
        bytes += truth.bytes;
    }
    Ok(bytes)
}

fn run_status(plimsoll: &Path, home: &Path) -> anyhow::Result<ListingRun> {
    let mut command = Command::new(plimsoll);
    command.args(["status", "--all"]).env_clear().env("HOME", home);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().context("could not start `plimsoll status`")?;
    let mut out = BufReader::new(child.stdout.take().context("no output to read")?);
    let mut line = Vec::new();
    for _ in 0..SCREEN {
        line.clear();
        ensure!(out.read_until(b'\n', &mut line)? > 0, "the listing ends before the screen");
    }
    let first_screen_ms = start.elapsed().as_secs_f64() * 1e3;
    out.read_to_end(&mut line)?;
    let used = child.wait4().context("could not wait for `plimsoll status`")?;
    ensure!(used.status.success(), "`plimsoll status` failed: {}", used.status);
    let total_ms = start.elapsed().as_secs_f64() * 1e3;
    Ok(ListingRun { first_screen_ms, total_ms, peak_bytes: used.rusage.maxrss })
}

impl PartResults for ListingTimings {
    const ABOUT: &'static str = "`plimsoll status --all` over a home with as many transcripts as a busy year leaves: the first screen is \
        what somebody waits for.";

    fn tables(&self) -> String {
        let ListingTimings { transcripts, bytes, cold, warm } = self;
        let row = |(name, run): (&str, &ListingRun)| {
            let ListingRun { first_screen_ms, total_ms, peak_bytes } = run;
            let times = [first_screen_ms, total_ms].map(|time| format!("{time:.0}"));
            let [first, total] = times;
            [name.to_owned(), first, total, megabytes(*peak_bytes)]
        };
        let head = ["`plimsoll status --all`", "first screen ms", "all ms", "memory ≤ MB"];
        let title = format!("{transcripts} sessions, {} MB", bytes / 1_000_000);
        with_title(&title, &table(head, [("cold", cold), ("warm", warm)].map(row)))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let first = self.warm.first_screen_ms;
        let peak = self.warm.peak_bytes.max(self.cold.peak_bytes) as f64 / 1e6;
        Ok(vec![
            Gate::new(
                "first screen of all sessions ≤ 300 ms",
                format!("{first:.0} ms"),
                first <= 300.0,
            ),
            Gate::new("peak memory of listing them ≤ 50 MB", format!("{peak:.1} MB"), peak <= 50.0),
        ])
    }
}
