//! The benchmark behind docs/performance.md: whole hook processes, timed in turn with a bare static
//! no-op and with the hooks of the projects plimsoll grew out of.
//!
//! `scripts/bench` builds what is measured and runs this.

mod accuracy;
mod competitors;
mod count;
mod gates;
mod plot;
mod report;
mod spawn;
mod stage;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use report::{Count, Figures, Reading};
use spawn::Competitor;
use stage::Stage;

/// Time whole hook processes against a bare no-op and against other hooks
#[derive(Parser)]
struct Args {
    /// The binary to measure
    #[arg(long, value_name = "FILE")]
    plimsoll: PathBuf,
    /// The static process that does nothing
    #[arg(long, value_name = "FILE")]
    noop: PathBuf,
    /// Folder of the seeds' hooks (default: `../shared/bench` beside the workspace)
    #[arg(long, value_name = "DIR")]
    seeds: Option<PathBuf>,
    /// Folder of real transcripts to predict (default: `../shared/transcripts/claude-code`)
    #[arg(long, value_name = "DIR")]
    accuracy: Option<PathBuf>,
    /// Exit with 1 when a promise is not kept
    #[arg(long)]
    gate: bool,
    /// Fewer rounds, fewer predicted calls
    #[arg(long)]
    quick: bool,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the medians as an SVG bar chart
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let figures = measure(&args)?;
    report::print(&figures);
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&figures)?;
        fs::write(path, text).context("could not write the figures")?;
    }
    if let Some(path) = &args.plot {
        fs::write(path, plot::svg(&figures)).context("could not write the plot")?;
    }
    let missed = figures.gates.iter().any(|gate| !gate.kept);
    Ok(if args.gate && missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn measure(args: &Args) -> anyhow::Result<Figures> {
    let plimsoll = program(&args.plimsoll)?;
    report::note("writing transcripts");
    let stage = Stage::set()?;
    let noop = Competitor::new(competitors::NOOP, [program(&args.noop)?]);
    let hooks = competitors::hooks(&stage, &plimsoll)?;
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let seeds = args.seeds.clone().unwrap_or_else(|| beside.join("bench"));
    let seeds = competitors::seeds(&stage, &seeds)?;

    report::note("timing the hook");
    let rounds = if args.quick { 60 } else { 300 };
    let small = [std::slice::from_ref(&noop), &hooks].concat();
    let hook = spawn::race(&stage, &small, rounds)?;
    report::note("timing the seeds' hooks");
    let rounds = if args.quick { 8 } else { 40 };
    let others: Vec<_> = seeds.present.iter().map(|seed| seed.competitor.clone()).collect();
    let rivals = hooks.iter().filter(|hook| seeds.rivals().contains(&hook.name.as_str()));
    let large = [vec![noop.clone()], rivals.cloned().collect(), others].concat();
    let other = spawn::race(&stage, &large, rounds)?;

    report::note("counting instructions, system calls and memory");
    let counts = counts(&stage, &noop, &hooks)?;
    let readings = readings(&stage, &plimsoll)?;
    report::note("predicting the calls of real transcripts");
    let transcripts = args.accuracy.clone();
    let transcripts = transcripts.unwrap_or_else(|| beside.join("transcripts/claude-code"));
    let accuracy =
        accuracy::judge(&stage, &plimsoll, &transcripts, if args.quick { 50 } else { 10 })?;

    let missing = seeds.missing.clone();
    let rivals = seeds.pairs();
    let mut figures = Figures { hook, other, missing, counts, readings, accuracy, gates: vec![] };
    figures.gates = gates::judge(&figures, &rivals)?;
    Ok(figures)
}

fn program(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("could not find `{}`", path.display()))
}

/// What the no-op does, and the hook where its path may differ.
fn counts(stage: &Stage, noop: &Competitor, hooks: &[Competitor]) -> anyhow::Result<Vec<Count>> {
    let counted = ["100 KB", "10 MB", "200 MB", "trap"].map(competitors::post_tool_use);
    let hooks = hooks.iter().filter(|hook| counted.contains(&hook.name));
    std::iter::once(noop)
        .chain(hooks)
        .map(|competitor| {
            Ok(Count {
                name: competitor.name.clone(),
                instructions: count::instructions(stage, competitor)?,
                peak_bytes: count::peak_memory(stage, competitor)?,
                calls: count::system_calls(stage, competitor)?,
                printed: spawn::output(stage, competitor)?.stdout.len(),
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
