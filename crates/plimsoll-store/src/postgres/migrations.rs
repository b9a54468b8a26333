//! Creation and migration of the tables.
//!
//! Migrations only add to the schema, so that older versions of plimsoll keep working. A migration
//! that must change existing tables states the version it needs (`min_version`), and older versions then
//! refuse to work with the database.

#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use plimsoll_core::Millis;
use tokio_postgres::Transaction;
use uuid::Uuid;

use super::{DatabaseInfo, TeamError, TeamStore};

/// A change of the schema.
struct Migration {
    sql: &'static str,
    /// The lowest schema version that can work with the tables after this migration.
    min_version: i32,
}

/// All migrations, in order. Only append to this list.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("../../migrations/postgres/0001_init.sql"), min_version: 1 },
    Migration { sql: include_str!("../../migrations/postgres/0002_board.sql"), min_version: 1 },
];

const LATEST: i32 = MIGRATIONS.len() as i32;

/// The key of the advisory lock that a migration takes. Any number that no other program uses.
const LOCK: i64 = 0x706c_696d_736f_6c6c;

/// The schema versions before and after a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigrationResult {
    /// The version before. 0 if there were no tables.
    pub from: i32,
    pub to: i32,
}

impl TeamStore {
    /// Creates the tables or updates them, and sets the retention if `retention_days` is given.
    /// Fails without a change if the tables need a newer version of plimsoll.
    pub async fn migrate(
        &mut self,
        retention_days: Option<NonZeroU32>,
        now: Millis,
    ) -> Result<MigrationResult, TeamError> {
        let failed = |error| TeamError::from_query("make the tables of", error);
        let transaction = self.client.transaction().await.map_err(failed)?;
        let migrated = migrate(&transaction, MIGRATIONS, now).await.map_err(failed)?;
        let sql = "SELECT coalesce(max(needs), 0) FROM plimsoll.migrations";
        let needs: i32 = transaction.query_one(sql, &[]).await.map_err(failed)?.get(0);
        if needs > LATEST {
            return Err(TeamError::Newer);
        }
        if let Some(days) = retention_days {
            let sql = "INSERT INTO plimsoll.meta (name, value) VALUES ('retention_days', $1)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            transaction.execute(sql, &[&days.to_string()]).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        Ok(migrated)
    }

    /// Returns the metadata of the database. Fails if this version cannot work with its tables.
    pub async fn database_info(&self) -> Result<DatabaseInfo, TeamError> {
        let sql = "SELECT max(version) AS version, max(needs) AS needs,
                 (SELECT value FROM plimsoll.meta WHERE name = 'database') AS id,
                 (SELECT value FROM plimsoll.meta WHERE name = 'retention_days') AS retention_days
             FROM plimsoll.migrations";
        let row = self.query_one("look at", sql, &[]).await?.ok_or(TeamError::NoTables)?;
        let version: i32 = row.get::<_, Option<i32>>("version").ok_or(TeamError::NoTables)?;
        let needs: i32 = row.get::<_, Option<i32>>("needs").unwrap_or(0);
        if needs > LATEST {
            return Err(TeamError::Newer);
        }
        if version < LATEST {
            return Err(TeamError::Older);
        }
        let id = row.get::<_, Option<String>>("id").ok_or(TeamError::NoTables)?;
        let retention_days = row.get::<_, Option<String>>("retention_days");
        let retention_days = retention_days.and_then(|days| days.parse().ok());
        Ok(DatabaseInfo { id, version, retention_days })
    }
}

async fn migrate(
    transaction: &Transaction<'_>,
    migrations: &[Migration],
    now: Millis,
) -> Result<MigrationResult, tokio_postgres::Error> {
    // The lock ends with the transaction. A second process then finds the tables up to date.
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let sql = "SELECT to_regclass('plimsoll.migrations') IS NOT NULL";
    let has_any: bool = transaction.query_one(sql, &[]).await?.get(0);
    if !has_any {
        transaction.batch_execute(CREATE_MIGRATIONS_TABLE).await?;
    }
    let sql = "SELECT coalesce(max(version), 0) FROM plimsoll.migrations";
    let from: i32 = transaction.query_one(sql, &[]).await?.get(0);
    for (version, migration) in (1_i32..).zip(migrations).filter(|(version, _)| *version > from) {
        transaction.batch_execute(migration.sql).await?;
        let sql = "INSERT INTO plimsoll.migrations (version, needs, plimsoll, applied)
             VALUES ($1, $2, $3, $4)";
        let release = env!("CARGO_PKG_VERSION");
        transaction.execute(sql, &[&version, &migration.min_version, &release, &now]).await?;
    }
    let sql = "INSERT INTO plimsoll.meta (name, value) VALUES ('database', $1)
         ON CONFLICT (name) DO NOTHING";
    transaction.execute(sql, &[&Uuid::now_v7().to_string()]).await?;
    Ok(MigrationResult { from, to: from.max(migrations.len() as i32) })
}

const CREATE_MIGRATIONS_TABLE: &str = "CREATE SCHEMA IF NOT EXISTS plimsoll;
     CREATE TABLE plimsoll.migrations (
         version integer PRIMARY KEY,
         needs integer NOT NULL,
         plimsoll text NOT NULL,
         applied bigint NOT NULL
     )";
