//! Whatever arrives, the agent goes on: nothing is printed, the exit code is 0.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::TestEnv;

/// A text that must not turn up anywhere.
const SECRET: &str = "hunter2";

/// A session at 90 %, at which every proper call would warn, and a payload of it.
fn warnable(env: &TestEnv) -> Value {
    let session = env.session("bad");
    session.fill(180_000);
    let mut payload = session.payload("UserPromptSubmit");
    payload["prompt"] = json!(SECRET);
    payload
}

/// The call is answered by silence, and logged in so many lines without a word of the payload.
#[track_caller]
fn check(payload: impl AsRef<[u8]>, logged: usize) {
    let env = TestEnv::new();
    check_in(&env, payload.as_ref(), logged);
}

#[track_caller]
fn check_in(env: &TestEnv, payload: &[u8], logged: usize) {
    let ran = env.hook_process(payload);
    assert!(ran.is_silent(), "{ran}");
    let log = env.log();
    assert_eq!(log.len(), logged, "{log:?}");
    for line in &log {
        for told in [SECRET, "transcript_path", "bad.jsonl", env.path("").to_str().unwrap()] {
            assert!(!line.contains(told), "{line}");
        }
        assert!(line.len() < 200, "{line}");
    }
}

/// The same with one field of a proper payload changed.
#[track_caller]
fn check_field(name: &str, value: Value, logged: usize) {
    let env = TestEnv::new();
    let mut payload = warnable(&env);
    payload[name] = value;
    check_in(&env, payload.to_string().as_bytes(), logged);
}

#[track_caller]
fn check_transcript(make: impl Fn(&Path)) {
    let env = TestEnv::new();
    let mut payload = warnable(&env);
    let path = env.path(SECRET);
    make(&path);
    payload["transcript_path"] = json!(path);
    check_in(&env, payload.to_string().as_bytes(), 1);
}

#[test]
fn the_payload_these_tests_spoil_would_warn_if_it_were_left_alone() {
    let env = TestEnv::new();
    let ran = env.hook_process(warnable(&env).to_string());
    assert!(ran.speaks(), "{ran}");
    assert_eq!(env.log(), Vec::<String>::new());
}

#[test]
fn an_empty_stdin_is_survived() {
    check("", 1);
}

#[test]
fn text_that_is_no_json_is_survived() {
    check(SECRET, 1);
    check("null", 1);
    check("12", 1);
    check(format!("\"{SECRET}\""), 1);
}

#[test]
fn a_json_array_is_survived() {
    let env = TestEnv::new();
    let payload = json!([warnable(&env)]).to_string();
    check_in(&env, payload.as_bytes(), 1);
}

#[test]
fn a_payload_torn_anywhere_is_survived() {
    let env = TestEnv::new();
    let payload = warnable(&env).to_string();
    for (calls, cut) in (1..payload.len()).step_by(17).enumerate() {
        let ran = env.hook_process(&payload[..cut]);
        assert!(ran.is_silent(), "cut at {cut}: {ran}");
        assert_eq!(env.log().len(), calls + 1, "cut at {cut}");
    }
}

#[test]
fn bytes_that_are_no_text_are_survived() {
    check(b"\xff\xfe\x00\x80", 1);
    check([0; 4096], 1);
    check(b"{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"\xff\",\"transcript_path\":\"/x\"}", 1);
}

#[test]
fn bytes_that_are_no_text_in_a_field_nobody_needs_do_not_matter() {
    let env = TestEnv::new();
    let payload = warnable(&env).to_string();
    let (before, after) = payload.split_once(SECRET).unwrap();
    let payload = [before.as_bytes(), b"\xff\xfe", after.as_bytes()].concat();
    let ran = env.hook_process(payload);
    assert!(ran.speaks(), "{ran}");
}

#[test]
fn a_hundred_megabytes_of_garbage_are_not_read_to_their_end() {
    check(vec![b'x'; 100 << 20], 1);
}

#[test]
fn a_payload_over_eight_mebibytes_is_not_looked_at_and_one_just_below_is() {
    let env = TestEnv::new();
    let payload = |bytes: usize| {
        let mut payload = warnable(&env);
        payload["prompt"] = json!("");
        let short = payload.to_string().len();
        payload["prompt"] = json!("x".repeat(bytes - short));
        payload.to_string()
    };
    check_in(&env, payload((8 << 20) + 1).as_bytes(), 1);
    let ran = env.run(env.command(&[]), payload((8 << 20) + 1).as_bytes());
    assert!(ran.is_silent(), "bare: {ran}");
    let ran = env.hook_process(payload(8 << 20));
    assert!(ran.speaks(), "{ran}");
}

#[test]
fn a_transcript_path_that_is_a_folder_is_survived() {
    check_transcript(|path| fs::create_dir(path).unwrap());
}

#[test]
fn an_endless_device_as_transcript_is_survived() {
    check_field("transcript_path", json!("/dev/zero"), 1);
    check_field("transcript_path", json!("/dev/stdin"), 1);
}

#[test]
fn a_fifo_as_transcript_keeps_nobody_waiting() {
    check_transcript(|path| {
        use rustix::fs::{CWD, FileType, mknodat};
        mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap();
    });
}

#[test]
fn a_loop_of_links_as_transcript_is_survived() {
    check_transcript(|path| symlink(path, path).unwrap());
}

