//! Queries over all past sessions.

use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::event::{AgentId, SessionId};
use plimsoll_core::forecast::Sample;
use plimsoll_core::hook_run::{Command, Outcome};
use plimsoll_core::trigger::LEARN_FROM;
use rusqlite::types::FromSqlError;
use rusqlite::{Row, params};

use super::Store;
use super::column::{ColumnValue, get, get_optional};
use super::queries::compaction_from_row;
use crate::{
    ClientRow, CompactionRow, FirstPromptRow, GrowthSamples, HistoryExtent, HookCount, HookSpan,
    PeakRow, StoreError,
};

impl Store {
    /// Returns the growth of a session since its last compaction, from its newest `most` readings.
    pub fn growth_samples(
        &self,
        session: &SessionId,
        most: u32,
    ) -> Result<GrowthSamples, StoreError> {
        let failed = self.error_during("read from");
        let (compactions, since): (u64, Option<Millis>) = self
            .connection
            .prepare_cached(COMPACTION_COUNT)
            .and_then(|mut sql| {
                sql.query_row(params![ColumnValue(session)], |row| {
                    Ok((get(row, "compactions")?, row.get(1)?))
                })
            })
            .map_err(&failed)?;
        let since = since.unwrap_or(Millis::MIN);
        let mut samples = self
            .query_all(NEWEST_READINGS, params![ColumnValue(session), since, most], sample)
            .map_err(&failed)?;
        samples.reverse();
        Ok(GrowthSamples { compactions, samples })
    }

    /// Returns the newest automatic compactions of each model and client version, oldest first: at
    /// most [`LEARN_FROM`] of each.
    pub fn newest_automatic(&self) -> Result<Vec<CompactionRow>, StoreError> {
        self.query_all(NEWEST_AUTOMATIC, params![LEARN_FROM as u32], compaction_from_row)
            .map_err(self.error_during("learn from"))
    }

    /// Returns the models and client versions of all sessions, the most recently used first.
    pub fn clients(&self) -> Result<Vec<ClientRow>, StoreError> {
        let sql = "SELECT agent, model, version, count(*) AS sessions, max(last_seen) AS last_seen
             FROM sessions WHERE model IS NOT NULL AND version IS NOT NULL
             GROUP BY agent, model, version ORDER BY last_seen DESC, model, version";
        self.query_all(sql, [], client).map_err(self.error_during("list the sessions of"))
    }

    /// Counts the hook runs since a time by command, event, duration and outcome. The fastest runs
    /// of each command come first.
    pub fn hook_counts(&self, since: Millis) -> Result<Vec<HookCount>, StoreError> {
        let sql = "SELECT command_id, command, event, millis, outcome, count(*) AS runs
             FROM distinct_hook_runs WHERE time >= ?1
             GROUP BY command_id, event, millis, outcome ORDER BY command, command_id, millis";
        self.query_all(sql, params![since], hook_count)
            .map_err(self.error_during("count the hook runs of"))
    }

    /// Returns, for each hook command, the total duration since a time of the sessions in which it
    /// ran.
    pub fn hook_spans(&self, since: Millis) -> Result<Vec<HookSpan>, StoreError> {
        let sql =
            "SELECT command_id, count(*) AS sessions, sum(last_seen - max(started, ?1)) AS millis
             FROM (SELECT DISTINCT command_id, session FROM distinct_hook_runs WHERE time >= ?1)
             JOIN sessions USING (session) GROUP BY command_id";
        self.query_all(sql, params![since], hook_span)
            .map_err(self.error_during("count the hook runs of"))
    }

    /// Returns the peak of each session's own window.
    pub fn peaks(&self) -> Result<Vec<PeakRow>, StoreError> {
        self.query_all(PEAKS, [], peak_from_row).map_err(self.error_during("list the readings of"))
    }

    /// Returns the first and largest prompts of a project's sessions, the most recently active
    /// first, at most `limit`. Skips sessions without a response.
    pub fn first_prompts(
        &self,
        project: &Path,
        limit: u32,
    ) -> Result<Vec<FirstPromptRow>, StoreError> {
        self.query_all(FIRST_PROMPTS, params![ColumnValue(project), limit], beginning)
            .map_err(self.error_during("list the sessions of"))
    }

    /// Returns the number of sessions and projects, and the start of the first session. Skips
    /// sessions without a response.
    pub fn history_extent(&self) -> Result<HistoryExtent, StoreError> {
        let sql = "SELECT count(*) AS sessions, count(DISTINCT project) AS projects,
             min(started) AS since FROM sessions
             WHERE EXISTS (SELECT 1 FROM readings AS own WHERE own.session = sessions.session)";
        self.connection.query_row(sql, [], extent).map_err(self.error_during("count what is in"))
    }
}

