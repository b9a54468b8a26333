//! Rows that wait to be sent to a team's database.
//!
//! While shipping is on, triggers add each new or changed row to the outbox, in the transaction
//! that changes the row. Rows that are older than that are read table by table (a sweep). A sweep
//! also replaces an outbox that has grown too long, so its size is limited and no row is lost.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use plimsoll_core::Millis;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::column::get_optional;
use super::{Store, checkpoints, queries, saves};
use crate::{OutboxStatus, Shipment, ShipmentFilter, StoreError};

/// The tables to send, in the order of the sweep.
const TABLES: [&str; 5] = ["sessions", "readings", "compactions", "checkpoints", "saves"];

impl Store {
    /// Turns shipping on. `to` names the database and what may be sent there. If `to` has changed,
    /// a sweep sends everything again.
    pub fn start_shipping(&self, to: &str) -> Result<(), StoreError> {
        let failed = self.error_during("ship from");
        if self.meta_value("team").map_err(&failed)?.as_deref() == Some(to) {
            return Ok(());
        }
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
        set_meta_value(&transaction, "team", Some(to)).map_err(&failed)?;
        begin_sweep(&transaction).map_err(&failed)?;
        transaction.commit().map_err(&failed)
    }

    /// Turns shipping off and empties the outbox.
    pub fn stop_shipping(&self) -> Result<(), StoreError> {
        let failed = self.error_during("ship from");
        if self.meta_value("team").map_err(&failed)?.is_none() {
            return Ok(());
        }
        let sql = "BEGIN IMMEDIATE; DELETE FROM meta WHERE name LIKE 'team%';
             DELETE FROM outbox; DELETE FROM outbox_sweep; COMMIT";
        self.connection.execute_batch(sql).map_err(&failed)
    }

    /// Returns the next rows to send: at most `limit` changed rows, or rows of the sweep if none
    /// has changed. `None` if nothing waits.
    ///
    /// A shipment never mixes both, since PostgreSQL rejects a statement that contains a row twice.
    pub fn next_shipment(
        &self,
        allowed: &ShipmentFilter<'_>,
        limit: u32,
    ) -> Result<Option<Shipment>, StoreError> {
        let mut loading = ShipmentBuilder::new(self, allowed);
        loading.load_changed(limit).map_err(self.error_during("ship from"))?;
        if loading.shipment.outbox_numbers.is_empty() {
            loading.load_sweep(limit).map_err(self.error_during("ship from"))?;
        }
        let Shipment { outbox_numbers: numbers, sweep: swept, .. } = &loading.shipment;
        let is_any = !numbers.is_empty() || swept.is_some();
        Ok(is_any.then_some(loading.shipment))
    }

    /// Removes a shipment from the outbox after it has arrived.
    pub fn mark_shipped(&self, shipment: &Shipment, now: Millis) -> Result<(), StoreError> {
        let failed = self.error_during("ship from");
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
        remove_shipped(&transaction, shipment).map_err(&failed)?;
        set_meta_value(&transaction, "team_shipped", Some(&now.to_string())).map_err(&failed)?;
        set_meta_value(&transaction, "team_trouble", None).map_err(&failed)?;
        transaction.commit().map_err(&failed)
    }

    /// Stores the reason why nothing can be sent. `None` clears it.
    pub fn set_shipping_error(&self, why: Option<&str>) -> Result<(), StoreError> {
        let failed = self.error_during("ship from");
        match self.meta_value("team_trouble").map_err(&failed)?.as_deref() == why {
            true => Ok(()),
            false => set_meta_value(&self.connection, "team_trouble", why).map_err(failed),
        }
    }

    /// Replaces an outbox of more than `most` rows by a sweep. Returns whether that was necessary.
    pub fn replace_long_outbox(&self, most: u64) -> Result<bool, StoreError> {
        let failed = self.error_during("ship from");
        if self.outbox_status()?.changed <= most {
            return Ok(false);
        }
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
        begin_sweep(&transaction).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
        Ok(true)
    }

    /// Returns the state of the outbox.
    pub fn outbox_status(&self) -> Result<OutboxStatus, StoreError> {
        self.read_outbox_status().map_err(self.error_during("ship from"))
    }

