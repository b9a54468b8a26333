//! Clocks that jump, forth and back, between one call and the next.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};
use crate::invariants::{self, checkpoints};
use crate::transcript::captured;
use crate::writers::worked;

const DAY: i64 = 24 * 3600;
const YEARS: i64 = 3652 * DAY;

/// Clocks that are wrong: by little, by much, and at the beginning of all time, where machines without a
/// battery begin.
fn wrong() -> [i64; 6] {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    [-3600, 3600, DAY, -YEARS, YEARS, 5 - now]
}

/// A machine, and what makes its clock wrong.
struct Machine {
    env: TestEnv,
    library: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let env = TestEnv::new().with("USER", "ada");
        let library = env.path("clock.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/clock.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
        assert!(compiler.status().unwrap().success());
        Self { env, library }
    }

    /// Runs the binary while the clock is wrong by so many seconds.
    fn at(&self, offset: i64, arguments: &str) -> Ran {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        self.run(offset, self.env.command(&arguments), "")
    }

    fn hook(&self, offset: i64, payload: &Value) -> Ran {
        let ran = self.run(offset, self.env.command(&["hook"]), &payload.to_string());
        invariants::neutral(&ran);
        ran
    }

    fn run(&self, offset: i64, mut command: Command, stdin: &str) -> Ran {
        command.env("LD_PRELOAD", &self.library).env("CLOCK_OFFSET", offset.to_string());
        self.env.run(command, stdin.as_bytes())
    }
}

#[track_caller]
fn succeeds(ran: Ran) -> String {
    assert!(ran.status.success(), "{ran}");
    ran.stdout
}

#[test]
fn the_clock_is_really_wrong() {
    let machine = Machine::new();
    succeeds(machine.at(YEARS, "ss sea --task there"));
    let saved = succeeds(machine.at(0, "rs sea --json"));
    let saved: Vec<Value> = serde_json::from_str(&saved).unwrap();
    let created = saved[0]["created"].as_str().or(saved[0]["created_at"].as_str());
    assert!(created.is_some_and(|created| &created[..4] > "2030"), "{saved:?}");
}

#[test]
fn whatever_was_written_at_a_wrong_time_is_there_at_the_right_one() {
    for offset in wrong() {
        let machine = Machine::new();
        let env = &machine.env;
        worked(env, "worked", 610_000);
        env.session("waiting").fill(20_000);
        for at in [0, offset, 0] {
            succeeds(machine.at(at, "checkpoint create worked"));
            succeeds(machine.at(at, &format!("ss sea --task task-{at}")));
            machine.hook(at, &env.session("worked").payload("PreCompact"));
            machine.at(at, "status --all");
        }
        let listed = checkpoints(env);
        assert!(listed.len() >= 3, "{offset}: {listed:?}");
        assert!(env.plimsoll("checkpoint verify --all").status.success(), "{offset}");
        let saved = env.plimsoll("rs sea --limit 9 --json").stdout;
        assert!(saved.contains(&format!("task-{offset}")) && saved.contains("task-0"), "{saved}");
        invariants::hold(env);
    }
}

#[test]
fn a_warning_is_given_once_whatever_the_clock_says() {
    for offset in wrong() {
        let machine = Machine::new();
        let session = machine.env.session("s");
        let payload = session.fill(170_000).payload("PostToolUse");
        assert!(machine.hook(0, &payload).speaks(), "{offset}");
        assert!(machine.hook(offset, &payload).is_silent(), "{offset}");
        assert!(machine.hook(0, &payload).is_silent(), "{offset}");
        session.fill(181_000);
        assert!(machine.hook(offset, &payload).speaks(), "{offset}");
        assert!(machine.hook(0, &payload).is_silent(), "{offset}");
    }
}

#[test]
fn a_message_of_another_time_is_told_once() {
    // Those of long ago have expired.
    for offset in [-3600, 3600, DAY, YEARS] {
        let machine = Machine::new();
        let session = machine.env.session("waiting");
        let payload = session.fill(20_000).payload("PostToolUse");
        succeeds(machine.at(offset, "board post --to waiting hello"));
        assert!(machine.hook(0, &payload).stdout.contains("hello"), "{offset}");
        assert!(machine.hook(0, &payload).is_silent(), "{offset}");
    }
}

/// A commit that the agent made.
fn commit(env: &TestEnv, number: u32) -> Value {
    let mut payload = env.session("worked").payload("PostToolUse");
    payload["tool_name"] = json!("Bash");
    payload["tool_input"] = json!({"command": format!("git commit -m {number}")});
    let stdout = format!("[main {number:07}] {number}\n 1 file changed, 1 insertion(+)\n");
    payload["tool_response"] = json!({"stdout": stdout, "stderr": "", "interrupted": false});
    payload
}

#[test]
fn a_clock_that_was_ahead_for_a_while_silences_no_checkpoint() {
    for offset in [DAY, YEARS] {
        let machine = Machine::new();
        let env = &machine.env;
        worked(env, "worked", 100_000);
        machine.hook(offset, &commit(env, 1));
        assert_eq!(checkpoints(env).len(), 1, "{offset}");
        let text = fs::read_to_string(env.session("worked").transcript).unwrap();
        let more = captured("tools.jsonl").replace("do tools", "and now this");
        env.session("worked").write(text + &more);
        machine.hook(0, &commit(env, 2));
        assert_eq!(checkpoints(env).len(), 2, "{offset}: the first is of another time");
    }
}

#[test]
fn a_config_of_another_time_counts_as_soon_as_it_changes() {
    let machine = Machine::new();
    let session = machine.env.session("s");
    let payload = session.fill(100_000).payload("PostToolUse");
    machine.env.old_user_config("lines: {warn: 90}\n");
    assert!(machine.hook(YEARS, &payload).is_silent());
    machine.env.old_user_config("lines: {warn: 45, save: 44, checkpoint: 43, ceiling: 40}\n");
    assert!(machine.hook(0, &payload).speaks());
}