const COMPACTION_COUNT: &str = "SELECT count(*) AS compactions, max(time) FROM compactions
     WHERE session = ?1 AND subagent = ''";

pub(super) const NEWEST_READINGS: &str = "SELECT time, prompt_tokens, turn FROM readings
     WHERE session = ?1 AND subagent = '' AND time > ?2 ORDER BY time DESC LIMIT ?3";

const NEWEST_AUTOMATIC: &str = "SELECT * FROM (
         SELECT *,
             row_number() OVER (PARTITION BY agent, model, version ORDER BY time DESC, entry DESC)
                 AS age
         FROM distinct_compactions
         WHERE automatic AND model IS NOT NULL AND version IS NOT NULL
             AND tokens_before IS NOT NULL
     ) WHERE age <= ?1 ORDER BY agent, model, version, age DESC";

/// The decisions that say something to the user or the agent count as warnings. Most other
/// decisions are silent and only recorded.
const PEAKS: &str = "SELECT session, model, version, tokens,
         (SELECT count(*) FROM compactions AS own
             WHERE own.session = sessions.session AND own.subagent = '' AND automatic)
             AS automatic_compactions,
         EXISTS (SELECT 1 FROM decisions AS own WHERE own.session = sessions.session
             AND what IN ('warned', 'suggested', 'saved', 'guarded', 'refused')) AS warned
     FROM (SELECT session, max(prompt_tokens) AS tokens FROM readings
         WHERE subagent = '' GROUP BY session)
     JOIN sessions USING (session)";

const FIRST_PROMPTS: &str = "SELECT model, version,
         (SELECT prompt_tokens FROM readings AS own
             WHERE own.session = sessions.session AND subagent = ''
             ORDER BY time LIMIT 1) AS first,
         (SELECT max(prompt_tokens) FROM readings AS own
             WHERE own.session = sessions.session AND subagent = '') AS largest
     FROM sessions WHERE project = ?1 AND model IS NOT NULL AND first IS NOT NULL
     ORDER BY last_seen DESC, session LIMIT ?2";

fn beginning(row: &Row<'_>) -> rusqlite::Result<FirstPromptRow> {
    Ok(FirstPromptRow {
        model: row.get("model")?,
        version: row.get("version")?,
        first: get(row, "first")?,
        largest: get(row, "largest")?,
    })
}

fn sample(row: &Row<'_>) -> rusqlite::Result<Sample> {
    let tokens = get(row, "prompt_tokens")?;
    Ok(Sample { time: row.get("time")?, tokens, turn: row.get("turn")? })
}

fn client(row: &Row<'_>) -> rusqlite::Result<ClientRow> {
    Ok(ClientRow {
        agent: AgentId::new(row.get_ref("agent")?.as_str()?),
        model: row.get("model")?,
        version: row.get("version")?,
        sessions: get(row, "sessions")?,
        last_seen: row.get("last_seen")?,
    })
}

fn hook_count(row: &Row<'_>) -> rusqlite::Result<HookCount> {
    let label: String = row.get("outcome")?;
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.label() == label);
    let id = row.get::<_, i64>("command_id")?.cast_unsigned();
    Ok(HookCount {
        command: Command { id, shown: row.get("command")? },
        event: row.get("event")?,
        millis: get_optional(row, "millis")?,
        outcome: outcome.ok_or(FromSqlError::InvalidType)?,
        runs: get(row, "runs")?,
    })
}

fn hook_span(row: &Row<'_>) -> rusqlite::Result<HookSpan> {
    let millis: i64 = row.get("millis")?;
    Ok(HookSpan {
        command: row.get::<_, i64>("command_id")?.cast_unsigned(),
        sessions: get(row, "sessions")?,
        millis: millis.max(0).cast_unsigned(),
    })
}

pub(super) fn peak_from_row(row: &Row<'_>) -> rusqlite::Result<PeakRow> {
    Ok(PeakRow {
        session: get(row, "session")?,
        model: row.get("model")?,
        version: row.get("version")?,
        tokens: get(row, "tokens")?,
        automatic_compactions: get(row, "automatic_compactions")?,
        warned: row.get("warned")?,
    })
}

fn extent(row: &Row<'_>) -> rusqlite::Result<HistoryExtent> {
    Ok(HistoryExtent {
        sessions: get(row, "sessions")?,
        projects: get(row, "projects")?,
        since: row.get("since")?,
    })
}
