//! The settings in force, of many projects at once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use plimsoll_agents::Adapter;

use crate::settings::{self, InForce};
use crate::world::World;

/// How long settings hold before their files are looked at again: many sessions grow at once.
const HOLD: Duration = Duration::from_secs(5);
/// So many projects are remembered.
const MOST: usize = 512;

/// What was in force in each project when it was last looked at.
#[derive(Default)]
pub(super) struct Rules(HashMap<PathBuf, (Instant, Rc<InForce>)>);

impl Rules {
    pub(super) fn of(
        &mut self,
        world: &World,
        adapter: &dyn Adapter,
        project: &Path,
    ) -> Rc<InForce> {
        let now = Instant::now();
        let held = self.0.get(project).filter(|(since, _)| now.duration_since(*since) < HOLD);
        if let Some((_, in_force)) = held {
            return Rc::clone(in_force);
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        let in_force = Rc::new(settings::load(world, adapter, project));
        self.0.insert(project.to_owned(), (now, Rc::clone(&in_force)));
        in_force
    }
}
