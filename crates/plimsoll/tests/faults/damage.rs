//! Files that were damaged behind our back: the store, which is made anew from the others, and whatever
//! else we read.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_testbed::generator::SplitMix64;

use crate::campaign::seed;
use crate::env::TestEnv;
use crate::invariants;
use crate::writers::{succeeds, worked};

/// A machine that has been in use, with a file of every kind.
fn used() -> TestEnv {
    let env = TestEnv::new().with("USER", "ada");
    env.client_settings(&serde_json::json!({"model": "opus"}));
    env.old_user_config("lines: {warn: 80}\nquiet: false\n");
    env.project_config("lines: {save: 70}\n");
    worked(&env, "worked", 820_000).tool_finished();
    env.session("waiting").fill(20_000).tool_finished();
    for arguments in [
        "init --yes",
        "checkpoint create worked",
        "ss sea --task mend",
        "board post --to waiting hello",
        "board claim a.rs",
        "status --all",
    ] {
        succeeds(&env, arguments);
    }
    env.session("worked").hook("SessionEnd");
    env
}

/// Spoils bytes in one of the ways that disks and editors do.
fn spoil(bytes: &mut Vec<u8>, random: &mut SplitMix64) -> &'static str {
    let at = random.below(bytes.len());
    match random.below(6) {
        0 => {
            bytes.truncate(at);
            "truncated"
        }
        1 => {
            bytes[at..].fill(0);
            "zeroed from somewhere on"
        }
        2 => {
            let end = (at + 512).min(bytes.len());
            bytes[at..end].iter_mut().for_each(|byte| *byte = random.bits() as u8);
            "garbled for a while"
        }
        3 => {
            bytes.iter_mut().for_each(|byte| *byte = random.bits() as u8);
            "garbled all over"
        }
        4 => {
            bytes.clear();
            "emptied"
        }
        _ => {
            (0..4).for_each(|_| {
                let at = random.below(bytes.len());
                bytes[at] ^= 0x41;
            });
            "changed in some bytes"
        }
    }
}

#[test]
fn a_store_that_is_no_store_any_more_is_made_anew_and_said_to_be() {
    let env = used();
    let before = succeeds(&env, "status --all --json");
    fs::write(env.data().join("store.sqlite"), "no database, ".repeat(1_000)).unwrap();
    let ran = env.plimsoll("status --all --json");
    assert!(ran.status.success(), "{ran}");
    assert!(ran.stderr.contains("note: the store was damaged and is made anew"), "{ran}");
    assert_eq!(sessions(&ran.stdout), sessions(&before));
    assert!(env.data().join("store.sqlite.damaged").exists());
    assert!(env.plimsoll("log").stdout.contains("the store was damaged"));
    let again = env.plimsoll("status --all --json");
    assert!(again.status.success() && again.stderr.is_empty(), "{again}");
    assert!(succeeds(&env, "rs sea --json").contains("mend"), "saves are there");
    assert!(succeeds(&env, "search b.txt --json").contains("worked"), "and checkpoints");
    succeeds(&env, "uninstall --purge --yes");
    assert!(!env.data().exists(), "it goes with the rest");
}

fn sessions(json: &str) -> Vec<String> {
    let list: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    list.iter().map(|session| session["session"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_store_damaged_anywhere_works_again_at_the_latest_when_it_is_asked_again() {
    let mut random = SplitMix64::new(seed());
    let env = used();
    let store = env.data().join("store.sqlite");
    let sound = fs::read(&store).unwrap();
    for round in 0..24 {
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(env.data().join(format!("store.sqlite{ending}")));
        }
        let mut bytes = sound.clone();
        let how = spoil(&mut bytes, &mut random);
        fs::write(&store, bytes).unwrap();
        invariants::neutral(&env.session("worked").hook("PreCompact"));
        invariants::neutral(&env.session("worked").hook("SessionEnd"));
        let asked = ["status --all", "search b.txt", "rs sea", "audit", "doctor"];
        asked.iter().for_each(|arguments| drop(invariants::bound(env.plimsoll(arguments))));
        for arguments in &asked[..4] {
            let ran = env.plimsoll(arguments);
            assert!(ran.status.success(), "round {round}, {how}: {arguments}: {ran}");
        }
        invariants::the_hook_answers(&env);
        assert!(succeeds(&env, "rs sea --json").contains("mend"), "round {round}, {how}");
    }
}

/// The files that are read and are no database, no transcript and no lock.
fn files(env: &TestEnv) -> Vec<PathBuf> {
    let mut files = env.all_under(&env.home());
    files.extend(env.all_under(&env.project()));
    let is_other = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.contains("store.sqlite") || name.ends_with(".lock") || name == "latest.md"
    };
    let transcripts = env.home().join(".claude/projects");
    let is_empty = |path: &Path| fs::metadata(path).is_ok_and(|file| file.len() == 0);
    files.retain(|path| !is_empty(path));
    files.retain(|path| path.is_file() && !is_other(path) && !path.starts_with(&transcripts));
    files
}

#[test]
fn whatever_file_is_garbled_the_agent_goes_on_and_nobody_panics() {
    let mut random = SplitMix64::new(seed());
    let env = used();
    let files: Vec<(PathBuf, Vec<u8>)> =
        files(&env).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert!(files.len() > 12, "{files:?}");
    for (file, whole) in &files {
        for _ in 0..3 {
            let mut bytes = whole.clone();
            let how = spoil(&mut bytes, &mut random);
            put(file, &bytes);
            let ran = env.session("waiting").prompted();
            assert!(ran.status.success(), "{} {how}: {ran}", file.display());
            for event in ["PostToolUse", "PreCompact", "SessionStart"] {
                invariants::neutral(&env.session("worked").hook(event));
            }
            for arguments in ["status", "checkpoint list", "board list", "doctor", "config check"] {
                invariants::bound(env.plimsoll(arguments));
            }
        }
        put(file, whole);
    }
}

/// Writes a file whose folder may be gone, as an inbox is once it has been read.
fn put(file: &Path, bytes: &[u8]) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_config_that_was_cut_short_is_named_and_left_as_it_is() {
    let env = TestEnv::new();
    let text = "lines: {warn: 80, save: 70}\nboard: {file: true}\n";
    for cut in 1..text.len() {
        let path = env.user_config(&text[..cut]);
        invariants::the_hook_answers(&env);
        invariants::bound(env.plimsoll("config check"));
        invariants::bound(env.plimsoll("status"));
        assert_eq!(fs::read_to_string(path).unwrap(), text[..cut]);
    }
}