    fn read_outbox_status(&self) -> rusqlite::Result<OutboxStatus> {
        let count = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, u32>(0));
        let mut to_sweep = 0;
        let sweeps = self.query_all("SELECT kind, after FROM outbox_sweep", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Value>(1)?))
        })?;
        for (kind, after) in sweeps {
            let sql = format!("SELECT count(*) FROM {} WHERE id > ?1", known_table(&kind)?);
            let left = self.connection.query_row(&sql, params![after], |row| row.get::<_, u32>(0));
            to_sweep += u64::from(left?);
        }
        Ok(OutboxStatus {
            changed: count("SELECT count(*) FROM outbox")?.into(),
            to_sweep,
            last_shipped: self.meta_value("team_shipped")?.and_then(|moment| moment.parse().ok()),
            error: self.meta_value("team_trouble")?,
        })
    }

    fn meta_value(&self, name: &str) -> rusqlite::Result<Option<String>> {
        let sql = "SELECT value FROM meta WHERE name = ?1";
        self.connection.prepare_cached(sql)?.query_row(params![name], |row| row.get(0)).optional()
    }
}

fn set_meta_value(
    connection: &Connection,
    name: &str,
    value: Option<&str>,
) -> rusqlite::Result<()> {
    let sql = match value {
        Some(_) => {
            "INSERT INTO meta (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        }
        None => "DELETE FROM meta WHERE name = ?1 AND ?2 IS NULL",
    };
    connection.prepare_cached(sql)?.execute(params![name, value]).map(drop)
}

fn begin_sweep(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM outbox; DELETE FROM outbox_sweep")?;
    for (place, table) in (0_u32..).zip(TABLES) {
        // Ids of saves are texts, all others are blobs.
        let after = if table == "saves" { Value::Text(String::new()) } else { Value::Blob(vec![]) };
        let sql = "INSERT INTO outbox_sweep (place, kind, after) VALUES (?1, ?2, ?3)";
        connection.execute(sql, params![place, table, after])?;
    }
    Ok(())
}

fn remove_shipped(connection: &Connection, shipment: &Shipment) -> rusqlite::Result<()> {
    let mut gone = connection.prepare_cached("DELETE FROM outbox WHERE number = ?1")?;
    for number in &shipment.outbox_numbers {
        gone.execute(params![number])?;
    }
    let Some((kind, from, to)) = &shipment.sweep else { return Ok(()) };
    // Changes nothing if another process has advanced the sweep in the meantime.
    let sql = match to {
        Some(_) => "UPDATE outbox_sweep SET after = ?3 WHERE kind = ?1 AND after = ?2",
        None => "DELETE FROM outbox_sweep WHERE kind = ?1 AND after = ?2 AND ?3 IS NULL",
    };
    connection.execute(sql, params![kind, from, to]).map(drop)
}

/// Returns the table to send with this name. Fails if there is none.
fn known_table(kind: &str) -> rusqlite::Result<&'static str> {
    let known = TABLES.into_iter().find(|table| *table == kind);
    known.ok_or_else(|| rusqlite::Error::InvalidParameterName(kind.to_owned()))
}

/// Builds a shipment from the tables.
struct ShipmentBuilder<'a> {
    store: &'a Store,
    allowed: &'a ShipmentFilter<'a>,
    /// Whether the rows of a session may be sent, by session id.
    allowed_sessions: HashMap<String, bool>,
    shipment: Shipment,
}

impl<'a> ShipmentBuilder<'a> {
    fn new(store: &'a Store, allowed: &'a ShipmentFilter<'a>) -> Self {
        Self { store, allowed, allowed_sessions: HashMap::new(), shipment: Shipment::default() }
    }

