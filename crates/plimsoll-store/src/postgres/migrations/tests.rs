//! Upgrades: rows stored under any older schema version are still there and usable after a
//! migration.

use plimsoll_core::event::SessionId;
use plimsoll_extract::board::PathClaim;
use plimsoll_testbed::Postgres;

use super::*;
use crate::postgres::{SendingMachine, TeamMessage};
use crate::{ReadingRow, SaveFilter, Shipment};

/// A time in the future.
const FUTURE: Millis = 9_000_000_000_000;

fn block_on<T>(story: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(story)
}

/// Creates empty tables with the first `version` migrations.
async fn create_at_version(server: &Postgres, version: usize) -> TeamStore {
    server.sql("DROP SCHEMA IF EXISTS plimsoll CASCADE");
    let (mut team, _) = TeamStore::connect(&server.url("postgres")).await.unwrap();
    let transaction = team.client.transaction().await.unwrap();
    migrate(&transaction, &MIGRATIONS[..version], 1).await.unwrap();
    transaction.commit().await.unwrap();
    team
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// Lists all tables except `migrations`.
fn tables(server: &Postgres) -> Vec<String> {
    lines(&server.sql(
        "SELECT table_name FROM information_schema.tables
         WHERE table_schema = 'plimsoll' AND table_name <> 'migrations' ORDER BY 1",
    ))
}

/// Inserts a row into a table with any columns and returns the list of columns.
fn insert_row(server: &Postgres, table: &str) -> String {
    let columns = server.sql(&format!(
        "SELECT column_name, data_type FROM information_schema.columns
         WHERE table_schema = 'plimsoll' AND table_name = '{table}' AND is_generated = 'NEVER'"
    ));
    let columns: Vec<_> = columns.lines().map(|line| line.split_once('|').unwrap()).collect();
    let value = |(name, kind): &(&str, &str)| match (*name, *kind) {
        ("session" | "machine", _) => format!("'the-{name}'"),
        ("subagent", _) => "''".to_owned(),
        ("delivered", _) => "NULL".to_owned(),
        ("expires" | "until", _) => FUTURE.to_string(),
        (_, "bigint" | "integer") => "7".to_owned(),
        (_, "boolean") => "true".to_owned(),
        (name, _) => format!("'{table} {name}'"),
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let columns: Vec<&str> = columns.into_iter().map(|(name, _)| name).collect();
    let columns = columns.join(", ");
    server.sql(&format!("INSERT INTO plimsoll.{table} ({columns}) VALUES ({})", values.join(", ")));
    columns
}

/// Reads the given columns of all rows of a table.
fn read_rows(server: &Postgres, table: &str, columns: &str) -> Vec<String> {
    lines(&server.sql(&format!("SELECT {columns} FROM plimsoll.{table} ORDER BY 1")))
}

/// Checks that queries return the inserted rows.
async fn check_queries(team: &TeamStore, tables: &[String]) {
    let session = SessionId::new("the-session").unwrap();
    let machines = team.machines().await.unwrap();
    assert_eq!((machines.len(), machines[0].person.as_str()), (1, "machines person"));
    let there = team.session(&session).await.unwrap().unwrap();
    assert_eq!((there.host.as_str(), there.value.compactions), ("machines host", 1));
    assert_eq!(there.value.checkpoint.unwrap().id, "checkpoints checkpoint");
    assert_eq!(team.series(&session).await.unwrap().len(), 2, "a reading and a compaction");
    let checkpoint = team.checkpoint("checkpoints checkpoint").await.unwrap().unwrap();
    assert_eq!(checkpoint.value.body, "checkpoints body");
    let found = team.search_saves("saves task", &SaveFilter::default(), 9).await.unwrap().unwrap();
    assert_eq!(found[0].value.what.task, "saves task");
    let is_there = |table: &str| usize::from(tables.iter().any(|name| name == table));
    let mail = team.undelivered_messages("the-machine", 7).await.unwrap();
    assert_eq!(mail.len(), is_there("messages"));
    assert_eq!(team.claims("another", 7).await.unwrap().len(), is_there("claims"));
}

/// Checks that machines can add rows after the upgrade.
async fn check_writes(team: &mut TeamStore) {
    let session = SessionId::new("the-session").unwrap();
    let machine = SendingMachine {
        id: "the-machine".to_owned(),
        host: "hulk".to_owned(),
        person: "ann".to_owned(),
        version: "0.1.0".to_owned(),
    };
    let reading = ReadingRow {
        session: session.clone(),
        subagent: None,
        message: "msg".to_owned(),
        time: 9,
        model: "claude-opus-4-6".to_owned(),
        prompt_tokens: 1_000,
        output_tokens: 10,
        turn: 1,
    };
    let shipment = Shipment { readings: vec![reading], ..Shipment::default() };
    team.ship(&machine, &shipment, 10).await.unwrap();
    assert_eq!(team.session(&session).await.unwrap().unwrap().value.used, Some(1_010));
    let to = session.as_str().to_owned();
    let mail =
        TeamMessage { id: "m".to_owned(), session: to, body: "ahoy".to_owned(), expires: FUTURE };
    team.post_messages("another", std::slice::from_ref(&mail)).await.unwrap();
    assert!(team.undelivered_messages(&machine.id, 10).await.unwrap().contains(&mail));
    let claim =
        PathClaim { path: "/deck".into(), holder: "ann".to_owned(), since: 9, until: FUTURE };
    team.put_claims("yet another", std::slice::from_ref(&claim), 9).await.unwrap();
    assert!(team.claims("another", 10).await.unwrap().iter().any(|it| it.value == claim));
}

#[test]
fn rows_of_every_older_version_survive_an_upgrade() {
    let server = Postgres::start();
    for version in 1..=MIGRATIONS.len() {
        block_on(async {
            let mut team = create_at_version(&server, version).await;
            let tables = tables(&server);
            let columns: Vec<String> =
                tables.iter().map(|table| insert_row(&server, table)).collect();
            let rows =
                || tables.iter().zip(&columns).map(|(table, it)| read_rows(&server, table, it));
            let before: Vec<_> = rows().collect();
            if version < MIGRATIONS.len() {
                let opened = TeamStore::open(&server.url("postgres")).await;
                assert!(matches!(opened, Err(TeamError::Older)), "{version}: {opened:?}");
            }
            let migrated = team.migrate(None, 2).await.unwrap();
            assert_eq!(migrated, MigrationResult { from: version as i32, to: LATEST });
            for ((table, before), after) in tables.iter().zip(&before).zip(rows()) {
                let is_kept = before.iter().all(|row| after.contains(row));
                assert!(!before.is_empty() && is_kept, "{version}: {table}: {before:?}, {after:?}");
            }
            let (mut team, about) = TeamStore::open(&server.url("postgres")).await.unwrap();
            assert_eq!(about.version, LATEST);
            check_queries(&team, &tables).await;
            check_writes(&mut team).await;
        });
    }
}

#[test]
fn every_migration_fails_when_it_is_applied_twice() {
    let server = Postgres::start();
    block_on(async {
        let team = create_at_version(&server, MIGRATIONS.len()).await;
        for migration in MIGRATIONS {
            assert!(team.client.batch_execute(migration.sql).await.is_err());
        }
    });
}

#[test]
fn tables_that_need_a_newer_release_are_refused_and_left_alone() {
    let server = Postgres::start();
    block_on(async {
        let mut team = create_at_version(&server, MIGRATIONS.len()).await;
        let newer = LATEST + 1;
        server.sql(&format!("INSERT INTO plimsoll.migrations VALUES ({newer}, {newer}, '9', 7)"));
        for refused in [
            team.database_info().await.map(drop),
            team.migrate(NonZeroU32::new(30), 2).await.map(drop),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, TeamError::Newer), "{error:?}");
            assert!(error.hint().contains("update plimsoll"), "{error:?}");
        }
        let days = "SELECT count(*) FROM plimsoll.meta WHERE name = 'retention_days'";
        assert_eq!(server.sql(days), "0");
    });
}
