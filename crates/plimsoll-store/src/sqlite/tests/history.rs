//! Tests of the queries over all past sessions.

use std::path::Path;

use plimsoll_core::entry::EntryId;
use plimsoll_core::hook_run::{Command, HookRun, Outcome};

use plimsoll_core::event::AgentId;

use super::*;
use crate::{ClientRow, HistoryExtent, HookCount, HookRunRow, HookSpan, PeakRow};

fn run(session: &str, call: &str, millis: Option<u64>, outcome: Outcome) -> HookRunRow {
    let run = HookRun {
        call: EntryId::new(call.as_bytes()),
        event: "Stop".to_owned(),
        command: Command::new("sh slow.sh"),
        millis,
        outcome,
    };
    HookRunRow { session: id(session), subagent: None, time: 5, run }
}

fn count(millis: Option<u64>, outcome: Outcome, runs: u64) -> HookCount {
    let (command, event) = (Command::new("sh slow.sh"), "Stop".to_owned());
    HookCount { command, event, millis, outcome, runs }
}

fn store(hook_runs: Vec<HookRunRow>) -> Store {
    let mut store = Store::in_memory().unwrap();
    let sessions = vec![session("s1", 0, 100), session("s2", 50, 350)];
    let batch = Batch { sessions, hook_runs, next: at(1), ..Batch::default() };
    ingest(&mut store, &source(1), batch).unwrap();
    store
}

#[test]
fn runs_are_counted_by_duration_and_outcome() {
    let store = store(vec![
        run("s1", "a", Some(20), Outcome::Done),
        run("s1", "b", Some(20), Outcome::Done),
        run("s2", "c", Some(300), Outcome::Stopped),
    ]);
    let counts = [count(Some(20), Outcome::Done, 2), count(Some(300), Outcome::Stopped, 1)];
    assert_eq!(store.hook_counts(0).unwrap(), counts);
    assert_eq!(store.hook_counts(6).unwrap(), []);
    let span = HookSpan { command: Command::new("sh slow.sh").id, sessions: 2, millis: 400 };
    assert_eq!(store.hook_spans(Millis::MIN).unwrap(), [span]);
}

#[test]
fn records_of_one_run_are_merged_in_any_order() {
    let (failed, timed) =
        (run("s1", "a", None, Outcome::Failed), run("s1", "a", Some(20), Outcome::Done));
    for runs in [vec![failed.clone(), timed.clone()], vec![timed, failed]] {
        let together = [count(Some(20), Outcome::Failed, 1)];
        assert_eq!(store(runs).hook_counts(0).unwrap(), together);
    }
}

#[test]
fn a_run_that_a_fork_repeats_counts_once() {
    let again = ["s1", "s2"].map(|session| run(session, "a", Some(20), Outcome::Done));
    assert_eq!(store(again.into()).hook_counts(0).unwrap(), [count(Some(20), Outcome::Done, 1)]);
}

#[test]
fn commands_that_differ_only_in_a_secret_are_counted_apart() {
    let both = ["notify --token a", "notify --token b"].map(|command| {
        let row = run("s1", "a", Some(20), Outcome::Done);
        HookRunRow { run: HookRun { command: Command::new(command), ..row.run }, ..row }
    });
    let store = store(both.into());
    let counts = store.hook_counts(0).unwrap();
    let shown = counts.iter().map(|count| (count.command.shown.as_str(), count.runs));
    assert_eq!(shown.collect::<Vec<_>>(), [("notify --token …", 1); 2]);
    assert_eq!(store.hook_spans(0).unwrap().len(), 2);
}

#[test]
fn growth_uses_the_newest_readings_since_the_last_compaction() {
    let mut store = Store::in_memory().unwrap();
    let batch = Batch {
        sessions: vec![session("s1", 1, 9)],
        readings: (1..=9).map(|message| reading("s1", message, 1)).collect(),
        compactions: vec![compaction("s1", 4, "m")],
        next: at(1),
        ..Batch::default()
    };
    ingest(&mut store, &source(1), batch).unwrap();
    let times = |most| {
        let pace = store.growth_samples(&id("s1"), most).unwrap();
        assert_eq!(pace.compactions, 1);
        pace.samples.iter().map(|sample| sample.time).collect::<Vec<_>>()
    };
    assert_eq!(times(100), [5, 6, 7, 8, 9]);
    assert_eq!(times(2), [8, 9]);
    assert_eq!(store.growth_samples(&id("s2"), 2).unwrap(), crate::GrowthSamples::default());
}

