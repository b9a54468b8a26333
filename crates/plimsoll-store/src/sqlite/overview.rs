//! What an overview shows: sessions with how full they are, and checkpoints.

use plimsoll_core::event::SessionId;
use rusqlite::{OptionalExtension, Row, params};

use super::Store;
use super::checkpoints::checkpoint;
use super::column::{Kept, get_any};
use super::queries::session;
use crate::{CheckpointRow, RecentRow, StoreError};

impl Store {
    /// The sessions last heard of with their last reading and their fullest, newest first.
    pub fn recent(&self, limit: u32) -> Result<Vec<RecentRow>, StoreError> {
        self.all(RECENT, params![limit], recent).map_err(self.failed("list the sessions of"))
    }

    /// The newest checkpoints of all projects, newest first.
    pub fn newest_checkpoints(&self, limit: u32) -> Result<Vec<CheckpointRow>, StoreError> {
        let sql = "SELECT * FROM checkpoints ORDER BY created DESC, iteration DESC LIMIT ?1";
        self.all(sql, params![limit], checkpoint).map_err(self.failed("list the checkpoints of"))
    }

    /// The checkpoints of a session, oldest first.
    pub fn checkpoints_of(&self, id: &SessionId) -> Result<Vec<CheckpointRow>, StoreError> {
        let sql = "SELECT * FROM checkpoints WHERE session = ?1 ORDER BY created, iteration";
        self.all(sql, params![Kept(id)], checkpoint).map_err(self.failed("list the checkpoints of"))
    }

    /// The checkpoint of that id; where projects share one, the newest.
    pub fn checkpoint(&self, id: &str) -> Result<Option<CheckpointRow>, StoreError> {
        let sql = "SELECT * FROM checkpoints WHERE checkpoint = ?1 ORDER BY created DESC LIMIT 1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut sql| sql.query_row(params![id], checkpoint).optional())
            .map_err(self.failed("read from"))
    }
}

const RECENT: &str = "SELECT *,
         (SELECT prompt_tokens + output_tokens FROM readings AS own
             WHERE own.session = sessions.session AND own.subagent = ''
             ORDER BY time DESC LIMIT 1) AS used,
         (SELECT max(prompt_tokens) FROM readings AS own
             WHERE own.session = sessions.session AND own.subagent = '') AS peak
     FROM sessions ORDER BY last_seen DESC, session LIMIT ?1";

fn recent(row: &Row<'_>) -> rusqlite::Result<RecentRow> {
    Ok(RecentRow {
        session: session(row)?,
        used: get_any(row, "used")?,
        peak: get_any(row, "peak")?,
    })
}
