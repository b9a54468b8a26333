//! The benchmark behind docs/performance.md: whole hook processes, timed in turn with a bare static
//! no-op and with the hooks of the projects plimsoll grew out of.
//!
//! `scripts/bench` builds what is measured and runs this.

mod accuracy;
mod commits;
mod competitors;
mod count;
mod dashboard;
#[path = "../../plimsoll/tests/browser/driver.rs"]
#[expect(dead_code, reason = "the tests ask for more")]
#[expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]
mod driver;
mod gates;
mod listing;
mod load;
mod naive;
mod packing;
mod plot;
mod precompact;
mod report;
mod saves;
mod server;
mod serving;
mod spawn;
mod stage;
mod team;
mod triggers;
mod watching;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use accuracy::Accuracy;
use commits::Committing;
use dashboard::Painting;
use load::{Load, Pace};
use packing::Packing;
use precompact::{Checkpoints, Contest};
use report::{Count, Figures, Reading};
use saves::Restoring;
use serving::Serving;
use spawn::Competitor;
use stage::Stage;
use team::Team;
use triggers::Triggers;
use watching::Watching;

/// Time whole hook processes against a bare no-op and against other hooks
#[derive(Parser)]
struct Args {
    /// The binary to measure
    #[arg(long, value_name = "FILE")]
    plimsoll: PathBuf,
    /// The static process that does nothing
    #[arg(long, value_name = "FILE")]
    noop: PathBuf,
    /// The program that maps a file and counts its newlines
    #[arg(long, value_name = "FILE")]
    newlines: PathBuf,
    /// Folder of the seeds' hooks (default: `../shared/bench` beside the workspace)
    #[arg(long, value_name = "DIR")]
    seeds: Option<PathBuf>,
    /// Folder of real transcripts to predict (default: `../shared/transcripts/claude-code`)
    #[arg(long, value_name = "DIR")]
    accuracy: Option<PathBuf>,
    /// Exit with 1 when a promise is not kept
    #[arg(long)]
    gate: bool,
    /// Fewer rounds, fewer predicted calls, no large home
    #[arg(long)]
    quick: bool,
    /// Only what needs no clock: instructions, system calls, memory, readings
    #[arg(long)]
    counted: bool,
    /// Only one part
    #[arg(long, value_name = "PART", conflicts_with = "counted")]
    only: Option<Part>,
    /// With `--only load`: so many minutes at the rate of busy agents, instead of one at full rate
    #[arg(long, value_name = "N", requires = "only")]
    minutes: Option<u64>,
    /// A Python that can run the seed's service
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the medians as an SVG bar chart
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// A part of the benchmark that can be run by itself.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Part {
    /// Checkpoints before a compaction
    Checkpoints,
    /// The watcher among growing sessions
    Watcher,
    /// The watcher when all sessions cross a line at once
    Triggers,
    /// The server beside the seed's service
    Server,
    /// Restoring from a hundred thousand saves
    Saves,
    /// What git's hook adds to a commit
    Commits,
    /// The dashboard in a browser
    Dashboard,
    /// The pages of a team with a million readings
    Team,
    /// How few batches plans come to
    Packing,
    /// Sixty-four sessions at once, for a minute, or for as long as `--minutes` says
    Load,
}

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == naive::ARGUMENT) {
        naive::watch(&arguments.next().map(PathBuf::from).context("which folder?")?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let args = Args::parse();
    let figures = match args.only {
        Some(part) => only(part, &args)?,
        None => measure(&args)?,
    };
    report::print(&figures);
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&figures)?;
        fs::write(path, text).context("could not write the figures")?;
    }
    if let Some(path) = &args.plot {
        fs::write(path, plot::svg(&figures)).context("could not write the plot")?;
    }
    let missed = figures.gates.iter().filter(|gate| args.gate && !gate.kept);
    Ok(if report::missed(missed) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(args: &Args) -> anyhow::Result<Figures> {
    let plimsoll = program(&args.plimsoll)?;
    report::note("writing transcripts");
    let stage = Stage::set()?;
    let noop = Competitor::new(competitors::NOOP, [program(&args.noop)?]);
    let hooks = competitors::hooks(&stage, &plimsoll)?;
    report::note("counting instructions, system calls and memory");
    let counts = counts(&stage, &noop, &hooks)?;
    let readings = readings(&stage, &plimsoll)?;
    let mut figures = Figures { counts, readings, ..Figures::default() };
    let mut rivals = Vec::new();
    if !args.counted {
        rivals = race(args, &stage, &noop, &hooks, &mut figures)?;
        figures.accuracy = accuracy(args, &stage, &plimsoll)?;
    }
    if !args.counted {
        figures.checkpoints = Some(checkpoints(args, &stage, &noop)?);
    }
    if !args.counted && !args.quick {
        report::note("listing the sessions of a large home");
        figures.listing = Some(listing::list(&plimsoll)?);
        figures.restoring = Some(restoring(args)?);
        figures.painting = Some(painting(args)?);
        figures.committing = Some(committing(args)?);
        figures.team = Some(team(args)?);
    }
    if !args.counted {
        figures.packing = Some(packing()?);
        figures.watching = Some(watching(args)?);
        figures.triggers = Some(triggers(args)?);
        figures.serving = Some(serving(args)?);
    }
    figures.gates = gates::judge(&figures, &rivals)?;
    Ok(figures)
}

fn only(part: Part, args: &Args) -> anyhow::Result<Figures> {
    let mut figures = Figures::default();
    match part {
        Part::Checkpoints => {
            report::note("writing transcripts");
            let noop = Competitor::new(competitors::NOOP, [program(&args.noop)?]);
            figures.checkpoints = Some(checkpoints(args, &Stage::set()?, &noop)?);
        }
        Part::Watcher => figures.watching = Some(watching(args)?),
        Part::Triggers => figures.triggers = Some(triggers(args)?),
        Part::Server => figures.serving = Some(serving(args)?),
        Part::Saves => figures.restoring = Some(restoring(args)?),
        Part::Commits => figures.committing = Some(committing(args)?),
        Part::Dashboard => figures.painting = Some(painting(args)?),
        Part::Team => figures.team = Some(team(args)?),
        Part::Packing => figures.packing = Some(packing()?),
        Part::Load => figures.load = Some(load(args)?),
    }
    figures.gates = gates::judge(&figures, &[])?;
    Ok(figures)
}

fn checkpoints(args: &Args, stage: &Stage, noop: &Competitor) -> anyhow::Result<Checkpoints> {
    report::note("timing checkpoints");
    let (plimsoll, newlines) = (program(&args.plimsoll)?, program(&args.newlines)?);
    let (seeds, quick) = (seeds(args), args.quick);
    Contest { stage, plimsoll: &plimsoll, noop, newlines: &newlines, seeds: &seeds, quick }.run()
}

fn watching(args: &Args) -> anyhow::Result<Watching> {
    report::note("watching sessions that grow");
    watching::watch(&program(&args.plimsoll)?, args.quick)
}

fn triggers(args: &Args) -> anyhow::Result<Triggers> {
    report::note("letting all sessions cross a line at once");
    triggers::cross(&program(&args.plimsoll)?)
}

fn serving(args: &Args) -> anyhow::Result<Serving> {
    report::note("serving");
    let (plimsoll, python) = (program(&args.plimsoll)?, args.python.as_deref());
    serving::serve(&plimsoll, python, &seeds(args), args.quick)
}

fn restoring(args: &Args) -> anyhow::Result<Restoring> {
    report::note("restoring from a hundred thousand saves");
    saves::restore(&program(&args.plimsoll)?)
}

fn committing(args: &Args) -> anyhow::Result<Committing> {
    report::note("committing");
    commits::commit(&program(&args.plimsoll)?)
}

fn painting(args: &Args) -> anyhow::Result<Painting> {
    report::note("opening the dashboard with a thousand sessions");
    dashboard::paint(&program(&args.plimsoll)?)
}

fn team(args: &Args) -> anyhow::Result<Team> {
    report::note("opening the pages of a team with a million readings");
    team::open(&program(&args.plimsoll)?)
}

fn load(args: &Args) -> anyhow::Result<Load> {
    let plimsoll = program(&args.plimsoll)?;
    let pace = args.minutes.map_or(Pace::Full, Pace::Soak);
    report::note("driving sixty-four sessions at once");
    load::press(&plimsoll, pace)
}

fn packing() -> anyhow::Result<Packing> {
    report::note("planning random and real task sets");
    packing::pack()
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

fn seeds(args: &Args) -> PathBuf {
    args.seeds.clone().unwrap_or_else(|| shared().join("bench"))
}

/// Times the hook among small processes, then beside the seeds' hooks; says which rows to compare.
fn race(
    args: &Args,
    stage: &Stage,
    noop: &Competitor,
    hooks: &[Competitor],
    figures: &mut Figures,
) -> anyhow::Result<Vec<(String, String)>> {
    report::note("timing the hook");
    let rounds = if args.quick { 60 } else { 300 };
    let small = [std::slice::from_ref(noop), hooks].concat();
    figures.hook = spawn::race(stage, &small, rounds)?;

    report::note("timing the seeds' hooks");
    let seeds = competitors::seeds(stage, &seeds(args))?;
    let rounds = if args.quick { 8 } else { 40 };
    let others: Vec<_> = seeds.present.iter().map(|seed| seed.competitor.clone()).collect();
    let rivals = hooks.iter().filter(|hook| seeds.rivals().contains(&hook.name.as_str()));
    let large = [vec![noop.clone()], rivals.cloned().collect(), others].concat();
    figures.other = spawn::race(stage, &large, rounds)?;
    figures.missing.clone_from(&seeds.missing);
    Ok(seeds.pairs())
}

fn accuracy(args: &Args, stage: &Stage, plimsoll: &Path) -> anyhow::Result<Accuracy> {
    report::note("predicting the calls of real transcripts");
    let transcripts =
        args.accuracy.clone().unwrap_or_else(|| shared().join("transcripts/claude-code"));
    accuracy::judge(stage, plimsoll, &transcripts, if args.quick { 50 } else { 10 })
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
            // The first run fills the settings cache.
            let printed = spawn::output(stage, competitor)?.stdout.len();
            Ok(Count {
                name: competitor.name.clone(),
                instructions: count::instructions(stage, competitor)?,
                peak_bytes: count::peak_memory(stage, competitor)?,
                calls: count::system_calls(stage, competitor)?,
                printed,
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
