//! `plimsoll init --git`: commits are saved by git's own hook.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};
use crate::ss::{journal, plimsoll};

fn env() -> TestEnv {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    git(&env, &["init", "-q", "-b", "main"]);
    git(&env, &["config", "user.name", "A"]);
    git(&env, &["config", "user.email", "a@example.org"]);
    env
}

fn git(env: &TestEnv, arguments: &[&str]) -> Ran {
    let mut command: Command = env.shell("exec git \"$@\"", arguments);
    command.env("PATH", "/usr/bin:/bin");
    env.run(command, b"")
}

#[track_caller]
fn commits(env: &TestEnv, message: &str) -> String {
    fs::write(env.project().join("a.txt"), message).unwrap();
    git(env, &["add", "-A"]);
    let ran = git(env, &["commit", "-q", "-m", message]);
    assert!(ran.status.success(), "{ran}");
    git(env, &["rev-parse", "HEAD"]).stdout.trim().to_owned()
}

fn hook(env: &TestEnv) -> PathBuf {
    env.project().join(".git/hooks/post-commit")
}

fn last(env: &TestEnv) -> Value {
    journal(env).pop().unwrap()
}

#[test]
fn a_commit_is_saved_without_a_server_and_without_a_word() {
    let env = env().with("PLIMSOLL_ENV", "release");
    let ran = env.plimsoll("init --yes --git");
    assert!(ran.status.success(), "{ran}");
    assert!(
        ran.stdout.contains("+#!/bin/sh")
            && ran.stdout.contains("Undo    plimsoll uninstall --git"),
        "{ran}"
    );
    assert_eq!(fs::metadata(hook(&env)).unwrap().permissions().mode() & 0o777, 0o755);
    let sha = commits(&env, "Say \"it's\" $(done) `now`\n\nbody");
    let save = last(&env);
    assert_eq!(save["task"], "Commit: Say \"it's\" $(done) `now`");
    assert_eq!(save["context"], format!("Branch: main, SHA: {}, Files: 1", &sha[..8]));
    assert_eq!(save["tags"], json!(["git-commit", "main", &sha[..8]]));
    assert_eq!((&save["commit"], &save["environment"]), (&json!(sha), &json!("release")));
    assert_eq!(env.log(), Vec::<String>::new());
    let found = plimsoll(&env, &["rs", "release", &sha[..10], "--json"]);
    assert!(found.stdout.contains(&sha), "{found}");
}

#[test]
fn a_hook_that_is_there_runs_as_before_and_comes_back_to_the_byte() {
    let env = env();
    let before = "#!/bin/sh\nset -eu\necho theirs >> ran.txt\nexit 3";
    fs::write(hook(&env), before).unwrap();
    fs::set_permissions(hook(&env), fs::Permissions::from_mode(0o711)).unwrap();
    assert!(env.plimsoll("init --yes --git").status.success());
    assert!(env.plimsoll("init --yes --git").stdout.contains("Nothing to change"));
    commits(&env, "one");
    assert_eq!(fs::read_to_string(env.project().join("ran.txt")).unwrap(), "theirs\n");
    assert_eq!(journal(&env).len(), 1);
    assert!(env.plimsoll("uninstall --yes --git").status.success());
    assert_eq!(fs::read_to_string(hook(&env)).unwrap(), before);
    assert_eq!(fs::metadata(hook(&env)).unwrap().permissions().mode() & 0o777, 0o711);
    commits(&env, "two");
    assert_eq!(journal(&env).len(), 1);
}

#[test]
fn what_was_not_there_goes_again() {
    let env = env();
    assert!(env.plimsoll("init --git --dry-run").status.success());
    assert!(!hook(&env).exists());
    assert!(env.plimsoll("init --yes --git").status.success());
    let purged = env.plimsoll("uninstall --yes --purge");
    assert!(purged.stderr.contains("plimsoll uninstall --git"), "it is named first: {purged}");
    assert!(env.plimsoll("uninstall --yes --git").status.success());
    assert!(!hook(&env).exists());
}

#[test]
fn the_place_of_the_hooks_is_the_repositorys_choice() {
    let env = env();
    git(&env, &["config", "core.hooksPath", "tools/hooks"]);
    assert!(env.plimsoll("init --yes --git").status.success());
    assert!(env.project().join("tools/hooks/post-commit").exists() && !hook(&env).exists());
    commits(&env, "one");
    assert_eq!(journal(&env).len(), 1);
}

#[test]
fn a_commit_never_fails_whatever_becomes_of_plimsoll() {
    let env = env();
    assert!(env.plimsoll("init --yes --git").status.success());
    env.write("home/.local/share/plimsoll/saves.jsonl/x", "");
    commits(&env, "one");
    assert_eq!(env.log().len(), 1, "{:?}", env.log());
    let text = fs::read_to_string(hook(&env)).unwrap();
    let binary = text.lines().find(|line| line.contains("git-hook")).unwrap();
    let gone = text.replace(binary, &binary.replacen("plimsoll", "gone", 1));
    fs::write(hook(&env), gone).unwrap();
    commits(&env, "two");
}

#[test]
fn a_hook_that_is_no_shell_script_is_left_alone() {
    let env = env();
    fs::write(hook(&env), "#!/usr/bin/env python3\nprint()\n").unwrap();
    let ran = env.plimsoll("init --yes --git");
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("is not that of a shell script"), "{ran}");
    assert_eq!(fs::read_to_string(hook(&env)).unwrap(), "#!/usr/bin/env python3\nprint()\n");
}

#[test]
fn whoever_switched_it_off_has_nothing_saved() {
    for config in
        ["auto_context: {hooks: {git_commit: false}}\n", "auto_context: {enabled: false}\n"]
    {
        let env = env();
        assert!(env.plimsoll("init --yes --git").status.success());
        env.user_config(config);
        commits(&env, "one");
        assert!(journal(&env).is_empty(), "{config}");
    }
}

#[test]
fn outside_a_repository_it_says_so() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    let ran = env.plimsoll("init --yes --git");
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("`git init`"), "{ran}");
}
