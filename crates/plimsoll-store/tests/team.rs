//! Two machines send their rows to a team's database.

#![expect(clippy::unwrap_used, reason = "a story that cannot be told is a failed test")]

use std::num::NonZeroU32;
use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_extract::board::PathClaim;
use plimsoll_extract::save::{NewSave, Save, SaveEnvironment};
use plimsoll_store::postgres::{SendingMachine, TeamError, TeamStore};
use plimsoll_store::{
    Batch, Bookmark, CheckpointListing, CheckpointRow, CompactionRow, ReadingRow, SaveFilter,
    SessionRow, ShipmentFilter, SourceFile, Store, StoreError,
};
use plimsoll_testbed::Postgres;

const ALL: ShipmentFilter<'static> = ShipmentFilter {
    readings: true,
    checkpoints: true,
    saves: true,
    allows_project: &|_| true,
    since: Millis::MIN,
};

fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn machine(store: &Store, person: &str) -> SendingMachine {
    SendingMachine {
        id: store.machine_id().to_owned(),
        host: format!("{person}s-box"),
        person: person.to_owned(),
        version: "0.1.0".to_owned(),
    }
}

fn session(name: &str, project: &str, last_seen: Millis) -> SessionRow {
    SessionRow {
        id: id(name),
        agent: "claude-code".to_owned(),
        project: Some(project.into()),
        transcript: Some("/home/ann/t.jsonl".into()),
        version: Some("2.1.197".to_owned()),
        model: Some("claude-opus-4-6".to_owned()),
        started: 1_000,
        last_seen,
    }
}

fn reading(name: &str, message: u32, output_tokens: u64) -> ReadingRow {
    ReadingRow {
        session: id(name),
        subagent: None,
        message: format!("msg\0{message}"),
        time: 1_000 + i64::from(message),
        model: "claude-opus-4-6".to_owned(),
        prompt_tokens: 1_000 * u64::from(message),
        output_tokens,
        turn: message,
    }
}

fn compaction(name: &str, time: Millis) -> CompactionRow {
    CompactionRow {
        session: id(name),
        subagent: None,
        entry: "e1".to_owned(),
        time,
        model: None,
        version: None,
        automatic: true,
        tokens_before: Some(167_000),
        tokens_after: Some(9_000),
    }
}

fn checkpoint(name: &str) -> CheckpointRow {
    CheckpointRow {
        id: format!("2026-11-15-120000-{name}"),
        path: format!("/home/ann/hull/.claude/checkpoints/{name}.md").into(),
        project: "/home/ann/hull".into(),
        session: name.to_owned(),
        created: 4_000,
        occasion: "auto".to_owned(),
        iteration: 3,
        partial: false,
        used: Some(120_000),
        window: Some(200_000),
        summary: "Implementing the hull - 3 files modified".to_owned(),
        body: "## What Changed\n".to_owned(),
    }
}

fn save(task: &str) -> Save {
    let what = NewSave {
        environment: SaveEnvironment::new("release").unwrap(),
        task: task.to_owned(),
        tags: vec!["deck".to_owned()],
        project: Some("/home/ann/hull".to_owned()),
        ..NewSave::default()
    };
    Save { id: format!("id-{task}"), created: 5_000, what }
}

fn ingest_batch(store: &mut Store, file: &str, batch: Batch) {
    let source = SourceFile { path: file.into(), inode: 1 };
    store
        .ingest(&source, |here| {
            let next = Bookmark { offset: here.offset + 1, reader_state: String::new() };
            Ok::<_, StoreError>(Batch { next, ..batch })
        })
        .unwrap();
}

