//! Figures that show whether plimsoll achieves its purpose.

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use rusqlite::{OptionalExtension, Row, params};

use super::Store;
use super::column::get;
use super::history::peak_from_row;
use crate::{AutoCompactionCounts, PeakRow, StoreError, WorkPeriod};

impl Store {
    /// Returns the number of checkpoints sealed since a time, by occasion. Includes checkpoints
    /// that were pruned later.
    pub fn seal_counts(&self, since: Millis) -> Result<Vec<(String, u64)>, StoreError> {
        let sql = "SELECT occasion, count(*) AS seals FROM seals WHERE created >= ?1
             GROUP BY occasion ORDER BY occasion";
        self.query_all(sql, params![since], |row| Ok((row.get("occasion")?, get(row, "seals")?)))
            .map_err(self.error_during("count the checkpoints of"))
    }

    /// Returns the longest period since `since` in which a session worked on one prompt. A pause of
    /// more than `longest_step` ends a period.
    pub fn longest_work_period(
        &self,
        since: Millis,
        longest_step: Millis,
    ) -> Result<Option<WorkPeriod>, StoreError> {
        self.connection
            .prepare_cached(LONGEST_WORK_PERIOD)
            .and_then(|mut sql| sql.query_row(params![since, longest_step], stretch).optional())
            .map_err(self.error_during("list the readings of"))
    }

    /// Counts the compactions that clients started since a time, and those without a warning or
    /// checkpoint since the compaction before.
    pub fn auto_compaction_counts(
        &self,
        since: Millis,
    ) -> Result<AutoCompactionCounts, StoreError> {
        let overflows = |row: &Row<'_>| {
            Ok(AutoCompactionCounts {
                total: get(row, "overflows")?,
                without_warning: get(row, "unwarned")?,
            })
        };
        let sql = format!(
            "SELECT count(*) AS overflows, coalesce(sum(NOT {WARNED}), 0) AS unwarned
             FROM (SELECT *, coalesce((SELECT max(time) FROM compactions AS before
                     WHERE before.session = own.session AND before.subagent = ''
                         AND before.time < own.time), -1) AS since
                 FROM distinct_compactions AS own
                 WHERE automatic AND subagent = '' AND time >= ?1) AS own"
        );
        self.connection
            .prepare_cached(&sql)
            .and_then(|mut sql| sql.query_row(params![since], overflows))
            .map_err(self.error_during("list the compactions of"))
    }

    /// Returns the peak of each session's own window since a time, and whether a warning or
    /// checkpoint came before it.
    pub fn peaks_since(&self, since: Millis) -> Result<Vec<PeakRow>, StoreError> {
        let sql = format!(
            "SELECT session, model, version, tokens,
                 (SELECT count(*) FROM compactions AS compacted
                     WHERE compacted.session = own.session AND compacted.subagent = ''
                         AND automatic AND compacted.time >= ?1) AS automatic_compactions,
                 {WARNED} AS warned
             FROM (SELECT session, time, -1 AS since, max(prompt_tokens + output_tokens) AS tokens
                 FROM readings WHERE subagent = '' AND time >= ?1 GROUP BY session) AS own
             JOIN sessions USING (session)"
        );
        self.query_all(&sql, params![since], peak_from_row)
            .map_err(self.error_during("list the readings of"))
    }

    /// Returns how often a session received a restore since a time, of its own work or of another
    /// session's.
    pub fn restore_count(&self, since: Millis) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) AS restores FROM decisions
             WHERE time >= ?1 AND what IN ('restored', 'given')";
        self.connection
            .query_row(sql, params![since], |row| get(row, "restores"))
            .map_err(self.error_during("list the decisions of"))
    }

    /// Returns the time of the first decision. Before that, plimsoll was not in use and could not
    /// warn.
    pub fn first_decision(&self) -> Result<Option<Millis>, StoreError> {
        self.connection
            .query_row("SELECT min(time) FROM decisions", [], |row| row.get(0))
            .map_err(self.error_during("list the decisions of"))
    }
}

/// Whether there was a warning or a checkpoint between `own.since` and `own.time`.
const WARNED: &str = "(EXISTS (SELECT 1 FROM decisions
         WHERE decisions.session = own.session AND decisions.time BETWEEN own.since AND own.time
             AND what IN ('warned', 'suggested', 'saved', 'guarded', 'refused', 'sealed'))
     OR EXISTS (SELECT 1 FROM seals
         WHERE seals.session = own.session AND seals.created BETWEEN own.since AND own.time))";

const LONGEST_WORK_PERIOD: &str = "SELECT session, min(time) AS began, max(time) AS ended FROM (
         SELECT session, turn, time,
             sum(is_new) OVER (PARTITION BY session, turn ORDER BY time) AS stretch
         FROM (
             SELECT session, turn, time,
                 time - lag(time, 1, time) OVER (PARTITION BY session, turn ORDER BY time) > ?2
                     AS is_new
             FROM readings WHERE subagent = '' AND time >= ?1
         )
     ) GROUP BY session, turn, stretch ORDER BY ended - began DESC, session LIMIT 1";

fn stretch(row: &Row<'_>) -> rusqlite::Result<WorkPeriod> {
    let session: SessionId = get(row, "session")?;
    Ok(WorkPeriod { session, began: row.get("began")?, ended: row.get("ended")? })
}
