//! The local store, in a SQLite file.
//!
//! This module opens and migrates the file. `ingest`, `checkpoints`, `saves` and `runs` store rows.
//! `queries` reads single sessions, `history` all sessions together, `overview` a page of sessions,
//! `series` one session over time and `criteria` the figures that show whether plimsoll helps.
//! `search` finds checkpoints and saves. `client_settings` stores the settings of agents' clients. `outbox`
//! queues rows for a team's database.

mod checkpoints;
mod client_settings;
mod column;
mod criteria;
mod history;
mod ingest;
mod outbox;
mod overview;
mod queries;
mod runs;
mod saves;
mod search;
mod series;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use rusqlite_migration::{Error as MigrationError, M, Migrations};
use uuid::Uuid;

use crate::StoreError;

/// All migrations, in order. Only append to this list.
///
/// Each must fail when it is applied a second time, see [`migrate`].
const MIGRATIONS: &[M<'static>] = &[
    M::up(include_str!("../migrations/sqlite/0001_init.sql")),
    M::up(include_str!("../migrations/sqlite/0002_hook_runs.sql")),
    M::up(include_str!("../migrations/sqlite/0003_checkpoints.sql")),
    M::up(include_str!("../migrations/sqlite/0004_saves.sql")),
    M::up(include_str!("../migrations/sqlite/0005_series.sql")),
    M::up(include_str!("../migrations/sqlite/0006_seals.sql")),
    M::up(include_str!("../migrations/sqlite/0007_outbox.sql")),
    M::up(include_str!("../migrations/sqlite/0008_runs.sql")),
    M::up(include_str!("../migrations/sqlite/0009_attempts.sql")),
    M::up(include_str!("../migrations/sqlite/0010_restorable_saves.sql")),
    M::up(include_str!("../migrations/sqlite/0011_agents.sql")),
];

/// The local store of this machine.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    machine_id: String,
}

impl Store {
    /// Opens the store in the file at `path`, which must exist and may be empty.
    ///
    /// Opening and all later writes wait for other writers for at most `patience`.
    pub fn open(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        // SQLite must not create the file: a new file would get its mode from the umask.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|error| StoreError::new("open", path, error))?;
        Self::with_connection(connection, path, patience)
    }

    /// Opens a store in memory.
    #[cfg(feature = "test-switches")]
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = Path::new(":memory:");
        let connection =
            Connection::open_in_memory().map_err(|error| StoreError::new("open", path, error))?;
        Self::with_connection(connection, path, Duration::ZERO)
    }

    /// Returns the id under which this machine sends rows to a team.
    pub fn machine_id(&self) -> &str {
        &self.machine_id
    }

    /// Replaces the machine's id, so that a rebuilt store keeps the id of the old one.
    pub fn set_machine_id(&mut self, name: &str) -> Result<(), StoreError> {
        let sql = "UPDATE meta SET value = ?1 WHERE name = 'machine'";
        self.connection.execute(sql, params![name]).map_err(self.error_during("name"))?;
        self.machine_id = name.to_owned();
        Ok(())
    }

    /// Returns whether the file is undamaged. Reads the whole file.
    pub fn is_intact(&self) -> bool {
        let check = "PRAGMA quick_check(1)";
        let verdict = self.connection.query_row(check, [], |row| row.get::<_, String>(0));
        // A file that is busy or unreachable is not damaged.
        match verdict {
            Ok(verdict) => verdict == "ok",
            Err(error) => !matches!(self.error_during("check")(error), StoreError::Corrupt { .. }),
        }
    }

    fn with_connection(
        mut connection: Connection,
        path: &Path,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let machine = set_up(&mut connection, patience)
            .map_err(|error| StoreError::from_migration(path, error))?;
        Ok(Self { connection, path: path.to_owned(), machine_id: machine })
    }

    /// Returns a function that converts a database error during `task`.
    fn error_during(&self, task: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
        let path = self.path.clone();
        move |error| StoreError::new(task, &path, error)
    }
}

/// Returns the machine's id in the store at `path`. `None` if it cannot be read.
pub fn read_machine_id(path: &Path) -> Option<String> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
    stored_machine_id(&connection).ok()?.filter(|name| Uuid::parse_str(name).is_ok())
}

/// Configures the connection, migrates the tables and returns the machine's id.
fn set_up(connection: &mut Connection, patience: Duration) -> Result<String, MigrationError> {
    connection.busy_timeout(patience)?;
    switch_to_wal(connection, patience)?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    migrate(connection)?;
    Ok(ensure_machine_id(connection)?)
}

/// Switches a new store to write-ahead logging. Existing stores already use it.
///
/// If several processes open a new store at once, SQLite rejects all but one immediately, so this
/// retries until `patience` ends.
fn switch_to_wal(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let started = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && started.elapsed() < patience =>
            {
                thread::sleep(Duration::from_millis(1));
            }
            done => return done,
        }
    }
}

/// Brings the tables up to date.
///
/// The version is read before the lock is taken, so another process may migrate in between. Our
/// migration then fails as a whole, and there is nothing left to do.
fn migrate(connection: &mut Connection) -> Result<(), MigrationError> {
    let migrations = Migrations::from_slice(MIGRATIONS);
    match migrations.to_latest(connection) {
        Err(_) if migrations.pending_migrations(connection)? == 0 => Ok(()),
        done => done,
    }
}

/// Returns the machine's id. The first process to open the store creates it.
fn ensure_machine_id(connection: &Connection) -> rusqlite::Result<String> {
    if let Some(name) = stored_machine_id(connection)? {
        return Ok(name);
    }
    connection.execute(
        "INSERT INTO meta (name, value) VALUES ('machine', ?1) ON CONFLICT DO NOTHING",
        params![Uuid::now_v7().to_string()],
    )?;
    stored_machine_id(connection)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

fn stored_machine_id(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT value FROM meta WHERE name = 'machine'";
    connection.query_row(sql, [], |row| row.get(0)).optional()
}
