//! Opening of new, current, newer, damaged and busy stores.

use std::fs;
use std::sync::Barrier;

use super::*;
use crate::Counts;

fn pragma(store: &Store, name: &str) -> String {
    let value = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
    format!("{:?}", store.connection.pragma_query_value(None, name, value).unwrap())
}

#[test]
fn an_empty_file_becomes_a_store_and_stays_one() {
    let (_folder, path) = new_file();
    let store = Store::open(&path, PATIENCE).unwrap();
    assert_eq!(store.counts().unwrap(), Counts::default());
    assert_eq!(pragma(&store, "journal_mode"), r#"Text("wal")"#);
    assert_eq!(pragma(&store, "synchronous"), "Integer(1)");
    assert_eq!(pragma(&store, "foreign_keys"), "Integer(1)");
    assert_eq!(pragma(&store, "user_version"), format!("Integer({})", MIGRATIONS.len()));
    let machine = store.machine_id().to_owned();
    assert_eq!(Uuid::parse_str(&machine).unwrap().get_version_num(), 7);
    drop(store);
    assert_eq!(Store::open(&path, PATIENCE).unwrap().machine_id(), machine);
}

#[test]
fn an_older_store_is_migrated_and_its_files_are_read_again() {
    let (_folder, path) = new_file();
    let mut connection = Connection::open(&path).unwrap();
    Migrations::from_slice(&MIGRATIONS[..1]).to_latest(&mut connection).unwrap();
    let read = "INSERT INTO sources (path, inode, read_to, note) VALUES ('/t/s1.jsonl', 1, 5, '')";
    connection.execute(read, []).unwrap();
    drop(connection);
    let store = Store::open(&path, PATIENCE).unwrap();
    assert_eq!(pragma(&store, "user_version"), format!("Integer({})", MIGRATIONS.len()));
    assert_eq!(store.read_offset(&source(1)).unwrap(), 0);
}

/// Lists the tables of a store, `sessions` first because others refer to it.
fn tables(connection: &Connection) -> Vec<String> {
    let tables = "SELECT name FROM pragma_table_list \
         WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name <> 'sessions', name";
    let mut tables = connection.prepare(tables).unwrap();
    tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Inserts a row into a table with any columns.
fn insert_row(connection: &Connection, table: &str) {
    let columns = format!("SELECT name, type FROM pragma_table_info('{table}')");
    let mut columns = connection.prepare(&columns).unwrap();
    let value = |row: &rusqlite::Row<'_>| {
        let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(match (name.as_str(), kind.as_str()) {
            ("session", _) => "'s1'".to_owned(),
            (_, "INTEGER") => "7".to_owned(),
            (_, "BLOB") => "x'0102030405060708090a0b0c0d0e0f10'".to_owned(),
            (name, _) => format!("'{table} {name}'"),
        })
    };
    let values: Vec<String> = columns.query_map([], value).unwrap().map(Result::unwrap).collect();
    connection
        .execute(
            &format!("INSERT INTO {table} VALUES ({}) ON CONFLICT DO NOTHING", values.join(",")),
            [],
        )
        .unwrap();
}

/// Reads the given columns of all rows of a table.
fn read_rows(connection: &Connection, table: &str, columns: &str) -> Vec<String> {
    let rows = format!("SELECT json_array({columns}) FROM {table} ORDER BY 1");
    let mut rows = connection.prepare(&rows).unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Returns the columns of a table, quoted because `json_array` accepts no blobs.
fn columns(connection: &Connection, table: &str) -> String {
    let columns = format!(
        "SELECT group_concat('quote(\"' || name || '\")') FROM pragma_table_info('{table}')"
    );
    connection.query_row(&columns, [], |row| row.get(0)).unwrap()
}

#[test]
fn rows_of_every_older_version_survive_an_upgrade() {
    for version in 1..MIGRATIONS.len() {
        let (_folder, path) = new_file();
        let mut connection = Connection::open(&path).unwrap();
        Migrations::from_slice(&MIGRATIONS[..version]).to_latest(&mut connection).unwrap();
        // Search indexes and runs are rebuilt, and source files are read again.
        const ANEW: [&str; 4] = ["sources", "runs", "run_legs", "run_pieces"];
        let is_index = |table: &str| table.contains("_words") || table.contains("_parts");
        let is_kept = |table: &String| !is_index(table) && !ANEW.contains(&table.as_str());
        let tables: Vec<String> = tables(&connection).into_iter().filter(is_kept).collect();
        tables.iter().for_each(|table| insert_row(&connection, table));
        let before: Vec<_> = tables
            .iter()
            .map(|table| (table, columns(&connection, table)))
            .map(|(table, columns)| (table, read_rows(&connection, table, &columns), columns))
            .collect();
        drop(connection);
        drop(Store::open(&path, PATIENCE).unwrap());
        let connection = Connection::open(&path).unwrap();
        for (table, rows, columns) in before {
            let after = read_rows(&connection, table, &columns);
            assert!(
                !rows.is_empty() && rows.iter().all(|row| after.contains(row)),
                "{version}: {table}"
            );
        }
    }
}

#[test]
fn every_migration_fails_when_it_is_applied_twice() {
    let files = [
        include_str!("../../../migrations/sqlite/0001_init.sql"),
        include_str!("../../../migrations/sqlite/0002_hook_runs.sql"),
        include_str!("../../../migrations/sqlite/0003_checkpoints.sql"),
        include_str!("../../../migrations/sqlite/0004_saves.sql"),
        include_str!("../../../migrations/sqlite/0005_series.sql"),
        include_str!("../../../migrations/sqlite/0006_seals.sql"),
        include_str!("../../../migrations/sqlite/0007_outbox.sql"),
        include_str!("../../../migrations/sqlite/0008_runs.sql"),
        include_str!("../../../migrations/sqlite/0009_attempts.sql"),
        include_str!("../../../migrations/sqlite/0010_restorable_saves.sql"),
        include_str!("../../../migrations/sqlite/0011_agents.sql"),
    ];
    assert_eq!(files.len(), MIGRATIONS.len());
    let store = Store::in_memory().unwrap();
    for sql in files {
        assert!(store.connection.execute_batch(sql).is_err());
    }
}

#[test]
fn concurrent_processes_can_open_a_new_store() {
    const OPENERS: usize = 8;
    for _ in 0..50 {
        let (_folder, path) = new_file();
        let start = Barrier::new(OPENERS);
        let open = || {
            start.wait();
            Store::open(&path, PATIENCE).unwrap().machine_id().to_owned()
        };
        let mut machines: Vec<String> = thread::scope(|scope| {
            let openers: Vec<_> = (0..OPENERS).map(|_| scope.spawn(open)).collect();
            openers.into_iter().map(|opener| opener.join().unwrap()).collect()
        });
        machines.dedup();
        assert_eq!(machines.len(), 1);
    }
}

#[test]
fn a_missing_file_is_not_created() {
    let (_folder, path) = new_file();
    fs::remove_file(&path).unwrap();
    let error = Store::open(&path, PATIENCE).unwrap_err();
    assert!(matches!(error, StoreError::Other { .. }), "{error:?}");
    assert_eq!(error.to_string(), format!("could not open the store at `{}`", path.display()));
    assert!(!path.exists());
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let (_folder, path) = new_file();
    let store = Store::open(&path, PATIENCE).unwrap();
    store.connection.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let error = Store::open(&path, PATIENCE).unwrap_err();
    assert!(matches!(error, StoreError::Newer { .. }), "{error:?}");
    assert!(error.to_string().contains("update plimsoll"), "{error}");
    let version =
        Connection::open(&path)
            .unwrap()
            .pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0));
    assert_eq!(version, Ok(99));
}

