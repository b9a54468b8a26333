//! Settings of the agents' clients, and since when they apply.

use std::path::Path;

use plimsoll_core::Millis;
use rusqlite::{OptionalExtension, Row, params};

use super::Store;
use super::column::{ColumnValue, get};
use crate::{ClientSettingsRow, StoreError};

impl Store {
    /// Returns the settings of an agent's client in a project at the last check.
    pub fn client_settings(
        &self,
        agent: &str,
        project: &Path,
    ) -> Result<Option<ClientSettingsRow>, StoreError> {
        let sql = "SELECT * FROM client_settings WHERE agent = ?1 AND project = ?2";
        self.connection
            .query_row(sql, params![agent, ColumnValue(project)], client_settings)
            .optional()
            .map_err(self.error_during("read from"))
    }

    /// Returns the latest time since when any project has had exactly these settings. `None` if no
    /// project has them.
    pub fn same_settings_since(
        &self,
        agent: &str,
        settings: &str,
    ) -> Result<Option<Millis>, StoreError> {
        let sql = "SELECT max(since) FROM client_settings WHERE agent = ?1 AND settings = ?2";
        self.connection
            .query_row(sql, params![agent, settings], |row| row.get(0))
            .map_err(self.error_during("read from"))
    }

    /// Stores the settings of an agent's client in a project.
    pub fn remember_client_settings(&self, row: &ClientSettingsRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO client_settings (agent, project, settings, since, looked)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (agent, project) DO UPDATE
             SET settings = excluded.settings, since = excluded.since, looked = excluded.looked";
        let ClientSettingsRow { agent, project, settings, since, checked_at: looked } = row;
        self.connection
            .execute(sql, params![agent, ColumnValue(project.as_path()), settings, since, looked])
            .map_err(self.error_during("write to"))?;
        Ok(())
    }
}

fn client_settings(row: &Row<'_>) -> rusqlite::Result<ClientSettingsRow> {
    Ok(ClientSettingsRow {
        agent: row.get("agent")?,
        project: get(row, "project")?,
        settings: row.get("settings")?,
        since: row.get("since")?,
        checked_at: row.get("looked")?,
    })
}
