//! Tests of the figures that show whether plimsoll achieves its purpose.

use super::*;
use crate::{AutoCompactionCounts, CheckpointListing, CheckpointRow, WorkPeriod};

const MINUTE: Millis = 60_000;

fn checkpoint(name: &str, session: &str, created: Millis, occasion: &str) -> CheckpointRow {
    CheckpointRow {
        id: name.to_owned(),
        path: format!("/p/{name}.md").into(),
        project: "/p".into(),
        session: session.to_owned(),
        created,
        occasion: occasion.to_owned(),
        iteration: 1,
        partial: false,
        used: None,
        window: None,
        summary: String::new(),
        body: String::new(),
    }
}

fn sync_checkpoints(store: &mut Store, ids: &[&str], new: Vec<CheckpointRow>) {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    let there = Some(CheckpointListing { ids, new });
    store.sync_checkpoints::<StoreError>(Path::new("/p"), |_| Ok(there)).unwrap();
}

fn store(batch: Batch) -> Store {
    let mut store = Store::in_memory().unwrap();
    let sessions = vec![session("s1", 0, 100), session("s2", 50, 350)];
    ingest(&mut store, &source(1), Batch { sessions, next: at(1), ..batch }).unwrap();
    store
}

#[test]
fn checkpoints_stay_counted_when_they_are_pruned() {
    let mut store = store(Batch::default());
    let new = vec![
        checkpoint("a", "s1", 10, "auto"),
        checkpoint("b", "s1", 20, "auto"),
        checkpoint("c", "s1", 30, "manual"),
    ];
    sync_checkpoints(&mut store, &["a", "b", "c"], new);
    sync_checkpoints(&mut store, &["c"], Vec::new());
    let counted = |kind: &str, count| (kind.to_owned(), count);
    assert_eq!(store.seal_counts(0).unwrap(), [counted("auto", 2), counted("manual", 1)]);
    assert_eq!(store.seal_counts(20).unwrap(), [counted("auto", 1), counted("manual", 1)]);
}

#[test]
fn a_work_period_ends_with_a_prompt_or_a_pause() {
    let read = |name: &str, minute: i64, turn: u32| ReadingRow {
        time: minute * MINUTE,
        turn,
        ..reading(name, minute as u32 + 100 * turn, 1)
    };
    let side = ReadingRow { subagent: Some(id("a1")), ..read("s1", 500, 1) };
    let readings = vec![
        read("s1", 0, 1),
        read("s1", 9, 1),
        read("s1", 12, 2),
        read("s1", 20, 2),
        read("s1", 29, 2),
        read("s1", 60, 2),
        read("s2", 0, 1),
        read("s2", 10, 1),
        side,
    ];
    let store = store(Batch { readings, ..Batch::default() });
    let longest = |since| store.longest_work_period(since, 10 * MINUTE).unwrap();
    let told = WorkPeriod { session: id("s1"), began: 12 * MINUTE, ended: 29 * MINUTE };
    assert_eq!(longest(0), Some(told));
    assert_eq!(longest(40 * MINUTE).map(|it| it.ended - it.began), Some(0));
    assert_eq!(longest(1000 * MINUTE), None);
}

#[test]
fn an_auto_compaction_without_a_warning_since_the_last_is_counted() {
    let by_hand = CompactionRow { automatic: false, ..compaction("s1", 5, "m") };
    let compactions = vec![
        by_hand,
        compaction("s1", 20, "m"),
        compaction("s1", 40, "m"),
        compaction("s2", 60, "m"),
    ];
    let decisions = vec![
        decision("s1", 3),
        DecisionRow { label: "started".to_owned(), ..decision("s1", 10) },
        decision("s1", 30),
    ];
    let mut store = store(Batch { compactions, decisions, ..Batch::default() });
    assert_eq!(
        store.auto_compaction_counts(0).unwrap(),
        AutoCompactionCounts { total: 3, without_warning: 2 }
    );
    sync_checkpoints(&mut store, &["a"], vec![checkpoint("a", "s2", 59, "auto")]);
    assert_eq!(
        store.auto_compaction_counts(0).unwrap(),
        AutoCompactionCounts { total: 3, without_warning: 1 }
    );
    assert_eq!(
        store.auto_compaction_counts(41).unwrap(),
        AutoCompactionCounts { total: 1, without_warning: 0 }
    );
    assert_eq!(store.first_decision().unwrap(), Some(3));
}

#[test]
fn peaks_say_whether_a_warning_came_before() {
    let readings = vec![reading("s1", 10, 5), reading("s1", 90, 5), reading("s2", 50, 0)];
    let decisions = vec![decision("s1", 80), decision("s2", 51)];
    let store = store(Batch { readings, decisions, ..Batch::default() });
    let told: Vec<(String, u64, bool)> = store
        .peaks_since(0)
        .unwrap()
        .into_iter()
        .map(|row| (row.session.to_string(), row.tokens, row.warned))
        .collect();
    assert_eq!(told, [("s1".to_owned(), 90_005, true), ("s2".to_owned(), 50_000, false)]);
}

#[test]
fn restores_are_counted() {
    let decided = |line, what: &str| DecisionRow { label: what.to_owned(), ..decision("s1", line) };
    let decisions = vec![decided(1, "restored"), decided(5, "given"), decided(6, "warned")];
    let store = store(Batch { decisions, ..Batch::default() });
    assert_eq!((store.restore_count(0).unwrap(), store.restore_count(2).unwrap()), (2, 1));
}
