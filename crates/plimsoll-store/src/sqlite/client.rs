//! How the agents' clients are set, and since when.

use std::path::Path;

use plimsoll_core::Millis;
use rusqlite::{OptionalExtension, Row, params};

use super::Store;
use super::column::{Kept, get};
use crate::{ClientSettingsRow, StoreError};

impl Store {
    /// How an agent's client was set in a project when that was last looked at.
    pub fn client_settings(
        &self,
        agent: &str,
        project: &Path,
    ) -> Result<Option<ClientSettingsRow>, StoreError> {
        let sql = "SELECT * FROM client_settings WHERE agent = ?1 AND project = ?2";
        self.connection
            .query_row(sql, params![agent, Kept(project)], client_settings)
            .optional()
            .map_err(self.failed("read from"))
    }

    /// Since when an agent's client has been set like this in some other project: the latest.
    pub fn same_settings_since(
        &self,
        agent: &str,
        settings: &str,
    ) -> Result<Option<Millis>, StoreError> {
        let sql = "SELECT max(since) FROM client_settings WHERE agent = ?1 AND settings = ?2";
        self.connection
            .query_row(sql, params![agent, settings], |row| row.get(0))
            .map_err(self.failed("read from"))
    }

    /// Remembers how an agent's client is set in a project.
    pub fn remember_client_settings(&self, row: &ClientSettingsRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO client_settings (agent, project, settings, since, looked)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (agent, project) DO UPDATE
             SET settings = excluded.settings, since = excluded.since, looked = excluded.looked";
        let ClientSettingsRow { agent, project, settings, since, looked } = row;
        self.connection
            .execute(sql, params![agent, Kept(project.as_path()), settings, since, looked])
            .map_err(self.failed("write to"))?;
        Ok(())
    }
}

fn client_settings(row: &Row<'_>) -> rusqlite::Result<ClientSettingsRow> {
    Ok(ClientSettingsRow {
        agent: row.get("agent")?,
        project: get(row, "project")?,
        settings: row.get("settings")?,
        since: row.get("since")?,
        looked: row.get("looked")?,
    })
}
