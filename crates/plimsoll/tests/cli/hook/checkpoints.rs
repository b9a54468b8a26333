//! When a hook makes a checkpoint.

use std::fs;
use std::path::PathBuf;

use plimsoll_core::time::utc;
use plimsoll_engine::world::now;
use serde_json::{Value, json};

use crate::env::{Ran, Session, TestEnv, at_noon};
use crate::transcript::{captured, just_written};

/// The texts of the project's checkpoints, the oldest first.
pub(crate) fn checkpoints(env: &TestEnv) -> Vec<String> {
    let folder = env.project().join(".claude/checkpoints");
    let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let is_one = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "md") && !path.is_symlink()
    };
    let mut files: Vec<PathBuf> = files.filter(is_one).collect();
    files.sort();
    files.into_iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// A person's session in which the agent has worked: it wrote `b.txt`, and its window holds so many
/// tokens.
pub(crate) fn worked<'e>(env: &'e TestEnv, id: &str, used: u64) -> Session<'e> {
    let session = env.session(id);
    let project = env.project();
    let text = captured("tools.jsonl").replace("/home/dev/project", project.to_str().unwrap());
    let text = text.replace(r#""entrypoint":"sdk-cli""#, r#""entrypoint":"cli""#);
    let text = text.replace(
        "\"cache_read_input_tokens\":24097",
        &format!("\"cache_read_input_tokens\":{used}"),
    );
    session.write(just_written(&text));
    session
}

pub(super) fn ran_in_shell(
    session: &Session<'_>,
    env: &TestEnv,
    command: &str,
    stdout: &str,
) -> Ran {
    let mut payload = session.payload("PostToolUse");
    payload["tool_name"] = json!("Bash");
    payload["tool_input"] = json!({"command": command});
    payload["tool_response"] = json!({"stdout": stdout, "stderr": "", "interrupted": false});
    env.hook(payload.to_string())
}

/// Changes what is remembered of the session.
fn remembered(session: &Session<'_>, change: impl FnOnce(&mut Value)) {
    let text = fs::read_to_string(session.spool()).unwrap();
    let mut line: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    change(&mut line["state"]);
    fs::write(session.spool(), format!("{line}\n")).unwrap();
}

#[test]
fn a_checkpoint_is_sealed_where_the_line_is_crossed_and_once() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 580_000);
    assert!(session.tool_finished().is_silent());
    assert_eq!(checkpoints(&env).len(), 0);
    worked(&env, "s", 610_000);
    for _ in 0..3 {
        assert!(session.tool_finished().is_silent());
    }
    let sealed = checkpoints(&env);
    assert_eq!(sealed.len(), 1);
    assert!(sealed[0].contains("trigger: auto\n") && sealed[0].contains("[b.txt"), "{}", sealed[0]);
    assert!(env.plimsoll("checkpoint verify --all").status.success());
    assert_eq!(env.log(), Vec::<String>::new());
}

#[test]
fn a_warning_names_the_checkpoint_that_is_at_hand_by_the_users_clock() {
    for (zone, offset) in [("America/New_York", None), ("Asia/Kathmandu", Some("+05:45"))] {
        let env = TestEnv::new().with("TZ", zone);
        let session = worked(&env, "s", 610_000);
        session.tool_finished();
        worked(&env, "s", 820_000);
        let said = session.prompted();
        let time = clock_at(&env, zone, &session);
        assert_eq!(
            said.to_user().unwrap(),
            format!("CONTEXT: ~82% used. Checkpoint saved {time}; no action needed.")
        );
        let zoned = format!("Checkpoint saved {time} {}", offset.unwrap_or("-0"));
        assert!(said.stdout.contains(&zoned), "{zoned}: {said}");
    }
}

/// When the session's last checkpoint was sealed, as the system's own `date` shows it.
fn clock_at(env: &TestEnv, zone: &str, session: &Session<'_>) -> String {
    let spool = fs::read_to_string(session.spool()).unwrap();
    let line: Value = serde_json::from_str(spool.lines().last().unwrap()).unwrap();
    let seconds = line["state"]["sealed"]["at"].as_u64().unwrap() / 1000;
    let mut date = std::process::Command::new("date");
    date.args(["-d", &format!("@{seconds}"), "+%H:%M"]).env("TZ", zone);
    env.ran(date.output().unwrap()).stdout.trim_end().to_owned()
}

