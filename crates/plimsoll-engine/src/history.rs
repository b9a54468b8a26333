//! What the user's own past sessions say, all together.

use plimsoll_agents::Adapter;
use plimsoll_core::policy::Levels;
use plimsoll_core::trigger::{self, Trigger};
use plimsoll_core::window::Window;
use plimsoll_core::{Millis, Tokens, models};
use plimsoll_store::{Extent, OverviewRow, PeakRow, Store};

use crate::audit::{window_of, windows_of};
use crate::sessions;
use crate::settings::{self, InForce};
use crate::tax::{self, Cost};
use crate::world::World;

/// The past in figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many sessions of how many projects, and since when.
    pub extent: Extent,
    /// How many sessions peaked in each tenth of their window, the emptiest first.
    pub peaks: [u64; 10],
    /// Sessions whose window was ever so full that we warn, which is earlier where the client would
    /// compact before the line.
    pub heavy: u64,
    /// The line at which we warn, in percent, where the client leaves room for it.
    pub warn_percent: f64,
    /// Where compactions that the client began by itself fired, in percent of the window.
    pub automatic: Vec<f64>,
    /// How many compactions the user asked for.
    pub manual: u64,
    /// Sessions that the client compacted by itself, nobody having said a word before.
    pub unwarned: u64,
    /// What the recorded hook runs took, all together, in milliseconds.
    pub hook_millis: u64,
    /// The hook command that took most.
    pub dearest_hook: Option<Cost>,
}

/// Sums up everything that is in the store.
pub fn summary(world: &World, adapter: &dyn Adapter, store: &Store) -> anyhow::Result<Summary> {
    let in_force = settings::load(world, adapter, &world.paths.home);
    let peaks = store.peaks()?;
    let compactions = store.compactions()?;
    let fired = |model: &Option<String>, tokens: Option<Tokens>| {
        let (model, tokens) = (model.as_deref()?, tokens?);
        Some(tokens as f64 * 100.0 / window_of(&in_force, model, tokens).tokens as f64)
    };
    let automatic = compactions.iter().filter(|row| row.automatic);
    let costs = tax::costs(store, Millis::MIN)?;
    let warn = in_force.settings.lines.warn;
    let shares: Vec<f64> = peaks.iter().map(|peak| share(&in_force, peak)).collect();
    Ok(Summary {
        extent: store.extent()?,
        peaks: histogram(&shares),
        heavy: peaks.iter().filter(|peak| was_heavy(&in_force, peak)).count() as u64,
        warn_percent: warn.into(),
        automatic: automatic.filter_map(|row| fired(&row.model, row.tokens_before)).collect(),
        manual: compactions.iter().filter(|row| !row.automatic).count() as u64,
        unwarned: peaks.iter().filter(|peak| peak.automatic_compactions > 0 && !peak.warned).count()
            as u64,
        hook_millis: costs.iter().map(|cost| cost.total_millis).sum(),
        dearest_hook: costs.into_iter().find(|cost| cost.total_millis > 0),
    })
}

/// A session of the past, and how full its window is.
#[derive(Clone, Debug)]
pub struct Recent {
    /// What the store knows of it.
    pub row: OverviewRow,
    /// The tokens in its window; `None` if nothing was ever counted.
    pub used: Option<Tokens>,
    /// The window's size.
    pub window: Tokens,
}

/// The sessions last heard of, newest first.
pub fn recent(
    world: &World,
    adapter: &dyn Adapter,
    store: &Store,
    limit: u32,
) -> anyhow::Result<Vec<Recent>> {
    let in_force = settings::load(world, adapter, &world.paths.home);
    let rows = store.overview(&[], 0, limit)?.into_iter();
    Ok(rows.map(|row| look(world, adapter, &in_force, row)).collect())
}

/// How full a session's window is: as its transcript shows, or as the store remembers where that is
/// gone.
fn look(world: &World, adapter: &dyn Adapter, in_force: &InForce, row: OverviewRow) -> Recent {
    if let Ok(Some(it)) = sessions::measure_known(world, adapter, &row.session) {
        return Recent { row, used: Some(it.reading.used), window: it.window.tokens };
    }
    let model = row.session.model.as_deref().unwrap_or_default();
    let window = window_of(in_force, model, row.largest).tokens;
    Recent { used: row.used, window, row }
}

/// How full a session's window was at its fullest, from 0 to 1.
fn share(in_force: &InForce, peak: &PeakRow) -> f64 {
    let model = peak.model.as_deref().unwrap_or_default();
    peak.tokens as f64 / window_of(in_force, model, peak.tokens).tokens.max(1) as f64
}

/// The window of a past session and where the client compacts it, by the model's variant, the client's
/// version and the largest prompt.
pub fn bounds(
    in_force: &InForce,
    variant: Option<&str>,
    version: Option<&str>,
    largest: Tokens,
) -> (Window, Trigger) {
    let (window, client) = windows_of(in_force, variant.unwrap_or_default(), largest);
    let (model, _) = models::of_variant(variant.unwrap_or_default());
    let seen = in_force.seen(variant, version);
    (window, trigger::resolve(client.tokens, Some(model), &in_force.client, seen))
}

/// Whether a session was ever past the level at which we warn, however slowly it grew.
fn was_heavy(in_force: &InForce, peak: &PeakRow) -> bool {
    let (window, trigger) =
        bounds(in_force, peak.model.as_deref(), peak.version.as_deref(), peak.tokens);
    let lines = &in_force.settings.lines;
    let levels = Levels::of(lines, window.tokens).clear_of(trigger.tokens(), 0);
    peak.tokens >= levels.warn
}

fn histogram(shares: &[f64]) -> [u64; 10] {
    let mut tenths = [0; 10];
    for share in shares {
        tenths[((share * 10.0) as usize).min(9)] += 1;
    }
    tenths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_fall_into_tenths_of_the_window() {
        assert_eq!(histogram(&[0.0, 0.05, 0.1, 0.99, 1.0]), [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    }
}
