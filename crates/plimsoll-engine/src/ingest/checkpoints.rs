//! Taking checkpoints into the store, so that they can be searched.

use std::collections::BTreeSet;
use std::path::Path;

use plimsoll_extract::checkpoint::{Meta, summary};
use plimsoll_store::{CheckpointListing, CheckpointRow};

use super::Ingester;
use crate::checkpoint::{self, Place, index};

impl Ingester<'_> {
    /// Takes in the checkpoints of a project, whichever agent they are of, and removes those whose files
    /// are gone.
    ///
    /// Only sealed checkpoints are taken in. Each is read once: a file that somebody changes afterwards no
    /// longer holds what was sealed, and never gets here.
    pub fn checkpoints(&mut self, project: &Path) -> anyhow::Result<()> {
        let places = Place::of_all_agents(self.world, project);
        self.store.sync_checkpoints(project, |known| look(&places, known))
    }

    /// Takes in the checkpoints of every project that is known.
    pub fn all_checkpoints(&mut self) -> anyhow::Result<()> {
        let mut projects = self.store.projects()?;
        for place in Place::of_all_agents(self.world, Path::new("")) {
            projects.extend(index::projects(&place));
        }
        projects.iter().try_for_each(|project| self.checkpoints(project))
    }
}

/// Returns the checkpoints that are there, and reads the new ones; `None` if a folder cannot be read.
fn look(places: &[Place], known: &BTreeSet<String>) -> anyhow::Result<Option<CheckpointListing>> {
    // However many files somebody puts there, a look must come to an end.
    const MOST: usize = 500;
    let mut there = CheckpointListing { ids: BTreeSet::new(), new: Vec::new() };
    for place in places {
        let Ok(ids) = checkpoint::ids(place) else { return Ok(None) };
        for id in ids.iter().filter(|id| !known.contains(*id)).take(MOST) {
            let own = checkpoint::read_own(place, id)?;
            there.new.extend(own.map(|(meta, body)| row(place, meta, body)));
        }
        there.ids.extend(ids);
    }
    Ok(Some(there))
}

fn row(place: &Place, meta: Meta, body: String) -> CheckpointRow {
    CheckpointRow {
        path: place.file(&meta.id),
        id: meta.id,
        project: place.project.clone(),
        session: meta.session_id,
        created: meta.created,
        occasion: meta.occasion.label().to_owned(),
        iteration: meta.iteration,
        partial: meta.partial,
        used: meta.used,
        window: meta.window,
        summary: summary(&body),
        body,
    }
}