#[test]
fn advice_to_act_is_not_taken_back_by_a_checkpoint_that_was_made_meanwhile() {
    let env = TestEnv::new();
    let advice = "Consider /compact before context exhaustion.";
    let said = worked(&env, "s", 820_000).tool_finished().to_user().unwrap();
    assert_eq!(said, format!("CONTEXT: ~82% used. {advice}"));
    assert_eq!(checkpoints(&env).len(), 1);
    let said = worked(&env, "s", 870_000).tool_finished().to_user().unwrap();
    assert_eq!(at_noon(&said), format!("CONTEXT: ~87% used. Checkpoint saved 12:00. {advice}"));
}

#[test]
fn a_session_that_wants_no_words_has_its_checkpoint_all_the_same() {
    let env = TestEnv::new();
    env.user_config("quiet: true\n");
    let session = worked(&env, "s", 850_000);
    assert!(session.tool_finished().is_silent());
    assert!(session.tool_finished().is_silent());
    assert_eq!(checkpoints(&env).len(), 1);
}

#[test]
fn a_subagent_makes_none() {
    let env = TestEnv::new();
    let subagent = env.session("s").subagent("a1");
    subagent.fill(150_000).tool_finished();
    for event in ["PreCompact", "PostCompact", "Stop"] {
        assert!(subagent.hook(event).is_silent(), "{event}");
    }
    assert_eq!(checkpoints(&env).len(), 0);
}

#[test]
fn a_commit_and_a_run_of_tests_are_breakpoints_five_minutes_apart() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    assert!(ran_in_shell(&session, &env, "git log", "").is_silent());
    assert_eq!(checkpoints(&env).len(), 0);
    let commit =
        || ran_in_shell(&session, &env, "git commit -m x", "[main 1a2b3c4] x\n 1 file changed");
    assert!(commit().is_silent());
    let sealed = checkpoints(&env);
    assert!(sealed.len() == 1 && sealed[0].contains("trigger: breakpoint\n"), "{sealed:?}");

    let later = captured("tools.jsonl").replace("do tools", "and now this");
    let more = fs::read_to_string(&session.transcript).unwrap() + &later;
    session.write(more);
    let tests = || ran_in_shell(&session, &env, "cargo nextest run", "3 tests run: 3 passed");
    tests();
    assert_eq!(checkpoints(&env).len(), 1, "too soon");
    remembered(&session, |state| state["paused"] = json!(1));
    tests();
    assert_eq!(checkpoints(&env).len(), 2);
    remembered(&session, |state| state["paused"] = json!(1));
    commit();
    assert_eq!(checkpoints(&env).len(), 2, "nothing has changed");
}

#[test]
fn failed_tests_are_a_breakpoint_too() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    let mut payload = session.payload("PostToolUseFailure");
    payload["tool_name"] = json!("Bash");
    payload["tool_input"] = json!({"command": "pytest -q"});
    payload["error"] = json!("Exit code 1\n1 failed, 2 passed in 0.1s");
    assert!(env.hook(payload.to_string()).is_silent());
    assert_eq!(checkpoints(&env).len(), 1);
}

#[test]
fn work_does_not_go_on_for_half_an_hour_without_one() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    let mut payload = session.payload("SessionStart");
    payload["source"] = json!("startup");
    env.hook(payload.to_string());
    session.tool_finished();
    assert_eq!(checkpoints(&env).len(), 0);
    remembered(&session, |state| {
        state["since"] = json!(state["since"].as_u64().unwrap() - 30 * 60 * 1000);
    });
    assert!(session.prompted().is_silent());
    assert_eq!(checkpoints(&env).len(), 0, "a prompt is no work yet");
    assert!(session.hook("Stop").is_silent());
    assert_eq!(checkpoints(&env).len(), 1);
    session.tool_finished();
    assert_eq!(checkpoints(&env).len(), 1);
}

