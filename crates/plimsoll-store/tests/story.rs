//! One story on the local store: a session grows, is warned, compacts and is forked, and a hook
//! runs in it.

#![expect(clippy::unwrap_used, reason = "a story that cannot be told is a failed test")]

use plimsoll_core::entry::EntryId;
use plimsoll_core::event::SessionId;
use plimsoll_core::hook_run::{Command, HookRun, Outcome};
use plimsoll_core::trigger::Learned;
use plimsoll_core::{Millis, Tokens};
use plimsoll_store::{
    Batch, Bookmark, CompactionRow, Counts, DecisionRow, HookRunRow, ReadingRow, SessionRow,
    SourceFile, Store, StoreError,
};

const PARENT: &str = "024b703c-0f25-4d1f-98da-bbc0541a4bcf";
const FORK: &str = "02c1e8aa-5d0e-4f43-9a37-3f1f6d2b7c11";
const AGENT: &str = "agent-a1";
const MODEL: &str = "claude-opus-4-6";
const VERSION: &str = "2.1.197";

fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn file(path: &str, inode: u64) -> SourceFile {
    SourceFile { path: path.into(), inode }
}

fn session(name: &str, last_seen: Millis) -> SessionRow {
    SessionRow {
        id: id(name),
        agent: "claude-code".to_owned(),
        project: Some("/home/ada/app".into()),
        transcript: Some(format!("/home/ada/.claude/projects/app/{name}.jsonl").into()),
        version: Some(VERSION.to_owned()),
        model: Some(MODEL.to_owned()),
        started: 1_000,
        last_seen,
    }
}

fn reading(name: &str, message: &str, time: Millis, prompt: Tokens, output: Tokens) -> ReadingRow {
    ReadingRow {
        session: id(name),
        subagent: None,
        message: message.to_owned(),
        time,
        model: MODEL.to_owned(),
        prompt_tokens: prompt,
        output_tokens: output,
        turn: 1,
    }
}

fn compaction(name: &str) -> CompactionRow {
    CompactionRow {
        session: id(name),
        subagent: None,
        entry: "45bef045-bf76-4c4c-8815-d7b3542f05b3".to_owned(),
        time: 5_000,
        model: Some(MODEL.to_owned()),
        version: Some(VERSION.to_owned()),
        automatic: true,
        tokens_before: Some(167_412),
        tokens_after: Some(9_120),
    }
}

fn warning() -> DecisionRow {
    DecisionRow {
        offset: 0,
        session: id(PARENT),
        subagent: None,
        time: 3_500,
        label: "warned".to_owned(),
        used: 161_000,
        window: 200_000,
    }
}

/// Ingests the next part of a file and checks that the store continues at `from`.
fn ingest_part(store: &mut Store, source: &SourceFile, from: u64, part: Batch) {
    let told = store.ingest(source, |here| {
        assert_eq!(here.offset, from);
        Ok::<_, StoreError>(part)
    });
    told.unwrap();
}

fn to(offset: u64) -> Bookmark {
    Bookmark { offset, reader_state: String::new() }
}

fn session_grows_and_a_response_arrives_in_blocks(store: &mut Store) {
    let transcript = file("parent.jsonl", 11);
    let first = Batch {
        sessions: vec![session(PARENT, 2_000)],
        readings: vec![
            reading(PARENT, "msg_1", 1_500, 20_000, 300),
            reading(PARENT, "msg_2", 2_000, 21_000, 4),
        ],
        next: to(900),
        ..Batch::default()
    };
    ingest_part(store, &transcript, 0, first);
    let second = Batch {
        sessions: vec![session(PARENT, 3_000)],
        readings: vec![
            reading(PARENT, "msg_2", 2_100, 21_000, 650),
            reading(PARENT, "msg_3", 3_000, 160_500, 500),
        ],
        next: to(1_700),
        ..Batch::default()
    };
    ingest_part(store, &transcript, 900, second);
    assert_eq!(store.readings(&id(PARENT), None).unwrap(), curve(PARENT));
}

fn curve(name: &str) -> [ReadingRow; 3] {
    [
        reading(name, "msg_1", 1_500, 20_000, 300),
        reading(name, "msg_2", 2_000, 21_000, 650),
        reading(name, "msg_3", 3_000, 160_500, 500),
    ]
}

