//! `plimsoll tax`

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::env::{Ran, TestEnv};
use crate::transcript::captured;

/// What every hook of the captured session ran as, and how often: twelve attachments, and four
/// summaries at Stop, one of which tells of a run that has an attachment too.
const COMMAND: &str = "/home/dev/bin/capture-hook /home/dev/hooks";
/// What is kept of it.
const SHOWN: &str = "/home/dev/bin/capture-hook …";
const RUNS: u64 = 15;

fn json(ran: &Ran) -> Value {
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn every_recorded_run_is_counted_once() {
    let env = TestEnv::new();
    env.session("11111111").write(captured("hook-context-every-event.jsonl"));
    let tax = json(&env.plimsoll("tax --json"));
    let [hook] = &tax["hooks"].as_array().unwrap()[..] else { panic!("{tax}") };
    assert_eq!(hook["command"], SHOWN);
    assert_eq!(hook["calls"], RUNS);
    assert_eq!(hook["times"]["max_ms"], 85.0);
    assert_eq!(hook["times"]["p50_ms"], 32.0);
    assert_eq!(hook["total_ms"], 624);
    assert_eq!(hook["sessions"], 1);
    assert!(hook["share"].as_f64().unwrap() > 0.0);
    assert!(tax["measured_now"]["p50_ms"].as_f64().unwrap() > 0.0);
    // A fork repeats the records of its parent.
    env.session("22222222").write(captured("hook-context-every-event.jsonl"));
    assert_eq!(json(&env.plimsoll("tax --json"))["hooks"][0]["calls"], RUNS);
}

#[test]
fn the_dearest_hook_comes_first_and_lines_fit_the_terminal() {
    let env = TestEnv::new();
    let captured = captured("hook-context-every-event.jsonl");
    env.session("11111111").write(&captured);
    let dear = captured
        .replace("\"durationMs\":", "\"durationMs\":9")
        .replace("toolUseID\":\"", "toolUseID\":\"x");
    let dear = dear.replace(COMMAND, &format!("sh {}/dear.sh", "/very/long/path".repeat(9)));
    env.session("22222222").write(dear);
    let ran = env.plimsoll("tax");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    let at = |what: &str| ran.stdout.find(what).unwrap_or_else(|| panic!("{what} in {ran}"));
    assert!(at("dear.sh") < at(SHOWN), "{ran}");
    assert!(at("measured now") < at("leave no record"), "{ran}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{ran}");
}

#[test]
fn only_the_days_asked_for_count() {
    let env = TestEnv::new();
    let old = captured("hook-context-every-event.jsonl").replace("\"2026-", "\"2020-");
    env.session("11111111").write(old);
    assert_eq!(json(&env.plimsoll("tax --json"))["hooks"][0]["calls"], RUNS);
    assert_eq!(json(&env.plimsoll("tax --json --days 30"))["hooks"], Value::Array(Vec::new()));
    let ran = env.plimsoll("tax --days 30");
    assert!(
        ran.stdout.starts_with("Your transcripts of the last 30 days tell of no hook"),
        "{ran}"
    );
}

#[test]
fn without_any_session_there_is_a_sentence_and_our_own_figure() {
    let ran = TestEnv::new().plimsoll("tax");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    assert!(ran.stdout.starts_with("Your transcripts tell of no hook that ran."), "{ran}");
    assert!(ran.stdout.contains("plimsoll's own hook, measured now: p50 "), "{ran}");
}

#[test]
fn timing_our_own_hook_leaves_no_traces() {
    let env = TestEnv::new();
    env.session("11111111").fill(190_000);
    assert!(env.plimsoll("tax").status.success());
    let left: Vec<_> = env
        .all_under(&env.data())
        .iter()
        .map(|path| path.file_name().unwrap().to_owned())
        .collect();
    assert!(!env.session("11111111").spool().exists(), "{left:?}");
    assert!(!left.iter().any(|name| name == "hook.log" || name == "settings"), "{left:?}");
}

#[test]
fn a_scratch_folder_of_a_run_that_was_killed_is_taken_away() {
    let env = TestEnv::new();
    let left = env.data().join(format!("scratch/plimsoll-{}-1/spool", i32::MAX));
    fs::create_dir_all(&left).unwrap();
    assert!(env.plimsoll("tax").status.success());
    assert!(!env.data().join("scratch").exists());
}

#[test]
fn hooks_that_only_a_secret_tells_apart_are_two_rows_without_it() {
    let env = TestEnv::new();
    let captured = captured("hook-context-every-event.jsonl");
    let with = |token: &str| captured.replace(COMMAND, &format!("notify --token {token}"));
    env.session("11111111").write(with("hunter-a") + &with("hunter-b"));
    let tax = json(&env.plimsoll("tax --json"));
    let rows: Vec<_> = tax["hooks"].as_array().unwrap().iter().map(|hook| &hook["calls"]).collect();
    assert_eq!(rows, [RUNS; 2]);
    let store = fs::read(env.data().join("store.sqlite")).unwrap();
    assert!(!String::from_utf8_lossy(&store).contains("hunter"));
}

#[test]
fn that_plugins_may_share_a_row_is_told_where_one_is() {
    const SENTENCE: &str = "stands for the folder of any plugin";
    let env = TestEnv::new();
    let captured = captured("hook-context-every-event.jsonl");
    env.session("11111111").write(&captured);
    assert!(!env.plimsoll("tax").stdout.contains(SENTENCE));
    let plugin = captured
        .replace(COMMAND, "bash ${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh")
        .replace("toolUseID\":\"", "toolUseID\":\"x");
    env.session("22222222").write(plugin);
    let ran = env.plimsoll("tax");
    assert!(ran.stdout.contains(SENTENCE), "{ran}");
    assert!(ran.stdout.contains("    bash ${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh · "), "{ran}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{ran}");
}

#[test]
fn a_transcript_that_cannot_be_read_is_told_of() {
    let mut env = TestEnv::new();
    env.session("11111111").fill(100_000);
    env.session("22222222").fill(100_000);
    env.as_plain_user();
    let closed = env.session("22222222");
    fs::set_permissions(&closed.transcript, fs::Permissions::from_mode(0o000)).unwrap();
    for command in ["tax", "audit"] {
        let ran = env.plimsoll(command);
        assert!(ran.status.success(), "{ran}");
        assert_eq!(ran.stderr, "note: one transcript could not be read and is left out\n");
    }
}

#[test]
fn misuse_is_refused() {
    for arguments in ["tax --days 0", "tax --days some", "tax now"] {
        let ran = TestEnv::new().plimsoll(arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments}: {ran}");
    }
}
