//! A checkpoint before a compaction: from nothing and from saved state, beside the least that reading
//! the file costs and beside the seed's design.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use tempfile::TempDir;

use crate::competitors::{self, NOOP};
use crate::count;
use crate::gates::{Figure, Gate, at_most, row};
use crate::spawn::{self, Before, Competitor, Timing};
use crate::stage::{Event, Stage, Transcript};

/// The sizes that are timed.
const SIZES: [&str; 4] = ["1 MB", "10 MB", "100 MB", "200 MB"];
/// The size that is compared with the seed's design.
const LARGE: &str = "100 MB";
const SEED: &str = "CLC Node PreCompact, 100 MB";

/// What was found out about checkpoints.
#[derive(Debug, Serialize)]
pub(crate) struct Checkpoints {
    /// Whole transcripts: the newline count, the extraction, PreCompact from nothing, the seed's.
    pub(crate) whole: Vec<Timing>,
    /// From saved state, among small processes.
    pub(crate) saved: Vec<Timing>,
    pub(crate) extraction: Vec<Extraction>,
    /// Peak memory from nothing at 200 MB.
    pub(crate) peak_bytes: u64,
    /// What waits for the disk in one checkpoint, the store aside.
    pub(crate) syncs: u64,
    /// The seed's script, where it is not here.
    pub(crate) missing: Vec<String>,
}

/// How fast a whole transcript is folded.
#[derive(Debug, Serialize)]
pub(crate) struct Extraction {
    pub(crate) size: String,
    pub(crate) bytes: u64,
    pub(crate) min_us: f64,
    /// How many newline counts it takes.
    pub(crate) counts: f64,
}

/// What is run, and how often.
pub(crate) struct Contest<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) plimsoll: &'a Path,
    pub(crate) noop: &'a Competitor,
    /// The program that counts newlines.
    pub(crate) newlines: &'a Path,
    /// The folder of the seeds' hooks.
    pub(crate) seeds: &'a Path,
    pub(crate) quick: bool,
}

impl Contest<'_> {
    /// Times everything. Transcripts grow a little by it, so it comes last.
    pub(crate) fn run(&self) -> anyhow::Result<Checkpoints> {
        let memory = memory()?;
        let (rounds, small_rounds) = if self.quick { (4, 20) } else { (12, 80) };
        let mut whole = vec![self.noop.clone()];
        let mut saved = vec![self.noop.clone()];
        for size in SIZES {
            let transcript = self.stage.labelled(size)?;
            whole.push(Competitor::new(newlines(size), [self.newlines, &transcript.path]));
            whole.push(self.extraction(transcript));
            whole.push(self.unread(transcript)?);
            saved.push(self.saved(transcript)?);
            saved.push(self.in_memory(transcript, memory.path())?);
        }
        let seed = self.seed()?;
        whole.extend(seed.clone());
        // While what is saved does not fit the timed file yet.
        let large = self.unread(self.stage.labelled("200 MB")?)?;
        let peak_bytes = count::peak_memory(self.stage, &large)?;
        let whole = spawn::race(self.stage, &whole, rounds)?;
        let saved_timings = spawn::race(self.stage, &saved, small_rounds)?;
        let syncs = count::system_calls(self.stage, &saved[2])?.syncs;
        for sealing in &saved[1..] {
            self.sealed(sealing, small_rounds)?;
        }
        Ok(Checkpoints {
            extraction: self.extractions(&whole)?,
            whole,
            saved: saved_timings,
            peak_bytes,
            syncs,
            missing: if seed.is_some() { Vec::new() } else { vec![SEED.to_owned()] },
        })
    }

    /// The fold alone, and what is made of it.
    fn extraction(&self, transcript: &Transcript) -> Competitor {
        let argv = [
            self.plimsoll.as_os_str(),
            "restore".as_ref(),
            "--transcript".as_ref(),
            transcript.path.as_os_str(),
        ];
        Competitor::new(extraction(transcript.label), argv)
    }

    /// PreCompact with a place of its own below `folder`.
    fn hook(
        &self,
        name: String,
        transcript: &Transcript,
        folder: PathBuf,
    ) -> anyhow::Result<Competitor> {
        let hook = Competitor::new(name, [self.plimsoll.as_os_str(), "hook".as_ref()]);
        let mut hook = hook.reading(self.stage.payload(Event::PreCompact, transcript)?);
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

    fn unread(&self, transcript: &Transcript) -> anyhow::Result<Competitor> {
        let folder = self.stage.path(format!("nothing/{}", transcript.truth.session_id));
        let data = folder.join(DATA);
        let mut hook = self.hook(from_nothing(transcript.label), transcript, folder)?;
        let derived = ["work", "store.sqlite", "store.sqlite-wal", "store.sqlite-shm"];
        hook.before.extend(derived.map(|name| Before::Remove(data.join(name))));
        Ok(hook)
    }

    fn saved(&self, transcript: &Transcript) -> anyhow::Result<Competitor> {
        let folder = self.stage.path(format!("saved/{}", transcript.truth.session_id));
        let mut hook = self.hook(from_saved(transcript.label), transcript, folder)?;
        hook.before.push(Before::Append(transcript.path.clone(), NEWS));
        Ok(hook)
    }

    /// The same where a disk costs nothing and there is no store: what is left is the checkpoint.
    fn in_memory(&self, transcript: &Transcript, memory: &Path) -> anyhow::Result<Competitor> {
        let folder = memory.join(&transcript.truth.session_id);
        fs::create_dir_all(folder.join(DATA).join("store.sqlite"))?;
        let mut hook = self.hook(in_memory(transcript.label), transcript, folder)?;
        hook.before.push(Before::Append(transcript.path.clone(), NEWS));
        Ok(hook)
    }

    /// The seed's own PreCompact, if its script and its interpreter are here.
    fn seed(&self) -> anyhow::Result<Option<Competitor>> {
        let script = self.seeds.join("clc/pre-compact-checkpoint.cjs");
        let Some(node) = competitors::node().filter(|_| script.is_file()) else { return Ok(None) };
        let payload = self.stage.payload(Event::PreCompact, self.stage.labelled(LARGE)?)?;
        let mut seed = Competitor::new(SEED, [node, script]).reading(payload);
        seed.environment.push(("CLC_PROJECT", self.stage.path("seed/project")));
        seed.environment.push(("CLC_HOME", self.stage.path("seed/home")));
        Ok(Some(seed))
    }

    /// Makes sure that what was timed is a checkpoint each time.
    fn sealed(&self, hook: &Competitor, rounds: usize) -> anyhow::Result<()> {
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
            let (ours, floor) = (row(whole, &extraction(size))?, row(whole, &newlines(size))?);
            let bytes = self.stage.labelled(size)?.truth.bytes;
            let counts = ours.min_us / floor.min_us;
            Ok(Extraction { size: (*size).to_owned(), bytes, min_us: ours.min_us, counts })
        };
        SIZES.iter().map(extraction).collect()
    }
}

