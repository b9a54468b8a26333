//! Data that release 0.1.0 has written: a session with a checkpoint, a save and a message.

use std::process::Command;

use rusqlite::Connection;
use serde_json::Value;

use crate::env::TestEnv;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// A home as release 0.1.0 left it. Its user was `/home/dev`.
fn old_home() -> TestEnv {
    let env = TestEnv::new();
    let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/fixtures/home-0.1.0.tar.gz");
    let unpacked =
        Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(env.home()).status().unwrap();
    assert!(unpacked.success());
    env
}

/// Counts the rows of a table in the store.
fn count(env: &TestEnv, table: &str) -> i64 {
    let store = Connection::open(env.data().join("store.sqlite")).unwrap();
    store.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn everything_that_the_last_release_remembered_is_still_there() {
    let env = old_home();
    // Rows of spools and checkpoints are keyed by their paths, which are not those of that user here.
    let tables = ["sessions", "readings", "compactions", "hook_runs"];
    let before = tables.map(|table| count(&env, table));
    assert!(before[0] == 1 && before[1] > 0, "the fixture is empty: {before:?}");
    let status = env.plimsoll("status --all --json");
    let listed: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(listed[0]["session"], SESSION, "{status}");
    assert_eq!(listed[0]["agent"], "claude-code", "{status}");
    assert_eq!(listed[0]["reading"]["used"], 24_512, "{status}");
    assert_eq!(tables.map(|table| count(&env, table)), before, "nothing is stored twice");
    let saved = env.plimsoll("rs dev");
    assert!(saved.stdout.contains("Mend the hull"), "{saved}");
    let found = env.plimsoll("search hull");
    assert!(found.stdout.contains("Mend the hull"), "{found}");
    let taken = env.plimsoll(&format!("board take --session {SESSION}"));
    assert!(taken.stdout.contains("the tide turns"), "{taken}");
}

#[test]
fn a_hook_goes_on_from_the_state_that_the_last_release_wrote() {
    let env = old_home();
    let session = env.session(SESSION);
    let spool = std::fs::read_to_string(session.spool()).unwrap();
    let state: Value = serde_json::from_str(spool.lines().last().unwrap()).unwrap();
    let sealed = &state["state"]["sealed"]["id"];
    assert!(sealed.is_string(), "{state}");
    session.hook("SessionEnd");
    let spool = std::fs::read_to_string(session.spool()).unwrap();
    let last: Value = serde_json::from_str(spool.lines().last().unwrap()).unwrap();
    assert_eq!(last["what"], "ended", "{last}");
    assert!(last["state"]["sealed"]["id"].is_string(), "{last}");
}
