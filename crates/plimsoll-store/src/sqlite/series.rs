//! The readings of a session over time, and the thinning of old ones.

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use rusqlite::{Row, params};

use super::Store;
use super::column::{self, ColumnValue, get, get_optional};
use crate::{CurvePoint, CurvePointRow, StoreError};

const MINUTE: Millis = 60_000;
const DAY: Millis = 24 * 60 * MINUTE;
/// Younger readings are all kept. Older ones are thinned to the fullest of each minute.
const KEEP_ALL_FOR: Millis = DAY;
/// Beyond this age, only the fullest reading of each five minutes is kept.
const KEEP_PER_MINUTE_FOR: Millis = 7 * DAY;

impl Store {
    /// Returns the readings and compactions of a session since a time, oldest first.
    pub fn series(
        &self,
        session: &SessionId,
        since: Millis,
    ) -> Result<Vec<CurvePointRow>, StoreError> {
        self.query_all(SERIES, params![ColumnValue(session), since], point)
            .map_err(self.error_during("list the readings of"))
    }

    /// Deletes most old readings of at most `most` sessions, with one transaction per session.
    /// Returns the number of deleted readings.
    ///
    /// The fullest reading of each interval stays, and an interval never spans a compaction. So
    /// peaks and both sides of a compaction are never lost. A session is thinned once a day, until
    /// a week after its last activity.
    pub fn thin_readings(&self, now: Millis, most: u32) -> Result<usize, StoreError> {
        let failed = self.error_during("thin the readings of");
        let due: Vec<SessionId> = self
            .query_all(DUE, params![now, KEEP_ALL_FOR, KEEP_PER_MINUTE_FOR, most], |row| {
                get(row, "session")
            })
            .map_err(&failed)?;
        let mut gone = 0;
        for session in due {
            let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
            let (whole, by_minute) = (now - KEEP_ALL_FOR, now - KEEP_PER_MINUTE_FOR);
            gone += transaction
                .prepare_cached(THIN)
                .and_then(|mut sql| {
                    sql.execute(params![ColumnValue(&session), whole, by_minute, MINUTE])
                })
                .map_err(&failed)?;
            transaction
                .prepare_cached("UPDATE sessions SET thinned = ?2 WHERE session = ?1")
                .and_then(|mut sql| sql.execute(params![ColumnValue(&session), now]))
                .map_err(&failed)?;
            transaction.commit().map_err(&failed)?;
        }
        Ok(gone)
    }
}

const SERIES: &str = "SELECT subagent, time, prompt_tokens + output_tokens AS used,
         NULL AS automatic, NULL AS tokens_before, NULL AS tokens_after
     FROM readings WHERE session = ?1 AND time >= ?2
     UNION ALL
     SELECT subagent, time, NULL, automatic, tokens_before, tokens_after
     FROM compactions WHERE session = ?1 AND time >= ?2
     ORDER BY time, automatic";

/// Sessions whose readings may have become old enough since the last thinning.
const DUE: &str = "SELECT session FROM sessions
     WHERE started < ?1 - ?2 AND thinned < min(?1 - ?2, last_seen + ?3) LIMIT ?4";

const THIN: &str = "DELETE FROM readings WHERE id IN (
         SELECT id FROM (
             SELECT id, row_number() OVER (
                 PARTITION BY subagent,
                     (SELECT count(*) FROM compactions AS before
                         WHERE before.session = readings.session
                             AND before.subagent = readings.subagent
                             AND before.time <= readings.time),
                     time < ?3,
                     time / CASE WHEN time < ?3 THEN 5 * ?4 ELSE ?4 END
                 ORDER BY prompt_tokens + output_tokens DESC, time DESC
             ) AS place
             FROM readings WHERE session = ?1 AND time < ?2
         ) WHERE place > 1
     )";

fn point(row: &Row<'_>) -> rusqlite::Result<CurvePointRow> {
    let point = match get_optional(row, "used")? {
        Some(used) => CurvePoint::Reading { used },
        None => CurvePoint::Compaction {
            automatic: row.get("automatic")?,
            tokens_before: get_optional(row, "tokens_before")?,
            tokens_after: get_optional(row, "tokens_after")?,
        },
    };
    Ok(CurvePointRow { subagent: column::get_subagent(row)?, time: row.get("time")?, point })
}
