//! What must be true whatever happened.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;

use crate::env::{Ran, TestEnv};
use crate::transcript;

/// A hook answers within this, whatever is wrong. Nothing here is about speed.
pub(crate) const IN_TIME: Duration = Duration::from_secs(2);

/// A session that nothing happens to.
const BYSTANDER: &str = "bystander";

/// No phantom, no torn file, and the agent's hook is answered neutrally and in time.
#[track_caller]
pub(crate) fn hold(env: &TestEnv) {
    no_phantom(env);
    no_torn_file(env);
    for_the_user_alone(env);
    the_store_is_sound(env);
    the_hook_answers(env);
}

/// A session that is far from any line hears nothing, in time.
#[track_caller]
pub(crate) fn the_hook_answers(env: &TestEnv) {
    let session = env.session(BYSTANDER);
    if !session.transcript.exists() {
        let text = transcript::reading(transcript::MODEL, 20_000, &env.project(), false);
        session.write(transcript::just_written(&text));
    }
    let began = Instant::now();
    let ran = session.tool_finished();
    assert!(began.elapsed() < IN_TIME, "a hook took {:?}", began.elapsed());
    assert!(ran.is_silent(), "a bystander was spoken to: {ran}");
}

/// A hook that could not do its work lets the agent go on, and says nothing or something whole.
#[track_caller]
pub(crate) fn neutral(ran: &Ran) {
    assert!(ran.status.success() && ran.stderr.is_empty(), "not neutral: {ran}");
    let is_text = !ran.stdout.starts_with('{');
    assert!(is_text || serde_json::from_str::<Value>(&ran.stdout).is_ok(), "torn words: {ran}");
}

/// A command did its work or failed, as commands do.
#[track_caller]
pub(crate) fn bound(ran: Ran) -> Ran {
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{ran}");
    assert!(!ran.stderr.contains("panicked"), "{ran}");
    ran
}

/// Every checkpoint that is listed is whole, and whatever the index names is there.
#[track_caller]
fn no_phantom(env: &TestEnv) {
    for listed in checkpoints(env) {
        assert!(listed["sealed"] == true && listed["origin"] == "own", "torn: {listed}");
    }
    for entry in indexed(env) {
        let path = entry["path"].as_str().unwrap();
        assert!(Path::new(path).is_file(), "a phantom is in the index: {entry}");
    }
}

/// The project's checkpoints, as they are listed.
#[track_caller]
pub(crate) fn checkpoints(env: &TestEnv) -> Vec<Value> {
    json(&env.plimsoll("checkpoint list --json"))
}

/// What the index names.
pub(crate) fn indexed(env: &TestEnv) -> Vec<Value> {
    let path = env.home().join(".claude/clc/checkpoints/index.json");
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    let index: Value = serde_json::from_str(&text).expect("the index is torn");
    index["checkpoints"].as_array().unwrap().clone()
}

/// What a command printed, read as a list.
#[track_caller]
pub(crate) fn json(ran: &Ran) -> Vec<Value> {
    assert!(ran.status.success(), "{ran}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// Files are whole JSON. (The last line of a journal may be torn, if nobody was told of it; that no other
/// is lost is the writers' to check.)
#[track_caller]
fn no_torn_file(env: &TestEnv) {
    let mut files = env.all_under(&env.data());
    files.extend(env.all_under(&env.home().join(".claude")));
    for path in files.iter().filter(|path| path.is_file()) {
        if path.extension().is_some_and(|ending| ending == "json") {
            whole(path, &fs::read(path).unwrap());
        }
    }
}

#[track_caller]
fn whole(path: &Path, json: &[u8]) {
    let parsed = serde_json::from_slice::<Value>(json);
    assert!(parsed.is_ok(), "{} is torn: {}", path.display(), String::from_utf8_lossy(json));
}

/// Nothing that we remember can be read by others.
#[track_caller]
fn for_the_user_alone(env: &TestEnv) {
    for path in env.all_under(&env.data()) {
        let mode = fs::symlink_metadata(&path).map_or(0, |found| found.permissions().mode());
        assert_eq!(mode & 0o077, 0, "{} is open to others", path.display());
    }
}

/// The database is what SQLite calls sound.
#[track_caller]
pub(crate) fn the_store_is_sound(env: &TestEnv) {
    let path = env.data().join("store.sqlite");
    if fs::metadata(&path).map_or(0, |metadata| metadata.len()) == 0 {
        return;
    }
    // In a copy: whoever looks mends what a killed process left, and that is for us to do.
    let copy = tempfile::tempdir().unwrap();
    for ending in ["", "-wal", "-journal"] {
        let name = format!("store.sqlite{ending}");
        let _ = fs::copy(env.data().join(&name), copy.path().join(&name));
    }
    let store = Connection::open(copy.path().join("store.sqlite")).unwrap();
    let verdict = store.query_row("PRAGMA quick_check", [], |row| row.get::<_, String>(0));
    assert_eq!(verdict.unwrap(), "ok");
}

/// What killed processes left behind is gone once somebody else has done the same. (The folder of a run
/// goes as a whole; what its conductor owes is for that campaign to say.)
#[track_caller]
pub(crate) fn no_litter(env: &TestEnv) {
    // The next change of a config makes the cached settings anew.
    env.project_config("lines: {save: 66}\n");
    thread::sleep(Duration::from_millis(40));
    the_hook_answers(env);
    let mut litter = half_written(env, &env.home());
    litter.extend(half_written(env, &env.project()));
    litter.retain(|path| !path.starts_with(env.data().join("runs")));
    assert!(litter.is_empty(), "litter: {litter:?}");
}

/// Files that were to take the place of others.
pub(crate) fn half_written(env: &TestEnv, folder: &Path) -> Vec<PathBuf> {
    let mut files = env.all_under(folder);
    files.retain(|path| path.extension().is_some_and(|ending| ending == "tmp"));
    files
}
