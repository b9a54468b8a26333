//! Taking checkpoints into the store, so that they can be searched.

use std::collections::BTreeSet;
use std::path::PathBuf;

use plimsoll_extract::checkpoint::{Meta, summary};
use plimsoll_store::{CheckpointRow, CheckpointsThere};

use super::Ingester;
use crate::checkpoint::{self, Place, index};

impl Ingester<'_> {
    /// Takes in the checkpoints of a place, and lets go of those whose files are gone.
    ///
    /// Only what we sealed is taken in. It is looked at once: what stands in a file that somebody
    /// changes afterwards is not what was sealed, and never gets here.
    pub fn checkpoints(&mut self, place: &Place) -> anyhow::Result<()> {
        self.store.take_checkpoints(&place.project, |known| look(place, known))
    }

    /// The same for every project that is known.
    pub fn all_checkpoints(&mut self) -> anyhow::Result<()> {
        let place = |project| Place::of(self.world, self.adapter, project);
        let mut projects = self.store.projects()?;
        projects.extend(index::projects(&place(PathBuf::new())));
        let places: Vec<Place> = projects.into_iter().map(place).collect();
        places.iter().try_for_each(|place| self.checkpoints(place))
    }
}

/// What is there, and what of it is new; nothing if the folder cannot be read.
fn look(place: &Place, known: &BTreeSet<String>) -> anyhow::Result<Option<CheckpointsThere>> {
    // However many files somebody puts there, a look must come to an end.
    const MOST: usize = 500;
    let Ok(ids) = checkpoint::ids(place) else { return Ok(None) };
    let mut new = Vec::new();
    for id in ids.iter().filter(|id| !known.contains(*id)).take(MOST) {
        let own = checkpoint::read_own(place, id)?;
        new.extend(own.map(|(meta, body)| row(place, meta, body)));
    }
    Ok(Some(CheckpointsThere { ids: ids.into_iter().collect(), new }))
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
