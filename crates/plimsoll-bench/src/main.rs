//! The benchmark behind docs/benchmarks.md: whole hook processes, timed in turn with a bare static
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
mod figures;
mod gates;
mod hook;
mod listing;
mod load;
mod naive;
mod occasion;
mod packing;
mod page;
mod part;
mod plot;
mod precompact;
mod report;
mod saves;
mod section;
mod server;
mod serving;
mod spawn;
mod stage;
mod team;
mod triggers;
mod watching;

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, ValueEnum as _};

use figures::Bench;
use load::Pace;
use part::Part;
use section::Section;

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
    /// Only these parts
    #[arg(long, value_name = "PART", value_delimiter = ',', conflicts_with = "counted")]
    only: Vec<Part>,
    /// Sixty-four sessions for so many minutes at the rate of busy agents, instead of one at full rate
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// A Python that can run the seed's service
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write what was run into the page `benchmarks.md` of this folder, and its pictures
    #[arg(long, value_name = "DIR", conflicts_with = "counted")]
    page: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == naive::ARGUMENT) {
        naive::watch(&arguments.next().map(PathBuf::from).context("which folder?")?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let args = Args::parse();
    let bench = args.bench()?;
    let occasion = occasion::told(&bench.plimsoll)?;
    let parts = args.parts();
    let figures = bench.run(&parts)?;
    let sections = parts.iter().map(|part| Section::of(*part, &figures));
    let sections = sections.collect::<anyhow::Result<Vec<_>>>()?;
    report::print(&sections);
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&figures)?;
        fs::write(path, text).context("could not write the figures")?;
    }
    if let Some(docs) = &args.page {
        let rounds = if args.quick { ", fewer rounds than otherwise" } else { "" };
        page::write(docs, &sections, &figures, &(occasion + rounds))?;
    }
    let missed = figures.gates.iter().filter(|gate| args.gate && !gate.kept);
    Ok(if report::missed(missed) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Args {
    /// Which parts are asked for, in their own order.
    fn parts(&self) -> Vec<Part> {
        let is_asked_for = |part: &Part| match &self.only[..] {
            [] if self.counted => *part == Part::Hook,
            [] => !self.quick || part.is_quick(),
            only => only.contains(part),
        };
        Part::value_variants().iter().copied().filter(is_asked_for).collect()
    }

    fn bench(&self) -> anyhow::Result<Bench> {
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
        let or = |given: &Option<PathBuf>, name: &str| {
            given.clone().unwrap_or_else(|| shared.join(name))
        };
        Ok(Bench {
            plimsoll: program(&self.plimsoll)?,
            noop: program(&self.noop)?,
            newlines: program(&self.newlines)?,
            python: self.python.clone(),
            seeds: or(&self.seeds, "bench"),
            transcripts: or(&self.accuracy, "transcripts/claude-code"),
            quick: self.quick,
            counted: self.counted,
            pace: self.minutes.map_or(Pace::Full, Pace::Soak),
            stage: OnceCell::new(),
        })
    }
}

fn program(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("could not find `{}`", path.display()))
}
