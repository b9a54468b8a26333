//! Since when the client has been set as it is.
//!
//! The time of its settings files does not tell: they hold much else, and the client writes to them
//! itself. So the values are remembered at each look, with the time since which they are known.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use plimsoll_agents::Adapter;
use plimsoll_core::Millis;
use plimsoll_core::settings::{ClientSettings, is_default};
use plimsoll_store::{ClientSettingsRow, Store};

use crate::settings;
use crate::world::{World, now};

/// The client's settings in a project, looked at now.
#[derive(Clone, Debug)]
pub struct Look {
    agent: &'static str,
    project: PathBuf,
    settings: ClientSettings,
    /// When any of the files was last written.
    written: Millis,
    at: Millis,
}

impl Look {
    /// Looks at them.
    pub fn take(world: &World, adapter: &dyn Adapter, project: &Path) -> Self {
        Self {
            agent: adapter.name(),
            project: project.to_owned(),
            written: written(world, adapter, project),
            settings: settings::client_now(world, adapter, project),
            at: now() as Millis,
        }
    }

    /// Remembers them, and says since when they have been what they are.
    pub fn remember(&self, store: &Store) -> anyhow::Result<Millis> {
        let settings = serde_json::to_string(&self.settings)?;
        let known = store.client_settings(self.agent, &self.project)?;
        let elsewhere = store.same_settings_since(self.agent, &settings)?;
        let since = match known {
            Some(known) if known.settings == settings => known.since,
            Some(known) => self.changed(known.looked),
            None => elsewhere.unwrap_or_else(|| self.at_first_sight()),
        };
        store.remember_client_settings(&ClientSettingsRow {
            agent: self.agent.to_owned(),
            project: self.project.clone(),
            settings,
            since,
            looked: self.at,
        })?;
        Ok(since)
    }

    /// When settings changed that were others at the last look: with a file, if one was written
    /// since; otherwise it is the environment that differs, from now on.
    fn changed(&self, last_look: Millis) -> Millis {
        if self.written > last_look { self.written } else { self.at }
    }

    /// Whoever has set anything wrote a file no later than that; who has not never changed it.
    fn at_first_sight(&self) -> Millis {
        if is_default(&self.settings) { Millis::MIN } else { self.written }
    }
}

fn written(world: &World, adapter: &dyn Adapter, project: &Path) -> Millis {
    let files = world.with_home(adapter, |home| adapter.settings_files(home, project));
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
