//! `plimsoll ss`

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::hook::worked;

/// The lines of the journal, as they were written.
pub(crate) fn journal(env: &TestEnv) -> Vec<Value> {
    let text = fs::read_to_string(env.data().join("saves.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs `plimsoll` with arguments that may hold blanks.
pub(crate) fn plimsoll(env: &TestEnv, arguments: &[&str]) -> crate::env::Ran {
    env.run(env.command(arguments), b"")
}

#[test]
fn what_is_said_is_saved_under_its_environment() {
    let env = TestEnv::new();
    let arguments =
        ["ss", "staging", "--task", "Mend the login", "--context", "a\nb", "--tag", "auth"];
    let more =
        ["--tag", "now", "--blockers", "no access", "--next-steps", "ask", "--artifact", "x.rs"];
    let ran = plimsoll(&env, &[&arguments[..], &more[..]].concat());
    insta::assert_snapshot!(ran, @"
    --- stdout
    Saved `Mend the login` in staging.
    Restore it with `plimsoll rs staging`, or /rs staging in a new session.
    [exit 0]
    ");
    let save = &journal(&env)[0];
    for (key, value) in [
        ("environment", json!("staging")),
        ("kind", json!("manual")),
        ("task", json!("Mend the login")),
        ("context", json!("a\nb")),
        ("blockers", json!("no access")),
        ("next_steps", json!("ask")),
        ("tags", json!(["auth", "now"])),
        ("key_artifacts", json!(["x.rs"])),
    ] {
        assert_eq!(save[key], value, "{save}");
    }
    let mode = fs::metadata(env.data().join("saves.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_environment_is_named_by_the_argument_else_by_a_variable_else_it_is_development() {
    for (variables, arguments, expected) in [
        (&[][..], &[][..], "development"),
        (&[("CONTEXTS_ENV", "old")][..], &[][..], "old"),
        (&[("CONTEXTS_ENV", "old"), ("PLIMSOLL_ENV", "new")][..], &[][..], "new"),
        (&[("PLIMSOLL_ENV", "new")][..], &["named"][..], "named"),
    ] {
        let env = variables.iter().fold(TestEnv::new(), |env, (name, value)| env.with(name, value));
        let ran = plimsoll(&env, &[&["ss", "--task", "t"], arguments].concat());
        assert!(ran.status.success(), "{ran}");
        assert_eq!(journal(&env)[0]["environment"], expected);
    }
}

#[test]
fn a_name_that_no_environment_can_have_is_refused_and_nothing_is_saved() {
    let env = TestEnv::new();
    insta::assert_snapshot!(plimsoll(&env, &["ss", "a b", "--task", "t"]), @"
    --- stderr
    error: `a b` is no name for an environment: up to 64 letters, digits, `-`, `_` and `.`, the first a letter or a digit
    hint: name one, for example `plimsoll rs development`
    [exit 1]
    ");
    let set = TestEnv::new().with("PLIMSOLL_ENV", "../x");
    assert_eq!(plimsoll(&set, &["ss", "--task", "t"]).status.code(), Some(1));
    assert!(journal(&env).is_empty() && journal(&set).is_empty());
}

#[test]
fn outside_a_session_a_task_is_needed() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("ss"), @"
    --- stderr
    error: there is nothing to save: no task was named, and no session runs here
    hint: name it, for example `plimsoll ss --task 'Mend the login'`
    [exit 1]
    ");
}

#[test]
fn in_a_session_the_rest_is_taken_from_its_transcript() {
    let env = TestEnv::new().with("CLAUDE_CODE_SESSION_ID", "s");
    let _session = worked(&env, "s", 50_000);
    let ran = plimsoll(&env, &["ss", "release", "--next-steps", "tag it", "--json"]);
    let save: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(save["session_id"], "s");
    assert_eq!(save["next_steps"], "tag it", "what was said stays");
    assert!(save["key_artifacts"].as_array().unwrap().contains(&json!("b.txt")), "{save}");
    assert!(save["context"].as_str().unwrap().contains("[b.txt"), "{save}");
    assert!(!save["task"].as_str().unwrap().is_empty(), "{save}");
    let checkpoint = save["checkpoint"].as_str().unwrap();
    let file = env.project().join(format!(".claude/checkpoints/{checkpoint}.md"));
    assert!(fs::read_to_string(file).unwrap().contains("trigger: manual\n"));
}

#[test]
fn no_secret_is_written_down() {
    let env = TestEnv::new();
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    for flag in ["--context", "--blockers", "--next-steps", "--tag", "--artifact"] {
        let ran = plimsoll(&env, &["ss", "--task", token, flag, token]);
        assert!(ran.status.success() && !ran.stdout.contains(token), "{ran}");
    }
    let text = fs::read_to_string(env.data().join("saves.jsonl")).unwrap();
    assert!(!text.contains(token) && text.contains("[redacted:"), "{text}");
}

#[test]
fn a_journal_that_cannot_be_written_is_an_error() {
    let env = TestEnv::new();
    env.write("home/.local/share/plimsoll/saves.jsonl/x", "");
    let ran = plimsoll(&env, &["ss", "--task", "t"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.starts_with("error: could not write the save down\n"), "{ran}");
}