/// Creates a machine's store with a session that was compacted once, a checkpoint and a save.
fn store_with_session(name: &str) -> Store {
    let mut store = Store::in_memory().unwrap();
    let readings = (1..=3).map(|message| reading(name, message, 10)).collect();
    ingest_batch(
        &mut store,
        name,
        Batch {
            sessions: vec![session(name, "/home/ann/hull", 9_000)],
            readings,
            compactions: vec![compaction(name, 1_002)],
            saves: vec![save(&format!("careen {name}"))],
            ..Batch::default()
        },
    );
    let row = checkpoint(name);
    let there = CheckpointListing { ids: [row.id.clone()].into(), new: vec![row] };
    let look = |_: &std::collections::BTreeSet<String>| Ok::<_, StoreError>(Some(there));
    store.sync_checkpoints(Path::new("/home/ann/hull"), look).unwrap();
    store
}

/// Sends all waiting rows and returns their number.
async fn ship_all(
    store: &Store,
    team: &mut TeamStore,
    from: &SendingMachine,
    allowed: &ShipmentFilter<'_>,
) -> usize {
    let mut rows = 0;
    while let Some(shipment) = store.next_shipment(allowed, 2).unwrap() {
        team.ship(from, &shipment, 10_000).await.unwrap();
        store.mark_shipped(&shipment, 10_000).unwrap();
        rows += shipment.len();
    }
    rows
}

fn block_on<T>(story: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(story)
}

async fn connect_and_migrate(server: &Postgres) -> TeamStore {
    let (mut team, _) = TeamStore::connect(&server.url("postgres")).await.unwrap();
    team.migrate(None, 1).await.unwrap();
    team
}

#[test]
fn team_queries_return_the_rows_of_both_machines() {
    let server = Postgres::start();
    block_on(async {
        let mut team = connect_and_migrate(&server).await;
        let (ann, bob) = (store_with_session("ann-1"), store_with_session("bob-1"));
        for (store, person) in [(&ann, "ann"), (&bob, "bob")] {
            store.start_shipping("there").unwrap();
            assert_eq!(ship_all(store, &mut team, &machine(store, person), &ALL).await, 7);
            assert_eq!(
                store.outbox_status().unwrap().changed + store.outbox_status().unwrap().to_sweep,
                0
            );
        }
        let all = team.overview(None, 0, 10).await.unwrap();
        let people: Vec<_> = all.iter().map(|it| (it.person.as_str(), it.host.as_str())).collect();
        assert_eq!(people, [("ann", "anns-box"), ("bob", "bobs-box")]);
        let mut own = ann.session_overview(&id("ann-1")).unwrap().unwrap();
        own.session.transcript = None;
        assert_eq!(all[0].value, own, "the paths of transcripts stay where they are");
        assert_eq!(team.session(&id("ann-1")).await.unwrap().unwrap().value, own);
        assert_eq!(team.series(&id("ann-1")).await.unwrap(), ann.series(&id("ann-1"), 0).unwrap());
        let there = team.checkpoint("2026-11-15-120000-ann-1").await.unwrap().unwrap();
        assert_eq!(there.value, checkpoint("ann-1"));
        assert_eq!(
            team.checkpoints_of(&id("bob-1"), 9).await.unwrap()[0].summary,
            there.value.summary
        );
        let filter = SaveFilter::default();
        let saves = team.newest_saves(&filter, 9).await.unwrap();
        assert_eq!(saves.len(), 2);
        let found = team.search_saves("caree bob", &filter, 9).await.unwrap().unwrap();
        assert_eq!((found.len(), &found[0].value), (1, &save("careen bob-1")));
        assert_eq!(team.search_saves("' & | !", &filter, 9).await.unwrap(), None);
        let environments = team.environments().await.unwrap();
        assert_eq!(environments, [SaveEnvironment::new("release").unwrap()]);
        assert_eq!(team.machines().await.unwrap().len(), 2);
        assert_eq!(team.session_count(Some(bob.machine_id())).await.unwrap(), 1);
        let only = team.overview(Some(bob.machine_id()), 0, 9).await.unwrap();
        assert_eq!((only.len(), only[0].person.as_str()), (1, "bob"));
    });
}

