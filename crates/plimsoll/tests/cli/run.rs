//! `plimsoll run`, with an agent that is a shell script: it writes a transcript, calls our hook, and ends
//! when that tells it to.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::env::{Ran, TestEnv};
use crate::terminal::Terminal;
use crate::transcript;

/// In its first sessions, as many as `full` says, it fills its window; then it is done. What it is
/// called with, and what it is told on stdin, it notes.
const AGENT: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/calls"
cat >> "$here/heard"
while [ $# -gt 0 ]; do
  [ "$1" = --session-id ] && id=$2
  shift
done
number=$(($(cat "$here/number" 2>/dev/null || echo 0) + 1))
echo $number > "$here/number"
transcript=$HOME/.claude/projects/-project/$id.jsonl
mkdir -p "$(dirname "$transcript")"
hook() {
  echo '{"session_id":"'$id'","transcript_path":"'$transcript'","cwd":"'$PWD'","hook_event_name":"'$1'","source":"startup"}' | "$here/plimsoll" hook
}
hook SessionStart >> "$here/given"
kind=light
[ $number -le $(cat "$here/full") ] && kind=heavy
sed "s/NUMBER/$number/g" "$here/$kind.jsonl" > "$transcript"
echo "part $number" > "part-$number.txt"
[ -e "$here/killed" ] && kill -9 $$
[ -e "$here/waits" ] && touch "$here/ready" && sleep 600
case $(hook PostToolUse) in
  *'"continue":false'*) echo "stopped in session $number"; exit 0 ;;
esac
echo "done in session $number"
echo "a complaint" >&2
exit $(cat "$here/exit" 2>/dev/null || echo 0)
"#;

/// A machine with such an agent, which is full in so many sessions.
pub(super) fn machine(full: u32) -> TestEnv {
    let env = TestEnv::new();
    let agent = env.write("bin/claude", AGENT);
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_plimsoll"), env.path("bin/plimsoll")).unwrap();
    env.write("bin/full", full.to_string());
    env.write("bin/heavy.jsonl", session(&env, 175_000));
    env.write("bin/light.jsonl", session(&env, 40_000));
    let path = format!("{}:/usr/bin:/bin", env.path("bin").display());
    env.with("PATH", &path)
}

