//! Tests of the readings of a session over time.

use super::*;
use crate::CurvePoint;

const MINUTE: Millis = 60_000;
const DAY: Millis = 24 * 60 * MINUTE;
const NOW: Millis = 100 * DAY;

fn read(time: Millis, prompt_tokens: u64) -> ReadingRow {
    let message = format!("m{time}");
    ReadingRow { time, prompt_tokens, message, output_tokens: 0, ..reading("s1", 1, 0) }
}

fn compacted(time: Millis) -> CompactionRow {
    CompactionRow {
        session: id("s1"),
        subagent: None,
        entry: format!("c{time}"),
        time,
        model: None,
        version: None,
        automatic: true,
        tokens_before: Some(9),
        tokens_after: None,
    }
}

/// Creates a store with one session that has these readings and compactions.
fn store_with(readings: Vec<ReadingRow>, compactions: Vec<CompactionRow>) -> Store {
    let mut store = Store::in_memory().unwrap();
    let times = readings.iter().map(|row| row.time);
    let (started, last_seen) = (times.clone().min().unwrap(), times.max().unwrap());
    let sessions = vec![session("s1", started, last_seen)];
    let batch = Batch { sessions, readings, compactions, ..Batch::default() };
    ingest(&mut store, &source(1), batch).unwrap();
    store
}

/// Returns time and tokens of the readings that are left.
fn remaining_readings(store: &Store) -> Vec<(Millis, u64)> {
    let points = store.series(&id("s1"), 0).unwrap();
    let readings = points.into_iter().filter_map(|row| match row.point {
        CurvePoint::Reading { used } => Some((row.time, used)),
        CurvePoint::Compaction { .. } => None,
    });
    readings.collect()
}

#[test]
fn a_session_over_time_has_its_readings_and_compactions() {
    let store = store_with(vec![read(10, 5), read(30, 7)], vec![compacted(20)]);
    let points = store.series(&id("s1"), 20).unwrap();
    let [compaction, reading] = &points[..] else { panic!("{points:?}") };
    assert_eq!((compaction.time, reading.time), (20, 30));
    assert_eq!(reading.point, CurvePoint::Reading { used: 7 });
    let before =
        CurvePoint::Compaction { automatic: true, tokens_before: Some(9), tokens_after: None };
    assert_eq!(compaction.point, before);
}

#[test]
fn old_readings_are_thinned_and_peaks_stay() {
    let today = NOW - DAY + 1;
    let this_week = NOW - 3 * DAY;
    let long_ago = NOW - 30 * DAY;
    let mut readings: Vec<ReadingRow> = Vec::new();
    for (start, step) in [(today, 1_000), (this_week, 10_000), (long_ago, 60_000)] {
        readings.extend((0..30).map(|n| read(start + n * step, 100 + (n as u64 * 7) % 30)));
    }
    let peak = readings.iter().map(|row| row.prompt_tokens).max();
    let store = store_with(readings, Vec::new());
    assert_eq!(store.thin_readings(NOW, 10).unwrap(), 25 + 24);
    let kept = remaining_readings(&store);
    let of =
        |from: Millis| kept.iter().filter(|(time, _)| (from..from + DAY).contains(time)).count();
    assert_eq!((of(long_ago), of(this_week), of(today)), (6, 5, 30));
    assert_eq!(kept.iter().map(|(_, used)| *used).max(), peak);
    assert_eq!(store.thin_readings(NOW, 10).unwrap(), 0, "once a day is enough");
    assert_eq!(
        store.thin_readings(NOW + DAY + MINUTE, 10).unwrap(),
        29,
        "what was of today is old now"
    );
}

#[test]
fn both_sides_of_a_compaction_stay() {
    let start = NOW - 30 * DAY;
    let readings =
        vec![read(start, 5), read(start + 1, 90), read(start + 3, 10), read(start + 4, 12)];
    let store = store_with(readings, vec![compacted(start + 2)]);
    store.thin_readings(NOW, 10).unwrap();
    assert_eq!(remaining_readings(&store), [(start + 1, 90), (start + 4, 12)]);
    assert_eq!(store.compactions().unwrap().len(), 1);
}
