//! Finds out since when the client has had its current settings.
//!
//! Modification times do not answer this: the settings files contain many other settings, and the
//! client writes to them too. So each audit stores the values with the time since which they are
//! known.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use plimsoll_agents::Agent;
use plimsoll_core::Millis;
use plimsoll_core::settings::{ClientSettings, is_default};
use plimsoll_store::{ClientSettingsRow, Store};

use crate::settings;
use crate::world::{World, now};

/// The client's settings in a project, read now.
#[derive(Clone, Debug)]
pub struct Look {
    agent: &'static str,
    project: PathBuf,
    settings: ClientSettings,
    /// Newest modification time of the settings files.
    written: Millis,
    at: Millis,
}

impl Look {
    /// Reads the client's settings.
    pub fn take(world: &World, agent: &'static dyn Agent, project: &Path) -> Self {
        Self {
            agent: agent.id().as_str(),
            project: project.to_owned(),
            written: written(world, agent, project),
            settings: settings::client_now(world, agent, project),
            at: now() as Millis,
        }
    }

    /// Stores the settings and returns since when they have had these values.
    pub fn remember(&self, store: &Store) -> anyhow::Result<Millis> {
        let settings = serde_json::to_string(&self.settings)?;
        let known = store.client_settings(self.agent, &self.project)?;
        let elsewhere = store.same_settings_since(self.agent, &settings)?;
        let since = match known {
            Some(known) if known.settings == settings => known.since,
            Some(known) => self.changed(known.checked_at),
            None => elsewhere.unwrap_or_else(|| self.at_first_sight()),
        };
        store.remember_client_settings(&ClientSettingsRow {
            agent: self.agent.to_owned(),
            project: self.project.clone(),
            settings,
            since,
            checked_at: self.at,
        })?;
        Ok(since)
    }

    /// Returns when settings that differ from the last look changed. If a file was written since
    /// then, that is the time; otherwise the environment differs, as of now.
    fn changed(&self, last_look: Millis) -> Millis {
        if self.written > last_look { self.written } else { self.at }
    }

    /// Returns the start time for settings seen for the first time. Defaults never changed; any
    /// other value was written to a file at its modification time at the latest.
    fn at_first_sight(&self) -> Millis {
        if is_default(&self.settings) { Millis::MIN } else { self.written }
    }
}

fn written(world: &World, agent: &'static dyn Agent, project: &Path) -> Millis {
    let files = world.with_home(agent, |home| agent.client().files(home, project));
    let modified = files.iter().filter_map(|file| fs::metadata(file).ok()?.modified().ok());
    let newest = modified.filter_map(|time| time.duration_since(UNIX_EPOCH).ok()).max();
    newest.map_or(Millis::MIN, |since| since.as_millis() as Millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(project: &str, percent: Option<f64>, written: Millis, at: Millis) -> Look {
        let settings = ClientSettings { compact_percent: percent, ..ClientSettings::default() };
        Look { agent: "agent", project: project.into(), settings, written, at }
    }

    #[track_caller]
    fn check(looks: &[Look], since: Millis) {
        let store = Store::in_memory().unwrap();
        let found = looks.iter().map(|look| look.remember(&store).unwrap());
        assert_eq!(found.last(), Some(since));
    }

    #[test]
    fn a_file_that_is_written_for_another_reason_changes_nothing() {
        check(&[look("/p", Some(40.0), 5, 9), look("/p", Some(40.0), 12, 20)], 5);
        check(&[look("/p", Some(40.0), 5, 9), look("/q", Some(40.0), 12, 20)], 5);
    }

    #[test]
    fn a_new_value_counts_from_when_it_was_written_or_else_noticed() {
        check(&[look("/p", Some(40.0), 5, 9), look("/p", Some(50.0), 12, 20)], 12);
        check(&[look("/p", Some(40.0), 5, 9), look("/p", Some(50.0), 5, 20)], 20);
        let back = [(40.0, 5, 9), (50.0, 12, 20), (40.0, 22, 30)];
        check(&back.map(|(percent, written, at)| look("/p", Some(percent), written, at)), 22);
    }

    #[test]
    fn defaults_are_as_old_as_the_client() {
        check(&[look("/p", None, 5, 9)], Millis::MIN);
        check(&[look("/p", Some(40.0), 5, 9), look("/p", None, 12, 20)], 12);
    }
}
