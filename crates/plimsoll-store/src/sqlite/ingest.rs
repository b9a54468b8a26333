//! Storing of rows, each exactly once, however many processes read the same file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::Store;
use super::column::{self, ColumnValue, get};
use super::{runs, saves};
use crate::{
    Batch, Bookmark, CompactionRow, DecisionRow, HookRunRow, IngestResult, ReadingRow, SessionRow,
    SourceFile, StoreError,
};

impl Store {
    /// Reads the next part of `source` with `read` and stores its rows exactly once.
    ///
    /// `read` receives the position to continue from, which is the start for a new file. Other
    /// writers wait until its rows are stored, so `read` should not read a large file in one go. If
    /// `read` fails, nothing is stored.
    pub fn ingest<E: From<StoreError>>(
        &mut self,
        source: &SourceFile,
        read: impl FnOnce(Bookmark) -> Result<Batch, E>,
    ) -> Result<IngestResult, E> {
        let failed = self.error_during("ingest into");
        let machine = self.machine_id.as_str();
        // Inside a transaction begun by `begin`, this is a savepoint.
        if self.connection.is_autocommit() {
            let transaction = self.connection.transaction().map_err(&failed)?;
            let ingested = ingest(&transaction, machine, source, read, &failed)?;
            transaction.commit().map_err(&failed)?;
            return Ok(ingested);
        }
        let part = self.connection.savepoint().map_err(&failed)?;
        let ingested = ingest(&part, machine, source, read, &failed)?;
        part.commit().map_err(&failed)?;
        Ok(ingested)
    }

    /// Begins a transaction for ingesting several sources.
    pub fn begin(&self) -> Result<(), StoreError> {
        self.execute("BEGIN IMMEDIATE")
    }

    /// Commits the transaction begun by [`Self::begin`].
    pub fn commit(&self) -> Result<(), StoreError> {
        self.execute("COMMIT")
    }

    /// Rolls back the transaction begun by [`Self::begin`].
    pub fn roll_back(&self) -> Result<(), StoreError> {
        self.execute("ROLLBACK")
    }

    fn execute(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(self.error_during("ingest into"))
    }

    /// Returns the byte offset up to which `source` has been read. 0 for a new file.
    pub fn read_offset(&self, source: &SourceFile) -> Result<u64, StoreError> {
        let here =
            load_bookmark(&self.connection, source).map_err(self.error_during("read from"))?;
        Ok(here.offset)
    }

    /// Returns the inode and the offset read so far of every file, by path.
    pub fn bookmarks(&self) -> Result<HashMap<PathBuf, (u64, u64)>, StoreError> {
        let failed = self.error_during("read from");
        let sql = "SELECT path, inode, read_to FROM sources";
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let rows = statement.query_map([], |row| {
            Ok((
                get(row, "path")?,
                (row.get::<_, i64>("inode")?.cast_unsigned(), get(row, "read_to")?),
            ))
        });
        rows.and_then(Iterator::collect).map_err(&failed)
    }

    /// Forgets how far the file at `path` has been read. Its rows stay.
    ///
    /// Used for a deleted file, because a new file of the same name may get the same inode, and for
    /// a file that must be read again.
    pub fn forget_file(&self, path: &Path) -> Result<(), StoreError> {
        self.connection
            .execute("DELETE FROM sources WHERE path = ?1", params![ColumnValue(path)])
            .map_err(self.error_during("forget a file in"))?;
        Ok(())
    }
}

/// Reads the next part of `source`, and stores its rows and the new position.
fn ingest<E: From<StoreError>>(
    connection: &Connection,
    machine: &str,
    source: &SourceFile,
    read: impl FnOnce(Bookmark) -> Result<Batch, E>,
    failed: &dyn Fn(rusqlite::Error) -> StoreError,
) -> Result<IngestResult, E> {
    let here = load_bookmark(connection, source).map_err(failed)?;
    let batch = read(here.clone())?;
    let writer = Writer { connection, machine, source };
    let rows = writer.write_rows(&batch).map_err(failed)?;
    if batch.next != here {
        writer.write_bookmark(&batch.next).map_err(failed)?;
    }
    Ok(IngestResult { end_offset: batch.next.offset, rows })
}