/// The time of a transcript's first line.
fn first_time(text: &str) -> String {
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    line["timestamp"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_that_no_hook_saw_begin_has_worked_since_its_first_record() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    let text = fs::read_to_string(&session.transcript).unwrap();
    let long_ago = utc(now() as i64 - 31 * 60 * 1000);
    session.write(text.replacen(&first_time(&text), &long_ago, 3));
    assert!(session.prompted().is_silent());
    assert_eq!(checkpoints(&env).len(), 0, "a prompt is no work yet");
    assert!(session.tool_finished().is_silent());
    assert_eq!(checkpoints(&env).len(), 1);
    session.tool_finished();
    assert_eq!(checkpoints(&env).len(), 1);
}

#[test]
fn the_end_of_a_session_is_sealed_if_there_was_work() {
    let env = TestEnv::new();
    let talk = env.session("talk");
    talk.fill(30_000).hook("SessionEnd");
    assert_eq!(checkpoints(&env).len(), 0, "no tool was used");
    let session = worked(&env, "work", 30_000);
    session.hook("SessionEnd");
    assert_eq!(checkpoints(&env).len(), 1);
    session.hook("SessionEnd");
    assert_eq!(checkpoints(&env).len(), 1, "nothing has changed");
}

#[test]
fn a_compaction_asked_for_twice_has_one_checkpoint_as_long_as_it_is_there() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    for _ in 0..3 {
        let ran = session.hook("PreCompact");
        assert!(ran.stdout.contains("word for word"), "{ran}");
    }
    assert_eq!(checkpoints(&env).len(), 1);
    fs::remove_dir_all(env.project().join(".claude")).unwrap();
    session.hook("PreCompact");
    assert_eq!(checkpoints(&env).len(), 1, "never a phantom");
}

#[test]
fn work_that_changes_nothing_is_sealed_before_the_next_compaction_all_the_same() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    let compacts = || {
        session.hook("PreCompact");
        let mut payload = session.payload("SessionStart");
        payload["source"] = json!("compact");
        env.hook(payload.to_string());
    };
    compacts();
    assert_eq!(checkpoints(&env).len(), 1);
    let look = json!([{"type": "tool_use", "id": "toolu_9", "name": "Read",
        "input": {"file_path": env.project().join("only_read.rs")}}]);
    answered(&session, look);
    compacts();
    let sealed = checkpoints(&env);
    assert_eq!(sealed.len(), 2, "one for each compaction");
    assert!(sealed.iter().any(|text| text.contains("only_read.rs")), "{sealed:?}");
    compacts();
    assert_eq!(checkpoints(&env).len(), 2, "nothing has happened since");
}

/// Appends another answer of the model to the transcript.
fn answered(session: &Session<'_>, content: Value) {
    let text = fs::read_to_string(&session.transcript).unwrap();
    let answer = text.lines().rfind(|line| line.contains("\"type\":\"assistant\"")).unwrap();
    let mut record: Value = serde_json::from_str(answer).unwrap();
    let id = format!("more-{}", text.len());
    record["message"]["id"] = json!(id);
    (record["uuid"], record["message"]["content"]) = (json!(id), content);
    session.write(format!("{text}{record}\n"));
}

/// Appends a line of the user's place to the transcript.
fn user_line(session: &Session<'_>, content: &str) {
    let text = fs::read_to_string(&session.transcript).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let records: Vec<Value> = records.filter(|record| record["uuid"].is_string()).collect();
    let mut record = records.iter().find(|record| record["type"] == "user").unwrap().clone();
    (record["parentUuid"], record["uuid"]) =
        (records[records.len() - 1]["uuid"].clone(), json!(format!("more-{}", text.len())));
    record["message"]["content"] = json!(content);
    session.write(format!("{text}{record}\n"));
}

#[test]
fn whatever_was_said_or_done_is_sealed_before_a_compaction() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    session.hook("PreCompact");
    let mut expected = 1;
    let read = json!([{"type": "tool_use", "id": "toolu_9", "name": "Read",
        "input": {"file_path": env.project().join("only_read.rs")}}]);
    let prose = json!([{"type": "text", "text": "The keel is laid in two parts."}]);
    let thought = json!([{"type": "thinking", "thinking": "hm", "signature": "x"}]);
    let happens: [&dyn Fn(); 5] = [
        &|| answered(&session, prose.clone()),
        &|| answered(&session, read.clone()),
        &|| answered(&session, thought.clone()),
        &|| user_line(&session, "yes"),
        &|| user_line(&session, "<bash-input>ls</bash-input>"),
    ];
    for (number, happens) in happens.into_iter().enumerate() {
        happens();
        expected += 1;
        for _ in 0..2 {
            session.hook("PreCompact");
            assert_eq!(checkpoints(&env).len(), expected, "case {number}");
        }
    }
    let command = "<command-name>/compact</command-name><command-args></command-args>";
    user_line(&session, command);
    session.hook("PreCompact");
    assert_eq!(checkpoints(&env).len(), expected, "to ask for a compaction says nothing");
}