#[test]
fn rows_sent_twice_are_stored_once_and_changed_rows_are_sent_again() {
    let server = Postgres::start();
    block_on(async {
        let mut team = connect_and_migrate(&server).await;
        let mut ann = store_with_session("ann-1");
        let from = machine(&ann, "ann");
        ann.start_shipping("there").unwrap();
        ship_all(&ann, &mut team, &from, &ALL).await;
        ingest_batch(
            &mut ann,
            "ann-1",
            Batch { readings: vec![reading("ann-1", 4, 5)], ..Batch::default() },
        );
        let first = ann.next_shipment(&ALL, 100).unwrap().unwrap();
        assert_eq!((first.len(), first.readings.len()), (1, 1));
        team.ship(&from, &first, 1).await.unwrap();
        team.ship(&from, &first, 1).await.unwrap();
        ingest_batch(
            &mut ann,
            "ann-1",
            Batch { readings: vec![reading("ann-1", 4, 50)], ..Batch::default() },
        );
        ann.mark_shipped(&first, 1).unwrap();
        let second = ann.next_shipment(&ALL, 100).unwrap().unwrap();
        assert_eq!(second.readings, [ReadingRow { ..reading("ann-1", 4, 50) }]);
        team.ship(&from, &second, 1).await.unwrap();
        ann.mark_shipped(&second, 1).unwrap();
        assert_eq!(ann.next_shipment(&ALL, 100).unwrap(), None);
        assert_eq!(
            server.sql("SELECT count(*), max(output_tokens) FROM plimsoll.readings"),
            "4|50"
        );
    });
}

#[test]
fn rows_changed_during_a_sweep_are_sent() {
    let server = Postgres::start();
    block_on(async {
        let mut team = connect_and_migrate(&server).await;
        let mut ann = store_with_session("ann-1");
        ann.start_shipping("there").unwrap();
        let sessions = vec![session("ann-1", "/home/ann/hull", 9_500)];
        ingest_batch(&mut ann, "ann-1", Batch { sessions, ..Batch::default() });
        assert_eq!(ann.outbox_status().unwrap().changed, 1);
        ship_all(&ann, &mut team, &machine(&ann, "ann"), &ALL).await;
        assert_eq!(server.sql("SELECT last_seen FROM plimsoll.sessions"), "9500");
        assert_eq!(server.sql("SELECT count(*) FROM plimsoll.readings"), "3");
    });
}

#[test]
fn only_allowed_rows_are_sent() {
    let server = Postgres::start();
    block_on(async {
        let mut team = connect_and_migrate(&server).await;
        let mut ann = store_with_session("ann-1");
        ingest_batch(
            &mut ann,
            "x",
            Batch {
                sessions: vec![
                    session("private", "/home/ann/diary", 9_000),
                    session("old", "/home/ann/hull", 10),
                ],
                readings: vec![reading("private", 1, 1), reading("old", 1, 1)],
                ..Batch::default()
            },
        );
        ann.start_shipping("there").unwrap();
        let sends = |project: Option<&Path>| project.is_some_and(|it| it.ends_with("hull"));
        let some = ShipmentFilter {
            checkpoints: false,
            saves: false,
            allows_project: &sends,
            since: 5_000,
            ..ALL
        };
        ship_all(&ann, &mut team, &machine(&ann, "ann"), &some).await;
        assert_eq!(server.sql("SELECT session FROM plimsoll.sessions"), "ann-1");
        assert_eq!(server.sql("SELECT DISTINCT session FROM plimsoll.readings"), "ann-1");
        assert_eq!(server.sql("SELECT count(*) FROM plimsoll.checkpoints"), "0");
        assert_eq!(server.sql("SELECT count(*) FROM plimsoll.saves"), "0");
        ann.start_shipping("there, and more").unwrap();
        ship_all(&ann, &mut team, &machine(&ann, "ann"), &ALL).await;
        assert_eq!(server.sql("SELECT count(*) FROM plimsoll.sessions"), "3", "all is sent anew");
    });
}