fn load_bookmark(connection: &Connection, source: &SourceFile) -> rusqlite::Result<Bookmark> {
    let found = connection
        .prepare_cached("SELECT read_to, note FROM sources WHERE path = ?1 AND inode = ?2")?
        .query_row(params![ColumnValue(source.path.as_path()), source.inode.cast_signed()], |row| {
            Ok(Bookmark { offset: get(row, "read_to")?, reader_state: row.get("note")? })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

struct Writer<'a> {
    connection: &'a Connection,
    machine: &'a str,
    source: &'a SourceFile,
}

impl Writer<'_> {
    fn write_rows(&self, batch: &Batch) -> rusqlite::Result<usize> {
        batch.sessions.iter().try_for_each(|row| self.write_session(row))?;
        let mut rows = 0;
        for row in &batch.readings {
            rows += self.write_reading(row)?;
        }
        for row in &batch.compactions {
            rows += self.write_compaction(row)?;
        }
        for row in &batch.hook_runs {
            rows += self.write_hook_run(row)?;
        }
        for row in &batch.decisions {
            rows += self.write_decision(row)?;
        }
        for save in &batch.saves {
            rows += saves::insert(self.connection, self.machine, save)?;
        }
        saves::store_spellings(self.connection, &batch.saves)?;
        for row in &batch.runs {
            rows += runs::replace(self.connection, self.machine, row)?;
        }
        for task in &batch.past_tasks {
            rows += runs::upsert_past_task(self.connection, task)?;
        }
        Ok(rows)
    }

    fn write_bookmark(&self, next: &Bookmark) -> rusqlite::Result<()> {
        let sql = "INSERT INTO sources (path, inode, read_to, note) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (path) DO UPDATE
             SET inode = excluded.inode, read_to = excluded.read_to, note = excluded.note";
        self.connection.prepare_cached(sql)?.execute(params![
            ColumnValue(self.source.path.as_path()),
            self.source.inode.cast_signed(),
            ColumnValue(next.offset),
            next.reader_state,
        ])?;
        Ok(())
    }

    fn write_session(&self, row: &SessionRow) -> rusqlite::Result<()> {
        self.connection.prepare_cached(UPSERT_SESSION)?.execute(params![
            new_id(),
            self.machine,
            ColumnValue(&row.id),
            row.agent,
            row.project.as_deref().map(ColumnValue),
            row.transcript.as_deref().map(ColumnValue),
            row.version,
            row.model,
            row.started,
            row.last_seen,
        ])?;
        Ok(())
    }

    fn write_reading(&self, row: &ReadingRow) -> rusqlite::Result<usize> {
        let sql = "INSERT INTO readings (id, machine, session, subagent, message, time, model,
                 prompt_tokens, output_tokens, turn)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (session, subagent, message) DO UPDATE
             SET output_tokens = excluded.output_tokens
             WHERE excluded.output_tokens > readings.output_tokens";
        self.connection.prepare_cached(sql)?.execute(params![
            new_id(),
            self.machine,
            ColumnValue(&row.session),
            column::subagent_column(row.subagent.as_ref()),
            row.message,
            row.time,
            row.model,
            ColumnValue(row.prompt_tokens),
            ColumnValue(row.output_tokens),
            row.turn,
        ])
    }

    fn write_compaction(&self, row: &CompactionRow) -> rusqlite::Result<usize> {
        let sql = "INSERT INTO compactions (id, machine, session, subagent, entry, time, model,
                 version, automatic, tokens_before, tokens_after)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (session, subagent, entry) DO NOTHING";
        self.connection.prepare_cached(sql)?.execute(params![
            new_id(),
            self.machine,
            ColumnValue(&row.session),
            column::subagent_column(row.subagent.as_ref()),
            row.entry,
            row.time,
            row.model,
            row.version,
            row.automatic,
            row.tokens_before.map(ColumnValue),
            row.tokens_after.map(ColumnValue),
        ])
    }

    /// Inserts a hook run or completes a known one: one record may contain the duration and another
    /// the outcome.
    fn write_hook_run(&self, row: &HookRunRow) -> rusqlite::Result<usize> {
        let sql = "INSERT INTO hook_runs (id, machine, session, subagent, \"call\", event,
                 command_id, command, time, millis, outcome)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (session, subagent, \"call\", event, command_id) DO UPDATE
             SET millis = coalesce(millis, excluded.millis),
                 outcome = CASE outcome WHEN 'done' THEN excluded.outcome ELSE outcome END
             WHERE millis IS NULL AND excluded.millis IS NOT NULL
                 OR outcome = 'done' AND excluded.outcome <> 'done'";
        self.connection.prepare_cached(sql)?.execute(params![
            new_id(),
            self.machine,
            ColumnValue(&row.session),
            column::subagent_column(row.subagent.as_ref()),
            row.run.call.to_string(),
            row.run.event,
            row.run.command.id.cast_signed(),
            row.run.command.shown,
            row.time,
            row.run.millis.map(ColumnValue),
            row.run.outcome.label(),
        ])
    }

    fn write_decision(&self, row: &DecisionRow) -> rusqlite::Result<usize> {
        let sql =
            "INSERT INTO decisions (id, machine, source, inode, line, time, session, subagent,
                 what, used, \"window\")
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (source, inode, line, time) DO NOTHING";
        self.connection.prepare_cached(sql)?.execute(params![
            new_id(),
            self.machine,
            ColumnValue(self.source.path.as_path()),
            self.source.inode.cast_signed(),
            ColumnValue(row.offset),
            row.time,
            ColumnValue(&row.session),
            column::subagent_column(row.subagent.as_ref()),
            row.label,
            ColumnValue(row.used),
            ColumnValue(row.window),
        ])
    }
}

/// Merges a session with a known row. The right side of each assignment refers to the old row.
const UPSERT_SESSION: &str =
    "INSERT INTO sessions (id, machine, session, agent, project, transcript, version, model,
         started, last_seen)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
     ON CONFLICT (session) DO UPDATE SET
         project = coalesce(project, excluded.project),
         transcript = CASE WHEN excluded.last_seen >= last_seen
             THEN coalesce(excluded.transcript, transcript)
             ELSE coalesce(transcript, excluded.transcript) END,
         version = CASE WHEN excluded.last_seen >= last_seen
             THEN coalesce(excluded.version, version)
             ELSE coalesce(version, excluded.version) END,
         model = CASE WHEN excluded.last_seen >= last_seen
             THEN coalesce(excluded.model, model)
             ELSE coalesce(model, excluded.model) END,
         started = min(started, excluded.started),
         last_seen = max(last_seen, excluded.last_seen)";

pub(super) fn new_id() -> [u8; 16] {
    Uuid::now_v7().into_bytes()
}
