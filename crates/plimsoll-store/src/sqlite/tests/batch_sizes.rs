//! The store ends up the same, no matter how a file is split into batches.

use plimsoll_core::trigger::Learned;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Counts;

/// The content of one line of a file: facts about its session and an optional row.
#[derive(Clone, Debug)]
struct Line {
    session: SessionRow,
    row: Option<Row>,
}

#[derive(Clone, Debug)]
enum Row {
    Reading(ReadingRow),
    Compaction(CompactionRow),
    Decision(DecisionRow),
}

/// Uses few ids for many lines, so that many lines repeat the same facts.
fn line() -> impl Strategy<Value = Line> {
    let name = prop::sample::select(vec!["s1", "s2"]);
    let told = prop::option::of(prop::sample::select(vec!["opus", "haiku"]));
    (name, prop::bool::ANY, told, 0..4_u8, 1..6_u32, 0..50_u32).prop_map(
        |(name, in_subagent, told, kind, key, value)| {
            let subagent = in_subagent.then(|| id("agent-1"));
            let time = i64::from(value);
            let model = told.map(str::to_owned);
            let session = SessionRow { model: model.clone(), ..session(name, time, time) };
            let row = match kind {
                0 => None,
                1 => Some(Row::Reading(ReadingRow {
                    subagent,
                    time,
                    ..reading(name, key, value.into())
                })),
                2 => Some(Row::Compaction(CompactionRow {
                    subagent,
                    model,
                    time,
                    ..compaction(name, key, "")
                })),
                _ => Some(Row::Decision(DecisionRow { subagent, ..decision(name, value.into()) })),
            };
            Line { session, row }
        },
    )
}

fn batch(lines: &[Line], next: Bookmark) -> Batch {
    let mut batch = Batch { next, ..Batch::default() };
    for line in lines {
        batch.sessions.push(line.session.clone());
        match line.row.clone() {
            Some(Row::Reading(row)) => batch.readings.push(row),
            Some(Row::Compaction(row)) => batch.compactions.push(row),
            Some(Row::Decision(row)) => batch.decisions.push(row),
            None => {}
        }
    }
    batch
}

/// Ingests `lines` in batches of these sizes, and the rest in one more.
fn read_in_batches(store: &mut Store, lines: &[Line], sizes: &[usize]) {
    for size in sizes.iter().copied().chain([lines.len()]) {
        let read = |here: Bookmark| -> Result<_, StoreError> {
            let begin = here.offset as usize;
            let end = (begin + size).min(lines.len());
            Ok(batch(&lines[begin..end], at(end as u64)))
        };
        store.ingest(&source(1), read).unwrap();
    }
}

#[derive(Debug, PartialEq)]
struct StoreContents {
    sessions: Vec<SessionRow>,
    readings: Vec<ReadingRow>,
    compactions: Vec<CompactionRow>,
    decisions: Vec<DecisionRow>,
    learned: Vec<Learned>,
    counts: Counts,
}

fn read_contents(store: &Store) -> StoreContents {
    let (sessions, subagents) = ([id("s1"), id("s2")], [None, Some(id("agent-1"))]);
    let windows = sessions.iter().flat_map(|name| subagents.iter().map(move |agent| (name, agent)));
    StoreContents {
        sessions: store.sessions(9).unwrap(),
        readings: windows
            .flat_map(|(name, agent)| store.readings(name, agent.as_ref()).unwrap())
            .collect(),
        compactions: store.compactions().unwrap(),
        decisions: sessions.iter().flat_map(|name| store.decisions(name).unwrap()).collect(),
        learned: store.learned_triggers().unwrap(),
        counts: store.counts().unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_into_batches_gives_the_same_tables(
        lines in vec(line(), 0..40),
        sizes in vec(0..10_usize, 0..8),
    ) {
        let mut whole = Store::in_memory().unwrap();
        read_in_batches(&mut whole, &lines, &[]);
        let mut split = Store::in_memory().unwrap();
        read_in_batches(&mut split, &lines, &sizes);
        prop_assert_eq!(read_contents(&split), read_contents(&whole));
        prop_assert_eq!(split.read_offset(&source(1)).unwrap(), lines.len() as u64);
    }

    #[test]
    fn a_file_read_anew_adds_nothing(
        lines in vec(line(), 0..40),
        sizes in vec(0..10_usize, 0..8),
    ) {
        let mut store = Store::in_memory().unwrap();
        read_in_batches(&mut store, &lines, &[]);
        let before = read_contents(&store);
        store.forget_file(&source(1).path).unwrap();
        read_in_batches(&mut store, &lines, &sizes);
        let after = read_contents(&store);
        prop_assert_eq!(after.readings, before.readings);
        prop_assert_eq!(after.compactions, before.compactions);
        prop_assert_eq!(after.decisions, before.decisions);
        prop_assert_eq!(after.counts, before.counts);
    }
}
