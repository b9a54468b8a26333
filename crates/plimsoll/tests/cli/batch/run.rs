//! `plimsoll batch run`, with agents that are shell scripts.

mod killed;
mod misused;
mod replanned;
mod resumed;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::env::{Ran, TestEnv};
use crate::run::{journal, machine, noted, outcome};
use crate::terminal::Terminal;

/// Does what it is told, on its stdin or in its first argument: notes each task when it begins with it
/// and when it is done. A task fails as often as a file of its name says.
const AGENT: &str = r#"#!/bin/sh
here=$(dirname "$0")
if [ $# -gt 0 ]; then printf '%s' "$1" > "$here/prompt.$$"; else cat > "$here/prompt.$$"; fi
tasks=$(sed -n 's/^[0-9]*\. `\([^`]*\)`.*/\1/p' "$here/prompt.$$")
mv "$here/prompt.$$" "$here/prompt-$(echo $tasks | tr ' ' '-')"
for task in $tasks; do echo "$task" >> "$here/begun"; done
if [ -e "$here/killed" ]; then kill -9 $$; fi
while [ -e "$here/waits" ]; do echo $$ > "$here/ready"; sleep 0.02; done
[ -e "$here/slow" ] && sleep 0.1
if [ -e "$here/together" ]; then
  mkdir "$here/running-$$"
  while [ $(ls -d "$here"/running-* | wc -l) -lt $(cat "$here/together") ]; do sleep 0.02; done
fi
for task in $tasks; do
  left=$(cat "$here/fail-$task" 2>/dev/null || echo 0)
  if [ "$left" -gt 0 ]; then
    echo $((left - 1)) > "$here/fail-$task"
    echo "the tide is out" >&2
    exit 3
  fi
  echo "$task" >> "$here/ended"
done
"#;

/// Three tasks in two batches of 100 tokens.
const TASKS: &str = "\
- {id: keel, description: Fix the keel, tokens: 40}
- {id: mast, description: Fix the mast, tokens: 40}
- {id: sails, description: Add sails, tokens: 60, after: [mast]}
";

/// A machine with such an agent and these tasks.
fn harbour(tasks: &str) -> TestEnv {
    let env = TestEnv::new();
    let agent = env.write("bin/my-agent", AGENT);
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    env.write("project/tasks.yaml", tasks);
    let path = format!("{}:/usr/bin:/bin", env.path("bin").display());
    env.with("PATH", &path).with("PLIMSOLL_TEST_PAUSE_MS", "20")
}

fn run(env: &TestEnv, arguments: &[&str]) -> Ran {
    env.run(env.command(&[&["batch", "run"], arguments].concat()), b"")
}

const PLAN: [&str; 5] = ["tasks.yaml", "--available", "100", "--agent-command", "my-agent"];

fn begin(env: &TestEnv, more: &[&str]) -> Ran {
    run(env, &[&PLAN, more].concat())
}

/// The lines of the journal that tell this.
fn lines(env: &TestEnv, what: &str) -> Vec<Value> {
    journal(env).into_iter().filter(|line| line["what"] == what).collect()
}

/// What the agents have begun, and what they have ended, in order.
fn done(env: &TestEnv) -> [String; 2] {
    ["begun", "ended"].map(|name| noted(env, name).split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_plan_is_carried_out_batch_by_batch_with_a_verified_checkpoint_between() {
    let env = harbour(TASKS);
    let ran = begin(&env, &["--json"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert_eq!(done(&env), ["keel mast sails"; 2]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&told["outcome"], &told["sessions"]), (&"done".into(), &2.into()));
    assert_eq!(told["tokens"], Value::Null, "nobody can tell");
    assert!(ran.stderr.contains("batch 1 (2 tasks) is done: 2 of 3 tasks, 1 session"), "{ran}");

    let whats: Vec<String> =
        journal(&env).iter().map(|line| line["what"].as_str().unwrap().to_owned()).collect();
    let place = |what: &str| whats.iter().position(|known| known == what).unwrap();
    let second = whats.iter().rposition(|known| known == "leg_begun").unwrap();
    assert!(
        place("job_done") < second,
        "the checkpoint is there before the next begins: {whats:?}"
    );
    let between = lines(&env, "job_done")[0]["checkpoint"].as_str().unwrap().to_owned();
    assert_eq!(lines(&env, "leg_begun")[1]["restore"], between.as_str());
    let shown = env.plimsoll(&format!("checkpoint show {between}")).stdout;
    assert!(
        shown.contains("trigger: batch") && shown.contains("- [ ] `sails`: Add sails"),
        "{shown}"
    );
    assert!(env.plimsoll("checkpoint verify").status.success());

    let prompt = noted(&env, "prompt-sails");
    assert!(
        prompt.contains("1. `sails`: Add sails\n\n## Done already\n\n- `keel`: Fix the keel\n")
    );
    assert!(prompt.contains(&format!("From checkpoint {between}")), "{prompt}");
    assert!(prompt.ends_with("This session comes after it, with the tasks it is asked for."));
    assert!(!noted(&env, "prompt-keel-mast").contains("sails"), "it is nobody's before its time");
}

#[test]
fn a_command_takes_the_prompt_as_one_word_where_it_has_a_place_for_it() {
    let env = harbour("- {id: keel, description: \"Fix 'the' $keel\"}\n");
    let ran = run(&env, &["tasks.yaml", "--agent-command", "my-agent {prompt} --yes"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert!(noted(&env, "prompt-keel").contains("1. `keel`: Fix 'the' $keel\n"));
    let env = harbour(TASKS);
    env.user_config("batch: {command: [my-agent], session: task}\n");
    assert!(run(&env, &["tasks.yaml", "--available", "100"]).status.success());
    assert_eq!(lines(&env, "job_begun").len(), 3, "each task has a session");
}

#[test]
fn commands_that_cannot_be_conducted_are_refused() {
    let env = harbour(TASKS);
    insta::assert_snapshot!(run(&env, &["tasks.yaml", "--agent-command", "claude --continue"]), @"
    --- stderr
    error: could not conduct `claude --continue`
      caused by: there is no program `claude`
    hint: run `plimsoll batch run --help` to see what an agent's command may be
    [exit 1]
    ");
    assert_eq!(run(&env, &[]).status.code(), Some(2), "it is misused");
    assert_eq!(run(&env, &["--resume"]).status.code(), Some(1));
    assert!(!env.data().join("runs").exists(), "nothing was begun");
}

#[test]
fn what_fails_is_tried_again() {
    let env = harbour(TASKS);
    env.write("bin/fail-mast", "2");
    let ran = begin(&env, &[]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    let attempts: Vec<Value> =
        lines(&env, "leg_begun").iter().map(|leg| leg["attempt"].clone()).collect();
    assert_eq!(attempts, [1, 2, 3, 1]);
    assert!(ran.stderr.contains("failed with exit code 3 (the tide is out); tried again"), "{ran}");
}

#[test]
fn what_fails_for_good_ends_the_run_and_is_tried_again_when_it_goes_on() {
    let env = harbour(TASKS);
    env.write("bin/fail-sails", "1");
    let ran = begin(&env, &["--retries", "0"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("error: 2 of 3 tasks are done; failed: sails\n"), "{ran}");
    assert!(ran.stderr.contains("caused by: the agent ended with exit code 3\n"), "{ran}");
    assert!(ran.stderr.contains("/2-1.err:\n  the tide is out\n"), "it is shown why: {ran}");
    assert!(ran.stderr.contains("hint: look at it with `plimsoll batch status "), "{ran}");
    let listed = env.plimsoll("batch status").stdout;
    assert!(listed.contains("  failed  ") && listed.contains("exit code 3\n"), "{listed}");
    assert_eq!(outcome(&env), "failed");
    let ran = run(&env, &["--resume"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert_eq!(done(&env), ["keel mast sails sails", "keel mast sails"]);
}

#[test]
fn what_comes_after_a_failure_is_left_and_the_rest_is_done() {
    let tasks =
        format!("{TASKS}- {{id: paint, description: Add paint, tokens: 90, after: [keel]}}\n");
    let env = harbour(&tasks);
    env.write("bin/fail-mast", "9");
    let more = ["--session", "task", "--retries", "1", "--max-failures", "5", "--json"];
    let ran = begin(&env, &more);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert_eq!(noted(&env, "ended"), "keel\npaint\n");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["left"], serde_json::json!(["mast", "sails"]));
    assert_eq!(told["failed"], serde_json::json!(["mast"]));
    let words = "error: 2 of 4 tasks are done; failed: mast; not begun: 1 task\n";
    assert!(ran.stderr.contains(words), "{ran}");
    let id = told["run"].as_str().unwrap();
    let shown = env.plimsoll(&format!("batch status {id}")).stdout;
    let waits = "  waiting; 60 estimated\n  sails  Add sails  after mast, which has failed\n";
    assert!(shown.ends_with(waits), "{shown}");
}

#[test]
fn a_session_is_told_what_the_file_says_is_done() {
    let env = harbour("");
    env.write(
        "project/TODO.md",
        "- [x] Fix the keel\n- [ ] Add sails\n  - [x] A jib\n  - [ ] A boom\n",
    );
    let ran = run(&env, &["TODO.md", "--agent-command", "my-agent"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    let told = "## Done already\n\n- `1`: Fix the keel\n- `2.1`: A jib\n\n";
    assert!(noted(&env, "prompt-2").contains(told), "{}", noted(&env, "prompt-2"));
}

#[test]
fn the_limit_that_a_failure_ends_a_run_by_is_named() {
    let tasks = format!("{TASKS}- {{id: paint, description: Add paint, tokens: 90}}\n");
    let env = harbour(&tasks);
    env.write("bin/fail-keel", "9");
    let ran = begin(&env, &["--session", "task", "--retries", "0"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("; failed: keel; not begun: "), "{ran}");
    let limit = "exit code 3, and the run ends there by its limit of `--max-failures 1`\n";
    assert!(ran.stderr.contains(limit), "{ran}");
}

#[test]
fn a_limit_ends_the_run_and_a_higher_one_goes_on() {
    let env = harbour(TASKS);
    let ran = begin(&env, &["--max-sessions", "1"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("caused by: the limit of 1 session is reached"), "{ran}");
    let hint = ran.stderr.lines().last().unwrap();
    assert!(hint.ends_with(" --max-sessions 2` to go on"), "{ran}");
    assert!(!ran.stderr.contains("batch 2"), "it has not begun: {ran}");
    assert_eq!(run(&env, &["--resume", "--max-sessions", "2"]).status.code(), Some(0));
    assert_eq!(done(&env), ["keel mast sails"; 2]);
}

#[test]
fn time_that_is_up_ends_the_session_too() {
    let env = harbour(TASKS);
    env.write("bin/waits", "");
    let ran = begin(&env, &["--max-time", "4s"]);
    assert!(ran.stderr.contains("the limit of 4 s is reached"), "{ran}");
    assert_eq!(lines(&env, "leg_ended")[0]["how"], "halted");
}

#[test]
fn a_dry_run_shows_what_would_be_asked_and_starts_nothing() {
    let env = harbour(TASKS);
    let ran = begin(&env, &["--dry-run"]);
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    for told in [
        "command  my-agent\n",
        "session 1, batch 1  about 80 tokens\n",
        "  2. `mast`: Fix the mast\n",
        "a checkpoint is sealed and verified\n\nsession 2, batch 2  about 60 tokens\n",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {ran}");
    }
    let ran = begin(&env, &["--dry-run", "--json", "--session", "task"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["sessions"].as_array().unwrap().len(), 3);
    assert!(!env.data().join("runs").exists() && noted(&env, "begun").is_empty());
}

#[test]
fn a_part_of_a_task_is_asked_for_with_what_it_is_for() {
    let env = harbour(
        "- id: hull\n  description: Careen the hull without tar\n  files: [src/hull.rs]\n  subtasks:\n  \
         - id: ribs\n    description: Mend the ribs\n    subtasks:\n    \
         - {description: Saw, tokens: 90}\n    - {description: Nail, tokens: 90}\n",
    );
    let ran = begin(&env, &["--dry-run"]);
    assert!(ran.status.success(), "{ran}");
    let told = "  1. `ribs.2`: Nail
     This is a part of task `ribs`. Those of its parts that are not listed here are done by other sessions.

  ## What they are parts of

  This is for you to know what the tasks above are for. Of what follows do only what they ask for.

  - `hull`: Careen the hull without tar
    Files: `src/hull.rs`
  - `ribs`: Mend the ribs
";
    assert!(ran.stdout.contains(told), "{ran}");
}

#[test]
fn tasks_of_a_batch_run_at_once() {
    let tasks: String =
        (1..=3).map(|id| format!("- {{id: t{id}, description: Fix it}}\n")).collect();
    let env = harbour(&tasks);
    // None ends before all three run.
    env.write("bin/together", "3");
    let ran = run(&env, &["tasks.yaml", "--agent-command", "my-agent", "--at-once", "3"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    let done = lines(&env, "job_done");
    assert_eq!(done.len(), 3);
    let last = done[2]["checkpoint"].as_str().unwrap();
    let shown = env.plimsoll(&format!("checkpoint show {last}")).stdout;
    assert!((1..=3).all(|id| shown.contains(&format!("- task `t{id}`: Fix it (done)"))), "{shown}");
}

#[test]
fn a_session_that_is_full_is_followed_by_one_that_goes_on_with_the_batch() {
    let env = machine(1);
    env.write("project/tasks.yaml", "- Fix the hull\n");
    let ran = run(&env, &["tasks.yaml"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert!(ran.stderr.contains("session 1 of task `1` is full with 175k tokens"), "{ran}");
    assert!(noted(&env, "given").contains("This session goes on with that unfinished work"));
    assert_eq!((lines(&env, "leg_begun").len(), lines(&env, "job_done").len()), (2, 1));
}

#[test]
fn secrets_of_a_task_reach_its_session_and_no_journal() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    let tasks = format!(
        "- {{id: keel, description: Fix it with {secret}, tokens: 90}}\n\
         - {{id: mast, description: Fix the mast, tokens: 90}}\n"
    );
    let env = harbour(&tasks);
    let ran = begin(&env, &[]);
    assert!(ran.status.success() && !ran.stderr.contains(secret), "{ran}");
    assert!(noted(&env, "prompt-keel").contains(secret));
    assert!(!noted(&env, "prompt-mast").contains(secret));
    assert!(!journal(&env).iter().any(|line| line.to_string().contains(secret)));
}

/// A run whose first agent waits.
fn waiting(env: &TestEnv) -> Child {
    env.write("bin/waits", "");
    let mut command = env.command(&[&["batch", "run"], &PLAN[..]].concat());
    let child = command.stdin(Stdio::null()).spawn().unwrap();
    while noted(env, "ready").is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn an_interrupted_run_says_how_to_go_on_and_does() {
    let env = harbour(TASKS);
    let child = waiting(&env);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = env.ran(child.wait_with_output().unwrap());
    assert_eq!(ran.status.code(), Some(130), "{ran}");
    assert!(ran.stderr.contains("note: interrupted; `plimsoll batch run --resume "), "{ran}");
    fs::remove_file(env.path("bin/waits")).unwrap();
    let ran = run(&env, &["--resume"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert_eq!(noted(&env, "ended"), "keel\nmast\nsails\n");
}

#[test]
fn a_session_that_ends_while_nobody_conducts_is_taken_as_it_ended() {
    let env = harbour(TASKS);
    let mut child = waiting(&env);
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(env.path("bin/waits")).unwrap();
    while !noted(&env, "ended").contains("mast") {
        std::thread::sleep(Duration::from_millis(5));
    }
    let ran = run(&env, &["--resume"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert!(ran.stderr.contains("goes on: 0 of 3 tasks are done"), "{ran}");
    assert_eq!(done(&env), ["keel mast sails"; 2], "nothing was begun twice: {ran}");
}

#[test]
fn an_end_that_was_written_down_before_the_checkpoint_was_made_is_not_worked_for_again() {
    let env = harbour("- {id: keel, description: Fix the keel}\n");
    assert!(begin(&env, &[]).status.success());
    // As if the conductor had been killed in between.
    let mut paths = fs::read_dir(env.data().join("runs")).unwrap().flatten().map(|it| it.path());
    let path = paths.find(|path| path.extension().is_some()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let end = text.lines().position(|line| line.contains("leg_ended")).unwrap();
    let kept: String = text.lines().take(end + 1).map(|line| format!("{line}\n")).collect();
    fs::write(&path, kept).unwrap();
    let ran = run(&env, &["--resume"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert_eq!(done(&env), ["keel"; 2]);
    assert!(lines(&env, "job_done")[0]["checkpoint"].is_string());
}

#[test]
fn a_batch_of_which_no_checkpoint_can_be_made_is_not_done_and_not_worked_for_again() {
    let env = harbour(TASKS);
    // Nothing can be made in a file.
    let stone = env.write("project/.claude", "");
    let ran = begin(&env, &[]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(
        ran.stderr.contains(
            "error: could not seal the checkpoint of `Fix the keel (and 1 more)` in run `"
        ),
        "{ran}"
    );
    assert!(ran.stderr.contains("hint: run `plimsoll batch run --resume "), "{ran}");
    assert_eq!(
        (lines(&env, "job_done").len(), done(&env)),
        (0, ["keel mast".to_owned(), "keel mast".to_owned()])
    );
    fs::remove_file(stone).unwrap();
    let ran = run(&env, &["--resume"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert_eq!(done(&env), ["keel mast sails"; 2]);
}

#[test]
fn a_run_that_needs_hooks_is_not_gone_on_with_where_they_are_switched_off() {
    let env = machine(1);
    env.write("project/tasks.yaml", "- Fix the hull\n");
    let ran = run(&env, &["tasks.yaml", "--max-sessions", "1"]);
    assert!(ran.stderr.contains("the limit of 1 session is reached"), "{ran}");
    let env = env.with("PLIMSOLL", "off");
    let ran = run(&env, &["--resume", "--max-sessions", "9"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("`PLIMSOLL` switches them off"), "{ran}");
    assert_eq!(outcome(&env), "limited", "it stands as it stood");
    let ran = run(&env.without("PLIMSOLL"), &["--resume", "--max-sessions", "9"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
}

#[test]
fn on_a_terminal_a_line_that_fits_it_shows_how_far_it_is_and_for_how_long() {
    let tasks: String =
        (1..=6).map(|id| format!("- {{id: plank-number-{id}, description: Fix it}}\n")).collect();
    let env = harbour(&tasks);
    env.write("bin/waits", "");
    let agent = ["--agent-command", "my-agent", "--at-once", "6"];
    let mut terminal =
        Terminal::start(env.command(&[&["batch", "run", "tasks.yaml"], &agent[..]].concat()));
    terminal.wait_for(" begins: Fix it");
    // Nobody knows how full their windows are, but everybody how late it is.
    let line = loop {
        let drawn = terminal.wait_for("  +4 more");
        let line = drawn.rsplit("\x1b[K").next().unwrap();
        if !line.contains(" tasks  0 s") {
            break line.to_owned();
        }
    };
    assert!(line.starts_with("░░░░░░░░░░░░░░░░ 0/6 tasks  "), "{line:?}");
    assert!(line.contains(" s  plank-number-1  plank-number-2  +4 more"), "{line:?}");
    assert!(line.chars().count() < 80, "{line:?}");
    fs::remove_file(env.path("bin/waits")).unwrap();
    terminal.wait_for("████████████████ 6/6 tasks");
    let (_, status) = terminal.end();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn on_a_terminal_a_bar_shows_how_far_it_is() {
    let env = harbour(TASKS);
    env.write("bin/waits", "");
    let command = env.command(&[&["batch", "run"], &PLAN[..]].concat());
    let mut terminal = Terminal::start(command);
    terminal.wait_for("batch 1 (2 tasks) begins: Fix the keel (and 1 more)");
    terminal.wait_for("░░░░░░░░░░░░░░░░ 0/3 tasks  ");
    fs::remove_file(env.path("bin/waits")).unwrap();
    terminal.wait_for("████████████████ 3/3 tasks");
    let (_, status) = terminal.end();
    assert_eq!(status.code(), Some(0));
}
