//! Each row is stored once, even if files are replaced or readers fail.

use std::sync::Barrier;

use super::*;
use crate::Counts;

#[test]
fn the_same_bytes_read_twice_are_stored_once() {
    let mut store = Store::in_memory().unwrap();
    let batch = Batch {
        compactions: vec![compaction("s1", 1, "claude-opus-5-5")],
        decisions: vec![decision("s1", 0), decision("s1", 80)],
        ..readings_batch(vec![reading("s1", 1, 5), reading("s1", 2, 5)], at(160))
    };
    let first = ingest(&mut store, &source(1), batch.clone()).unwrap();
    assert_eq!(first, IngestResult { end_offset: 160, rows: 5 });
    store.forget_file(&source(1).path).unwrap();
    assert_eq!(store.read_offset(&source(1)).unwrap(), 0);
    let again = ingest(&mut store, &source(1), batch).unwrap();
    assert_eq!(again, IngestResult { end_offset: 160, rows: 0 });
    let once = Counts { sessions: 1, messages: 2, compactions: 1, decisions: 2 };
    assert_eq!(store.counts().unwrap(), once);
}

#[test]
fn a_reader_goes_on_where_the_last_one_stopped() {
    let mut store = Store::in_memory().unwrap();
    ingest(&mut store, &source(1), readings_batch(Vec::new(), at(160))).unwrap();
    assert_eq!(store.read_offset(&source(1)).unwrap(), 160);
    let read = |here: Bookmark| -> Result<_, StoreError> {
        assert_eq!(here, at(160));
        Ok(Batch { next: at(200), ..Batch::default() })
    };
    assert_eq!(store.ingest(&source(1), read).unwrap(), IngestResult { end_offset: 200, rows: 0 });
}

#[test]
fn a_replaced_file_is_read_from_its_start() {
    let mut store = Store::in_memory().unwrap();
    let old = Batch {
        decisions: vec![decision("s1", 0)],
        ..readings_batch(vec![reading("s1", 1, 5)], at(160))
    };
    ingest(&mut store, &source(1), old.clone()).unwrap();
    let read = |here: Bookmark| -> Result<_, StoreError> {
        assert_eq!(here, Bookmark::default());
        Ok(Batch { next: at(80), ..old })
    };
    assert_eq!(store.ingest(&source(2), read).unwrap(), IngestResult { end_offset: 80, rows: 1 });
    assert_eq!(store.read_offset(&source(2)).unwrap(), 80);
    assert_eq!(store.read_offset(&source(1)).unwrap(), 0);
    let kept = Counts { sessions: 1, messages: 1, compactions: 0, decisions: 2 };
    assert_eq!(store.counts().unwrap(), kept);
}

#[test]
fn a_file_that_shrank_is_read_from_an_earlier_offset() {
    let mut store = Store::in_memory().unwrap();
    ingest(&mut store, &source(1), readings_batch(vec![reading("s1", 1, 5)], at(160))).unwrap();
    ingest(&mut store, &source(1), readings_batch(vec![reading("s1", 1, 5)], at(40))).unwrap();
    assert_eq!(store.read_offset(&source(1)).unwrap(), 40);
    assert_eq!(store.counts().unwrap().messages, 1);
}

#[test]
fn decisions_in_a_new_file_with_an_old_inode_are_new() {
    let mut store = Store::in_memory().unwrap();
    let batch = |row| Batch { decisions: vec![row], ..readings_batch(Vec::new(), at(80)) };
    ingest(&mut store, &source(1), batch(decision("s1", 0))).unwrap();
    store.forget_file(&source(1).path).unwrap();
    let later = DecisionRow { time: 7, ..decision("s1", 0) };
    ingest(&mut store, &source(1), batch(later.clone())).unwrap();
    assert_eq!(store.decisions(&id("s1")).unwrap(), [decision("s1", 0), later]);
}

#[test]
fn a_failed_read_stores_nothing() {
    let mut store = Store::in_memory().unwrap();
    ingest(&mut store, &source(1), readings_batch(vec![reading("s1", 1, 5)], at(80))).unwrap();
    let failing = |_: Bookmark| Err(StoreError::Newer { path: "any error of the reader's".into() });
    assert!(matches!(store.ingest(&source(1), failing), Err(StoreError::Newer { .. })));
    let torn = readings_batch(vec![reading("s1", 2, 5), reading("unheard-of", 3, 5)], at(160));
    let error = ingest(&mut store, &source(1), torn).unwrap_err();
    assert!(matches!(error, StoreError::Other { .. }), "{error:?}");
    assert_eq!(store.read_offset(&source(1)).unwrap(), 80);
    assert_eq!(store.readings(&id("s1"), None).unwrap(), [reading("s1", 1, 5)]);
}

/// Ingests a source of 100 records, seven at a time, and returns the number of rows stored.
fn read_to_the_end(path: &Path) -> usize {
    let mut store = Store::open(path, PATIENCE).unwrap();
    let mut rows = 0;
    while store.read_offset(&source(1)).unwrap() < 100 {
        let read = |here: Bookmark| -> Result<_, StoreError> {
            let end = (here.offset + 7).min(100);
            let lines = here.offset..end;
            Ok(Batch {
                decisions: lines.clone().map(|line| decision("s1", line)).collect(),
                ..readings_batch(lines.map(|line| reading("s1", line as u32, 1)).collect(), at(end))
            })
        };
        rows += store.ingest(&source(1), read).unwrap().rows;
    }
    rows
}

#[test]
fn concurrent_readers_store_each_row_once() {
    const READERS: usize = 8;
    for _ in 0..5 {
        let (_folder, path) = new_file();
        let start = Barrier::new(READERS);
        let rows: usize = thread::scope(|scope| {
            let reader = || {
                start.wait();
                read_to_the_end(&path)
            };
            let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(reader)).collect();
            readers.into_iter().map(|reader| reader.join().unwrap()).sum()
        });
        assert_eq!(rows, 200);
        let store = Store::open(&path, PATIENCE).unwrap();
        assert_eq!(store.read_offset(&source(1)).unwrap(), 100);
        let all = Counts { sessions: 1, messages: 100, compactions: 0, decisions: 100 };
        assert_eq!(store.counts().unwrap(), all);
    }
}

#[test]
fn a_transaction_is_stored_completely_or_not_at_all() {
    let mut store = Store::in_memory().unwrap();
    let files = [source(1), SourceFile { path: "/t/s2.jsonl".into(), inode: 2 }];
    let batch = |name: &str| {
        let (sessions, readings) = (vec![session(name, 0, 9)], vec![reading(name, 1, 5)]);
        Batch { sessions, readings, next: at(9), ..Batch::default() }
    };
    for (keeps, sessions) in [(false, 0), (true, 2)] {
        store.begin().unwrap();
        for (file, name) in files.iter().zip(["s1", "s2"]) {
            ingest(&mut store, file, batch(name)).unwrap();
        }
        // A source that cannot be read does not affect the others.
        store
            .ingest(&files[0], |_| {
                Err(StoreError::new("read", Path::new("x"), rusqlite::Error::InvalidQuery))
            })
            .unwrap_err();
        if keeps {
            store.commit().unwrap()
        } else {
            store.roll_back().unwrap()
        }
        assert_eq!(store.counts().unwrap().sessions, sessions);
        assert_eq!(store.read_offset(&files[1]).unwrap(), if keeps { 9 } else { 0 });
    }
}
