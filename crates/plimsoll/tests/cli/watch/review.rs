//! The reviewer: a command of the user's that is shown all sessions.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::{Value, json};

use super::Watching;
use crate::env::TestEnv;
use crate::transcript::{MODEL, answer};

/// A shell script of the user's.
fn script(env: &TestEnv, name: &str, text: &str) -> String {
    env.write(name, text).to_str().unwrap().to_owned()
}

/// Has `first` review every second, and `second` where that asks.
fn configure(env: &TestEnv, first: &str, second: &str, most: u64) {
    let second = if second.is_empty() { String::new() } else { format!("/bin/sh, {second}") };
    env.user_config(&format!(
        "reviewer:\n  command: [/bin/sh, {first}]\n  second_command: [{second}]\n  \
         interval_seconds: 1\n  most_per_day: {most}\n"
    ));
}

/// Waits until a file is there and has something in it.
fn wait_for(path: &PathBuf) -> String {
    let began = Instant::now();
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') || text.ends_with('}') => return text,
            _ => assert!(began.elapsed() < Duration::from_secs(120), "no {}", path.display()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The session that is there goes on.
fn work_on(env: &TestEnv) {
    let path = &env.session("11111111-one").transcript;
    let answer = answer(3, 2, MODEL, 110_000, &env.project(), false);
    let mut file = fs::File::options().append(true).open(path).unwrap();
    file.write_all(answer.as_bytes()).unwrap();
}

fn asked(watching: &mut Watching) -> Value {
    loop {
        let told = watching.json();
        if told["change"] == "asked" {
            return told;
        }
    }
}

fn board(env: &TestEnv) -> Vec<Value> {
    let listed: Value = serde_json::from_str(&env.plimsoll("board list --json").stdout).unwrap();
    listed["messages"].as_array().or_else(|| listed.as_array()).unwrap().clone()
}

const ASKS: &str =
    "echo STATUS: context_high\necho RECOMMENDED_ACTION: trigger_checkpoint 11111111\n";

#[test]
fn a_reviewer_is_shown_all_sessions_and_asks_for_a_checkpoint_once() {
    let env = TestEnv::new().with("PLIMSOLL_DATABASE_URL", "postgres://me:hunter2@127.0.0.1:1/x");
    let (seen, runs) = (env.path("seen"), env.path("runs"));
    let (to, line) = (seen.display(), "$PLIMSOLL$PLIMSOLL_DATABASE_URL");
    let text = format!("cat > {to}\necho {line} >> {}\n{ASKS}", runs.display());
    configure(&env, &script(&env, "first.sh", &text), "", 100);
    let (mut watching, _) = Watching::start(&env, &["watch", "--json"]);
    let told = asked(&mut watching);
    assert_eq!((&told["session"], &told["reason"]), (&json!("11111111-one"), &json!("reviewer")));
    let shown: Value = serde_json::from_str(&wait_for(&seen)).unwrap();
    let session = &shown["sessions"][0];
    assert_eq!(shown["criteria"][0], "Context utilization > 60%? (trigger checkpoint)");
    assert_eq!(session["context_metrics"]["estimated_usage"], 0.5, "{shown}");
    assert_eq!((&session["context_status"], &session["used"]), (&json!("normal"), &json!(100_000)));
    let messages = board(&env);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(
        (&messages[0]["from"], &messages[0]["type"]),
        (&json!("reviewer"), &json!("checkpoint_trigger"))
    );

    // What waits already is not asked for again.
    work_on(&env);
    let began = Instant::now();
    while wait_for(&runs).lines().count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(120), "nobody looks again");
        std::thread::sleep(Duration::from_millis(20));
    }
    watching.send(Signal::TERM);
    assert_eq!(watching.rest().0, Some(0));
    assert_eq!(board(&env).len(), 1);
    assert!(
        wait_for(&runs).lines().all(|line| line == "off"),
        "its own hooks are silent, and it is given no password"
    );
    assert_eq!(env.log(), [""; 0]);
}