#[test]
fn a_long_outbox_is_replaced_by_a_sweep() {
    let server = Postgres::start();
    block_on(async {
        let mut team = connect_and_migrate(&server).await;
        let mut ann = store_with_session("ann-1");
        let from = machine(&ann, "ann");
        ann.start_shipping("there").unwrap();
        ship_all(&ann, &mut team, &from, &ALL).await;
        let readings = (10..40).map(|message| reading("ann-1", message, 1)).collect();
        ingest_batch(&mut ann, "ann-1", Batch { readings, ..Batch::default() });
        assert_eq!(ann.outbox_status().unwrap().changed, 30);
        assert!(!ann.replace_long_outbox(30).unwrap());
        assert!(ann.replace_long_outbox(29).unwrap());
        let waiting = ann.outbox_status().unwrap();
        assert_eq!((waiting.changed, waiting.to_sweep), (0, 1 + 33 + 1 + 1 + 1));
        ship_all(&ann, &mut team, &from, &ALL).await;
        assert_eq!(server.sql("SELECT count(*) FROM plimsoll.readings"), "33");
        ann.stop_shipping().unwrap();
        ingest_batch(
            &mut ann,
            "ann-1",
            Batch { readings: vec![reading("ann-1", 90, 1)], ..Batch::default() },
        );
        assert_eq!(ann.outbox_status().unwrap().changed, 0, "without a team nothing is noted");
    });
}

#[test]
fn concurrent_migrations_run_once_and_older_versions_keep_working() {
    let server = Postgres::start();
    block_on(async {
        let url = server.url("postgres");
        assert!(matches!(TeamStore::open(&url).await, Err(TeamError::NoTables)));
        let (mut one, _) = TeamStore::connect(&url).await.unwrap();
        let (mut other, _) = TeamStore::connect(&url).await.unwrap();
        let (first, second) = tokio::join!(one.migrate(None, 1), other.migrate(None, 2));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(first.to, second.to);
        assert_eq!(first.from.min(second.from), 0);
        assert_eq!(first.from.max(second.from), first.to, "the second finds everything done");
        server.sql("INSERT INTO plimsoll.migrations VALUES (99, 1, '9.0.0', 0)");
        assert_eq!(TeamStore::open(&url).await.unwrap().1.version, 99, "what is new only adds");
        server.sql("INSERT INTO plimsoll.migrations VALUES (100, 99, '9.1.0', 0)");
        assert!(matches!(TeamStore::open(&url).await, Err(TeamError::Newer)));
        server.sql("DELETE FROM plimsoll.migrations");
        server.sql("INSERT INTO plimsoll.migrations VALUES (0, 0, '0.0.1', 0)");
        assert!(matches!(TeamStore::open(&url).await, Err(TeamError::Older)));
    });
}

#[test]
fn old_rows_are_pruned_and_not_sent_again() {
    let server = Postgres::start();
    block_on(async {
        const DAY: Millis = 86_400_000;
        let mut team = connect_and_migrate(&server).await;
        let ann = store_with_session("ann-1");
        ann.start_shipping("there").unwrap();
        ship_all(&ann, &mut team, &machine(&ann, "ann"), &ALL).await;
        team.migrate(NonZeroU32::new(30), 1).await.unwrap();
        let about = team.database_info().await.unwrap();
        assert_eq!(about.retention_days, Some(30));
        let claim = PathClaim {
            path: "/deck".into(),
            holder: "ann".to_owned(),
            since: 8_000,
            until: 9_000,
        };
        team.put_claims(&machine(&ann, "ann").id, &[claim], 8_000).await.unwrap();
        let since = about.retention_start(9_000 + 31 * DAY);
        let pruned = team.prune(since).await.unwrap();
        assert_eq!((pruned.sessions, pruned.checkpoints, pruned.saves), (1, 1, 1));
        assert_eq!(server.sql("SELECT count(*) FROM plimsoll.readings"), "0");
        assert_eq!(server.sql("SELECT count(*) FROM plimsoll.claims"), "0");
        ann.start_shipping("there again").unwrap();
        let allowed = ShipmentFilter { since, ..ALL };
        assert_eq!(ship_all(&ann, &mut team, &machine(&ann, "ann"), &allowed).await, 0);
    });
}
