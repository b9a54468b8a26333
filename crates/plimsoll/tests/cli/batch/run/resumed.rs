//! A plan goes on as it was begun.

use serde_json::Value;

use super::{begin, done, harbour, lines, noted, run};
use crate::env::TestEnv;
use crate::run::machine;

/// One task, then two that may be done at once.
const TASKS: &str = "\
- {id: keel, description: Fix the keel, tokens: 90}
- {id: mast, description: Fix the mast, tokens: 40, after: [keel]}
- {id: sails, description: Add sails, tokens: 40, after: [keel]}
";

#[test]
fn a_run_goes_on_with_as_many_sessions_and_retries_as_it_was_begun_with() {
    let env = harbour(TASKS);
    let ran = begin(&env, &["--at-once", "2", "--retries", "0", "--max-sessions", "1"]);
    assert!(ran.stderr.contains("the limit of 1 session is reached"), "{ran}");
    // Neither of both ends before the other runs.
    env.write("bin/together", "2");
    env.write("bin/fail-mast", "1");
    let ran = run(&env, &["--resume", "--max-sessions", "9"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("task mast) has failed with exit code 3"), "{ran}");
    assert_eq!(noted(&env, "ended"), "keel\nsails\n");
}

#[test]
fn what_is_given_anew_holds_from_then_on() {
    let env = harbour(TASKS);
    begin(&env, &["--session", "task", "--max-sessions", "1"]);
    run(&env, &["--resume", "--retries", "0", "--max-sessions", "2"]);
    assert_eq!(done(&env), ["keel mast"; 2], "each task has a session");
    env.write("bin/fail-sails", "1");
    let ran = run(&env, &["--resume", "--max-sessions", "9"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert_eq!(lines(&env, "leg_begun").len(), 3, "it is not tried again");
}

/// The name of the one run, and the command that goes on with it.
fn listed(env: &TestEnv) -> (String, String) {
    let listed = env.plimsoll("batch status --json").stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let text = |key: &str| listed[0][key].as_str().unwrap().to_owned();
    (text("run"), text("resume"))
}

#[test]
fn whoever_resumes_with_the_other_command_is_told_the_right_one() {
    let env = harbour(TASKS);
    begin(&env, &["--max-sessions", "1"]);
    let (name, resume) = listed(&env);
    let ran = env.plimsoll(&format!("run --resume {name}"));
    assert!(ran.stderr.contains(&format!("run `{name}` is one of `plimsoll batch run`")), "{ran}");
    assert!(ran.stderr.contains(&format!("hint: run `{resume}` to go on with it")), "{ran}");

    let env = machine(0);
    env.write("bin/exit", "7");
    env.plimsoll("run -- claude -p x");
    let (name, resume) = listed(&env);
    let ran = run(&env, &["--resume", &name]);
    assert!(ran.stderr.contains(&format!("run `{name}` is one of `plimsoll run`")), "{ran}");
    for ran in [ran, run(&env, &["--resume"])] {
        assert_eq!(ran.status.code(), Some(1), "{ran}");
        assert!(ran.stderr.contains(&format!("hint: run `{resume}` to go on with it")), "{ran}");
    }
}
