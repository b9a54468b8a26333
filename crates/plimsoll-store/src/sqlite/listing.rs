//! A list of sessions by pages, each with how it stands.

use plimsoll_core::event::SessionId;
use rusqlite::{OptionalExtension, Row, params};

use super::Store;
use super::column::{Kept, get, get_any};
use super::queries::session;
use crate::{LastCheckpoint, OverviewRow, StoreError};

impl Store {
    /// Sessions with how they stand, those last heard of first: at most `limit`, after `skipped` of
    /// them. Those whose names are in `without` are left out.
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
        self.all(&sql, params![list(without), limit, skipped], overview)
            .map_err(self.failed("list the sessions of"))
    }

    /// How many sessions there are whose names are not in `without`.
    pub fn session_count(&self, without: &[String]) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM sessions
             WHERE session NOT IN (SELECT value FROM json_each(?1))";
        let count = |row: &Row<'_>| row.get(0).map(|Kept(count)| count);
        self.connection
            .prepare_cached(sql)
            .and_then(|mut sql| sql.query_row(params![list(without)], count))
            .map_err(self.failed("count what is in"))
    }

    /// A session with how it stands.
    pub fn session_overview(&self, id: &SessionId) -> Result<Option<OverviewRow>, StoreError> {
        let sql = format!("{OVERVIEW} WHERE session = ?1");
        self.connection
            .prepare_cached(&sql)
            .and_then(|mut sql| sql.query_row(params![Kept(id)], overview).optional())
            .map_err(self.failed("read from"))
    }
}

/// The last reading is asked for through `readings_by_time`, whatever the number of readings.
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

/// Names as SQLite takes a list of them. A session's name needs no escapes; what does is no name.
fn list(names: &[String]) -> String {
    let plain = |name: &&String| !name.contains(['"', '\\']) && !name.contains(char::is_control);
    let quoted: Vec<String> = names.iter().filter(plain).map(|it| format!("\"{it}\"")).collect();
    format!("[{}]", quoted.join(","))
}

fn overview(row: &Row<'_>) -> rusqlite::Result<OverviewRow> {
    let last: Option<String> = row.get("last_checkpoint")?;
    let created: Option<i64> = row.get("last_created")?;
    Ok(OverviewRow {
        session: session(row)?,
        used: get_any(row, "used")?,
        largest: get_any(row, "largest")?.unwrap_or(0),
        compactions: get(row, "compactions")?,
        checkpoint: last.zip(created).map(|(id, created)| LastCheckpoint { id, created }),
    })
}
