//! Basic queries for sessions, readings, compactions and decisions.

use plimsoll_core::event::{AgentId, SessionId};
use plimsoll_core::trigger::Learned;
use rusqlite::{Params, Row, params};

use super::Store;
use super::column::{self, ColumnValue, get, get_optional};
use crate::{CompactionRow, Counts, DecisionRow, ReadingRow, SessionRow, StoreError};

impl Store {
    /// Returns at most `limit` sessions, the most recently active first.
    pub fn sessions(&self, limit: u32) -> Result<Vec<SessionRow>, StoreError> {
        let sql = "SELECT * FROM sessions ORDER BY last_seen DESC, session LIMIT ?1";
        self.query_all(sql, params![limit], session_from_row)
            .map_err(self.error_during("list the sessions of"))
    }

    /// Returns the readings of one window, oldest first: the session's own, or that of its
    /// `subagent`.
    pub fn readings(
        &self,
        session: &SessionId,
        subagent: Option<&SessionId>,
    ) -> Result<Vec<ReadingRow>, StoreError> {
        let sql = "SELECT * FROM readings WHERE session = ?1 AND subagent = ?2 ORDER BY time, id";
        self.query_all(
            sql,
            params![ColumnValue(session), column::subagent_column(subagent)],
            reading_from_row,
        )
        .map_err(self.error_during("list the readings of"))
    }

    /// Returns all compactions, oldest first. A compaction that a fork repeats appears once, under
    /// one of the two sessions.
    pub fn compactions(&self) -> Result<Vec<CompactionRow>, StoreError> {
        let sql = "SELECT * FROM distinct_compactions ORDER BY time, entry";
        self.query_all(sql, [], compaction_from_row)
            .map_err(self.error_during("list the compactions of"))
    }

    /// Returns the decisions for a session and its subagents, oldest first.
    pub fn decisions(&self, session: &SessionId) -> Result<Vec<DecisionRow>, StoreError> {
        let sql = "SELECT * FROM decisions WHERE session = ?1 ORDER BY time, line, id";
        self.query_all(sql, params![ColumnValue(session)], decision)
            .map_err(self.error_during("list the decisions of"))
    }

    /// Returns the token counts at which each model and client version compacted automatically.
    pub fn learned_triggers(&self) -> Result<Vec<Learned>, StoreError> {
        let mut learned: Vec<Learned> = Vec::new();
        for row in self.newest_automatic()? {
            let (Some(model), Some(version)) = (row.model, row.version) else { continue };
            let agent = row.session.agent().map(AgentId::new);
            let seen = row.tokens_before;
            match learned.last_mut() {
                Some(last)
                    if (&last.agent, &last.model, &last.version) == (&agent, &model, &version) =>
                {
                    last.seen.extend(seen);
                }
                _ => {
                    let seen = seen.into_iter().collect();
                    learned.push(Learned { agent, model, version, seen });
                }
            }
        }
        Ok(learned)
    }

    /// Returns the number of stored items.
    pub fn counts(&self) -> Result<Counts, StoreError> {
        let sql = "SELECT (SELECT count(*) FROM sessions) AS sessions,
             (SELECT count(DISTINCT message) FROM readings) AS messages,
             (SELECT count(DISTINCT entry) FROM compactions) AS compactions,
             (SELECT count(*) FROM decisions) AS decisions";
        self.connection.query_row(sql, [], counts).map_err(self.error_during("count what is in"))
    }

    pub(super) fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare_cached(sql)?.query_map(params, row)?.collect()
    }
}

pub(super) fn session_from_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: get(row, "session")?,
        agent: row.get("agent")?,
        project: get_optional(row, "project")?,
        transcript: get_optional(row, "transcript")?,
        version: row.get("version")?,
        model: row.get("model")?,
        started: row.get("started")?,
        last_seen: row.get("last_seen")?,
    })
}

pub(super) fn reading_from_row(row: &Row<'_>) -> rusqlite::Result<ReadingRow> {
    Ok(ReadingRow {
        session: get(row, "session")?,
        subagent: column::get_subagent(row)?,
        message: row.get("message")?,
        time: row.get("time")?,
        model: row.get("model")?,
        prompt_tokens: get(row, "prompt_tokens")?,
        output_tokens: get(row, "output_tokens")?,
        turn: row.get("turn")?,
    })
}

pub(super) fn compaction_from_row(row: &Row<'_>) -> rusqlite::Result<CompactionRow> {
    Ok(CompactionRow {
        session: get(row, "session")?,
        subagent: column::get_subagent(row)?,
        entry: row.get("entry")?,
        time: row.get("time")?,
        model: row.get("model")?,
        version: row.get("version")?,
        automatic: row.get("automatic")?,
        tokens_before: get_optional(row, "tokens_before")?,
        tokens_after: get_optional(row, "tokens_after")?,
    })
}

fn decision(row: &Row<'_>) -> rusqlite::Result<DecisionRow> {
    Ok(DecisionRow {
        offset: get(row, "line")?,
        session: get(row, "session")?,
        subagent: column::get_subagent(row)?,
        time: row.get("time")?,
        label: row.get("what")?,
        used: get(row, "used")?,
        window: get(row, "window")?,
    })
}

fn counts(row: &Row<'_>) -> rusqlite::Result<Counts> {
    Ok(Counts {
        sessions: get(row, "sessions")?,
        messages: get(row, "messages")?,
        compactions: get(row, "compactions")?,
        decisions: get(row, "decisions")?,
    })
}
