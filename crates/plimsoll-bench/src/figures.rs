//! What is measured, with what, and everything that comes of it.

use std::cell::OnceCell;
use std::path::PathBuf;

use serde::Serialize;

use crate::accuracy::{self, Accuracy};
use crate::commits::{self, Committing};
use crate::competitors;
use crate::dashboard::{self, Painting};
use crate::gates::{self, Gate};
use crate::hook::{self, Hook};
use crate::listing::{self, Listing};
use crate::load::{self, Load, Pace};
use crate::packing::{self, Packing};
use crate::part::Part;
use crate::precompact::{Checkpoints, Contest};
use crate::report;
use crate::saves::{self, Restoring};
use crate::serving::{self, Serving};
use crate::spawn::Competitor;
use crate::stage::Stage;
use crate::team::{self, Team};
use crate::triggers::{self, Triggers};
use crate::watching::{self, Watching};

/// Everything one run found out; what it did not look at is empty.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) hook: Option<Hook>,
    pub(crate) accuracy: Option<Accuracy>,
    pub(crate) checkpoints: Option<Checkpoints>,
    pub(crate) listing: Option<Listing>,
    pub(crate) restoring: Option<Restoring>,
    pub(crate) committing: Option<Committing>,
    pub(crate) painting: Option<Painting>,
    pub(crate) watching: Option<Watching>,
    pub(crate) triggers: Option<Triggers>,
    pub(crate) serving: Option<Serving>,
    pub(crate) team: Option<Team>,
    pub(crate) packing: Option<Packing>,
    pub(crate) load: Option<Load>,
    /// What was promised of all that.
    pub(crate) gates: Vec<Gate>,
}

/// What is run, beside what, and how thoroughly.
pub(crate) struct Bench {
    pub(crate) plimsoll: PathBuf,
    pub(crate) noop: PathBuf,
    pub(crate) newlines: PathBuf,
    /// What can run the seed's service.
    pub(crate) python: Option<PathBuf>,
    /// The folder of the seeds' hooks.
    pub(crate) seeds: PathBuf,
    /// The folder of real transcripts.
    pub(crate) transcripts: PathBuf,
    pub(crate) quick: bool,
    /// Only what needs no clock.
    pub(crate) counted: bool,
    pub(crate) pace: Pace,
    pub(crate) stage: OnceCell<Stage>,
}

impl Bench {
    /// Runs these parts, and judges what they come to.
    pub(crate) fn run(&self, parts: &[Part]) -> anyhow::Result<Figures> {
        let mut figures = Figures::default();
        for part in parts {
            self.measure(*part, &mut figures)?;
            let gates = gates::of(*part, &figures)?;
            figures.gates.extend(gates);
        }
        Ok(figures)
    }

    fn measure(&self, part: Part, figures: &mut Figures) -> anyhow::Result<()> {
        let plimsoll = &self.plimsoll;
        report::note(part.title());
        match part {
            Part::Hook => figures.hook = Some(hook::time(self)?),
            Part::Accuracy => figures.accuracy = Some(self.accuracy()?),
            Part::Checkpoints => figures.checkpoints = Some(self.checkpoints()?),
            Part::Listing => figures.listing = Some(listing::list(plimsoll)?),
            Part::Saves => figures.restoring = Some(saves::restore(plimsoll)?),
            Part::Commits => figures.committing = Some(commits::commit(plimsoll)?),
            Part::Dashboard => figures.painting = Some(dashboard::paint(plimsoll)?),
            Part::Watcher => figures.watching = Some(watching::watch(plimsoll, self.quick)?),
            Part::Triggers => figures.triggers = Some(triggers::cross(plimsoll)?),
            Part::Server => figures.serving = Some(self.serving()?),
            Part::Team => figures.team = Some(team::open(plimsoll)?),
            Part::Packing => figures.packing = Some(packing::pack()?),
            Part::Load => figures.load = Some(load::press(plimsoll, self.pace)?),
        }
        Ok(())
    }

    /// The transcripts and payloads, which are written when they are first asked for.
    pub(crate) fn stage(&self) -> anyhow::Result<&Stage> {
        if let Some(stage) = self.stage.get() {
            return Ok(stage);
        }
        report::note("writing transcripts");
        let stage = Stage::set()?;
        Ok(self.stage.get_or_init(|| stage))
    }

    /// What every ratio is taken to.
    pub(crate) fn nothing(&self) -> Competitor {
        Competitor::new(competitors::NOOP, [&self.noop])
    }

    fn accuracy(&self) -> anyhow::Result<Accuracy> {
        let every = if self.quick { 50 } else { 10 };
        accuracy::judge(self.stage()?, &self.plimsoll, &self.transcripts, every)
    }

    fn checkpoints(&self) -> anyhow::Result<Checkpoints> {
        let contest = Contest {
            stage: self.stage()?,
            plimsoll: &self.plimsoll,
            noop: &self.nothing(),
            newlines: &self.newlines,
            seeds: &self.seeds,
            quick: self.quick,
        };
        contest.run()
    }

    fn serving(&self) -> anyhow::Result<Serving> {
        serving::serve(&self.plimsoll, self.python.as_deref(), &self.seeds, self.quick)
    }
}
