//! Times checkpoints before a compaction: from scratch and from saved state, compared with the
//! minimum cost of reading the file and with the seed's design.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use tempfile::TempDir;

use crate::bench::Bench;
use crate::bench_env::{BenchEnv, Event, GeneratedTranscript};
use crate::competitors::{self, NOOP};
use crate::count;
use crate::gates::{Gate, TimingFigure, at_most, find_timing};
use crate::plot::{Bar, Picture, Scale, bar_chart};
use crate::section::PartResults;
use crate::spawn::{self, Competitor, Preparation, Timing};
use crate::table::{table, timing_table, with_title};

const SIZES: [&str; 4] = ["1 MB", "10 MB", "100 MB", "200 MB"];
/// Size at which plimsoll is compared with the seed's design.
const LARGE: &str = "100 MB";
const SEED: &str = "CLC Node PreCompact, 100 MB";

/// Results for checkpoints.
#[derive(Debug, Serialize)]
pub(crate) struct CheckpointTimings {
    /// Whole transcripts: the newline count, the extraction, PreCompact from scratch, the seed's
    /// hook.
    whole: Vec<Timing>,
    /// PreCompact from saved state, timed with the no-op.
    saved: Vec<Timing>,
    extraction: Vec<Extraction>,
    /// Peak memory of PreCompact from scratch at 200 MB.
    peak_bytes: u64,
    /// System calls of one checkpoint that wait for the disk, not counting the store.
    syncs: u64,
    /// Name of the seed's script, if it is not available.
    missing: Vec<String>,
}

/// Speed of extracting a whole transcript.
#[derive(Debug, Serialize)]
struct Extraction {
    size: String,
    bytes: u64,
    min_us: f64,
    /// Ratio to the time of a newline count.
    counts: f64,
}

/// Times checkpoints against their baselines. This appends to the transcripts, so it must run after
/// everything else that is timed on them.
pub(crate) fn time_checkpoints(bench: &Bench) -> anyhow::Result<CheckpointTimings> {
    CheckpointBench { bench, stage: bench.stage()? }.run()
}

/// The benchmark's inputs and the stage that the checkpoints are timed on.
struct CheckpointBench<'a> {
    bench: &'a Bench,
    stage: &'a BenchEnv,
}