#[test]
fn only_a_plain_absolute_path_is_a_transcript() {
    let env = TestEnv::new();
    let mut payload = warnable(&env);
    let path = env.home().join("../home/.claude/projects/-project/bad.jsonl");
    assert!(path.exists());
    payload["transcript_path"] = json!(path);
    check_in(&env, payload.to_string().as_bytes(), 1);
    for path in ["bad.jsonl", "./bad.jsonl", "", "~/bad.jsonl", "../../../etc/passwd"] {
        check_field("transcript_path", json!(path), 1);
    }
    check_field("transcript_path", Value::Null, 1);
    check_field("transcript_path", json!(["/x"]), 1);
    check_field("transcript_path", json!("/x\0y"), 1);
}

#[test]
fn a_session_name_never_leads_out_of_our_folder() {
    for name in ["../../hunter2", "..", "a/b", "/etc/passwd", "", "a\0b", "ü", &"x".repeat(129)] {
        let env = TestEnv::new();
        let mut payload = warnable(&env);
        payload["session_id"] = json!(name);
        let before = env.all_under(&env.path(""));
        check_in(&env, payload.to_string().as_bytes(), 1);
        let log = env.data().join("hook.log");
        let strange = |path: &&PathBuf| !before.contains(path) && !log.starts_with(path);
        assert_eq!(env.all_under(&env.path("")).iter().find(strange), None);
    }
}

#[test]
fn a_subagents_name_never_leads_out_of_the_sessions_folder() {
    check_field("agent_id", json!("../../hunter2"), 1);
    check_field("agent_id", json!(""), 1);
}

#[test]
fn a_payload_without_a_session_is_survived() {
    check_field("session_id", Value::Null, 1);
    check_field("session_id", json!(7), 1);
    check(r#"{"hook_event_name":"UserPromptSubmit"}"#, 1);
}

#[test]
fn no_depth_of_nesting_is_too_deep() {
    check("[".repeat(8_000_000), 1);
    check("{\"a\":".repeat(1_500_000), 1);
    let env = TestEnv::new();
    let mut payload = warnable(&env).to_string();
    let deep = format!(",\"deep\":{}{}}}", "[".repeat(3_000_000), "]".repeat(3_000_000));
    payload.truncate(payload.len() - 1);
    let ran = env.hook_process(payload + &deep);
    assert!(ran.speaks(), "{ran}");
}

#[test]
fn an_event_nobody_knows_is_no_error() {
    check_field("hook_event_name", json!("TeaBreak"), 0);
    check_field("hook_event_name", Value::Null, 0);
    check("{}", 0);
}

#[test]
fn fields_nobody_knows_do_not_matter() {
    let env = TestEnv::new();
    let mut payload = warnable(&env);
    payload["future"] = json!({"a": [1, 2.5e300, null, "\"}"]});
    payload["tool_input"] = json!("not an object");
    let ran = env.hook_process(payload.to_string());
    assert!(ran.speaks(), "{ran}");
    assert!(env.log().is_empty());
}

#[test]
fn a_transcript_that_is_not_there_is_no_error() {
    check_field("transcript_path", json!("/no/such/file.jsonl"), 0);
}

#[test]
fn an_agent_nobody_knows_is_survived() {
    for arguments in [
        &["hook", "--agent", "hunter2"][..],
        &["hook", "--agent"],
        &["hook", "hunter2"],
        &["hook", "--hunter2=1", "x"],
    ] {
        let env = TestEnv::new();
        let payload = warnable(&env).to_string();
        let ran = env.run(env.command(arguments), payload.as_bytes());
        assert!(ran.is_silent(), "{arguments:?}: {ran}");
        assert_eq!(env.log().len(), 1);
        assert!(!env.log()[0].contains(SECRET));
    }
}

#[test]
fn the_agent_may_be_named() {
    let env = TestEnv::new();
    let payload = warnable(&env).to_string();
    let ran = env.run(env.command(&["hook", "--agent", "claude-code"]), payload.as_bytes());
    assert!(ran.speaks(), "{ran}");
}

#[test]
fn without_a_home_there_is_silence() {
    for env in [TestEnv::new().without("HOME"), TestEnv::new().with("HOME", "relative")] {
        let ran = env.hook_process(warnable(&env).to_string());
        assert!(ran.is_silent(), "{ran}");
        assert_eq!(env.all_under(&env.project()), [env.project()]);
    }
}

#[test]
fn an_agent_that_does_not_listen_is_warned_the_next_time() {
    let env = TestEnv::new();
    let payload = warnable(&env).to_string();
    let mut deaf = env.command(&["hook"]);
    deaf.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
    let ran = env.run(deaf, payload.as_bytes());
    assert!(ran.is_silent(), "{ran}");
    let ran = env.hook_process(&payload);
    assert!(ran.speaks(), "{ran}");
    let ran = env.hook_process(&payload);
    assert!(ran.is_silent(), "{ran}");
}

#[test]
fn a_panic_is_logged_by_its_place_and_the_agent_goes_on() {
    let env = TestEnv::new().with("PLIMSOLL_TEST_PANIC", "1");
    let payload = warnable(&env).to_string();
    check_in(&env, payload.as_bytes(), 1);
    assert!(env.log()[0].contains("panicked at "), "{:?}", env.log());
}
