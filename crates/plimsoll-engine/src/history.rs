//! Statistics over the user's past sessions.

use plimsoll_core::policy::Levels;
use plimsoll_core::trigger::{self, Trigger};
use plimsoll_core::window::Window;
use plimsoll_core::{Millis, Tokens, models};
use plimsoll_store::{CompactionRow, HistoryExtent, OverviewRow, PeakRow, Store};

use crate::audit::{window_of, windows_of};
use crate::sessions;
use crate::settings::{self, ByAgent, InForce};
use crate::tax::{self, Cost};
use crate::world::World;

#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of sessions and projects, and the date of the first.
    pub extent: HistoryExtent,
    /// Number of sessions by peak fill in tenths of the window, emptiest first.
    pub peaks: [u64; 10],
    /// Sessions whose window ever crossed the warning threshold, which is lower if the client would
    /// compact before it.
    pub heavy: u64,
    /// Configured warning threshold in percent.
    pub warn_percent: f64,
    /// Fill in percent of the window at each automatic compaction.
    pub automatic: Vec<f64>,
    /// Number of compactions that the user requested.
    pub manual: u64,
    /// Sessions that the client compacted automatically without a warning before.
    pub unwarned: u64,
    /// Total time of the recorded hook runs, in milliseconds.
    pub hook_millis: u64,
    /// Hook command with the highest total time.
    pub dearest_hook: Option<Cost>,
}

/// Summarizes everything in the store.
pub fn summary(world: &World, store: &Store) -> anyhow::Result<Summary> {
    let in_force = ByAgent::load(world, &world.paths.home);
    let peaks = store.peaks()?;
    let compactions = store.compactions()?;
    let fired = |row: &CompactionRow| {
        let (model, tokens) = (row.model.as_deref()?, row.tokens_before?);
        let window = window_of(in_force.of(&row.session), model, tokens).tokens;
        Some(tokens as f64 * 100.0 / window as f64)
    };
    let automatic = compactions.iter().filter(|row| row.automatic);
    let costs = tax::costs(store, Millis::MIN)?;
    let warn = settings::of_user(world).lines.warn;
    let shares: Vec<f64> = peaks.iter().map(|peak| share(&in_force, peak)).collect();
    Ok(Summary {
        extent: store.history_extent()?,
        peaks: histogram(&shares),
        heavy: peaks.iter().filter(|peak| was_heavy(&in_force, peak)).count() as u64,
        warn_percent: warn.into(),
        automatic: automatic.filter_map(fired).collect(),
        manual: compactions.iter().filter(|row| !row.automatic).count() as u64,
        unwarned: peaks.iter().filter(|peak| peak.automatic_compactions > 0 && !peak.warned).count()
            as u64,
        hook_millis: costs.iter().map(|cost| cost.total_millis).sum(),
        dearest_hook: costs.into_iter().find(|cost| cost.total_millis > 0),
    })
}

/// A past session with the fill of its window.
#[derive(Clone, Debug)]
pub struct Recent {
    pub row: OverviewRow,
    /// Tokens in its window; `None` if nothing was ever counted.
    pub used: Option<Tokens>,
    pub window: Tokens,
}

/// Returns the most recently active sessions, newest first.
pub fn recent(world: &World, store: &Store, limit: u32) -> anyhow::Result<Vec<Recent>> {
    let in_force = ByAgent::load(world, &world.paths.home);
    let rows = store.overview(&[], 0, limit)?.into_iter();
    Ok(rows.map(|row| look(world, &in_force, row)).collect())
}

/// Measures a session's window from its transcript, or from the store if the transcript is gone.
fn look(world: &World, in_force: &ByAgent, row: OverviewRow) -> Recent {
    if let Ok(Some(it)) = sessions::measure_known(world, &row.session) {
        return Recent { row, used: Some(it.reading.used), window: it.window.tokens };
    }
    let model = row.session.model.as_deref().unwrap_or_default();
    let window = window_of(in_force.of(&row.session.id), model, row.largest).tokens;
    Recent { used: row.used, window, row }
}

/// Returns the peak fill of a session's window, from 0 to 1.
fn share(in_force: &ByAgent, peak: &PeakRow) -> f64 {
    let model = peak.model.as_deref().unwrap_or_default();
    let in_force = in_force.of(&peak.session);
    peak.tokens as f64 / window_of(in_force, model, peak.tokens).tokens.max(1) as f64
}

/// Returns the window of a past session and the client's trigger, from the model variant, the
/// client's version and the largest prompt.
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

/// Reports whether a session ever crossed the warning threshold for the slowest growth.
fn was_heavy(in_force: &ByAgent, peak: &PeakRow) -> bool {
    let in_force = in_force.of(&peak.session);
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