const DATA: &str = "data";

/// What a session adds between two checkpoints, at least: without news none is made.
const NEWS: &str = concat!(
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

/// A folder that lies in memory where the system has one.
fn memory() -> anyhow::Result<TempDir> {
    const MEMORY: &str = "/dev/shm";
    let folder = if Path::new(MEMORY).is_dir() { TempDir::new_in(MEMORY) } else { TempDir::new() };
    folder.context("could not make a folder in memory")
}

fn newlines(size: &str) -> String {
    format!("mmap newline count, {size}")
}

fn extraction(size: &str) -> String {
    format!("plimsoll restore --transcript, {size}")
}

fn from_nothing(size: &str) -> String {
    format!("plimsoll hook PreCompact from nothing, {size}")
}

fn from_saved(size: &str) -> String {
    format!("plimsoll hook PreCompact from saved state, {size}")
}

fn in_memory(size: &str) -> String {
    format!("… without disk and store, {size}")
}

/// Judges what was promised of checkpoints.
pub(crate) fn gates(found: &Checkpoints) -> anyhow::Result<Vec<Gate>> {
    let (min, cpu): (Figure, Figure) = (|row| row.min_us, |row| row.cpu_p50_us);
    let whole = row(&found.whole, &from_nothing(LARGE))?;
    let floor = row(&found.whole, &newlines(LARGE))?;
    let noop = row(&found.saved, NOOP)?;
    let mut gates = Vec::new();
    for (what, of) in [("minimums", min), ("median CPU", cpu)] {
        let promise = format!("PreCompact from nothing / newline count, 100 MB, {what},");
        gates.push(at_most(&promise, of(whole) / of(floor), 8.0));
        let worst = SIZES.iter().map(|size| row(&found.saved, &in_memory(size)).map(of));
        let worst = worst.collect::<anyhow::Result<Vec<_>>>()?.into_iter().fold(0.0, f64::max);
        let promise = format!("PreCompact from saved state / no-op, any size, {what},");
        gates.push(at_most(&promise, worst / of(noop), 8.0));
    }
    if let Ok(seed) = row(&found.whole, SEED) {
        let times = min(seed) / min(whole);
        let promise = "PreCompact from nothing ≥ 8 × faster than CLC Node, 100 MB".to_owned();
        gates.push(Gate { promise, measured: format!("{times:.1} ×"), kept: times >= 8.0 });
    }
    let peak = found.peak_bytes as f64 / 1e6;
    gates.push(Gate {
        promise: "peak memory of PreCompact < 16 MB, 200 MB".to_owned(),
        measured: format!("{peak:.1} MB"),
        kept: peak < 16.0,
    });
    gates.push(Gate {
        promise: "fsyncs of a checkpoint: 2".to_owned(),
        measured: found.syncs.to_string(),
        kept: found.syncs == 2,
    });
    Ok(gates)
}
