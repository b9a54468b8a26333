//! `plimsoll audit`

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};
use crate::transcript::captured;

/// A session with one automatic compaction, at 92,279 tokens of a window of a million.
const COMPACTED: &str = "compact-auto-headless.jsonl";

/// A machine with that session, and with settings that are older than it.
fn machine(settings: &Value) -> TestEnv {
    let env = TestEnv::new();
    env.session("11111111").write(captured(COMPACTED));
    let file = File::options().append(true).open(env.client_settings(settings)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    env
}

fn only_finding(ran: &Ran) -> Value {
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    let mut findings: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(findings.len(), 1, "{ran}");
    findings.remove(0)
}

#[test]
fn a_setting_that_is_honoured_is_named() {
    let env = machine(&json!({"autoCompactWindow": 120_000}));
    let finding = only_finding(&env.plimsoll("audit --json"));
    assert_eq!(finding["model"], "claude-opus-5-5");
    assert_eq!(finding["client_version"], "2.1.325");
    assert_eq!(finding["window"]["tokens"], 1_000_000);
    assert_eq!(finding["configured"]["tokens"], 87_000);
    assert_eq!(finding["configured"]["setting"], "autoCompactWindow=120000");
    assert_eq!(finding["compactions"][0]["tokens"], 92_279);
    assert_eq!(finding["verdict"], "honoured");
    insta::assert_snapshot!(env.plimsoll("audit"), @"
    --- stdout
    claude-opus-5-5  client 2.1.325 · window 1,000,000 · 1 session
      ├─────◈──────────────────────────────────────────────────────┤
      configured: 87,000 (8.7 %), by autoCompactWindow=120000
      honoured: configured 8.7 %, last at 9.2 %

    ◆ configured   ● compacted   ◈ both
    [exit 0]
    ");
}

#[test]
fn an_override_that_is_not_honoured_is_told() {
    let env = machine(&json!({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "4"}}));
    let ran = env.plimsoll("audit");
    assert!(ran.stdout.contains("by CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=4\n"), "{ran}");
    assert!(ran.stdout.contains("not honoured: configured 3.9 %, last at 9.2 %\n"), "{ran}");
}

#[test]
fn an_early_compaction_and_one_though_switched_off_are_told() {
    let ran = machine(&json!({})).plimsoll("audit");
    assert!(ran.stdout.contains("by the client's default\n"), "{ran}");
    assert!(ran.stdout.contains("earlier: configured 96.7 %, last at 9.2 %\n"), "{ran}");
    let ran = machine(&json!({"autoCompactEnabled": false})).plimsoll("audit");
    assert!(ran.stdout.contains("switched off, and yet compacted: last at 9.2 %\n"), "{ran}");
}

#[test]
fn settings_newer_than_the_last_compaction_are_not_blamed() {
    let env = TestEnv::new();
    let old = captured(COMPACTED).replace("\"2026-", "\"2020-");
    env.session("11111111").write(old);
    env.client_settings(&json!({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "4"}}));
    assert_eq!(only_finding(&env.plimsoll("audit --json"))["verdict"], "not_yet_seen");
    let ran = env.plimsoll("audit");
    assert!(ran.stdout.contains("not yet seen in action"), "{ran}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{ran}");
}

#[test]
fn settings_that_are_written_for_another_reason_are_blamed_as_before() {
    let settings = json!({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "4"}});
    let verdict = |env: &TestEnv| only_finding(&env.plimsoll("audit --json"))["verdict"].clone();
    let env = machine(&settings);
    assert_eq!(verdict(&env), "not_honoured");
    let mut more = settings.clone();
    more["permissions"] = json!({"allow": ["Bash(ls:*)"]});
    env.client_settings(&more);
    assert_eq!(verdict(&env), "not_honoured");
    more["env"]["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"] = json!("5");
    env.client_settings(&more);
    assert_eq!(verdict(&env), "not_yet_seen");
    let env = machine(&settings);
    assert!(env.plimsoll("init --yes").status.success());
    assert_eq!(verdict(&env), "not_honoured", "after we have written there ourselves");
}

#[test]
fn a_long_name_of_a_model_leaves_room_for_the_rest() {
    let env = TestEnv::new();
    let model = format!("claude-opus-5-5-{}", "very-".repeat(20));
    env.session("11111111").write(captured(COMPACTED).replace("claude-opus-5-5", &model));
    let ran = env.plimsoll("audit");
    assert!(ran.stdout.starts_with("claude-opus-5-5-very-"), "{ran}");
    assert!(ran.stdout.contains("…  client 2.1.325 · "), "{ran}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{ran}");
}

#[test]
fn a_model_that_was_never_compacted_is_listed() {
    let env = TestEnv::new();
    env.session("11111111").fill(100_000);
    let finding = only_finding(&env.plimsoll("audit --json"));
    assert_eq!(finding["verdict"], "none_seen");
    assert_eq!(finding["configured"]["tokens"], Value::Null);
}

#[test]
fn without_any_session_there_is_a_sentence() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("audit"), @"
    --- stdout
    No model has answered yet in any transcript: there is nothing to audit.
    [exit 0]
    ");
    assert_eq!(env.plimsoll("audit --json").stdout, "[]\n");
    assert_eq!(env.plimsoll("audit everything").status.code(), Some(2));
}
