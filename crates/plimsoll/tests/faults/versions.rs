//! Another version of plimsoll at work in the same home: what it writes is neither destroyed nor
//! stumbled over.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::invariants;
use crate::writers::{succeeds, worked};

/// A home in which a newer version has changed the tables of the store, and what ours were.
fn with_a_newer_store() -> (TestEnv, u32) {
    let env = TestEnv::new().with("USER", "ada");
    worked(&env, "worked", 610_000);
    env.session("waiting").fill(20_000);
    succeeds(&env, "status --all");
    let store = Connection::open(env.data().join("store.sqlite")).unwrap();
    let version = store.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    store.execute_batch("PRAGMA user_version = 99; CREATE TABLE tides (height)").unwrap();
    (env, version)
}

#[test]
fn a_store_of_a_newer_version_is_left_alone_and_everything_else_works() {
    let (env, version) = with_a_newer_store();
    let before = fs::read(env.data().join("store.sqlite")).unwrap();
    for event in ["PostToolUse", "PreCompact", "SessionEnd", "SessionStart"] {
        invariants::neutral(&env.session("worked").hook(event));
    }
    for arguments in ["status --all", "search hull", "rs sea", "audit"] {
        let ran = env.plimsoll(arguments);
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{arguments}: {ran}");
        assert!(ran.stderr.contains("a newer plimsoll has written it"), "{arguments}: {ran}");
    }
    for arguments in [
        "checkpoint create worked",
        "checkpoint verify --all",
        "ss sea --task mend",
        "board post --to waiting hello",
        "board claim a.rs",
    ] {
        succeeds(&env, arguments);
    }
    assert!(env.session("waiting").tool_finished().stdout.contains("hello"));
    assert_eq!(fs::read(env.data().join("store.sqlite")).unwrap(), before, "it is as it was");
    // The newer one finds all of it.
    let store = Connection::open(env.data().join("store.sqlite")).unwrap();
    let back = format!("DROP TABLE tides; PRAGMA user_version = {version}");
    store.execute_batch(&back).unwrap();
    drop(store);
    assert!(succeeds(&env, "rs sea --json").contains("mend"));
}

/// Changes every line of a file of JSON lines.
fn change(path: &Path, change: impl Fn(&mut Value)) {
    let text = fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        change(&mut value);
        format!("{value}\n")
    };
    fs::write(path, text.lines().map(line).collect::<String>()).unwrap();
}

fn with_more(value: &mut Value) {
    value["tide"] = json!({"height": 3});
    if value["state"].is_object() {
        value["state"]["tide"] = json!(3);
    }
}

#[test]
fn lines_with_more_in_them_are_understood_and_lines_of_other_kinds_passed_over() {
    let env = TestEnv::new().with("USER", "ada");
    let session = env.session("s");
    assert!(session.fill(170_000).tool_finished().speaks());
    change(&session.spool(), with_more);
    assert!(session.tool_finished().is_silent(), "it was said");
    let spool = fs::read_to_string(session.spool()).unwrap();
    let other = "{\"at\":1,\"what\":\"tide\",\"form\":2}\n";
    fs::write(session.spool(), spool + other).unwrap();
    assert!(session.tool_finished().is_silent(), "it was said, before a line that tells nothing");

    succeeds(&env, "ss sea --task mend");
    let saves = env.data().join("saves.jsonl");
    change(&saves, with_more);
    let text = fs::read_to_string(&saves).unwrap();
    fs::write(&saves, format!("{{\"tide\":1}}\n{text}")).unwrap();
    succeeds(&env, "ss sea --task sail");
    let found = succeeds(&env, "rs sea --limit 9 --json");
    assert!(found.contains("mend") && found.contains("sail"), "{found}");
    assert!(fs::read_to_string(&saves).unwrap().contains("\"tide\""), "nothing was taken out");
}

#[test]
fn messages_and_claims_with_more_in_them_are_understood() {
    let env = TestEnv::new().with("USER", "ada");
    env.session("waiting").fill(20_000);
    succeeds(&env, "board post --to waiting hello");
    succeeds(&env, "board claim a.rs");
    let board = env.data().join("board");
    let files = env.all_under(&board);
    for file in files.iter().filter(|file| file.is_file() && !file.ends_with("claims.lock")) {
        if fs::metadata(file).unwrap().len() > 0 {
            change(file, with_more);
        }
    }
    assert!(succeeds(&env, "board list --json").contains("a.rs"));
    assert!(env.session("waiting").tool_finished().stdout.contains("hello"));
}

#[test]
fn keys_of_a_newer_version_are_named_and_the_rest_counts() {
    let env = TestEnv::new();
    env.old_user_config("tides: {height: 3}\nlines: {warn: 82}\n");
    env.project_config("tides: {height: 3}\n");
    let ran = env.plimsoll("config check");
    assert!(ran.status.code() == Some(1) && format!("{ran}").contains("tides"), "{ran}");
    invariants::the_hook_answers(&env);
    let session = env.session("s");
    assert!(session.fill(163_000).tool_finished().is_silent(), "81.5 is below 82");
    assert!(session.fill(166_000).tool_finished().speaks());
}

#[test]
fn what_another_version_cached_is_made_anew() {
    let env = TestEnv::new();
    let session = env.session("s");
    session.fill(170_000).tool_finished();
    for folder in ["settings", "work"] {
        for file in env.all_under(&env.data().join(folder)).iter().filter(|it| it.is_file()) {
            let mut bytes = fs::read(file).unwrap();
            // The first byte tells the form; what follows is somebody else's business.
            bytes[0] = bytes[0].wrapping_add(1);
            fs::write(file, bytes).unwrap();
        }
    }
    for event in ["PostToolUse", "PreCompact", "SessionEnd"] {
        invariants::neutral(&session.hook(event));
    }
}

#[test]
fn a_run_journal_with_lines_of_a_newer_version_is_read_as_far_as_it_is_known() {
    let env = TestEnv::new();
    let runs = env.data().join("runs");
    fs::create_dir_all(&runs).unwrap();
    let journal = runs.join("01980000-0000-7000-8000-000000000000.jsonl");
    fs::write(&journal, "{\"at\":1,\"what\":\"tide\",\"height\":3}\n").unwrap();
    for arguments in ["batch status", "checkpoint prune", "status"] {
        let ran = env.plimsoll(arguments);
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{arguments}: {ran}");
        assert!(!ran.stderr.contains("panicked"), "{arguments}: {ran}");
    }
    assert!(journal.exists(), "it is somebody's");
}
