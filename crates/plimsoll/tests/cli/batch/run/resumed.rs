//! A plan goes on as it was begun.

use super::{begin, done, harbour, lines, noted, run};

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
