//! Effective settings of many projects, cached.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use plimsoll_agents::Agent;
use plimsoll_core::event::AgentId;

use crate::settings::{self, InForce};
use crate::world::World;

/// How long settings are cached: many sessions grow at once.
const HOLD: Duration = Duration::from_secs(5);
/// Maximum number of cached projects.
const MOST: usize = 512;

/// Effective settings by project, with the time of loading.
#[derive(Default)]
pub(super) struct Rules(HashMap<(AgentId, PathBuf), (Instant, Rc<InForce>)>);

impl Rules {
    pub(super) fn of(
        &mut self,
        world: &World,
        agent: &'static dyn Agent,
        project: &Path,
    ) -> Rc<InForce> {
        let now = Instant::now();
        let key = (agent.id().clone(), project.to_owned());
        let held = self.0.get(&key).filter(|(since, _)| now.duration_since(*since) < HOLD);
        if let Some((_, in_force)) = held {
            return Rc::clone(in_force);
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        let in_force = Rc::new(settings::load(world, agent, project));
        self.0.insert(key, (now, Rc::clone(&in_force)));
        in_force
    }
}
