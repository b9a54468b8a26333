//! Queries return the stored rows, merged by session.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use plimsoll_core::trigger::Learned;

use super::*;

fn store_with_sessions(sessions: Vec<SessionRow>) -> Store {
    let mut store = Store::in_memory().unwrap();
    ingest(&mut store, &source(1), Batch { sessions, ..Batch::default() }).unwrap();
    store
}

fn store_with_compactions(compactions: Vec<CompactionRow>) -> Store {
    let mut store = store_with_sessions(vec![session("parent", 1, 1), session("fork", 1, 1)]);
    ingest(&mut store, &source(1), Batch { compactions, ..Batch::default() }).unwrap();
    store
}

fn learned(model: &str, version: &str, seen: &[u64]) -> Learned {
    Learned {
        agent: None,
        model: model.to_owned(),
        version: version.to_owned(),
        seen: seen.to_vec(),
    }
}

#[test]
fn most_recently_active_sessions_come_first() {
    let store =
        store_with_sessions(vec![session("a", 1, 5), session("b", 2, 9), session("c", 3, 7)]);
    let rows = store.sessions(2).unwrap();
    assert_eq!(rows, [session("b", 2, 9), session("c", 3, 7)]);
}

#[test]
fn rows_of_one_session_are_merged() {
    let text = |text: &str| Some(text.to_owned());
    let first = SessionRow {
        project: Some("/p".into()),
        transcript: Some("/t/old.jsonl".into()),
        model: text("claude-opus-4-6"),
        ..session("s1", 10, 20)
    };
    let newest = SessionRow {
        project: Some("/p/moved".into()),
        transcript: Some("/t/new.jsonl".into()),
        version: text("2.1.197"),
        model: text("claude-opus-5-5"),
        ..session("s1", 15, 40)
    };
    let late = SessionRow { version: text("2.0.1"), model: text("haiku"), ..session("s1", 5, 30) };
    let expected = SessionRow { project: first.project.clone(), started: 5, ..newest.clone() };
    assert_eq!(store_with_sessions(vec![first, newest, late]).sessions(9).unwrap(), [expected]);
}

#[test]
fn paths_need_not_be_utf8() {
    let odd = Path::new(OsStr::from_bytes(b"/t/\xff.jsonl"));
    let row = SessionRow { transcript: Some(odd.to_owned()), ..session("s1", 1, 1) };
    let mut store = store_with_sessions(vec![row.clone()]);
    assert_eq!(store.sessions(1).unwrap(), [row]);
    let source = SourceFile { path: odd.to_owned(), inode: u64::MAX };
    ingest(&mut store, &source, readings_batch(Vec::new(), at(9))).unwrap();
    assert_eq!(store.read_offset(&source).unwrap(), 9);
}

#[test]
fn an_absurd_count_is_capped() {
    let mut store = Store::in_memory().unwrap();
    let rows = vec![reading("s1", 1, u64::MAX), reading("s1", 2, 5)];
    ingest(&mut store, &source(1), readings_batch(rows, at(1))).unwrap();
    let kept = store.readings(&id("s1"), None).unwrap();
    assert_eq!(kept, [reading("s1", 1, i64::MAX.cast_unsigned()), reading("s1", 2, 5)]);
}

#[test]
fn the_newest_five_are_learned_from_for_each_model_and_version() {
    let mut rows: Vec<_> = (1..=7).rev().map(|n| compaction("parent", n, "opus")).collect();
    rows.push(compaction("parent", 8, "haiku"));
    let version = Some("2.2.0".to_owned());
    rows.push(CompactionRow { version, ..compaction("parent", 9, "opus") });
    assert_eq!(
        store_with_compactions(rows).learned_triggers().unwrap(),
        [
            learned("haiku", "2.1.197", &[8]),
            learned("opus", "2.1.197", &[3, 4, 5, 6, 7]),
            learned("opus", "2.2.0", &[9]),
        ]
    );
}

#[test]
fn manual_and_incomplete_compactions_teach_nothing() {
    let plain = compaction("parent", 1, "opus");
    let asked_for = CompactionRow { automatic: false, ..plain.clone() };
    let uncounted = CompactionRow { tokens_before: None, ..plain.clone() };
    let nameless = CompactionRow { version: None, ..plain };
    for row in [asked_for, uncounted, nameless] {
        let store = store_with_compactions(vec![row.clone()]);
        assert_eq!(store.learned_triggers().unwrap(), []);
        assert_eq!(store.compactions().unwrap(), [row]);
    }
}

#[test]
fn a_compaction_that_a_fork_repeats_counts_once() {
    let known = compaction("parent", 1, "opus");
    let copy = CompactionRow { model: None, ..compaction("fork", 1, "opus") };
    let store = store_with_compactions(vec![copy, known.clone(), compaction("fork", 2, "opus")]);
    assert_eq!(store.learned_triggers().unwrap(), [learned("opus", "2.1.197", &[1, 2])]);
    assert_eq!(store.compactions().unwrap(), [known, compaction("fork", 2, "opus")]);
    assert_eq!(store.counts().unwrap().compactions, 2);
}
