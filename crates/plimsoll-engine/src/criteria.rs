//! Whether plimsoll does what it is for, in figures.

use std::time::Duration;

use plimsoll_agents::Adapter;
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::forecast::LONGEST_STEP;
use plimsoll_core::text::{duration, thousands};
use plimsoll_extract::work::Tally;
use plimsoll_store::{Overflows, Store, Stretch};

use crate::checkpoint::{Place, phantoms};
use crate::history::bounds;
use crate::score;
use crate::sessions::Found;
use crate::settings;
use crate::world::{World, now};

/// The figures of the last days.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criteria {
    /// How many days they are of: fewer where less is known.
    pub days: u32,
    /// Checkpoints that are named and not there, or not whole. There should be none.
    pub phantoms: u64,
    /// Checkpoints that somebody asked for.
    pub manual: u64,
    /// Checkpoints that were made by themselves.
    pub automatic: u64,
    /// The longest that a session worked on a single prompt.
    pub longest: Option<Stretch>,
    /// Windows that ran full: the client compacted them by itself, or they held all they can.
    pub overflows: Overflows,
    /// How often a session was given back what it had lost, or what another had left.
    pub restores: u64,
    /// What work needed after compactions, and who kept it.
    pub score: Tally,
}

/// How far back is looked.
const DAYS: u32 = 7;
const DAY: Millis = 24 * 3600 * 1000;

/// Finds them out. The score is of as many of the newest of `found` as there is time for.
pub fn look(
    world: &World,
    adapter: &dyn Adapter,
    store: &Store,
    found: &[Found],
    patience: Duration,
) -> anyhow::Result<Criteria> {
    let now = now() as Millis;
    let since = now - Millis::from(DAYS) * DAY;
    let known = store.extent()?.since.map_or(0, |known| now - known.max(since));
    let seals = store.seals(since)?;
    let (manual, automatic): (Vec<_>, Vec<_>) =
        seals.iter().partition(|(occasion, _)| occasion == Occasion::Manual.label());
    let total = |seals: &[&(String, u64)]| seals.iter().map(|(_, count)| count).sum();
    Ok(Criteria {
        days: (known.unsigned_abs().div_ceil(DAY.unsigned_abs()) as u32).clamp(1, DAYS),
        phantoms: phantoms(&Place::of(world, adapter, world.paths.home.clone()))?.len() as u64,
        manual: total(&manual),
        automatic: total(&automatic),
        longest: store.longest_stretch(since, LONGEST_STEP)?,
        overflows: overflows(world, adapter, store, since)?,
        restores: store.restores(since)?,
        score: score::newest(adapter, store, found, patience)?.tally,
    })
}

/// Windows that ran full since a moment, but not before anybody was there to say a word.
fn overflows(
    world: &World,
    adapter: &dyn Adapter,
    store: &Store,
    since: Millis,
) -> anyhow::Result<Overflows> {
    let Some(first) = store.first_decision()? else { return Ok(Overflows::default()) };
    let since = since.max(first);
    let mut overflows = store.overflows(since)?;
    let in_force = settings::load(world, adapter, &world.paths.home);
    // A client that is told not to compact lets its window run full.
    for row in store.fullest(since)?.iter().filter(|row| row.automatic_compactions == 0) {
        let (model, version) = (row.model.as_deref(), row.version.as_deref());
        let (window, _) = bounds(&in_force, model, version, row.tokens);
        let is_full = row.tokens >= window.tokens;
        overflows.all += u64::from(is_full);
        overflows.unwarned += u64::from(is_full && !row.warned);
    }
    Ok(overflows)
}

impl Criteria {
    /// Checkpoints that somebody asked for, in a day.
    pub fn manual_per_day(&self) -> f64 {
        self.manual as f64 / f64::from(self.days.max(1))
    }

    /// Checkpoints that were made by themselves, in a day.
    pub fn automatic_per_day(&self) -> f64 {
        self.automatic as f64 / f64::from(self.days.max(1))
    }

    /// The longest that a session worked on a single prompt, in milliseconds.
    pub fn longest_millis(&self) -> u64 {
        let longest = self.longest.as_ref().map_or(0, |it| it.ended - it.began);
        longest.unsigned_abs()
    }

    /// The share of what work needed after compactions that was there with plimsoll, from 0 to 1.
    pub fn kept(&self) -> Option<f64> {
        let Tally { needed, together, .. } = self.score;
        (needed > 0).then(|| together as f64 / needed as f64)
    }

    /// What they are of.
    pub fn title(&self) -> String {
        match self.days {
            1 => "In the last day".to_owned(),
            days => format!("In the last {days} days"),
        }
    }

    /// Each with its name, for people.
    pub fn told(&self) -> [(&'static str, String); 5] {
        let longest = match &self.longest {
            Some(it) => {
                let session = &it.session.as_str()[..it.session.as_str().len().min(8)];
                format!("{} at the longest ({session})", duration(self.longest_millis() / 1000))
            }
            None => "no session worked".to_owned(),
        };
        let kept = match self.kept() {
            Some(_) => {
                let share = self.score.share(self.score.together);
                format!("{share} of what was needed after compactions was there")
            }
            None => "nothing was needed after a compaction".to_owned(),
        };
        let Overflows { all, unwarned } = self.overflows;
        [
            ("phantom checkpoints", thousands(self.phantoms)),
            (
                "checkpoints a day",
                format!(
                    "{:.1} by hand, {:.1} by themselves",
                    self.manual_per_day(),
                    self.automatic_per_day()
                ),
            ),
            ("without a human", longest),
            (
                "full windows",
                format!("{}, {} without a word before", thousands(all), thousands(unwarned)),
            ),
            ("restores", format!("{}; {kept}", thousands(self.restores))),
        ]
    }
}
