//! Storing and listing of runs, and of the past tasks that estimates learn from.

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_core::event::SessionId;
use plimsoll_core::plan::{Case, Kind};
use plimsoll_core::run::{LegBegun, Line, Run, RunId};
use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Store;
use super::column::{ColumnValue, get};
use crate::{PastTask, RunCounts, RunRow, StoreError};

impl Store {
    /// Returns runs of one project or of all, newest first: at most `limit` after the first `skip`.
    pub fn runs(
        &self,
        project: Option<&Path>,
        skip: u32,
        limit: u32,
    ) -> Result<Vec<Run>, StoreError> {
        let sql = "SELECT run, lines FROM runs WHERE ?1 IS NULL OR project = ?1
             ORDER BY since DESC, run DESC LIMIT ?3 OFFSET ?2";
        let found = self.query_all(sql, params![project.map(ColumnValue), skip, limit], run);
        Ok(found.map_err(self.error_during("list the runs of"))?.into_iter().flatten().collect())
    }

    /// Returns the runs whose journals have no end, newest first.
    pub fn open_runs(&self) -> Result<Vec<Run>, StoreError> {
        let sql = "SELECT run, lines FROM runs WHERE NOT has_ended ORDER BY since DESC, run DESC";
        let found = self.query_all(sql, [], run).map_err(self.error_during("list the runs of"))?;
        Ok(found.into_iter().flatten().collect())
    }

    pub fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        let sql = "SELECT run, lines FROM runs WHERE run = ?1";
        let found = self.connection.prepare_cached(sql);
        let found = found.and_then(|mut sql| sql.query_row([id.as_str()], run).optional());
        Ok(found.map_err(self.error_during("read from"))?.flatten())
    }

    /// Deletes a run whose journal is gone. Its pieces stay, because estimates learn from them.
    pub fn forget_run(&self, id: &RunId) -> Result<(), StoreError> {
        let sql = "DELETE FROM runs WHERE run = ?1";
        let gone = self.connection.execute(sql, [id.as_str()]);
        gone.map(drop).map_err(self.error_during("forget a run in"))
    }

    pub fn run_ids(&self) -> Result<Vec<RunId>, StoreError> {
        self.query_all("SELECT run FROM runs", [], id)
            .map_err(self.error_during("list the runs of"))
    }

    /// Returns the run that a session belongs to.
    pub fn run_of(&self, session: &SessionId) -> Result<Option<RunId>, StoreError> {
        let sql = "SELECT run FROM run_legs WHERE session = ?1 LIMIT 1";
        let found = self.connection.prepare_cached(sql);
        found
            .and_then(|mut sql| sql.query_row(params![ColumnValue(session)], id).optional())
            .map_err(self.error_during("read from"))
    }

    /// Returns the run of each session that belongs to one, by session id.
    pub fn run_sessions(&self) -> Result<BTreeMap<String, RunId>, StoreError> {
        let sql = "SELECT run, session FROM run_legs WHERE session IS NOT NULL";
        let pairs = self.query_all(sql, [], |row| Ok((row.get("session")?, id(row)?)));
        Ok(pairs.map_err(self.error_during("list the runs of"))?.into_iter().collect())
    }

    /// Returns totals over all runs.
    pub fn run_counts(&self) -> Result<RunCounts, StoreError> {
        let sql = "SELECT (SELECT count(*) FROM runs) AS runs,
             (SELECT count(*) FROM run_legs) AS legs,
             (SELECT count(*) FROM run_legs AS later JOIN run_legs AS earlier
                  ON earlier.run = later.run AND earlier.job = later.job
                  AND earlier.leg = later.leg - 1 AND earlier.attempt = later.attempt) AS restarts";
        let counts = |row: &Row<'_>| {
            Ok(RunCounts {
                runs: get(row, "runs")?,
                sessions: get(row, "legs")?,
                restarts: get(row, "restarts")?,
            })
        };
        self.connection.query_row(sql, [], counts).map_err(self.error_during("count what is in"))
    }

    /// Returns the predicted and measured size of each finished piece of past runs.
    pub fn piece_cases(&self) -> Result<Vec<Case>, StoreError> {
        let sql = "SELECT done, kind, predicted, measured FROM run_pieces";
        self.query_all(sql, [], case).map_err(self.error_during("list the runs of"))
    }

    /// Returns the past tasks of sessions that belong to no run and have been inactive since
    /// `before`.
    pub fn past_tasks(&self, before: i64) -> Result<Vec<PastTask>, StoreError> {
        let sql = "SELECT * FROM past_tasks WHERE last_word < ?1 AND session NOT IN
             (SELECT session FROM run_legs WHERE session IS NOT NULL)";
        self.query_all(sql, params![before], past_task)
            .map_err(self.error_during("list the sessions of"))
    }
}

