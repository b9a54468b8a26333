//! `plimsoll status --all` over a home with as many transcripts as a busy year leaves.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use plimsoll_testbed::generator::{self, Options};
use serde::Serialize;
use tempfile::TempDir;
use wait4::Wait4 as _;

use crate::gates::Gate;

/// How many transcripts, and in how many projects.
const TRANSCRIPTS: usize = 2_000;
const PROJECTS: usize = 40;
/// Their sizes, in turn: half a megabyte in the mean.
const SIZES: [u64; 10] =
    [50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000, 700_000, 1_100_000, 1_500_000];
/// How many lines a screen shows.
const SCREEN: usize = 40;
const WARM_RUNS: usize = 7;

/// What listing all sessions took.
#[derive(Debug, Serialize)]
pub(crate) struct Listing {
    pub(crate) transcripts: usize,
    pub(crate) bytes: u64,
    /// With nothing in the store.
    pub(crate) cold: Run,
    /// With everything in it: the run whose first screen is the median.
    pub(crate) warm: Run,
}

/// One run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Run {
    /// Until the first screen was full.
    pub(crate) first_screen_ms: f64,
    pub(crate) total_ms: f64,
    pub(crate) peak_bytes: u64,
}

/// Writes the transcripts and lists them.
pub(crate) fn list(plimsoll: &Path) -> anyhow::Result<Listing> {
    let home = TempDir::new().context("could not make a temporary folder")?;
    let bytes = write(home.path(), TRANSCRIPTS, PROJECTS, &SIZES)?;
    let cold = run(plimsoll, home.path())?;
    let mut warm = Vec::new();
    for _ in 0..WARM_RUNS {
        warm.push(run(plimsoll, home.path())?);
    }
    warm.sort_by(|one, other| one.first_screen_ms.total_cmp(&other.first_screen_ms));
    Ok(Listing { transcripts: TRANSCRIPTS, bytes, cold, warm: warm[WARM_RUNS / 2] })
}

/// Writes so many transcripts in so many projects, of these sizes in turn; gives their bytes.
pub(crate) fn write(
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
        let options = Options { size, seed: number as u64, ..Options::default() };
        let truth = generator::write(BufWriter::new(File::create(&draft)?), &options)
            .context("could not write a transcript")?;
        fs::rename(draft, folder.join(truth.session_id).with_extension("jsonl"))?;
        bytes += truth.bytes;
    }
    Ok(bytes)
}

fn run(plimsoll: &Path, home: &Path) -> anyhow::Result<Run> {
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
    Ok(Run { first_screen_ms, total_ms, peak_bytes: used.rusage.maxrss })
}

/// How long a person with many transcripts waits for the first screen, and what that takes.
pub(crate) fn gates(listing: &Listing) -> Vec<Gate> {
    let first = listing.warm.first_screen_ms;
    let peak = listing.warm.peak_bytes.max(listing.cold.peak_bytes) as f64 / 1e6;
    vec![
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
