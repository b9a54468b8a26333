//! A paged list of sessions and their current state.

use plimsoll_core::event::SessionId;
use rusqlite::{OptionalExtension, Row, params};

use super::Store;
use super::column::{ColumnValue, get, get_optional};
use super::queries::session_from_row;
use crate::{LastCheckpoint, OverviewRow, StoreError};

impl Store {
    /// Returns one page of the sessions and their current state, the most recently active first: at
    /// most `limit` after the first `skipped`. Leaves out the ids in `without`.
    pub fn overview(
        &self,
        without: &[String],
        skipped: u32,
        limit: u32,
    ) -> Result<Vec<OverviewRow>, StoreError> {
        let sql = format!(
            "{OVERVIEW} WHERE session NOT IN (SELECT value FROM json_each(?1))
             ORDER BY last_seen DESC, session LIMIT ?2 OFFSET ?3"
        );
        self.query_all(&sql, params![json_array(without), limit, skipped], overview)
            .map_err(self.error_during("list the sessions of"))
    }

    /// Returns the number of sessions whose ids are not in `without`.
    pub fn session_count(&self, without: &[String]) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM sessions
             WHERE session NOT IN (SELECT value FROM json_each(?1))";
        let count = |row: &Row<'_>| row.get(0).map(|ColumnValue(count)| count);
        self.connection
            .prepare_cached(sql)
            .and_then(|mut sql| sql.query_row(params![json_array(without)], count))
            .map_err(self.error_during("count what is in"))
    }

    /// Returns a session and its current state.
    pub fn session_overview(&self, id: &SessionId) -> Result<Option<OverviewRow>, StoreError> {
        let sql = format!("{OVERVIEW} WHERE session = ?1");
        self.connection
            .prepare_cached(&sql)
            .and_then(|mut sql| sql.query_row(params![ColumnValue(id)], overview).optional())
            .map_err(self.error_during("read from"))
    }
}

/// The index `readings_by_time` finds the last reading, however many readings there are.
const OVERVIEW: &str = "SELECT sessions.*,
         coalesce(
             (SELECT prompt_tokens + output_tokens FROM readings AS own
                 WHERE own.session = sessions.session AND subagent = '' AND time > coalesce(
                     (SELECT max(time) FROM compactions AS before
                         WHERE before.session = sessions.session AND before.subagent = ''), -1)
                 ORDER BY time DESC LIMIT 1),
             (SELECT tokens_after FROM compactions AS own
                 WHERE own.session = sessions.session AND subagent = ''
                 ORDER BY time DESC LIMIT 1)) AS used,
         (SELECT max(prompt_tokens) FROM readings AS own
             WHERE own.session = sessions.session AND subagent = '') AS largest,
         (SELECT count(*) FROM compactions AS own
             WHERE own.session = sessions.session AND subagent = '') AS compactions,
         (SELECT checkpoint FROM checkpoints AS own WHERE own.session = sessions.session
             ORDER BY created DESC, iteration DESC LIMIT 1) AS last_checkpoint,
         (SELECT created FROM checkpoints AS own WHERE own.session = sessions.session
             ORDER BY created DESC, iteration DESC LIMIT 1) AS last_created
     FROM sessions";

/// Formats ids as a JSON array. Valid session ids need no escapes, so ids that would need them are
/// dropped.
fn json_array(names: &[String]) -> String {
    let plain = |name: &&String| !name.contains(['"', '\\']) && !name.contains(char::is_control);
    let quoted: Vec<String> = names.iter().filter(plain).map(|it| format!("\"{it}\"")).collect();
    format!("[{}]", quoted.join(","))
}

fn overview(row: &Row<'_>) -> rusqlite::Result<OverviewRow> {
    let last: Option<String> = row.get("last_checkpoint")?;
    let created: Option<i64> = row.get("last_created")?;
    Ok(OverviewRow {
        session: session_from_row(row)?,
        used: get_optional(row, "used")?,
        largest: get_optional(row, "largest")?.unwrap_or(0),
        compactions: get(row, "compactions")?,
        checkpoint: last.zip(created).map(|(id, created)| LastCheckpoint { id, created }),
    })
}
