//! `plimsoll test`

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::ss::{journal, plimsoll};

const PASSES: &str = "echo 'running 2 tests'; echo 'test result: ok. 2 passed; 0 failed; 0 ignored' ; echo warned >&2";
const FAILS: &str = "echo 'test work::a ... FAILED'; echo 'test result: FAILED. 3 passed; 1 failed; 0 ignored'; exit 101";

fn last(env: &TestEnv) -> Value {
    journal(env).pop().unwrap()
}

#[test]
fn tests_that_pass_are_saved_and_nothing_of_their_output_is_changed() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    let ran = plimsoll(&env, &["test", "--", "sh", "-c", PASSES]);
    insta::assert_snapshot!(ran, @"
    --- stdout
    running 2 tests
    test result: ok. 2 passed; 0 failed; 0 ignored
    --- stderr
    warned
    [exit 0]
    ");
    let save = last(&env);
    let task = save["task"].as_str().unwrap();
    assert!(task.starts_with("Tests passed: 2 tests in ") && task.ends_with('s'), "{save}");
    assert_eq!(save["tags"], json!(["tests-passed", "count-2"]));
    assert_eq!(save["kind"], "tests");
    assert!(save["context"].as_str().unwrap().starts_with("Command: sh -c '"), "{save}");
}

#[test]
fn tests_that_fail_are_saved_with_what_failed_and_the_exit_code_stays() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin").with("CONTEXTS_ENV", "ci");
    let ran = plimsoll(&env, &["test", "--", "sh", "-c", FAILS]);
    assert_eq!(ran.status.code(), Some(101), "{ran}");
    assert_eq!(ran.stderr, "");
    let save = last(&env);
    assert_eq!(save["task"], "Tests failed: 1/4 failed");
    assert_eq!(save["tags"], json!(["tests-failed", "failed-1"]));
    assert_eq!(save["blockers"], "Failed: work::a");
    assert_eq!(save["environment"], "ci");
    let ran =
        plimsoll(&env, &["test", "--env", "x", "--", "sh", "-c", "echo no linker >&2; exit 3"]);
    assert_eq!(ran.status.code(), Some(3));
    assert_eq!(last(&env)["blockers"], "no linker");
    assert_eq!(last(&env)["task"], "Tests failed: how many is not known");
    assert_eq!(last(&env)["tags"], json!(["tests-failed"]));
    assert_eq!(last(&env)["environment"], "x");
}

#[test]
fn every_runner_is_counted() {
    for (output, task) in [
        ("Summary [ 0.1s] 4 tests run: 3 passed, 1 failed, 0 skipped", "Tests failed: 1/4 failed"),
        ("==== 1 failed, 12 passed in 1.20s ====", "Tests failed: 1/13 failed"),
        ("Tests:       1 failed, 12 passed, 13 total", "Tests failed: 1/13 failed"),
        ("\u{1b}[2m Tests \u{1b}[22m 1 failed | 12 passed (13)", "Tests failed: 1/13 failed"),
        ("--- FAIL: TestX (0.00s)\n--- PASS: TestY (0.00s)\nFAIL", "Tests failed: 1/2 failed"),
    ] {
        let env = TestEnv::new().with("PATH", "/usr/bin:/bin").with("OUTPUT", output);
        let ran = plimsoll(&env, &["test", "--", "sh", "-c", "printf '%s\\n' \"$OUTPUT\"; exit 1"]);
        assert_eq!(ran.stdout, format!("{output}\n"));
        assert_eq!(last(&env)["task"], task, "{output}");
    }
}

#[test]
fn a_command_that_a_signal_ended_ends_as_in_a_shell() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    let ran = plimsoll(&env, &["test", "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(ran.status.code(), Some(143), "{ran}");
}

#[test]
fn whoever_switched_it_off_has_nothing_saved() {
    for config in
        ["auto_context: {hooks: {test_result: false}}\n", "auto_context: {enabled: false}\n"]
    {
        let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
        env.user_config(config);
        let ran = plimsoll(&env, &["test", "--", "sh", "-c", FAILS]);
        assert_eq!(ran.status.code(), Some(101));
        assert!(journal(&env).is_empty(), "{config}");
    }
}

#[test]
fn a_program_that_cannot_be_run_is_named_and_ends_as_in_a_shell() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    insta::assert_snapshot!(plimsoll(&env, &["test", "--", "no-such-program"]), @"
    --- stderr
    error: could not run `no-such-program`
      caused by: No such file or directory (os error 2)
    hint: look whether it is on your PATH, and may be run
    [exit 127]
    ");
    let text = env.write("text", "no program").display().to_string();
    let ran = plimsoll(&env, &["test", "--", &text]);
    assert_eq!(ran.status.code(), Some(126), "{ran}");
    assert!(journal(&env).is_empty(), "nothing was tested");
    assert_eq!(env.plimsoll("test").status.code(), Some(2), "misused");
}

#[test]
fn in_a_session_it_is_known_whose_tests_they_were() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin").with("CLAUDE_CODE_SESSION_ID", "s");
    plimsoll(&env, &["test", "--", "sh", "-c", PASSES]);
    assert_eq!(last(&env)["session"], "s");
}