#[test]
fn newest_readings_use_a_covering_index() {
    let store = Store::in_memory().unwrap();
    let sql = format!("EXPLAIN QUERY PLAN {}", super::super::history::NEWEST_READINGS);
    let plan: Vec<String> =
        store.query_all(&sql, params!["s1", 0, 1], |row| row.get("detail")).unwrap();
    let [step] = &plan[..] else { panic!("more than one step: {plan:?}") };
    assert!(step.contains("USING COVERING INDEX readings_by_time"), "{step}");
}

fn session_with_model(name: &str, last_seen: i64) -> SessionRow {
    SessionRow {
        model: Some("m".to_owned()),
        version: Some("1".to_owned()),
        project: Some("/p".into()),
        ..session(name, 1, last_seen)
    }
}

fn decision_labelled(name: &str, what: &str) -> DecisionRow {
    DecisionRow { label: what.to_owned(), ..decision(name, name.len() as u64) }
}

#[test]
fn first_prompts_of_a_project_are_listed() {
    let mut store = Store::in_memory().unwrap();
    let elsewhere = SessionRow { project: Some("/q".into()), ..session_with_model("s3", 10) };
    let batch = Batch {
        sessions: vec![
            session_with_model("s1", 7),
            session_with_model("s2", 9),
            elsewhere,
            session_with_model("silent", 11),
        ],
        readings: [("s1", 3), ("s1", 8), ("s2", 2), ("s3", 5)]
            .map(|(session, message)| reading(session, message, 1))
            .into(),
        next: at(1),
        ..Batch::default()
    };
    ingest(&mut store, &source(1), batch).unwrap();
    let began = |most| -> Vec<_> {
        let rows = store.first_prompts(Path::new("/p"), most).unwrap();
        rows.into_iter().map(|row| (row.first, row.largest)).collect()
    };
    assert_eq!(began(5), [(2_000, 2_000), (3_000, 8_000)]);
    assert_eq!(began(1), [(2_000, 2_000)]);
}

#[test]
fn sessions_are_summed_up() {
    let mut store = Store::in_memory().unwrap();
    let batch = Batch {
        sessions: vec![session_with_model("s1", 9), session_with_model("s2", 7)],
        readings: vec![reading("s1", 3, 1), reading("s1", 8, 1), reading("s2", 2, 1)],
        compactions: vec![compaction("s1", 4, "m")],
        decisions: vec![decision_labelled("s2", "warned")],
        next: at(1),
        ..Batch::default()
    };
    ingest(&mut store, &source(1), batch).unwrap();
    let extent = HistoryExtent { sessions: 2, projects: 1, since: Some(1) };
    assert_eq!(store.history_extent().unwrap(), extent);
    let (model, version) = ("m".to_owned(), "1".to_owned());
    let client =
        ClientRow { agent: AgentId::new("claude-code"), model, version, sessions: 2, last_seen: 9 };
    assert_eq!(store.clients().unwrap(), [client]);
    let peak = |name, tokens, automatic_compactions, warned| PeakRow {
        session: id(name),
        model: Some("m".to_owned()),
        version: Some("1".to_owned()),
        tokens,
        automatic_compactions,
        warned,
    };
    let mut peaks = store.peaks().unwrap();
    peaks.sort_by_key(|peak| peak.tokens);
    assert_eq!(peaks, [peak("s2", 2_000, 0, true), peak("s1", 8_000, 1, false)]);
}

#[test]
fn silent_decisions_are_not_warnings() {
    let words = ["warned", "suggested", "saved", "guarded", "refused"];
    let silent = ["window", "quiet", "replaced", "unseen"];
    for (what, warned) in
        words.map(|word| (word, true)).into_iter().chain(silent.map(|word| (word, false)))
    {
        let mut store = Store::in_memory().unwrap();
        let batch = Batch {
            sessions: vec![session_with_model("s1", 9)],
            readings: vec![reading("s1", 3, 1)],
            decisions: vec![decision_labelled("s1", what)],
            next: at(1),
            ..Batch::default()
        };
        ingest(&mut store, &source(1), batch).unwrap();
        assert_eq!(store.peaks().unwrap()[0].warned, warned, "{what}");
    }
}

#[test]
fn a_session_without_responses_is_not_counted() {
    let mut store = Store::in_memory().unwrap();
    let batch = Batch {
        sessions: vec![session("s1", 1, 9)],
        decisions: vec![decision_labelled("s1", "window")],
        next: at(1),
        ..Batch::default()
    };
    ingest(&mut store, &source(1), batch).unwrap();
    assert_eq!(store.history_extent().unwrap(), HistoryExtent::default());
}
