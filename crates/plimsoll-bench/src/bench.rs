//! Inputs and options of a benchmark run, and the dispatch to its parts.

use std::cell::OnceCell;
use std::path::PathBuf;

use crate::accuracy::{self, Accuracy};
use crate::bench_env::BenchEnv;
use crate::commits;
use crate::competitors;
use crate::dashboard;
use crate::hook;
use crate::listing;
use crate::load::{self, Pace};
use crate::packing;
use crate::part::Part;
use crate::precompact;
use crate::report;
use crate::saves;
use crate::section::Section;
use crate::server_comparison::{self, ServerResults};
use crate::spawn::Competitor;
use crate::team;
use crate::triggers;
use crate::watchers;

/// Inputs and options of a benchmark run.
pub(crate) struct Bench {
    pub(crate) plimsoll: PathBuf,
    pub(crate) noop: PathBuf,
    pub(crate) newlines: PathBuf,
    /// Python that can run the seed's service.
    pub(crate) python: Option<PathBuf>,
    /// Folder with the seeds' hooks.
    pub(crate) seeds: PathBuf,
    /// Folder with real transcripts and the evaluation script.
    pub(crate) accuracy: PathBuf,
    pub(crate) quick: bool,
    /// Run only the measurements that need no clock.
    pub(crate) counted: bool,
    /// Duration of the soak part.
    pub(crate) minutes: u64,
    pub(crate) stage: OnceCell<BenchEnv>,
}

impl Bench {
    /// Runs a part and checks its gates.
    pub(crate) fn run(&self, part: Part) -> anyhow::Result<Section> {
        let plimsoll = &self.plimsoll;
        report::print_step(part.title());
        match part {
            Part::Hook => Section::of(part, &hook::measure(self)?),
            Part::Accuracy => Section::of(part, &self.accuracy()?),
            Part::Checkpoints => Section::of(part, &precompact::time_checkpoints(self)?),
            Part::Listing => Section::of(part, &listing::time_listing(plimsoll)?),
            Part::Saves => Section::of(part, &saves::time_restores(plimsoll)?),
            Part::Commits => Section::of(part, &commits::time_commits(plimsoll)?),
            Part::Dashboard => Section::of(part, &dashboard::time_dashboard(plimsoll)?),
            Part::Watcher => Section::of(part, &watchers::time_watchers(plimsoll, self.quick)?),
            Part::Triggers => Section::of(part, &triggers::time_crossings(plimsoll)?),
            Part::Server => Section::of(part, &self.serving()?),
            Part::Team => Section::of(part, &team::time_pages(plimsoll)?),
            Part::Packing => Section::of(part, &packing::plan_all()?),
            Part::Load => Section::of(part, &load::run_load(plimsoll, Pace::Full)?),
            Part::Soak => Section::of(part, &load::run_load(plimsoll, Pace::Soak(self.minutes))?),
        }
    }

    /// Returns the transcripts and payloads, writing them on first use.
    pub(crate) fn stage(&self) -> anyhow::Result<&BenchEnv> {
        if let Some(stage) = self.stage.get() {
            return Ok(stage);
        }
        report::print_step("writing transcripts");
        let stage = BenchEnv::create()?;
        Ok(self.stage.get_or_init(|| stage))
    }

    /// Returns the no-op, the baseline of every ratio.
    pub(crate) fn noop_competitor(&self) -> Competitor {
        Competitor::new(competitors::NOOP, [&self.noop])
    }

    fn accuracy(&self) -> anyhow::Result<Accuracy> {
        let every = if self.quick { 50 } else { 10 };
        accuracy::evaluate(self.stage()?, &self.plimsoll, &self.accuracy, every)
    }

    fn serving(&self) -> anyhow::Result<ServerResults> {
        server_comparison::time_servers(
            &self.plimsoll,
            self.python.as_deref(),
            &self.seeds,
            self.quick,
        )
    }
}