fn session_is_warned(store: &mut Store) {
    let spool = file("parent.spool", 12);
    let part = Batch { decisions: vec![warning()], next: to(80), ..Batch::default() };
    ingest_part(store, &spool, 0, part);
    assert_eq!(store.decisions(&id(PARENT)).unwrap(), [warning()]);
}

fn subagent_has_its_own_readings(store: &mut Store) {
    let subagent = Some(id(AGENT));
    let row = ReadingRow { subagent, ..reading(PARENT, "msg_4", 4_000, 8_000, 90) };
    let part = Batch { readings: vec![row.clone()], next: to(500), ..Batch::default() };
    ingest_part(store, &file("agent-a1.jsonl", 13), 0, part);
    assert_eq!(store.readings(&id(PARENT), Some(&id(AGENT))).unwrap(), [row]);
    assert_eq!(store.readings(&id(PARENT), None).unwrap(), curve(PARENT));
}

fn session_compacts_and_the_trigger_is_learned(store: &mut Store) {
    let part = Batch {
        sessions: vec![session(PARENT, 5_000)],
        compactions: vec![compaction(PARENT)],
        next: to(2_400),
        ..Batch::default()
    };
    ingest_part(store, &file("parent.jsonl", 11), 1_700, part);
    assert_eq!(store.learned_triggers().unwrap(), [learned()]);
}

fn learned() -> Learned {
    Learned {
        agent: None,
        model: MODEL.to_owned(),
        version: VERSION.to_owned(),
        seen: vec![167_412],
    }
}

fn fork_counts_only_its_own_rows(store: &mut Store) {
    let own = reading(FORK, "msg_5", 6_000, 12_000, 70);
    let part = Batch {
        sessions: vec![session(FORK, 6_000)],
        readings: curve(FORK).into_iter().chain([own.clone()]).collect(),
        compactions: vec![compaction(FORK)],
        next: to(3_000),
        ..Batch::default()
    };
    ingest_part(store, &file("fork.jsonl", 14), 0, part);
    let forked: Vec<_> = curve(FORK).into_iter().chain([own]).collect();
    assert_eq!(store.readings(&id(FORK), None).unwrap(), forked);
    assert_eq!(store.readings(&id(PARENT), None).unwrap(), curve(PARENT));
    assert_eq!(store.compactions().unwrap(), [compaction(PARENT)]);
    assert_eq!(store.learned_triggers().unwrap(), [learned()]);
    let counts = Counts { sessions: 2, messages: 5, compactions: 1, decisions: 1 };
    assert_eq!(store.counts().unwrap(), counts);
}

fn hook_run_in_both_counts_once(store: &mut Store) {
    for (name, path, inode, from) in
        [(PARENT, "parent.jsonl", 11, 2_400), (FORK, "fork.jsonl", 14, 3_000)]
    {
        let run = HookRun {
            call: EntryId::new(b"toolu_1"),
            event: "PreToolUse".to_owned(),
            command: Command::new("sh lint.sh"),
            millis: Some(240),
            outcome: Outcome::Done,
        };
        let row = HookRunRow { session: id(name), subagent: None, time: 4_500, run };
        let part = Batch { hook_runs: vec![row], next: to(from + 100), ..Batch::default() };
        ingest_part(store, &file(path, inode), from, part);
    }
    let counts = store.hook_counts(0).unwrap();
    let told: Vec<_> = counts.iter().map(|count| (count.millis, count.runs)).collect();
    assert_eq!(told, [(Some(240), 1)]);
}

fn both_sessions_are_listed(store: &Store) {
    assert_eq!(store.sessions(10).unwrap(), [session(FORK, 6_000), session(PARENT, 5_000)]);
}

#[test]
fn a_session_grows_is_warned_compacts_and_is_forked() {
    let mut store = Store::in_memory().unwrap();
    session_grows_and_a_response_arrives_in_blocks(&mut store);
    session_is_warned(&mut store);
    subagent_has_its_own_readings(&mut store);
    session_compacts_and_the_trigger_is_learned(&mut store);
    fork_counts_only_its_own_rows(&mut store);
    hook_run_in_both_counts_once(&mut store);
    both_sessions_are_listed(&store);
}
