//! Where hooks find our program when a package manager keeps it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{SETTINGS, settings};
use crate::env::{Ran, TestEnv};

/// A program as npm installs it, and a machine.
fn packaged() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    let program = env.write("lib/node_modules/plimsoll/bin/plimsoll", "");
    let stripped = Command::new("strip")
        .arg("-o")
        .args([&program, Path::new(env!("CARGO_BIN_EXE_plimsoll"))])
        .status();
    assert!(stripped.unwrap().success());
    (env, program)
}

fn run(env: &TestEnv, program: &Path, arguments: &str) -> Ran {
    let script = format!("exec \"$1\" {arguments}");
    let ran = env.run(env.shell(&script, &[program.to_str().unwrap()]), b"");
    assert!(ran.status.success(), "{arguments}: {ran}");
    ran
}

#[test]
fn hooks_call_a_copy_that_upgrades_replace_and_a_purge_removes() {
    let (env, program) = packaged();
    let copy = env.data().join("bin/plimsoll");
    let shown = run(&env, &program, "init --dry-run").stdout;
    assert!(shown.contains("to $TEST/home/.local/share/plimsoll/bin/plimsoll\n"), "{shown}");
    assert!(!copy.exists());

    run(&env, &program, "init --yes");
    let line = settings(&env)["hooks"]["Stop"][0]["hooks"][0]["command"].clone();
    assert_eq!(line, format!("{} hook || :", copy.display()));
    assert!(fs::read(&copy).unwrap() == fs::read(&program).unwrap());
    assert_eq!(fs::metadata(&copy).unwrap().mode() & 0o777, 0o700);
    let found = run(&env, &program, "doctor --json").stdout;
    assert!(found.contains("a copy of plimsoll"), "{found}");
    let again = run(&env, &program, "init --yes").stdout;
    assert!(again.starts_with("Nothing to change"), "{again}");

    // The package is gone after an upgrade; the copy goes on working, and does not copy itself.
    assert!(run(&env, &copy, "init --yes").stdout.starts_with("Nothing to change"));

    // One that does not run is replaced by whatever is run next.
    fs::write(&copy, "<html>").unwrap();
    run(&env, &program, "config path");
    assert!(fs::read(&copy).unwrap() == fs::read(&program).unwrap());
    // An older one too, a newer one never.
    for (version, is_replaced) in [("0.0.9", true), ("99.0.0", false)] {
        let other = format!("#!/bin/sh\necho plimsoll {version}\n");
        fs::write(&copy, &other).unwrap();
        run(&env, &program, "config path");
        assert_eq!(fs::read(&copy).unwrap() != other.as_bytes(), is_replaced, "{version}");
    }
    run(&env, &program, "init --yes");
    assert!(
        fs::read(&copy).unwrap().starts_with(b"#!/bin/sh"),
        "init replaces no newer one either"
    );
    run(&env, &program, "uninstall --yes --purge");
    assert!(!env.data().exists());
    assert!(!env.path(SETTINGS).exists());
}

#[test]
fn a_hook_call_copies_nothing() {
    let (env, program) = packaged();
    run(&env, &program, "init --yes");
    let copy = env.data().join("bin/plimsoll");
    fs::write(&copy, "#!/bin/sh\necho plimsoll 0.0.9\n").unwrap();
    for arguments in ["hook", "statusline", "git-hook"] {
        run(&env, &program, &format!("{arguments} </dev/null"));
        assert!(fs::read(&copy).unwrap().starts_with(b"#!/bin/sh"), "{arguments}");
    }
}

#[test]
fn a_command_that_only_looks_copies_nothing() {
    let (env, program) = packaged();
    run(&env, &program, "init --yes");
    let copy = env.data().join("bin/plimsoll");
    fs::write(&copy, "#!/bin/sh\necho plimsoll 0.0.9\n").unwrap();
    for arguments in ["init --dry-run", "uninstall --dry-run", "doctor"] {
        let script = format!("exec \"$1\" {arguments}");
        // An old copy is among the doctor's findings, which may make the exit code 1.
        env.run(env.shell(&script, &[program.to_str().unwrap()]), b"");
        assert!(fs::read(&copy).unwrap().starts_with(b"#!/bin/sh"), "{arguments}");
    }
}
