//! What plimsoll keeps: for the user alone, whoever made it, and known to the documents.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::docs::page;
use crate::env::TestEnv;
use crate::transcript::captured;

/// The binary under a umask that takes nothing away.
fn open_handed(env: &TestEnv, arguments: &[&str]) -> Command {
    env.shell("umask 000; exec \"$0\" \"$@\"", arguments)
}

/// A machine on which everything that leaves a file has been done.
fn used() -> TestEnv {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    env.client_settings(&json!({"model": "opus"}));
    env.user_config(
        "board: {coordination_file: true}\nreviewer: {command: ['true'], interval_seconds: 1}\n",
    );
    env.session("compacted").write(captured("compact-auto-headless.jsonl"));
    let session = env.session("5f2c81aa");
    session.fill_now(170_000);
    let run = |arguments: &[&str], stdin: &str| {
        env.run(open_handed(&env, arguments), stdin.as_bytes());
    };
    run(&["init", "--yes", "--commands", "--instructions"], "");
    for event in ["UserPromptSubmit", "PostToolUse", "PreCompact", "PostCompact", "SessionEnd"] {
        let mut payload = session.payload(event);
        payload["trigger"] = json!("auto");
        payload["compact_summary"] = json!("nothing of it");
        run(&["hook"], &payload.to_string());
    }
    let mut restore = open_handed(&env, &["restore"]);
    restore.env("CLAUDE_CODE_SESSION_ID", "loader");
    env.run(restore, b"");
    run(&["hook"], "no JSON");
    run(&["ss", "--task", "x"], "");
    run(&["board", "post", "--to", "5f2c", "x"], "");
    run(&["board", "claim", "x"], "");
    run(&["status", "--all"], "");
    run(&["audit"], "");
    runs_until(&env, &["watch"], "reviews.json");
    runs_until(&env, &["serve", "--listen", "127.0.0.1:0"], "serve.token");
    env
}

/// Lets a command run until it has made a file.
fn runs_until(env: &TestEnv, arguments: &[&str], file: &str) {
    let mut command = open_handed(env, arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while !env.data().join(file).exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "{arguments:?} makes no {file}");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn everything_is_for_the_user_alone() {
    let env = used();
    let checkpoints = env.project().join(".claude/checkpoints");
    let index = env.home().join(".claude/clc");
    for folder in [env.data(), checkpoints, index] {
        let found = env.all_under(&folder);
        assert!(found.len() >= 3, "{found:?}");
        for path in found {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
            let is_link = path.is_symlink();
            assert!(mode == expected || is_link, "{mode:o} {}", path.display());
        }
    }
}

#[test]
fn everything_is_named_in_the_reference() {
    let env = used();
    let reference = page("reference/files.md");
    assert!(env.data().join("receipts").is_dir());
    for entry in env.data().read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Locks and what the database keeps beside its file belong to the file.
        let file =
            [".lock", "-wal", "-shm"].iter().fold(&*name, |name, end| name.trim_end_matches(end));
        let named = [name.as_str(), file, &format!("{file}/")].map(|name| format!("`{name}`"));
        assert!(named.iter().any(|name| reference.contains(name)), "`{name}` is not explained");
    }
}
