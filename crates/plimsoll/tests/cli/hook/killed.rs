//! Calls that are killed at any moment.

use std::fs::{self, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use plimsoll_testbed::generator::SplitMix64;
use serde_json::Value;

use crate::env::{Ran, Session, TestEnv, feed};

/// Answers a call, and kills it after so many microseconds.
pub(crate) fn killed_after(env: &TestEnv, session: &Session<'_>, micros: u64) -> Ran {
    let child = env.command(&["hook"]).spawn().unwrap();
    let mut child = feed(child, session.payload("PostToolUse").to_string().as_bytes());
    std::thread::sleep(Duration::from_micros(micros));
    child.kill().unwrap();
    env.ran(child.wait_with_output().unwrap())
}

/// Kills calls of a session at a crossing, some at once, then checks that the next call is right.
fn check(env: &TestEnv, session: &Session<'_>, random: &mut SplitMix64) {
    let calls = 1 + random.below(8);
    let delays: Vec<u64> = (0..calls).map(|_| random.below(3_000) as u64).collect();
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
}

/// Every line is whole: a line is written at once or not at all.
fn check_spool(session: &Session<'_>) {
    let spool = fs::read_to_string(session.spool()).unwrap();
    assert!(spool.ends_with('\n'));
    for line in spool.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(matches!(line["what"].as_str(), Some("warned" | "saved")), "{line}");
    }
}

#[test]
fn a_killed_call_neither_swallows_a_warning_nor_doubles_a_delivered_one() {
    let mut random = SplitMix64::new(20_261_115);
    let env = TestEnv::new();
    for round in 0..80 {
        let session = env.session(&format!("round-{round}"));
        check(&env, session.fill(170_000), &mut random);
    }
}

#[test]
fn killed_calls_leave_no_litter_once_the_session_has_ended() {
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
        fs::write(settings.join(format!("{stem}.plimsoll-{dead}.tmp")), "{\"rel").unwrap();
        env.old_user_config("lines: {warn: 70}\n");
        session.tool_finished();
        session.hook("SessionEnd");
        let mut litter = env.all_under(&env.data());
        litter.retain(|path| path.extension().is_some_and(|extension| extension == "tmp"));
        assert_eq!(litter, Vec::<PathBuf>::new());
    }
}

#[test]
fn a_call_killed_while_it_speaks_leaves_its_words_to_the_next() {
    let env = TestEnv::new();
    let session = env.session("s");
    session.fill(170_000);
    // Into a full pipe nobody can speak to the end.
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b'x'; 65_536]).unwrap();
    let mut command = env.command(&["hook"]);
    command.stdout(Stdio::from(writer));
    let payload = session.payload("PostToolUse").to_string();
    let mut child = feed(command.spawn().unwrap(), payload.as_bytes());
    wait_until(|| is_locked(&session.spool()));
    assert!(session.tool_finished().is_silent(), "another has the word");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(reader);
    assert!(session.tool_finished().speaks());
    assert!(session.tool_finished().is_silent());
    check_spool(&session);
}

fn is_locked(spool: &Path) -> bool {
    let file = fs::File::options().append(true).open(spool);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn wait_until(come_true: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if come_true() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("it never came true");
}