#[test]
fn a_file_that_is_no_store_is_reported_as_damaged() {
    let (_folder, path) = new_file();
    fs::write(&path, "no database, ".repeat(1000)).unwrap();
    let error = Store::open(&path, PATIENCE).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { task: "open", .. }), "{error:?}");
}

#[test]
fn a_store_damaged_later_is_reported_as_damaged() {
    let (_folder, path) = new_file();
    let mut store = Store::open(&path, PATIENCE).unwrap();
    let rows = (0..2000).map(|message| reading("s1", message, 1)).collect();
    ingest(&mut store, &source(1), readings_batch(rows, at(1))).unwrap();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let head = 4096; // the schema is on the first page
    bytes[head..].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let error = Store::open(&path, PATIENCE).and_then(|store| store.counts()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

#[test]
fn opening_a_busy_store_times_out() {
    let (_folder, path) = new_file();
    let mut holder = Store::open(&path, PATIENCE).unwrap();
    let mut store = Store::open(&path, Duration::from_millis(100)).unwrap();
    let held = holder.connection.transaction().unwrap();
    let started = Instant::now();
    let error = store.ingest(&source(1), |_| -> Result<_, StoreError> { panic!("read") });
    let waited = started.elapsed();
    assert!(matches!(error, Err(StoreError::Busy { task: "ingest into", .. })), "{error:?}");
    assert!(waited >= Duration::from_millis(90), "{waited:?}");
    assert!(waited < Duration::from_secs(2), "{waited:?}");
    Store::open(&path, Duration::ZERO).unwrap().counts().unwrap();
    drop(held);
    ingest(&mut store, &source(1), Batch::default()).unwrap();
}
