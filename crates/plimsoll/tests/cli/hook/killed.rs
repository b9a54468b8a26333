//! Calls that are killed at any moment.

use std::fs;
use std::time::Duration;

use plimsoll_testbed::generator::SplitMix64;
use serde_json::Value;

use crate::env::{Ran, Session, TestEnv, feed};

/// Answers a call, and kills it after so many microseconds.
fn killed_after(env: &TestEnv, session: &Session<'_>, micros: u64) -> Ran {
    let child = env.command(&["hook"]).spawn().unwrap();
    let mut child = feed(child, session.payload("PostToolUse").to_string().as_bytes());
    std::thread::sleep(Duration::from_micros(micros));
    child.kill().unwrap();
    env.ran(child.wait_with_output().unwrap())
}

/// Kills calls of a session at a crossing, some at once, then checks that the next call is right.
fn check(env: &TestEnv, session: &Session<'_>, random: &mut SplitMix64) -> [usize; 2] {
    let delays: Vec<u64> = (0..8).map(|_| random.below(4_000) as u64).collect();
    let ran: Vec<Ran> = std::thread::scope(|scope| {
        let calls: Vec<_> = delays
            .iter()
            .map(|micros| scope.spawn(|| killed_after(env, session, *micros)))
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let said: Vec<&Ran> = ran.iter().filter(|ran| !ran.stdout.is_empty()).collect();
    for ran in &said {
        assert!(ran.to_user().is_some(), "words are whole or not there: {ran}");
    }
    let delivered = said.iter().filter(|ran| ran.status.success()).count();
    assert!(delivered <= 1, "{ran:?}");
    let next = session.tool_finished();
    assert!(next.speaks() || next.is_silent(), "{next}");
    if delivered == 1 {
        assert!(next.is_silent(), "it was said before: {next}\n{ran:?}");
    }
    if said.is_empty() {
        assert!(next.speaks(), "nobody has said it: {ran:?}");
    }
    let after = session.tool_finished();
    assert!(after.is_silent(), "{after}");
    check_spool(session);
    [ran.iter().filter(|ran| !ran.status.success()).count(), delivered]
}

/// Every line is whole, and none is empty but for a torn one before it.
fn check_spool(session: &Session<'_>) {
    let spool = fs::read_to_string(session.spool()).unwrap();
    assert!(spool.ends_with('\n'));
    for line in spool.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["what"], "warned");
    }
}

#[test]
fn a_killed_call_neither_swallows_a_warning_nor_doubles_a_delivered_one() {
    let mut random = SplitMix64::new(20_261_115);
    let env = TestEnv::new();
    let (mut killed, mut delivered) = (0, 0);
    for round in 0..60 {
        let session = env.session(&format!("round-{round}"));
        let [died, spoke] = check(&env, session.fill(170_000), &mut random);
        killed += died;
        delivered += spoke;
    }
    // Not a promise, but without both the test would show nothing.
    assert!(killed > 20 && delivered > 0, "{killed} killed, {delivered} delivered");
}

#[test]
fn killed_calls_leave_no_litter_once_a_call_has_succeeded() {
    let mut random = SplitMix64::new(7);
    for _ in 0..25 {
        let env = TestEnv::new();
        let session = env.session("s");
        check(&env, session.fill(170_000), &mut random);
        // A file that a killed call was about to put in the place of another.
        let settings = env.data().join("settings");
        let cache = settings.read_dir().unwrap().next().unwrap().unwrap().path();
        let dead = "4194305";
        let stem = cache.file_stem().unwrap().to_str().unwrap().split('.').next().unwrap();
        fs::write(settings.join(format!("{stem}.{dead}.tmp")), "{\"rel").unwrap();
        env.user_config("lines: {warn: 70}\n");
        session.tool_finished();
        let mut litter = env.all_under(&env.data());
        litter.retain(|path| path.extension().is_some_and(|extension| extension == "tmp"));
        assert_eq!(litter, Vec::<std::path::PathBuf>::new());
    }
}
