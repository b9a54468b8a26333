//! What cannot be carried out, and what does nothing, is told before anything begins.

use super::{TASKS, begin, harbour, noted, run};
use crate::env::TestEnv;

fn nothing_was_begun(env: &TestEnv) -> bool {
    !env.data().join("runs").exists() && noted(env, "begun").is_empty()
}

#[test]
fn commands_that_are_no_commands_are_misused() {
    let env = harbour(TASKS);
    for (command, told) in [
        ("my-agent 'x", "a quote in it is not closed"),
        ("my-agent \"x", "a quote in it is not closed"),
        ("", "it names no program: give a command such as `claude -p`"),
        ("  ", "it names no program"),
        ("''", "it names no program"),
    ] {
        let ran = run(&env, &["tasks.yaml", "--agent-command", command]);
        assert_eq!(ran.status.code(), Some(2), "{ran}");
        assert!(ran.stderr.contains(told), "{ran}");
    }
    assert!(nothing_was_begun(&env));
}

#[test]
fn a_file_that_is_no_program_is_told_from_one_that_is_not_there() {
    let env = harbour(TASKS);
    env.write("project/agent.sh", "#!/bin/sh\n");
    insta::assert_snapshot!(run(&env, &["tasks.yaml", "--agent-command", "./agent.sh"]), @"
    --- stderr
    error: could not conduct `./agent.sh`
      caused by: `./agent.sh` cannot be executed
    hint: run `chmod +x ./agent.sh`
    [exit 1]
    ");
    assert!(nothing_was_begun(&env));
}

#[test]
fn where_all_tasks_are_done_nothing_is_begun() {
    let env =
        harbour("- {description: Fix the keel, done: true}\n- {description: Add, done: true}\n");
    for more in [&[][..], &["--dry-run"]] {
        let ran = begin(&env, more);
        assert_eq!(ran.status.code(), Some(0), "{ran}");
        assert_eq!(ran.stdout, "nothing left to do: all 2 tasks are done\n");
    }
    let ran = begin(&env, &["--json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&told["outcome"], &told["run"]), (&"done".into(), &serde_json::Value::Null));
    assert!(nothing_was_begun(&env));
}

#[test]
fn batches_do_not_run_at_once() {
    let env = harbour(TASKS);
    insta::assert_snapshot!(begin(&env, &["--at-once", "2", "--session", "batch"]), @"
    --- stderr
    error: `--at-once 2` and `--session batch` contradict each other: batches run one after the other
    hint: with `--session task` the tasks of a batch run at once
    [exit 2]
    ");
    assert!(nothing_was_begun(&env));
    env.user_config("batch: {at_once: 3}\n");
    let note = "note: `batch.at_once` does nothing while `batch.session` is `batch`";
    assert!(env.plimsoll("config check").stderr.contains(note));
    let ran = begin(&env, &[]);
    assert!(ran.status.success() && ran.stderr.contains(note), "{ran}");
    env.user_config("batch: {at_once: 3, session: task}\n");
    let ran = begin(&env, &[]);
    assert!(ran.status.success() && !ran.stderr.contains("batch.at_once"), "{ran}");
    assert!(env.plimsoll("config check").stderr.is_empty());
}

#[test]
fn tokens_that_nobody_can_count_are_told() {
    let env = harbour(TASKS);
    let ran = begin(&env, &["--max-tokens", "5000"]);
    assert!(ran.status.success(), "{ran}");
    let note = "note: nobody can count what this agent puts into its windows";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{ran}");
    assert!(!begin(&env, &[]).stderr.contains(note));
}

#[test]
fn what_is_longer_than_a_word_may_be_is_told_before_anything_begins() {
    let long = "caulk ".repeat(25_000);
    let env = harbour(&format!("- {{id: keel, description: {long}, tokens: 90}}\n"));
    let more = ["tasks.yaml", "--available", "100", "--agent-command", "my-agent {prompt}"];
    let ran = run(&env, &more);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    for told in [
        "error: could not give `my-agent` the tasks of batch 1\n  caused by: what it asks is 150,",
        " bytes long, and no word of a command may be longer than 131,071\n",
        "hint: leave `{prompt}` out of its command: the agent gets the prompt on its stdin then\n",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {ran}");
    }
    assert!(nothing_was_begun(&env));
    let ran = begin(&env, &[]);
    assert!(ran.status.success(), "{ran}");
    assert!(noted(&env, "prompt-keel").contains(long.trim_end()));
}

#[test]
fn nothing_is_no_number_here() {
    let env = harbour(TASKS);
    for (option, told) in [
        (["--max-time", "0"], "it must be above 0: write it like `90m` or `4h`"),
        (["--max-time", "0m"], "it must be above 0"),
        (["--at-once", "0"], "give a whole number of at least 1"),
        (["--max-sessions", "0"], "give a whole number of at least 1"),
        (["--available", "-5"], "give a number of tokens, such as 50000"),
    ] {
        let ran = run(&env, &[&["tasks.yaml"][..], &option].concat());
        assert_eq!(ran.status.code(), Some(2), "{ran}");
        assert!(ran.stderr.contains(told), "{ran}");
    }
    assert!(nothing_was_begun(&env));
}

#[test]
fn a_limit_names_its_unit() {
    let env = harbour(TASKS);
    let ran = begin(&env, &["--max-time", "90"]);
    assert_eq!(ran.status.code(), Some(2), "{ran}");
    assert!(ran.stderr.contains("a unit is missing: write `90m` for minutes"), "{ran}");
    env.write("bin/waits", "");
    let ran = begin(&env, &["--max-time", "1s"]);
    assert!(ran.stderr.trim_end().ends_with("--max-time 2s` to go on"), "{ran}");
}
