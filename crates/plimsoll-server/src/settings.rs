//! The user's settings, as far as no project has a say: looked at again once a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_agents::Adapter;
use plimsoll_core::settings::{Settings, Team};
use plimsoll_engine::settings;
use plimsoll_engine::world::World;

/// The settings that were last looked at.
#[derive(Debug, Default)]
pub(crate) struct Current(Mutex<Option<(Instant, Arc<Settings>)>>);

/// How long they are taken as they are. Looking costs a dozen system calls.
const FRESH: Duration = Duration::from_secs(1);

impl Current {
    pub(crate) fn get(&self, world: &World, adapter: &dyn Adapter) -> Arc<Settings> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Some((looked, settings)) if looked.elapsed() < FRESH => settings.clone(),
            _ => {
                // No project is there, and in our own folder nobody puts a config.
                let in_force = settings::load(world, adapter, &world.paths.data);
                let settings = Arc::new(in_force.settings);
                *current = Some((Instant::now(), settings.clone()));
                settings
            }
        }
    }
}

/// What is shared with a team, as it was last looked at.
#[derive(Debug, Default)]
pub(crate) struct CurrentTeam(Mutex<Option<(Instant, Arc<Team>)>>);

impl CurrentTeam {
    pub(crate) fn get(&self, world: &World) -> Arc<Team> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Some((looked, team)) if looked.elapsed() < FRESH => team.clone(),
            _ => {
                let team = Arc::new(settings::team(world));
                *current = Some((Instant::now(), team.clone()));
                team
            }
        }
    }
}