    fn load_changed(&mut self, limit: u32) -> rusqlite::Result<()> {
        let sql = "SELECT number, kind, row FROM outbox ORDER BY number LIMIT ?1";
        let entry = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?));
        for (number, kind, id) in self.store.query_all(sql, params![limit], entry)? {
            if self.is_full() {
                break;
            }
            self.load(known_table(&kind)?, &id)?;
            self.shipment.outbox_numbers.push(number);
        }
        Ok(())
    }

    fn load_sweep(&mut self, limit: u32) -> rusqlite::Result<()> {
        let sql = "SELECT kind, after FROM outbox_sweep ORDER BY place LIMIT 1";
        let next = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Value>(1)?));
        let Some((kind, after)) = self.query_one(sql, [], next)? else { return Ok(()) };
        let table = known_table(&kind)?;
        let sql = format!("SELECT id FROM {table} WHERE id > ?1 ORDER BY id LIMIT ?2");
        let ids: Vec<Value> =
            self.store.query_all(&sql, params![after, limit], |row| row.get(0))?;
        let mut taken = 0;
        while taken < ids.len() && !self.is_full() {
            self.load(table, &ids[taken])?;
            taken += 1;
        }
        let has_more = taken < ids.len() || ids.len() == limit as usize;
        let last = ids[..taken].last().cloned().filter(|_| has_more);
        self.shipment.sweep = Some((table, after, last));
        Ok(())
    }

    /// Returns whether the bodies of checkpoints have reached 1 MiB. A slow connection must be able
    /// to send a shipment before the timeout.
    fn is_full(&self) -> bool {
        const ENOUGH: usize = 1 << 20;
        self.shipment.checkpoints.iter().map(|row| row.body.len()).sum::<usize>() >= ENOUGH
    }

    /// Adds a row to the shipment, if it still exists and may be sent.
    fn load(&mut self, table: &'static str, id: &Value) -> rusqlite::Result<()> {
        let sql = format!("SELECT * FROM {table} WHERE id = ?1");
        let ShipmentFilter { readings, checkpoints, saves, allows_project: sends, since } =
            self.allowed;
        match table {
            "sessions" => {
                let found = self.query_one(&sql, [id], queries::session_from_row)?;
                let goes =
                    found.filter(|row| row.last_seen >= *since && sends(row.project.as_deref()));
                self.shipment.sessions.extend(goes);
            }
            "readings" if *readings => {
                let found = self.query_one(&sql, [id], queries::reading_from_row)?;
                let goes = self.if_session_allowed(found, |row| row.session.as_str())?;
                self.shipment.readings.extend(goes);
            }
            "compactions" if *readings => {
                let found = self.query_one(&sql, [id], queries::compaction_from_row)?;
                let goes = self.if_session_allowed(found, |row| row.session.as_str())?;
                self.shipment.compactions.extend(goes);
            }
            "checkpoints" if *checkpoints => {
                let found = self.query_one(&sql, [id], checkpoints::checkpoint_from_row)?;
                let goes = found.filter(|row| row.created >= *since && sends(Some(&row.project)));
                self.shipment.checkpoints.extend(goes);
            }
            "saves" if *saves => {
                let found = self.query_one(&sql, [id], saves::save_from_row)?;
                let project = |project: &Option<String>| sends(project.as_deref().map(Path::new));
                let goes =
                    found.filter(|save| save.created >= *since && project(&save.what.project));
                self.shipment.saves.extend(goes);
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the row if the rows of its session may be sent.
    fn if_session_allowed<T>(
        &mut self,
        row: Option<T>,
        session: impl Fn(&T) -> &str,
    ) -> rusqlite::Result<Option<T>> {
        let Some(row) = row else { return Ok(None) };
        let name = session(&row);
        if let Some(goes) = self.allowed_sessions.get(name) {
            return Ok(goes.then_some(row));
        }
        let sql = "SELECT project, last_seen FROM sessions WHERE session = ?1";
        let known = |row: &Row<'_>| Ok((get_optional(row, "project")?, row.get("last_seen")?));
        let known: Option<(Option<PathBuf>, Millis)> = self.query_one(sql, [name], known)?;
        let ShipmentFilter { allows_project: sends, since, .. } = self.allowed;
        let goes = known.is_some_and(|(project, seen)| seen >= *since && sends(project.as_deref()));
        self.allowed_sessions.insert(name.to_owned(), goes);
        Ok(goes.then_some(row))
    }

    fn query_one<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.store.connection.prepare_cached(sql)?.query_row(params, row).optional()
    }
}
