//! `plimsoll status`

use std::process::Stdio;

use serde_json::Value;

use crate::env::TestEnv;

#[test]
fn every_session_is_listed_with_its_own_reading() {
    let env = TestEnv::new();
    env.session("11111111-one").fill(100_000);
    env.session("22222222-two").fill(150_000);
    let ran = env.plimsoll("status --all --json");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let mut used: Vec<_> = json.as_array().unwrap().iter().map(|s| &s["reading"]["used"]).collect();
    used.sort_by_key(|used| used.as_u64());
    assert_eq!(used, [100_000, 150_000]);
}

#[test]
fn an_unknown_session_is_named_and_hinted_at() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("status nope"), @"
    --- stderr
    error: no session `nope`
    hint: run `plimsoll status --all` to see all of them
    [exit 1]
    ");
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let env = TestEnv::new();
    for number in 0..40 {
        env.session(&format!("{number:08}-session")).fill(100_000);
    }
    for arguments in [&["status", "--all"][..], &["status", "--all", "--json"]] {
        let mut command = env.command(arguments);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(Stdio::from(writer));
        let ran = env.run(command, b"");
        assert!(ran.is_silent(), "{arguments:?}: {ran}");
    }
}