/// Replaces the stored rows of a run.
pub(super) fn replace(
    connection: &Connection,
    machine: &str,
    row: &RunRow,
) -> rusqlite::Result<usize> {
    let RunRow { run, lines } = row;
    connection.prepare_cached("DELETE FROM runs WHERE run = ?1")?.execute([run.id.as_str()])?;
    let sql = "INSERT INTO runs (run, machine, project, since, until, has_ended, lines)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let lines = serde_json::to_string(lines)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    connection.prepare_cached(sql)?.execute(params![
        run.id.as_str(),
        machine,
        ColumnValue(Path::new(&run.begun.project)),
        run.since,
        run.until,
        run.outcome.is_some(),
        lines,
    ])?;
    put_legs(connection, run)?;
    put_pieces(connection, run)?;
    Ok(1)
}

fn put_legs(connection: &Connection, run: &Run) -> rusqlite::Result<()> {
    let sql = "INSERT INTO run_legs (run, job, leg, attempt, session) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING";
    let mut insert = connection.prepare_cached(sql)?;
    for leg in run.legs() {
        let LegBegun { job, leg, attempt, session, .. } = &leg.begun;
        let session = session.as_ref().map(ColumnValue);
        insert.execute(params![run.id.as_str(), job, leg, attempt, session])?;
    }
    Ok(())
}

fn put_pieces(connection: &Connection, run: &Run) -> rusqlite::Result<()> {
    let sql = "INSERT INTO run_pieces (run, place, done, kind, predicted, measured)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let known = "DELETE FROM run_pieces WHERE run = ?1";
    connection.prepare_cached(known)?.execute([run.id.as_str()])?;
    let mut insert = connection.prepare_cached(sql)?;
    for (place, case) in run.cases().enumerate() {
        let Case { at, kind, predicted, measured } = case;
        let figures = (ColumnValue(predicted), ColumnValue(measured));
        let id = run.id.as_str();
        insert.execute(params![id, place as u32, at, kind.word(), figures.0, figures.1])?;
    }
    Ok(())
}

/// Inserts a past task, or updates its size and last activity.
pub(super) fn upsert_past_task(
    connection: &Connection,
    task: &PastTask,
) -> rusqlite::Result<usize> {
    let sql = "INSERT INTO past_tasks (session, last_word, kind, predicted, grown)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (session) DO UPDATE SET last_word = excluded.last_word, grown = excluded.grown
         WHERE excluded.last_word >= last_word";
    connection.prepare_cached(sql)?.execute(params![
        ColumnValue(&task.session),
        task.last_active,
        task.kind.word(),
        ColumnValue(task.predicted),
        ColumnValue(task.growth),
    ])
}

/// Reads a run. `None` if its journal does not start with the beginning of a run.
fn run(row: &Row<'_>) -> rusqlite::Result<Option<Run>> {
    let lines: String = row.get("lines")?;
    let lines = serde_json::from_str::<Vec<Line>>(&lines)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(1, Type::Text, error.into()))?;
    Ok(Run::fold(id(row)?, lines))
}

fn id(row: &Row<'_>) -> rusqlite::Result<RunId> {
    RunId::new(row.get_ref("run")?.as_str()?).ok_or_else(|| FromSqlError::InvalidType.into())
}

fn case(row: &Row<'_>) -> rusqlite::Result<Case> {
    Ok(Case {
        at: row.get("done")?,
        kind: kind(row)?,
        predicted: get(row, "predicted")?,
        measured: get(row, "measured")?,
    })
}

fn past_task(row: &Row<'_>) -> rusqlite::Result<PastTask> {
    Ok(PastTask {
        session: get(row, "session")?,
        last_active: row.get("last_word")?,
        kind: kind(row)?,
        predicted: get(row, "predicted")?,
        growth: get(row, "grown")?,
    })
}

/// Reads a task kind. An unknown word becomes the default kind.
fn kind(row: &Row<'_>) -> rusqlite::Result<Kind> {
    let word = row.get_ref("kind")?.as_str()?.to_owned();
    Ok(Kind::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or_default())
}
