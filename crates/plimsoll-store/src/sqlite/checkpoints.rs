//! Storing and listing of checkpoints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plimsoll_core::event::SessionId;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Store;
use super::column::{ColumnValue, get, get_optional};
use super::ingest::new_id;
use crate::{CheckpointListing, CheckpointRow, LastCheckpoint, StoreError};

impl Store {
    /// Syncs the checkpoints of a project with its files: adds new ones and removes deleted ones.
    ///
    /// `look` receives the known ids and lists the files. Other writers wait in the meantime, so a
    /// process with an older listing cannot remove a checkpoint that another has just added. If
    /// `look` returns `None`, nothing changes.
    pub fn sync_checkpoints<E: From<StoreError>>(
        &mut self,
        project: &Path,
        look: impl FnOnce(&BTreeSet<String>) -> Result<Option<CheckpointListing>, E>,
    ) -> Result<(), E> {
        let failed = self.error_during("ingest into");
        let transaction = self.connection.transaction().map_err(&failed)?;
        let known = known_ids(&transaction, project).map_err(&failed)?;
        let Some(there) = look(&known)? else { return Ok(()) };
        for gone in known.difference(&there.ids) {
            remove(&transaction, project, gone).map_err(&failed)?;
        }
        for row in &there.new {
            insert(&transaction, &self.machine_id, row).map_err(&failed)?;
        }
        transaction.commit().map_err(&failed)?;
        Ok(())
    }

    pub fn last_checkpoint(
        &self,
        session: &SessionId,
    ) -> Result<Option<LastCheckpoint>, StoreError> {
        let sql = "SELECT checkpoint, created FROM checkpoints WHERE session = ?1
             ORDER BY created DESC, iteration DESC LIMIT 1";
        let last = |row: &Row<'_>| {
            Ok(LastCheckpoint { id: row.get("checkpoint")?, created: row.get("created")? })
        };
        self.connection
            .prepare_cached(sql)
            .and_then(|mut sql| sql.query_row(params![ColumnValue(session)], last).optional())
            .map_err(self.error_during("read from"))
    }

    /// Returns the projects that have sessions or checkpoints.
    pub fn projects(&self) -> Result<BTreeSet<PathBuf>, StoreError> {
        let sql = "SELECT project FROM sessions WHERE project IS NOT NULL
             UNION SELECT project FROM checkpoints";
        let rows = self.query_all(sql, [], |row| get(row, "project"));
        rows.map(|rows| rows.into_iter().collect())
            .map_err(self.error_during("list the projects of"))
    }

    /// Returns at most `limit` checkpoints of all projects, newest first.
    pub fn newest_checkpoints(&self, limit: u32) -> Result<Vec<CheckpointRow>, StoreError> {
        let sql = "SELECT * FROM checkpoints ORDER BY created DESC, iteration DESC LIMIT ?1";
        self.query_all(sql, params![limit], checkpoint_from_row)
            .map_err(self.error_during("list the checkpoints of"))
    }

    /// Returns the checkpoints of a session, oldest first.
    pub fn checkpoints_of(&self, id: &SessionId) -> Result<Vec<CheckpointRow>, StoreError> {
        let sql = "SELECT * FROM checkpoints WHERE session = ?1 ORDER BY created, iteration";
        self.query_all(sql, params![ColumnValue(id)], checkpoint_from_row)
            .map_err(self.error_during("list the checkpoints of"))
    }

    /// Returns the checkpoint with this id. If several projects have one, returns the newest.
    pub fn checkpoint(&self, id: &str) -> Result<Option<CheckpointRow>, StoreError> {
        let sql = "SELECT * FROM checkpoints WHERE checkpoint = ?1 ORDER BY created DESC LIMIT 1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut sql| sql.query_row(params![id], checkpoint_from_row).optional())
            .map_err(self.error_during("read from"))
    }
}

fn known_ids(connection: &Connection, project: &Path) -> rusqlite::Result<BTreeSet<String>> {
    let sql = "SELECT checkpoint FROM checkpoints WHERE project = ?1";
    connection
        .prepare_cached(sql)?
        .query_map(params![ColumnValue(project)], |row| row.get(0))?
        .collect()
}

fn remove(connection: &Connection, project: &Path, id: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM checkpoints WHERE project = ?1 AND checkpoint = ?2";
    connection.prepare_cached(sql)?.execute(params![ColumnValue(project), id])?;
    Ok(())
}

fn insert(connection: &Connection, machine: &str, row: &CheckpointRow) -> rusqlite::Result<()> {
    let sql = "INSERT INTO checkpoints (id, machine, checkpoint, path, project, session, created,
             occasion, iteration, partial, used, \"window\", summary, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (path) DO NOTHING";
    connection.prepare_cached(sql)?.execute(params![
        new_id(),
        machine,
        row.id,
        ColumnValue(row.path.as_path()),
        ColumnValue(row.project.as_path()),
        row.session,
        row.created,
        row.occasion,
        ColumnValue(row.iteration),
        row.partial,
        row.used.map(ColumnValue),
        row.window.map(ColumnValue),
        row.summary,
        row.body,
    ])?;
    Ok(())
}

pub(super) fn checkpoint_from_row(row: &Row<'_>) -> rusqlite::Result<CheckpointRow> {
    Ok(CheckpointRow {
        id: row.get("checkpoint")?,
        path: get(row, "path")?,
        project: get(row, "project")?,
        session: row.get("session")?,
        created: row.get("created")?,
        occasion: row.get("occasion")?,
        iteration: get(row, "iteration")?,
        partial: row.get("partial")?,
        used: get_optional(row, "used")?,
        window: get_optional(row, "window")?,
        summary: row.get("summary")?,
        body: row.get("body")?,
    })
}