impl CheckpointBench<'_> {
    /// Times everything.
    fn run(&self) -> anyhow::Result<CheckpointTimings> {
        let memory = memory()?;
        let (rounds, small_rounds) = if self.bench.quick { (4, 20) } else { (12, 80) };
        let mut whole = vec![self.bench.noop_competitor()];
        let mut saved = vec![self.bench.noop_competitor()];
        for size in SIZES {
            let transcript = self.stage.transcript_labelled(size)?;
            whole.push(Competitor::new(
                newlines_row(size),
                [&self.bench.newlines, &transcript.path],
            ));
            whole.push(self.extraction_competitor(transcript));
            whole.push(self.hook_from_scratch(transcript)?);
            saved.push(self.hook_from_saved(transcript)?);
            saved.push(self.in_memory_hook(transcript, memory.path())?);
        }
        let seed = self.seed_hook()?;
        whole.extend(seed.clone());
        // Must run before the race, while no saved state matches the timed file.
        let large = self.hook_from_scratch(self.stage.transcript_labelled("200 MB")?)?;
        let peak_bytes = count::peak_memory(self.stage, &large)?;
        let whole = spawn::race(self.stage, &whole, rounds)?;
        let saved_timings = spawn::race(self.stage, &saved, small_rounds)?;
        let syncs = count::system_calls(self.stage, &saved[2])?.syncs;
        for sealing in &saved[1..] {
            self.check_checkpoints_written(sealing, small_rounds)?;
        }
        Ok(CheckpointTimings {
            extraction: self.extractions(&whole)?,
            whole,
            saved: saved_timings,
            peak_bytes,
            syncs,
            missing: if seed.is_some() { Vec::new() } else { vec![SEED.to_owned()] },
        })
    }

    /// Extracts a whole transcript and prints the restore.
    fn extraction_competitor(&self, transcript: &GeneratedTranscript) -> Competitor {
        let argv = [
            self.bench.plimsoll.as_os_str(),
            "restore".as_ref(),
            "--transcript".as_ref(),
            transcript.path.as_os_str(),
        ];
        Competitor::new(extraction_row(transcript.label), argv)
    }

    /// PreCompact with its own data, project and client folders in `folder`.
    fn hook(
        &self,
        name: String,
        transcript: &GeneratedTranscript,
        folder: PathBuf,
    ) -> anyhow::Result<Competitor> {
        let hook = Competitor::new(name, [self.bench.plimsoll.as_os_str(), "hook".as_ref()]);
        let mut hook = hook.with_stdin(self.stage.payload(Event::PreCompact, transcript)?);
        for (variable, place) in [
            ("PLIMSOLL_DATA_DIR", DATA),
            ("CLAUDE_PROJECT_DIR", "project"),
            ("CLAUDE_CONFIG_DIR", "client"),
        ] {
            fs::create_dir_all(folder.join(place))?;
            hook.environment.push((variable, folder.join(place)));
        }
        Ok(hook)
    }

    fn hook_from_scratch(&self, transcript: &GeneratedTranscript) -> anyhow::Result<Competitor> {
        let folder = self.stage.path(format!("nothing/{}", transcript.truth.session_id));
        let data = folder.join(DATA);
        let mut hook = self.hook(from_scratch_row(transcript.label), transcript, folder)?;
        let derived = ["work", "store.sqlite", "store.sqlite-wal", "store.sqlite-shm"];
        hook.preparations.extend(derived.map(|name| Preparation::Remove(data.join(name))));
        Ok(hook)
    }

    fn hook_from_saved(&self, transcript: &GeneratedTranscript) -> anyhow::Result<Competitor> {
        let folder = self.stage.path(format!("saved/{}", transcript.truth.session_id));
        let mut hook = self.hook(from_saved_row(transcript.label), transcript, folder)?;
        hook.preparations.push(Preparation::Append(transcript.path.clone(), NEW_RECORDS));
        Ok(hook)
    }

    /// PreCompact from saved state on a memory file system and without a store, which leaves the
    /// cost of the checkpoint itself.
    fn in_memory_hook(
        &self,
        transcript: &GeneratedTranscript,
        memory: &Path,
    ) -> anyhow::Result<Competitor> {
        let folder = memory.join(&transcript.truth.session_id);
        fs::create_dir_all(folder.join(DATA).join("store.sqlite"))?;
        let mut hook = self.hook(in_memory_row(transcript.label), transcript, folder)?;
        hook.preparations.push(Preparation::Append(transcript.path.clone(), NEW_RECORDS));
        Ok(hook)
    }

    /// Returns the seed's own PreCompact. `None` if its script or Node is missing.
    fn seed_hook(&self) -> anyhow::Result<Option<Competitor>> {
        let script = self.bench.seeds.join("clc/pre-compact-checkpoint.cjs");
        let Some(node) = competitors::node().filter(|_| script.is_file()) else { return Ok(None) };
        let payload =
            self.stage.payload(Event::PreCompact, self.stage.transcript_labelled(LARGE)?)?;
        let mut seed = Competitor::new(SEED, [node, script]).with_stdin(payload);
        seed.environment.push(("CLC_PROJECT", self.stage.path("seed/project")));
        seed.environment.push(("CLC_HOME", self.stage.path("seed/home")));
        Ok(Some(seed))
    }

    /// Checks that every timed run wrote a checkpoint.
    fn check_checkpoints_written(&self, hook: &Competitor, rounds: usize) -> anyhow::Result<()> {
        let project = hook.environment.iter().find(|(name, _)| *name == "CLAUDE_PROJECT_DIR");
        let folder = project.context("no project")?.1.join(".claude/checkpoints");
        let names =
            fs::read_dir(&folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let count = names.filter(|name| name.ends_with(".md") && name != "latest.md").count();
        ensure!(count >= rounds, "`{}` sealed {count} times in {rounds} rounds", hook.name);
        Ok(())
    }

    fn extractions(&self, whole: &[Timing]) -> anyhow::Result<Vec<Extraction>> {
        let extraction = |size: &&str| {
            let (ours, floor) = (
                find_timing(whole, &extraction_row(size))?,
                find_timing(whole, &newlines_row(size))?,
            );
            let bytes = self.stage.transcript_labelled(size)?.truth.bytes;
            let counts = ours.min_us / floor.min_us;
            Ok(Extraction { size: (*size).to_owned(), bytes, min_us: ours.min_us, counts })
        };
        SIZES.iter().map(extraction).collect()
    }
}

const DATA: &str = "data";

