//! With somebody at the terminal.

use std::fs;

use super::{SETTINGS, THEIRS, home};
use crate::env::{Ran, TestEnv};

/// Runs the binary on a terminal of its own, and types these lines.
fn typed(env: &TestEnv, arguments: &str, lines: &str) -> Ran {
    let script = format!("exec script --quiet --return --command \"'$0' {arguments}\" /dev/null");
    env.run(env.shell(&script, &[]), lines.as_bytes())
}

#[test]
fn the_user_is_asked_what_to_install_and_whether_to_write_it() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    env.write(SETTINGS, THEIRS);
    let ran = typed(&env, "init", "n\ny\nn\ny\n");
    for question in [
        "Show the load in the status line? [Y/n]",
        "/plimsoll     shows how full this session is",
        "Add these commands? [y/N]",
        "Explain plimsoll's words to the model, in its file of instructions? [y/N]",
        "Write these 6 files? [Y/n]",
    ] {
        assert!(ran.stdout.contains(question), "{question}: {ran}");
    }
    assert!(ran.stdout.contains("\u{1b}[32m+"), "in colour: {ran}");
    let settings = fs::read_to_string(env.path(SETTINGS)).unwrap();
    assert!(settings.contains("PreCompact") && !settings.contains("statusline"), "{settings}");
    assert!(env.path("home/.claude/commands/plimsoll.md").exists());
    assert!(!env.path("home/.claude/CLAUDE.md").exists());
}

#[test]
fn nothing_happens_without_a_yes() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    env.write(SETTINGS, THEIRS);
    let before = home(&env);
    let ran = typed(&env, "init", "\n\n\nn\n");
    assert!(ran.stdout.contains("Nothing was written."), "{ran}");
    assert!(home(&env) == before);
    env.plimsoll("init --yes");
    let before = home(&env);
    let ran = typed(&env, "uninstall", "n\n");
    assert!(ran.stdout.contains("Nothing was removed."), "{ran}");
    assert!(home(&env) == before);
    typed(&env, "uninstall --yes", "");
    assert_eq!(fs::read_to_string(env.path(SETTINGS)).unwrap(), THEIRS);
}

#[test]
fn the_user_is_asked_although_a_pager_shows_the_change() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    env.write(SETTINGS, THEIRS);
    let before = home(&env);
    let ran = typed(&env, "init | cat", "\n\n\nn\n");
    assert!(ran.stdout.contains("settings.json? [Y/n]"), "{ran}");
    assert!(ran.stdout.contains("Nothing was written."), "{ran}");
    assert!(home(&env) == before);
}
