//! The promises, each with what was measured.

use anyhow::Context as _;
use serde::Serialize;

use crate::figures::Figures;
use crate::part::Part;
use crate::spawn::Timing;
use crate::{
    accuracy, commits, dashboard, hook, listing, load, packing, precompact, saves, serving, team,
    triggers, watching,
};

/// A promise and whether it was kept.
#[derive(Debug, Serialize)]
pub(crate) struct Gate {
    pub(crate) promise: String,
    pub(crate) measured: String,
    pub(crate) kept: bool,
}

/// Judges a part; there is nothing to judge where it was not run.
pub(crate) fn of(part: Part, figures: &Figures) -> anyhow::Result<Vec<Gate>> {
    let gates = match part {
        Part::Hook => figures.hook.as_ref().map(hook::gates).transpose()?,
        Part::Accuracy => figures.accuracy.as_ref().map(accuracy::gates),
        Part::Checkpoints => figures.checkpoints.as_ref().map(precompact::gates).transpose()?,
        Part::Listing => figures.listing.as_ref().map(listing::gates),
        Part::Saves => figures.restoring.as_ref().map(saves::gates),
        Part::Commits => figures.committing.as_ref().map(commits::gates),
        Part::Dashboard => figures.painting.as_ref().map(dashboard::gates),
        Part::Watcher => figures.watching.as_ref().map(watching::gates),
        Part::Triggers => figures.triggers.as_ref().map(triggers::gates),
        Part::Server => figures.serving.as_ref().map(serving::gates),
        Part::Team => figures.team.as_ref().map(team::gates),
        Part::Packing => figures.packing.as_ref().map(packing::gates),
        Part::Load => figures.load.as_ref().map(load::gates),
    };
    Ok(gates.unwrap_or_default())
}

/// The row of that name.
pub(crate) fn row<'a>(timings: &'a [Timing], name: &str) -> anyhow::Result<&'a Timing> {
    let found = timings.iter().find(|timing| timing.name == name);
    found.with_context(|| format!("`{name}` was not timed"))
}

/// What is taken of a row.
pub(crate) type Figure = fn(&Timing) -> f64;

pub(crate) fn at_most(what: &str, ratio: f64, limit: f64) -> Gate {
    let promise = format!("{what} ≤ {limit}");
    Gate { promise, measured: format!("{ratio:.2}"), kept: ratio <= limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_at_its_limit_is_kept() {
        assert!(at_most("x", 2.5, 2.5).kept);
        assert!(!at_most("x", 2.51, 2.5).kept);
        assert!(!at_most("x", f64::NAN, 2.5).kept);
    }
}
