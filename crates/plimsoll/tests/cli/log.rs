//! `plimsoll log`

use std::fs;
use std::io::{BufRead, BufReader};

use serde_json::Value;

use crate::env::TestEnv;

/// Lets a hook fail, which leaves a line in the log.
fn fail(env: &TestEnv) {
    assert!(env.hook("no JSON").is_silent());
}

#[test]
fn what_went_wrong_in_a_hook_is_shown_with_its_time() {
    let env = TestEnv::new();
    env.write("home/.local/share/plimsoll/hook.log", "1794722294946 pid 17 it failed\n");
    insta::assert_snapshot!(env.plimsoll("log"), @"
    --- stdout
    2026-11-15 05:58:14.946 UTC  pid 17  it failed
    [exit 0]
    ");
    fail(&env);
    let ran = env.plimsoll("log");
    assert!(ran.stdout.ends_with("the payload is not JSON\n"), "{ran}");
}

#[test]
fn times_are_those_of_the_users_clock_and_in_json_of_utc() {
    for (zone, shown) in [
        ("America/New_York", "2026-11-15 00:58:14.946 -05:00"),
        ("Asia/Kathmandu", "2026-11-15 11:43:14.946 +05:45"),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-11-15 00:58:14.946 -05:00"),
        ("Nowhere/At-all", "2026-11-15 05:58:14.946 UTC"),
    ] {
        let env = TestEnv::new().with("TZ", zone);
        env.write("home/.local/share/plimsoll/hook.log", "1794722294946 pid 17 it failed\n");
        let ran = env.plimsoll("log");
        assert!(ran.stdout.starts_with(&format!("{shown}  pid 17")), "{zone}: {ran}");
        let json = env.plimsoll("log --json").stdout;
        assert!(json.contains("2026-11-15T05:58:14.946Z"), "{zone}: {json}");
    }
}

#[test]
fn an_empty_log_says_where_it_is() {
    insta::assert_snapshot!(TestEnv::new().plimsoll("log"), @"
    --- stderr
    note: nothing went wrong so far; the log is `$TEST/home/.local/share/plimsoll/hook.log`
    [exit 0]
    ");
}

#[test]
fn the_last_lines_are_shown_across_the_log_before_this_one() {
    let env = TestEnv::new();
    let line = |number| format!("{number} pid 1 line {number}\n");
    let lines = |from, to| (from..to).map(line).collect::<String>();
    env.write("home/.local/share/plimsoll/hook.log.1", lines(0, 30));
    env.write("home/.local/share/plimsoll/hook.log", lines(30, 60));
    let numbers = |arguments: &str| {
        let ran = env.plimsoll(arguments);
        let last = |line: &str| line.rsplit(' ').next().unwrap().parse::<u32>().unwrap();
        ran.stdout.lines().map(last).collect::<Vec<_>>()
    };
    assert_eq!(numbers("log"), (10..60).collect::<Vec<_>>());
    assert_eq!(numbers("log -n 32"), (28..60).collect::<Vec<_>>());
    assert_eq!(numbers("log -n 900"), (0..60).collect::<Vec<_>>());
}

#[test]
fn scripts_get_an_object_per_line() {
    let env = TestEnv::new();
    let text = "1794722294946 pid 17 it failed\nnot ours\n";
    env.write("home/.local/share/plimsoll/hook.log", text);
    let ran = env.plimsoll("log --json");
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["time"], "2026-11-15T05:58:14.946Z");
    assert_eq!((&lines[0]["pid"], &lines[0]["what"]), (&17.into(), &"it failed".into()));
    assert_eq!((&lines[1]["time"], &lines[1]["what"]), (&Value::Null, &"not ours".into()));
}

#[test]
fn nothing_in_the_log_reaches_the_terminal_as_a_command() {
    let env = TestEnv::new();
    env.write("home/.local/share/plimsoll/hook.log", "1 pid 1 a\x1b[2Jb\u{202e}c\n");
    let ran = env.plimsoll("log");
    assert!(ran.stdout.ends_with("a[2Jbc\n"), "{ran:?}");
}

#[test]
fn whoever_follows_sees_what_is_added_even_when_the_log_is_begun_anew() {
    let env = TestEnv::new();
    fail(&env);
    let mut child = env.command(&["log", "--follow", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let line = lines.next().unwrap().unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["what"].as_str().unwrap().to_owned()
    };
    assert_eq!(next(), "the payload is not JSON");
    fail(&env);
    assert_eq!(next(), "the payload is not JSON");
    let log = env.data().join("hook.log");
    fs::rename(&log, env.data().join("hook.log.1")).unwrap();
    fs::write(&log, "1 pid 1 a new one\n").unwrap();
    assert_eq!(next(), "a new one");
    child.kill().unwrap();
    child.wait().unwrap();
}
