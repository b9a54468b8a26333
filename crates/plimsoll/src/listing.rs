//! Measuring sessions one by one, so that the first can be shown before the last is read.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use plimsoll_engine::board;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::load::Measured;
use plimsoll_engine::sessions::{self, Found, GrowthSamples};
use plimsoll_engine::world::World;
use plimsoll_extract::board::PathClaim;
use plimsoll_store::LastCheckpoint;

use crate::ui;

/// Who wrote nothing for so long is not among those of today.
pub(crate) const RECENT: Duration = Duration::from_secs(24 * 3600);
/// A subagent that wrote nothing for so long is done.
const SUBAGENT_RECENT: Duration = Duration::from_secs(600);

/// One session, with all there is to show of it.
pub(crate) struct Shown {
    pub(crate) found: Found,
    pub(crate) measured: Measured,
    /// What the store tells, where there is one.
    pub(crate) pace: Option<GrowthSamples>,
    /// The last checkpoint, as the store tells.
    pub(crate) checkpoint: Option<LastCheckpoint>,
    /// The paths that it works on, as it says.
    pub(crate) claims: Vec<PathClaim>,
    pub(crate) subagents: Vec<(Found, Measured)>,
}

impl Shown {
    /// Whether nothing was written since. Subagents write elsewhere: a session that has some running
    /// is always looked at.
    pub(crate) fn is_current(&self, found: &Found) -> bool {
        self.found == *found && self.subagents.is_empty()
    }
}

/// Measures sessions, and says on the way what is not as it should be.
pub(crate) struct Listing<'a> {
    world: &'a World,
    ingester: Option<&'a Ingester<'a>>,
    warn: &'a dyn Fn(&str),
    /// All claims on the board.
    claims: Vec<PathClaim>,
    /// What was complained about: many sessions share one config.
    complaints: HashSet<String>,
}

impl<'a> Listing<'a> {
    pub(crate) fn new(
        world: &'a World,
        ingester: Option<&'a Ingester<'a>>,
        warn: &'a dyn Fn(&str),
    ) -> Self {
        // What cannot be read is told by `board list`.
        let claims = board::claims(&world.paths).unwrap_or_default();
        Self { world, ingester, warn, claims, complaints: HashSet::new() }
    }

    /// All claims on the board, as they were when this was made.
    pub(crate) fn claims(&self) -> &[PathClaim] {
        &self.claims
    }

    /// The claims of a session.
    pub(crate) fn claims_of(&self, found: &Found) -> Vec<PathClaim> {
        let session = found.owner.session.as_str();
        self.claims.iter().filter(|claim| claim.holder == session).cloned().collect()
    }

    /// The session behind a transcript; nothing if it is gone or cannot be read.
    pub(crate) fn show(&mut self, found: &Found) -> Option<Shown> {
        match self.measure(found) {
            Ok(shown) => {
                shown.iter().for_each(|shown| self.complain(&shown.measured));
                shown
            }
            Err(error) => {
                (self.warn)(&format!("{error:#}"));
                None
            }
        }
    }

    fn measure(&self, found: &Found) -> anyhow::Result<Option<Shown>> {
        let failed = || format!("could not read session `{}`", found.owner.session);
        let measure = |found: &Found| sessions::measure(self.world, found);
        let Some(measured) = measure(found).with_context(failed)? else { return Ok(None) };
        let pace = self.ingester.map(|store| sessions::pace(&store.store, &found.owner.session));
        let pace = pace.transpose()?;
        let store = self.ingester.map(|ingester| &ingester.store);
        let checkpoint = store.map(|store| store.last_checkpoint(&found.owner.session));
        let checkpoint = checkpoint.transpose()?.flatten();
        let mut subagents = Vec::new();
        for subagent in sessions::subagents(found) {
            if is_within(subagent.modified, SUBAGENT_RECENT) {
                subagents.extend(measure(&subagent)?.map(|measured| (subagent, measured)));
            }
        }
        let claims = self.claims_of(found);
        Ok(Some(Shown { found: found.clone(), measured, pace, checkpoint, claims, subagents }))
    }

    fn complain(&mut self, measured: &Measured) {
        for complaint in &measured.complaints {
            if self.complaints.insert(complaint.clone()) {
                (self.warn)(&format!("config: {}", ui::strip_control(complaint)));
            }
        }
    }
}

/// Whether a moment lies less than `limit` behind us; what lies ahead of a wrong clock does.
pub(crate) fn is_within(time: SystemTime, limit: Duration) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|age| age < limit) || time > SystemTime::now()
}
