//! What a purge takes out of the projects.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use super::{refuses, succeeds};
use crate::env::TestEnv;
use crate::hook::worked;

/// A repository in which a session has sealed two checkpoints.
fn sealed() -> TestEnv {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    let made = Command::new("git").args(["init", "-q"]).arg(env.project()).status().unwrap();
    assert!(made.success());
    worked(&env, "worked", 20_000);
    for _ in 0..2 {
        succeeds(&env, "checkpoint create worked");
    }
    env
}

fn exclude(env: &TestEnv) -> String {
    fs::read_to_string(env.project().join(".git/info/exclude")).unwrap()
}

#[test]
fn a_new_folder_of_the_agent_is_open_and_its_checkpoints_are_private() {
    let env = sealed();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    let folder = env.project().join(".claude");
    assert_eq!(mode(&folder), mode(&env.project()));
    assert_eq!(mode(&folder.join("checkpoints")), 0o700);
}

#[test]
fn a_purge_lists_and_removes_what_plimsoll_put_into_projects() {
    let env = sealed();
    let before = exclude(&env);
    assert!(before.contains("/.claude/.checkpoint_iteration\n"), "{before}");
    let elsewhere = env.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let purge = |arguments: &str| {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let mut command = env.command(&words);
        command.current_dir(&elsewhere);
        env.run(command, b"")
    };
    let ran = purge("uninstall --purge --dry-run");
    for listed in [
        "In a project: $TEST/project/.claude/checkpoints (2 checkpoints)\n",
        "In a project: $TEST/project/.claude/.checkpoint_iteration\n",
        "In a project: $TEST/project/.git/info/exclude (one line)\n",
    ] {
        assert!(ran.stdout.contains(listed), "{ran}");
    }
    assert_eq!(exclude(&env), before);
    refuses(&env, "uninstall --purge", "nothing was changed");
    let ran = purge("uninstall --purge --yes");
    assert!(ran.stdout.contains("Removed $TEST/project/.claude/checkpoints (2"), "{ran}");
    assert!(!env.project().join(".claude").exists());
    assert_eq!(exclude(&env), before.replace("/.claude/.checkpoint_iteration\n", ""));
    assert!(!env.data().exists());
}

#[test]
fn a_purge_reports_the_removed_list_of_checkpoints() {
    let env = sealed();
    let list = env.home().join(".claude/clc/checkpoints/index.json");
    let ran = succeeds(&env, "uninstall --purge --dry-run");
    let announced = "The list of all checkpoints: $TEST/home/.claude/clc/checkpoints/index.json\n";
    assert!(ran.stdout.contains(announced), "{ran}");
    let ran = succeeds(&env, "uninstall --purge --yes");
    let removed = "Removed $TEST/home/.claude/clc/checkpoints/index.json\n";
    assert!(ran.stdout.contains(removed) && !list.exists(), "{ran}");
    let ran = succeeds(&env, "uninstall --purge --yes");
    assert!(!ran.stdout.contains("index.json"), "there is no list any more: {ran}");
}

#[test]
fn a_purge_reports_a_list_of_checkpoints_that_stays() {
    let env = sealed();
    let list = env.home().join(".claude/clc/checkpoints/index.json");
    fs::write(&list, "mine").unwrap();
    let ran = succeeds(&env, "uninstall --purge --yes");
    assert!(ran.stderr.contains("index.json` is not as plimsoll wrote it, and stays"), "{ran}");
    assert!(list.exists() && !ran.stdout.contains("Removed $TEST/home/.claude/clc"), "{ran}");
}

#[test]
fn a_purge_leaves_files_of_others_alone_and_names_them() {
    let env = sealed();
    let folder = env.project().join(".claude/checkpoints");
    let theirs = folder.join("2026-01-01-000000-theirs.md");
    fs::write(&theirs, "# Theirs\n").unwrap();
    let edited = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let edited = edited
        .filter(|path| path.is_file() && !path.is_symlink())
        .find(|path| path.to_string_lossy().contains("-worked"))
        .unwrap();
    let text = fs::read_to_string(&edited).unwrap();
    fs::write(&edited, text + "- mine\n").unwrap();
    let ran = succeeds(&env, "uninstall --purge --yes");
    assert!(ran.stderr.contains("-theirs.md` is not as plimsoll sealed it, and stays"), "{ran}");
    let mut left: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    left.sort();
    let mut expected = vec![folder.join(".gitignore"), theirs, edited];
    expected.sort();
    assert_eq!(left, expected);
}
