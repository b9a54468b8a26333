//! Figures that show whether plimsoll serves its purpose.

use std::time::Duration;

use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::forecast::LONGEST_STEP;
use plimsoll_core::name::short;
use plimsoll_core::text::{duration, thousands};
use plimsoll_extract::work::RecallCounts;
use plimsoll_store::{AutoCompactionCounts, Store, WorkPeriod};

use crate::checkpoint::{Place, phantoms};
use crate::history::bounds;
use crate::score;
use crate::sessions::Found;
use crate::settings::ByAgent;
use crate::world::{World, now};

/// Figures of the last days.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criteria {
    /// Number of days covered; fewer than seven if the store is younger.
    pub days: u32,
    /// Checkpoints that the index names and that are missing or damaged. Should be 0.
    pub phantoms: u64,
    /// Checkpoints made on request.
    pub manual: u64,
    /// Checkpoints made automatically.
    pub automatic: u64,
    /// Longest time a session worked on one prompt.
    pub longest: Option<WorkPeriod>,
    /// Windows that ran full: compacted by the client automatically, or at capacity.
    pub overflows: AutoCompactionCounts,
    /// Number of restores into sessions.
    pub restores: u64,
    /// Facts needed after compactions, and what preserved them.
    pub score: RecallCounts,
}

/// Days covered at most.
const DAYS: u32 = 7;
const DAY: Millis = 24 * 3600 * 1000;

/// Collects the figures. The score covers the newest of `found`, as many as `patience` allows.
pub fn look(
    world: &World,
    store: &Store,
    found: &[Found],
    patience: Duration,
) -> anyhow::Result<Criteria> {
    let now = now() as Millis;
    let since = now - Millis::from(DAYS) * DAY;
    let known = store.history_extent()?.since.map_or(0, |known| now - known.max(since));
    let seals = store.seal_counts(since)?;
    let (manual, automatic): (Vec<_>, Vec<_>) =
        seals.iter().partition(|(occasion, _)| occasion == Occasion::Manual.label());
    let total = |seals: &[&(String, u64)]| seals.iter().map(|(_, count)| count).sum();
    Ok(Criteria {
        days: (known.unsigned_abs().div_ceil(DAY.unsigned_abs()) as u32).clamp(1, DAYS),
        phantoms: all_phantoms(world)?,
        manual: total(&manual),
        automatic: total(&automatic),
        longest: store.longest_work_period(since, LONGEST_STEP)?,
        overflows: overflows(world, store, since)?,
        restores: store.restore_count(since)?,
        score: score::newest(store, found, patience)?.tally,
    })
}

/// Counts missing or damaged checkpoints of all agents.
fn all_phantoms(world: &World) -> anyhow::Result<u64> {
    let mut count = 0;
    for place in Place::of_all_agents(world, &world.paths.home) {
        count += phantoms(&place)?.len() as u64;
    }
    Ok(count)
}

/// Counts windows that ran full since `since`, but not before the first decision: until then no
/// hook could have warned.
fn overflows(world: &World, store: &Store, since: Millis) -> anyhow::Result<AutoCompactionCounts> {
    let Some(first) = store.first_decision()? else { return Ok(AutoCompactionCounts::default()) };
    let since = since.max(first);
    let mut overflows = store.auto_compaction_counts(since)?;
    let in_force = ByAgent::load(world, &world.paths.home);
    // A client with compaction disabled lets its window run full.
    for row in store.peaks_since(since)?.iter().filter(|row| row.automatic_compactions == 0) {
        let (model, version) = (row.model.as_deref(), row.version.as_deref());
        let (window, _) = bounds(in_force.of(&row.session), model, version, row.tokens);
        let is_full = row.tokens >= window.tokens;
        overflows.total += u64::from(is_full);
        overflows.without_warning += u64::from(is_full && !row.warned);
    }
    Ok(overflows)
}

impl Criteria {
    /// Returns checkpoints per day made on request.
    pub fn manual_per_day(&self) -> f64 {
        self.manual as f64 / f64::from(self.days.max(1))
    }

    /// Returns checkpoints per day made automatically.
    pub fn automatic_per_day(&self) -> f64 {
        self.automatic as f64 / f64::from(self.days.max(1))
    }

    /// Returns the longest time a session worked on one prompt, in milliseconds.
    pub fn longest_millis(&self) -> u64 {
        let longest = self.longest.as_ref().map_or(0, |it| it.ended - it.began);
        longest.unsigned_abs()
    }

    /// Returns the share of facts needed after compactions that summary and plimsoll preserved
    /// together, from 0 to 1.
    pub fn kept(&self) -> Option<f64> {
        let RecallCounts { needed, either: together, .. } = self.score;
        (needed > 0).then(|| together as f64 / needed as f64)
    }

    /// Returns the heading for the period.
    pub fn title(&self) -> String {
        match self.days {
            1 => "In the last day".to_owned(),
            days => format!("In the last {days} days"),
        }
    }

    /// Returns name and text of each figure, for people.
    pub fn told(&self) -> [(&'static str, String); 5] {
        let longest = match &self.longest {
            Some(it) => {
                let session = short(it.session.as_str());
                format!("{} at the longest ({session})", duration(self.longest_millis() / 1000))
            }
            None => "no session worked".to_owned(),
        };
        let kept = match self.kept() {
            Some(_) => {
                let share = self.score.share(self.score.either);
                format!("{share} of what was needed after compactions was there")
            }
            None => "nothing was needed after a compaction".to_owned(),
        };
        let AutoCompactionCounts { total, without_warning: unwarned } = self.overflows;
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
                format!("{}, {} without a word before", thousands(total), thousands(unwarned)),
            ),
            ("restores", format!("{}; {kept}", thousands(self.restores))),
        ]
    }
}