/// A session that has written a file of its own, after which the reading is about `used`.
fn session(env: &TestEnv, used: u64) -> String {
    let project = env.project();
    let file = project.join("part-NUMBER.txt").display().to_string();
    let mut text = transcript::user(1, 0, &project, false, r#""Mend part after part.""#, "");
    let call = format!(
        r#"{{"type":"tool_use","id":"toolu_1","name":"Write","input":{{"file_path":"{file}","content":"x"}}}}"#
    );
    let answer = transcript::answer(2, 1, transcript::MODEL, 30_000, &project, false);
    text += &answer.replace(r#"{"type":"text","text":"Done."}"#, &call);
    let result = r#"[{"tool_use_id":"toolu_1","type":"tool_result","content":"File created"}]"#;
    let more = format!(r#","toolUseResult":{{"type":"create","filePath":"{file}","content":"x"}}"#);
    text += &transcript::user(3, 2, &project, false, result, &more);
    for id in [4, 6, 8] {
        text += &transcript::answer(id, id - 1, transcript::MODEL, used, &project, false);
        text += &transcript::user(id + 1, id, &project, false, r#""go on""#, "");
    }
    text
}

fn run(env: &TestEnv, arguments: &[&str]) -> Ran {
    env.run(env.command(&[&["run"], arguments].concat()), b"")
}

const AGENT_COMMAND: [&str; 4] = ["--", "claude", "-p", "Mend part after part."];

fn begin(env: &TestEnv, limits: &[&str]) -> Ran {
    run(env, &[limits, &AGENT_COMMAND].concat())
}

/// What the agent has noted.
pub(super) fn noted(env: &TestEnv, name: &str) -> String {
    fs::read_to_string(env.path("bin").join(name)).unwrap_or_default()
}

/// The lines of all journals.
pub(super) fn journals(env: &TestEnv) -> Vec<Vec<Value>> {
    let entries = fs::read_dir(env.data().join("runs")).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
    let texts = paths.filter(is_journal).map(|path| fs::read_to_string(path).unwrap());
    let lines = |text: String| text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    texts.map(lines).collect()
}

/// The lines of the one journal; none as long as it is not there.
pub(super) fn journal(env: &TestEnv) -> Vec<Value> {
    journals(env).pop().unwrap_or_default()
}

pub(super) fn outcome(env: &TestEnv) -> Value {
    journal(env).last().unwrap()["outcome"].clone()
}

#[test]
fn a_task_goes_on_in_fresh_sessions_until_its_agent_ends_by_itself() {
    let env = machine(2);
    env.session("11111111-earlier").write(session(&env, 40_000));
    let earlier = env.plimsoll("checkpoint create");
    assert!(earlier.status.success(), "{earlier}");
    let ran = begin(&env, &[]);
    assert_eq!((ran.stdout.as_str(), ran.status.code()), ("done in session 3\n", Some(0)), "{ran}");
    assert!(ran.stderr.contains("a complaint\n"), "{ran}");
    assert_eq!(outcome(&env), "done");
    let given = noted(&env, "given");
    let given: Vec<&str> = given.lines().collect();
    // The first has nothing to go on from, and none is offered anything else.
    assert_eq!(given.len(), 2, "{given:?}");
    assert!(!given.iter().any(|given| given.contains("earlier")), "{given:?}");
    assert!(given[1].contains("This session goes on with that unfinished work"), "{given:?}");
    assert!(given[1].contains("part-1.txt") && given[1].contains("part-2.txt"), "{given:?}");
    let calls = noted(&env, "calls");
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!(calls.len(), 3);
    let sessions: Vec<&str> = calls.iter().map(|call| call.split(' ').nth(1).unwrap()).collect();
    assert!(sessions[0] != sessions[1] && sessions[1] != sessions[2], "{calls:?}");
    assert!(calls.iter().all(|call| call.ends_with(" -p Mend part after part.")), "{calls:?}");
}

#[test]
fn a_user_who_wants_no_words_and_no_restore_can_have_a_run_all_the_same() {
    let env = machine(1);
    env.user_config("quiet: true\nrestore: {mode: off}\nauto_context: {enabled: false}\n");
    let ran = begin(&env, &[]);
    assert_eq!(ran.stdout, "done in session 2\n", "{ran}");
    assert!(noted(&env, "given").contains("part-1.txt"));
}

#[test]
fn what_is_piped_in_is_heard_by_every_session() {
    let env = machine(1);
    let command = env.command(&[&["run"], &AGENT_COMMAND[..]].concat());
    let ran = env.run(command, b"a letter\n");
    assert_eq!(ran.stdout, "done in session 2\n", "{ran}");
    assert_eq!(noted(&env, "heard"), "a letter\na letter\n");
}

#[test]
fn the_exit_code_is_that_of_the_work_and_a_failed_run_can_go_on() {
    let env = machine(0);
    env.write("bin/exit", "7");
    let ran = begin(&env, &[]);
    assert_eq!((ran.stdout.as_str(), ran.status.code()), ("done in session 1\n", Some(7)), "{ran}");
    assert_eq!(outcome(&env), "failed");
    env.write("bin/exit", "0");
    let ran = run(&env, &["--resume"]);
    assert_eq!((ran.stdout.as_str(), ran.status.code()), ("done in session 2\n", Some(0)), "{ran}");
    assert!(ran.stderr.contains("session 2 begins\n"), "no hook gives it anything: {ran}");
    let told = env.plimsoll("batch status").stdout;
    assert!(told.contains("2 sessions, 1 retry;"), "{told}");
    let ran = run(&env, &["--resume"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("is left to go on with"), "{ran}");
}

#[test]
fn an_agent_that_is_killed_is_tried_again_a_few_times_and_that_is_said() {
    let env = machine(0).with("PLIMSOLL_TEST_PAUSE_MS", "20");
    env.write("bin/killed", "");
    let ran = begin(&env, &[]);
    assert_eq!(ran.status.code(), Some(137), "{ran}");
    assert!(ran.stderr.contains("session 1 was killed by signal 9"), "{ran}");
    assert!(ran.stderr.contains("note: the agent was killed by signal 9; `plimsoll run"), "{ran}");
    assert_eq!((count(&env, "leg_begun"), outcome(&env)), (3, "failed".into()));
    fs::remove_file(env.path("bin/killed")).unwrap();
    assert_eq!(run(&env, &["--resume"]).stdout, "done in session 4\n");
}

#[test]
fn a_limit_ends_a_run_and_a_higher_one_goes_on() {
    let env = machine(3);
    let ran = begin(&env, &["--max-sessions", "2"]);
    assert_eq!((ran.stdout.as_str(), ran.status.code()), ("", Some(1)), "{ran}");
    assert!(ran.stderr.contains("the task is not done after 2 sessions"), "{ran}");
    assert!(ran.stderr.contains("caused by: the limit of 2 sessions is reached"), "{ran}");
    let ran = run(&env, &["--resume", "--max-sessions", "9"]);
    assert_eq!(ran.stdout, "done in session 4\n", "{ran}");
}

#[test]
fn tokens_are_limited_by_what_windows_held_and_settings_count() {
    let env = machine(9);
    env.user_config("run: {max_tokens: 300000}\n");
    let ran = begin(&env, &[]);
    assert!(ran.stderr.contains("the limit of 300,000 tokens is reached"), "{ran}");
    assert!(ran.stderr.contains("not done after 2 sessions"), "{ran}");
}

#[test]
fn time_that_is_up_ends_the_agent_too() {
    let env = machine(0);
    env.write("bin/waits", "");
    let ran = begin(&env, &["--max-time", "4s"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("the limit of 4 s is reached"), "{ran}");
    let ended: Vec<Value> =
        journal(&env).into_iter().filter(|line| line["what"] == "leg_ended").collect();
    assert_eq!(ended[0]["how"], "halted");
}

/// A run whose agent waits until it is ended.
fn waiting(env: &TestEnv) -> Child {
    env.write("bin/waits", "");
    let mut command: Command = env.command(&[&["run"], &AGENT_COMMAND[..]].concat());
    let child = command.stdin(Stdio::null()).spawn().unwrap();
    wait_until(|| env.path("bin/ready").exists() && started(env).is_some());
    child
}

pub(super) fn wait_until(come_true: impl Fn() -> bool) {
    while !come_true() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many lines of the journal tell this.
fn count(env: &TestEnv, what: &str) -> usize {
    journal(env).iter().filter(|line| line["what"] == what).count()
}

/// The process that the journal tells of.
fn started(env: &TestEnv) -> Option<i32> {
    let journal = journal(env);
    let started = journal.iter().find(|line| line["what"] == "leg_started")?;
    started["process"]["pid"].as_i64().map(|pid| pid as i32)
}

fn only_child(pid: i32) -> Option<i32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?.trim().parse().ok()
}

fn is_asleep(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
}

#[test]
fn an_interrupted_run_says_how_to_go_on_and_does() {
    let env = machine(0);
    let child = waiting(&env);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = env.ran(child.wait_with_output().unwrap());
    assert_eq!(ran.status.code(), Some(130), "{ran}");
    assert!(ran.stderr.contains("note: interrupted; `plimsoll run --resume "), "{ran}");
    assert_eq!(outcome(&env), "interrupted");
    fs::remove_file(env.path("bin/waits")).unwrap();
    let ran = run(&env, &["--resume"]);
    assert_eq!(ran.stdout, "done in session 2\n", "{ran}");
}

#[test]
fn an_agent_that_outlives_its_conductor_is_waited_for() {
    let env = machine(0);
    let mut child = waiting(&env);
    child.kill().unwrap();
    child.wait().unwrap();
    // It sleeps, and will never wake by itself.
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until(|| count(&env, "conducted") == 2);
            let shell = started(&env).unwrap();
            wait_until(|| only_child(shell).and_then(only_child).is_some_and(is_asleep));
            let sleep = only_child(shell).and_then(only_child).unwrap();
            kill_process(Pid::from_raw(sleep).unwrap(), Signal::TERM).unwrap();
        });
        run(&env, &["--resume"])
    });
    assert_eq!(ran.stdout, "done in session 1\n", "{ran}");
    assert_eq!(noted(&env, "calls").lines().count(), 1, "nothing was begun twice");
}

#[test]
fn two_do_not_conduct_one_run() {
    let env = machine(0);
    let mut child = waiting(&env);
    let ran = run(&env, &["--resume"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains(&format!("process {} conducts it", child.id())), "{ran}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn a_run_that_nobody_conducts_is_gone_on_with_before_one_that_somebody_does() {
    let env = machine(0);
    env.write("bin/exit", "7");
    assert_eq!(begin(&env, &[]).status.code(), Some(7));
    env.write("bin/exit", "0");
    let mut newer = waiting(&env);
    fs::remove_file(env.path("bin/waits")).unwrap();
    let ran = run(&env, &["--resume"]);
    assert_eq!((ran.stdout.as_str(), ran.status.code()), ("done in session 3\n", Some(0)), "{ran}");
    assert!(newer.try_wait().unwrap().is_none(), "the newer one goes on");
    let listed = env.plimsoll("batch status --json").stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed[0]["state"], &listed[1]["state"]), (&"running".into(), &"done".into()));
    kill_process(Pid::from_child(&newer), Signal::TERM).unwrap();
    newer.wait().unwrap();
}

#[test]
fn a_task_of_several_lines_has_a_title_of_one() {
    let env = machine(0);
    let ran = run(&env, &["--", "claude", "-p", "Mend the hull\nand the mast"]);
    assert!(ran.status.success(), "{ran}");
    assert_eq!(journal(&env)[0]["title"], "claude -p 'Mend the hull and the mast'");
}

#[test]
fn commands_that_cannot_be_conducted_are_refused() {
    let env = machine(0);
    insta::assert_snapshot!(run(&env, &["--", "claude", "-p", "x", "--continue"]), @"
    --- stderr
    error: could not conduct `claude -p x --continue`
      caused by: `--continue`: it names a session, and each must be a fresh one
    hint: give a command such as `plimsoll run -- claude -p 'Mend the hull'`
    [exit 1]
    ");
    let ran = run(&env, &["--", "no-such-agent", "-p"]);
    assert!(ran.stderr.contains("caused by: there is no program `no-such-agent`"), "{ran}");
    for more in ["true", "{prompt}"] {
        let ran = run(&env, &["--", "sh", "-c", more]);
        assert!(ran.stderr.contains("it is no agent that plimsoll knows"), "{ran}");
        let hint = ran.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap();
        let pasted = hint.split('`').nth(1).unwrap().replace("plimsoll", "\"$0\"");
        let ran = env.run(env.shell(&pasted.replace("{prompt}", "true"), &[]), b"");
        assert_eq!(ran.status.code(), Some(0), "{pasted}: {ran}");
        fs::remove_dir_all(env.data().join("runs")).unwrap();
    }
    assert_eq!(run(&env, &[]).status.code(), Some(2), "it is misused");
    assert!(!env.data().join("runs").exists(), "nothing was begun");
}

#[test]
fn hooks_that_are_not_installed_are_missed() {
    let env = machine(0);
    let ran = begin(&env, &[]);
    assert!(
        ran.stderr
            .contains("note: hooks: none is installed: nobody is warned (sessions may run until"),
        "{ran}"
    );
    assert!(ran.stderr.contains("run `plimsoll init`"), "{ran}");
    let off = machine(0).with("PLIMSOLL", "off");
    let ran = begin(&off, &[]);
    assert!(ran.stderr.contains("`PLIMSOLL` switches them off"), "{ran}");
}

#[test]
fn a_session_that_cannot_be_sealed_is_not_stopped() {
    let env = machine(1);
    // Nothing can be made in a file.
    env.write("project/.claude", "");
    let ran = begin(&env, &[]);
    assert_eq!(noted(&env, "calls").lines().count(), 1, "{ran}");
    assert!(!ran.stdout.contains("stopped"), "{ran}");
}

#[test]
fn a_command_keeps_its_secrets_out_of_the_journal_and_goes_on_with_them() {
    let env = machine(1);
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    let ran = run(&env, &["--", "claude", "-p", &format!("use {secret}")]);
    assert_eq!(ran.stdout, "done in session 2\n", "{ran}");
    assert!(!journal(&env).iter().any(|line| line.to_string().contains(secret)));
    assert!(noted(&env, "calls").lines().all(|call| call.contains(secret)));
}

#[test]
fn on_a_terminal_one_line_shows_how_full_the_session_is() {
    let env = machine(1);
    env.write("bin/waits", "");
    let command = env.command(&[&["run"], &AGENT_COMMAND[..]].concat());
    let mut terminal = Terminal::start(command);
    terminal.wait_for("plimsoll: session 1 begins");
    terminal.wait_for("session 1  ███████████░  87% 175k/200k  0 restarts");
    terminal.signal(Signal::INT);
    let (rest, status) = terminal.end();
    assert!(rest.contains("plimsoll run --resume"), "{rest:?}");
    assert_eq!(status.code(), Some(130));
}