#[test]
fn whatever_was_said_is_sealed_when_the_session_ends() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 610_000);
    session.tool_finished();
    assert_eq!(checkpoints(&env).len(), 1);
    answered(&session, json!([{"type": "text", "text": "The keel is laid in two parts."}]));
    session.hook("SessionEnd");
    let sealed = checkpoints(&env);
    assert_eq!(sealed.len(), 2);
    assert!(sealed.iter().any(|text| text.contains("The keel is laid in two parts.")));
}

#[test]
fn a_longer_talk_without_tools_is_sealed_when_it_ends() {
    let env = TestEnv::new();
    let session = env.session("talk");
    session.fill(30_000);
    for _ in 0..2 {
        answered(&session, json!([{"type": "text", "text": "A clipper, with three masts."}]));
    }
    session.hook("SessionEnd");
    assert_eq!(checkpoints(&env).len(), 1);
}

#[test]
fn of_many_compactions_at_once_one_seals() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    let payload = session.payload("PreCompact").to_string();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| env.hook(&payload));
        }
    });
    assert_eq!(checkpoints(&env).len(), 1);
}

#[test]
fn a_checkpoint_that_somebody_removed_is_not_called_sealed() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 610_000);
    session.tool_finished();
    fs::remove_dir_all(env.project().join(".claude")).unwrap();
    worked(&env, "s", 820_000);
    let said = session.prompted().to_user().unwrap();
    assert!(said.contains("Consider /compact"), "{said}");
}

#[test]
fn a_restore_is_given_though_the_memory_is_busy() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    session.hook("PreCompact");
    let spool = fs::File::open(session.spool()).unwrap();
    spool.lock().unwrap();
    let mut payload = session.payload("SessionStart");
    payload["source"] = json!("compact");
    assert!(env.hook(payload.to_string()).stdout.contains("## Resuming from Checkpoint"));
}

#[test]
fn tests_in_the_background_are_no_breakpoint_yet() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    let mut payload = session.payload("PostToolUse");
    payload["tool_name"] = json!("Bash");
    payload["tool_input"] = json!({"command": "cargo test", "run_in_background": true});
    payload["tool_response"] = json!({"stdout": "", "stderr": "", "backgroundTaskId": "b1"});
    env.hook(payload.to_string());
    assert_eq!(checkpoints(&env).len(), 0);
}

#[test]
fn a_clock_that_was_set_back_keeps_nothing_from_being_sealed() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 30_000);
    let mut payload = session.payload("SessionStart");
    payload["source"] = json!("startup");
    env.hook(payload.to_string());
    remembered(&session, |state| {
        state["since"] = json!(state["since"].as_u64().unwrap() + 9_000_000)
    });
    session.tool_finished();
    assert_eq!(checkpoints(&env).len(), 1);
}

#[test]
fn what_summary_and_restore_both_lack_is_told_once() {
    let env = TestEnv::new();
    env.user_config("restore: {budget: 60}\n");
    let session = worked(&env, "s", 30_000);
    session.hook("PreCompact");
    let mut payload = session.payload("SessionStart");
    payload["source"] = json!("compact");
    let given = env.hook(payload.to_string()).stdout;
    assert!(
        given.contains("## Resuming from Checkpoint") && !given.contains("seq 1 20"),
        "{given}"
    );
    let mut payload = session.payload("PostCompact");
    payload["compact_summary"] = json!("They wrote a.txt and b.txt.");
    assert!(env.hook(payload.to_string()).is_silent());
    let told = session.prompted();
    assert!(told.stdout.contains("seq 1 20") && !told.stdout.contains("a.txt"), "{told}");
    assert!(session.prompted().is_silent());
    assert!(session.tool_finished().is_silent());
}
