//! Cache of the user's settings, without project settings; reread once a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_core::settings::{Settings, Team};
use plimsoll_engine::settings;
use plimsoll_engine::world::World;

/// The settings as last read.
#[derive(Debug, Default)]
pub(crate) struct SettingsCache(Mutex<Option<(Instant, Arc<Settings>)>>);

/// How long cached settings are used. Reading them takes a dozen system calls.
const MAX_AGE: Duration = Duration::from_secs(1);

impl SettingsCache {
    pub(crate) fn get(&self, world: &World) -> Arc<Settings> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Some((looked, settings)) if looked.elapsed() < MAX_AGE => settings.clone(),
            _ => {
                // The data folder is no project and has no config file, so only the user's settings
                // apply.
                let settings = Arc::new(settings::of_project(world, &world.paths.data));
                *current = Some((Instant::now(), settings.clone()));
                settings
            }
        }
    }
}

/// The team settings as last read.
#[derive(Debug, Default)]
pub(crate) struct TeamSettingsCache(Mutex<Option<(Instant, Arc<Team>)>>);

impl TeamSettingsCache {
    pub(crate) fn get(&self, world: &World) -> Arc<Team> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Some((looked, team)) if looked.elapsed() < MAX_AGE => team.clone(),
            _ => {
                let team = Arc::new(settings::team(world));
                *current = Some((Instant::now(), team.clone()));
                team
            }
        }
    }
}
