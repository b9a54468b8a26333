//! `plimsoll watch`

mod review;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::env::TestEnv;

/// A watcher that runs.
pub(crate) struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    /// Starts a watcher, and waits until it has told of a session that is there.
    pub(crate) fn start(env: &TestEnv, arguments: &[&str]) -> (Self, String) {
        env.session("11111111-one").fill(100_000);
        let mut child = env.command(arguments).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut watching = Self { child, lines };
        let first = watching.line();
        (watching, first)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.lines.read_line(&mut line).unwrap() > 0, "it has ended");
        line
    }

    fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end, and gives all that it has not told yet.
    pub(crate) fn rest(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut errors) = (String::new(), String::new());
        self.lines.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (self.child.wait().unwrap().code(), out, errors)
    }
}

#[test]
fn what_changes_is_told_in_json_lines() {
    let env = TestEnv::new();
    let (mut watching, first) = Watching::start(&env, &["watch", "--json"]);
    let first: Value = serde_json::from_str(&first).unwrap();
    let reading = &first["reading"];
    assert_eq!((&first["session"], &first["change"]), (&"11111111-one".into(), &"reading".into()));
    assert_eq!((&reading["used"], &reading["percent"]), (&100_000.into(), &50.0.into()));
    assert_eq!(reading["window"]["tokens"], 200_000);
    let metrics = &first["context_metrics"];
    assert_eq!((&metrics["estimated_usage"], &metrics["message_count"]), (&0.5.into(), &2.into()));
    assert!(metrics["tool_calls"] == 0 && metrics["last_checkpoint"].is_null(), "{first}");
    assert_eq!(first["context_status"], "normal");
    assert_eq!(first["recommended_action"], "none");
    assert!(reading["trigger"].is_object() && first["at"].as_str().unwrap().ends_with('Z'));
    env.session("22222222-two").fill(150_000);
    assert_eq!(watching.json()["change"], "started");
    // The file may be seen before anything is written to it.
    let used = |news: Value| news["reading"]["used"].as_u64();
    let used = std::iter::repeat_with(|| used(watching.json())).find(|used| *used != Some(0));
    assert_eq!(used, Some(Some(150_000)));
    // The hooks say when a session is over.
    let ran = env.session("22222222-two").hook("SessionEnd");
    assert!(ran.status.success(), "{ran}");
    let ended = watching.json();
    assert_eq!((&ended["session"], &ended["change"]), (&"22222222-two".into(), &"ended".into()));
    watching.send(Signal::TERM);
    assert_eq!(watching.rest(), (Some(0), String::new(), String::new()));
    // What it has seen is in the store.
    let ran = env.plimsoll("status --all --json");
    assert!(ran.status.success(), "{ran}");
}

#[test]
fn what_changes_is_told_in_lines_for_people() {
    let env = TestEnv::new();
    let (mut watching, first) = Watching::start(&env, &["watch"]);
    assert!(first.contains("11111111") && first.contains(" 50.0 %  100,000 of"), "{first}");
    env.session("22222222-two").fill(150_000);
    assert!(watching.line().ends_with("22222222           started\n"));
    let mut lines = std::iter::repeat_with(|| watching.line());
    let line = lines.find(|line| !line.contains(" 0.0 %")).unwrap();
    assert!(line.contains(" 75.0 %") && !line.contains('\x1b'), "{line}");
    watching.send(Signal::INT);
    assert_eq!(watching.rest(), (Some(0), String::new(), String::new()));
}

#[test]
fn a_second_watcher_names_the_first_and_one_after_a_kill_takes_over() {
    let env = TestEnv::new();
    let (first, _) = Watching::start(&env, &["watch"]);
    let second = env.plimsoll("watch");
    assert_eq!((second.status.code(), second.stdout.as_str()), (Some(1), ""), "{second}");
    let process = format!("error: another watcher runs: process {}, since ", first.child.id());
    assert!(second.stderr.starts_with(&process), "{second}");
    let hint = format!("\nhint: run `kill {}` to end it", first.child.id());
    assert!(second.stderr.contains(&hint), "{second}");
    first.send(Signal::KILL);
    assert_eq!(first.rest().0, None);
    let (third, _) = Watching::start(&env, &["watch"]);
    third.send(Signal::TERM);
    assert_eq!(third.rest().0, Some(0));
}

#[test]
fn a_reader_who_has_seen_enough_ends_it() {
    let env = TestEnv::new();
    let (watching, _) = Watching::start(&env, &["watch"]);
    let Watching { mut child, lines } = watching;
    drop(lines);
    env.session("22222222-two").fill(150_000);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_session_that_is_asked_for_a_checkpoint_is_told_of() {
    let env = TestEnv::new();
    env.user_config("checkpoint: {on_line: watcher}\n");
    let (mut watching, _) = Watching::start(&env, &["watch", "--json"]);
    env.session("22222222-two").fill(130_000);
    // A transcript that is being written may be seen empty first.
    let is_filled = |it: &Value| it["change"] == "reading" && it["reading"]["percent"] != 0.0;
    let high = std::iter::repeat_with(|| watching.json()).find(is_filled).unwrap();
    assert_eq!(high["context_status"], "context_high");
    assert_eq!(high["recommended_action"], "trigger_checkpoint");
    let asked = std::iter::repeat_with(|| watching.json()).find(|it| it["change"] == "asked");
    assert_eq!(asked.unwrap()["reason"], "context_60_percent");
    watching.send(Signal::TERM);
    assert_eq!(watching.rest().0, Some(0));
}

#[test]
fn nothing_is_recommended_or_asked_for_where_advice_is_switched_off() {
    let env = TestEnv::new();
    env.user_config("auto_context: {enabled: false}\ncheckpoint: {on_line: watcher}\n");
    let (mut watching, _) = Watching::start(&env, &["watch", "--json"]);
    env.session("22222222-two").fill(130_000);
    let is_filled = |it: &Value| it["change"] == "reading" && it["reading"]["percent"] != 0.0;
    let high = std::iter::repeat_with(|| watching.json()).find(is_filled).unwrap();
    assert_eq!(high["context_status"], "context_high");
    assert_eq!(high["recommended_action"], "none");
    std::thread::sleep(std::time::Duration::from_millis(500));
    watching.send(Signal::TERM);
    let (status, told, _) = watching.rest();
    assert!(status == Some(0) && !told.contains("asked"), "{told}");
    let board = env.plimsoll("board list --json");
    assert!(board.stdout.contains("\"messages\": []"), "{board}");
}