#[test]
fn a_reviewer_may_come_and_change_while_the_watcher_runs() {
    let env = TestEnv::new();
    let (mut watching, _) = Watching::start(&env, &["watch", "--json"]);
    let (first, second) = (env.path("first"), env.path("second"));
    let writes = |name, to: &PathBuf| {
        script(&env, name, &format!("cat > /dev/null\necho run >> {}\n{ASKS}", to.display()))
    };
    configure(&env, &writes("1.sh", &first), "", 100);
    wait_for(&first);
    asked(&mut watching);
    configure(&env, &writes("2.sh", &second), "", 100);
    work_on(&env);
    wait_for(&second);
    watching.send(Signal::TERM);
    assert_eq!(watching.rest().0, Some(0));
}

#[test]
fn the_second_reviewer_is_called_only_when_the_first_asks() {
    for (says, is_called) in [("escalate", true), ("none", false)] {
        let env = TestEnv::new();
        let (first, second) = (env.path("first"), env.path("second"));
        let says = format!("RECOMMENDED_ACTION: {says}");
        let text = format!("cat > /dev/null\necho {says}\necho run >> {}\n", first.display());
        let called = format!("cat > {}\n{ASKS}", second.display());
        let scripts = (script(&env, "1.sh", &text), script(&env, "2.sh", &called));
        configure(&env, &scripts.0, &scripts.1, 100);
        let (mut watching, _) = Watching::start(&env, &["watch", "--json"]);
        wait_for(&first);
        if is_called {
            asked(&mut watching);
            let shown: Value = serde_json::from_str(&wait_for(&second)).unwrap();
            assert!(shown["first_answer"].as_str().unwrap().contains("escalate"), "{shown}");
        }
        watching.send(Signal::TERM);
        watching.rest();
        assert_eq!(second.exists(), is_called, "{says}");
    }
}

#[test]
fn a_days_runs_are_limited_and_failures_are_in_the_log() {
    let env = TestEnv::new();
    let runs = env.path("runs");
    let text = format!("echo run >> {}\nexit 3\n", runs.display());
    configure(&env, &script(&env, "first.sh", &text), "", 1);
    let (watching, _) = Watching::start(&env, &["watch", "--json"]);
    // Whoever ends the watcher ends the reviewer, and then it has not failed by itself.
    let is_failure = |line: &String| line.contains("review: `/bin/sh` failed: exit status: 3");
    let began = Instant::now();
    while !env.log().iter().any(is_failure) {
        assert!(began.elapsed() < Duration::from_secs(120), "{:?}", env.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    work_on(&env);
    // Another watcher begins no new day.
    watching.send(Signal::TERM);
    watching.rest();
    let (watching, _) = Watching::start(&env, &["watch", "--json"]);
    std::thread::sleep(Duration::from_millis(2_500));
    watching.send(Signal::TERM);
    watching.rest();
    assert_eq!(wait_for(&runs), "run\n");
}

#[test]
fn whoever_ends_the_watcher_ends_what_a_reviewer_has_started() {
    let env = TestEnv::new();
    let pid = env.path("pid");
    let text = format!("sleep 1000 &\necho $! > {}\nwait\n", pid.display());
    configure(&env, &script(&env, "first.sh", &text), "", 100);
    let (watching, _) = Watching::start(&env, &["watch", "--json"]);
    let started: i32 = wait_for(&pid).trim().parse().unwrap();
    watching.send(Signal::TERM);
    assert_eq!(watching.rest().0, Some(0));
    let started = Pid::from_raw(started).unwrap();
    let began = Instant::now();
    // Whoever takes in orphans may need a moment to bury one.
    while test_kill_process(started).is_ok() {
        let stat = fs::read_to_string(format!("/proc/{}/stat", started.as_raw_nonzero()));
        if stat.is_ok_and(|stat| stat.contains(") Z ")) {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "it is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_project_cannot_name_a_command() {
    let env = TestEnv::new();
    env.project_config("reviewer: {command: [touch, here]}\n");
    let ran = env.plimsoll("config show");
    assert!(ran.stdout.contains("`reviewer.command` in a project's config is ignored"), "{ran}");
}