/// Records that are appended between two checkpoints. Without new records, no checkpoint is
/// written.
const NEW_RECORDS: &str = concat!(
    r#"{"parentUuid":"turn {}","isSidechain":false,"type":"user","message":{"role":"user","#,
    r#""content":"Now make case {} of src/load.rs pass."},"uuid":"prompt {}","#,
    r#""timestamp":"2026-11-15T12:00:00.000Z"}"#,
    "\n",
    r#"{"parentUuid":"prompt {}","isSidechain":false,"type":"assistant","message":{"id":"msg_{}","#,
    r#""model":"claude-opus-4-6","role":"assistant","content":[{"type":"text","text":"It passes."}],"#,
    r#""stop_reason":"end_turn","usage":{"input_tokens":3,"cache_read_input_tokens":90000,"#,
    r#""cache_creation_input_tokens":120,"output_tokens":20}},"uuid":"answer {}","#,
    r#""timestamp":"2026-11-15T12:00:01.000Z"}"#,
    "\n",
);

/// Creates a temporary folder, in memory if the system has `/dev/shm`.
fn memory() -> anyhow::Result<TempDir> {
    const MEMORY: &str = "/dev/shm";
    let folder = if Path::new(MEMORY).is_dir() { TempDir::new_in(MEMORY) } else { TempDir::new() };
    folder.context("could not make a folder in memory")
}

fn newlines_row(size: &str) -> String {
    format!("mmap newline count, {size}")
}

fn extraction_row(size: &str) -> String {
    format!("plimsoll restore --transcript, {size}")
}

fn from_scratch_row(size: &str) -> String {
    format!("plimsoll hook PreCompact from nothing, {size}")
}

fn from_saved_row(size: &str) -> String {
    format!("plimsoll hook PreCompact from saved state, {size}")
}

fn in_memory_row(size: &str) -> String {
    format!("… without disk and store, {size}")
}

impl PartResults for CheckpointTimings {
    const ABOUT: &'static str = "The hook before a compaction, which seals a checkpoint: from nothing, beside a program that only counts \
        the newlines of the file, and from saved state, beside the no-op.";

    fn tables(&self) -> String {
        let extraction = |Extraction { size, bytes, min_us, counts }: &Extraction| {
            let speed = *bytes as f64 / min_us / 1e3;
            [
                size.clone(),
                format!("{:.1}", min_us / 1e3),
                format!("{speed:.2}"),
                format!("{counts:.1}"),
            ]
        };
        let extraction = self.extraction.iter().map(extraction);
        let head = ["transcript", "ms", "GB/s", "× newline count"];
        with_title("From saved state", &timing_table(&self.saved, &[]))
            + &with_title("Whole transcripts", &timing_table(&self.whole, &self.missing))
            + &with_title("Extraction", &table(head, extraction))
    }

    fn picture(&self) -> Option<Picture> {
        let rows = self.whole.iter().chain(&self.saved);
        let bars: Vec<_> = rows.map(|row| Bar::new(&row.name, row.min_us / 1e3)).collect();
        let about = "Minimums of checkpoints and of what they are held against, in milliseconds, on a logarithmic scale";
        Some(bar_chart(&Scale::logarithmic(&bars), &bars, about))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let (min, cpu): (TimingFigure, TimingFigure) = (|row| row.min_us, |row| row.cpu_p50_us);
        let whole = find_timing(&self.whole, &from_scratch_row(LARGE))?;
        let floor = find_timing(&self.whole, &newlines_row(LARGE))?;
        let noop = find_timing(&self.saved, NOOP)?;
        let mut gates = Vec::new();
        for (what, of) in [("minimums", min), ("median CPU", cpu)] {
            let promise = format!("PreCompact from nothing / newline count, 100 MB, {what},");
            gates.push(at_most(&promise, of(whole) / of(floor), 8.0));
            let worst =
                SIZES.iter().map(|size| find_timing(&self.saved, &in_memory_row(size)).map(of));
            let worst = worst.collect::<anyhow::Result<Vec<_>>>()?.into_iter().fold(0.0, f64::max);
            let promise = format!("PreCompact from saved state / no-op, any size, {what},");
            gates.push(at_most(&promise, worst / of(noop), 8.0));
        }
        let promise = "PreCompact from nothing ≥ 8 × faster than CLC Node, 100 MB";
        gates.push(match find_timing(&self.whole, SEED) {
            Ok(seed) => {
                let times = min(seed) / min(whole);
                Gate::new(promise, format!("{times:.1} ×"), times >= 8.0)
            }
            Err(_) => Gate::not_judged(SEED, promise),
        });
        let peak = self.peak_bytes as f64 / 1e6;
        gates.push(Gate::new(
            "peak memory of PreCompact < 16 MB, 200 MB",
            format!("{peak:.1} MB"),
            peak < 16.0,
        ));
        gates.push(Gate::new("fsyncs of a checkpoint: 2", self.syncs.to_string(), self.syncs == 2));
        Ok(gates)
    }
}
