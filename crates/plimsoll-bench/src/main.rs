//! The benchmark behind docs/benchmarks.md: whole hook processes, timed in alternation with a bare
//! static no-op and with the hooks of the projects plimsoll grew out of.
//!
//! `scripts/bench` builds the measured programs and runs this one.

mod accuracy;
mod bench;
mod bench_env;
mod commits;
mod competitors;
mod count;
mod dashboard;
#[path = "../../plimsoll/tests/browser/driver.rs"]
#[expect(dead_code, reason = "the tests ask for more")]
#[expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]
mod driver;
mod gates;
mod hook;
mod listing;
mod load;
mod naive_watcher;
mod packing;
mod page;
mod part;
mod percentiles;
mod plot;
mod precompact;
mod report;
mod run_info;
mod saves;
mod section;
mod serve_process;
mod server_comparison;
mod spawn;
mod table;
mod team;
mod triggers;
mod watchers;

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, ValueEnum as _};
use serde_json::{Value, json};

use bench::Bench;
use gates::Verdict;
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
    /// Folder of the seeds' hooks; what is held against them is not judged otherwise
    #[arg(long, value_name = "DIR")]
    seeds: Option<PathBuf>,
    /// Folder with real transcripts to predict (`transcripts/claude-code`) and their judge (`eval/occupancy_eval.py`)
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
    /// How long the part `soak` takes
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    minutes: u64,
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
    if arguments.next().is_some_and(|first| first == naive_watcher::ARGUMENT) {
        naive_watcher::watch(&arguments.next().map(PathBuf::from).context("which folder?")?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let args = Args::parse();
    let bench = args.bench()?;
    let occasion = run_info::describe_run(&bench.plimsoll)?;
    let sections = args.parts().into_iter().map(|part| bench.run(part));
    let sections = sections.collect::<anyhow::Result<Vec<_>>>()?;
    report::print_sections(&sections);
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&json(&sections))?;
        fs::write(path, text).context("could not write the figures")?;
    }
    if let Some(docs) = &args.page {
        let rounds = if args.quick { ", fewer rounds than otherwise" } else { "" };
        page::write(docs, &sections, &(occasion + rounds))?;
    }
    let gates = || sections.iter().flat_map(|section| &section.gates);
    if args.gate {
        report::print_missed_gates(gates());
    }
    let is_missed = gates().any(|gate| gate.verdict == Verdict::Missed);
    Ok(if args.gate && is_missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns the figures and promises of each part, keyed by its name.
fn json(sections: &[Section]) -> Value {
    let part = |section: &Section| {
        (section.part.name(), json!({"figures": section.figures, "promises": section.gates}))
    };
    sections.iter().map(part).collect()
}

impl Args {
    /// Returns the selected parts, in their defined order.
    fn parts(&self) -> Vec<Part> {
        let is_asked_for = |part: &Part| match &self.only[..] {
            [] if self.counted => *part == Part::Hook,
            [] => part.runs_by_default(self.quick),
            only => only.contains(part),
        };
        Part::value_variants().iter().copied().filter(is_asked_for).collect()
    }

    fn bench(&self) -> anyhow::Result<Bench> {
        // A path below which nothing exists.
        let nowhere = Path::new("/dev/null");
        Ok(Bench {
            plimsoll: canonical(&self.plimsoll)?,
            noop: canonical(&self.noop)?,
            newlines: canonical(&self.newlines)?,
            python: self.python.clone(),
            seeds: canonical(self.seeds.as_deref().unwrap_or(nowhere))?,
            accuracy: canonical(self.accuracy.as_deref().unwrap_or(nowhere))?,
            quick: self.quick,
            counted: self.counted,
            minutes: self.minutes,
            stage: OnceCell::new(),
        })
    }
}

fn canonical(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("could not find `{}`", path.display()))
}
