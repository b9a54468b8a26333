//! Machines that lack something: git, a home, rights, a disk that can be written.

use std::fs;

use crate::env::{Ran, TestEnv};

const SESSION: &str = "5f2c81aa-0000-4000-8000-000000000001";

/// What a session needs of us, from the installation to the next one.
fn lives(env: &TestEnv) {
    assert!(env.plimsoll("init --yes").status.success());
    let session = env.session(SESSION);
    assert!(session.fill(20_000).tool_finished().is_silent());
    assert!(session.fill(165_000).prompted().speaks());
    let sealed = env.plimsoll("checkpoint create");
    assert!(sealed.status.success(), "{sealed}");
    let given = env.plimsoll("resume");
    assert!(given.status.success() && !given.stdout.is_empty(), "{given}");
    let listed = env.plimsoll("status --all --json");
    assert!(listed.stdout.contains(SESSION), "{listed}");
}

#[test]
fn without_git_all_but_what_git_tells_is_there() {
    let env = TestEnv::new().with("PATH", "/nonexistent");
    lives(&env);
    env.write("project/TODO.md", "- [ ] Fix the pump\n");
    assert!(env.plimsoll("batch plan TODO.md").status.success());
    let ran = env.plimsoll("init --yes --git");
    assert!(!ran.status.success() && ran.stderr.contains("git"), "{ran}");
}

#[test]
fn an_ordinary_user_needs_no_rights() {
    let mut env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    env.as_plain_user();
    lives(&env);
}

#[test]
fn without_a_home_the_agent_goes_on_and_people_are_told() {
    let env = TestEnv::new();
    let payload = env.session(SESSION).fill(165_000).payload("PostToolUse").to_string();
    for env in [env.without("HOME"), TestEnv::new().with("HOME", "")] {
        assert!(env.hook(&payload).is_silent());
        let ran = env.plimsoll("status");
        assert!(!ran.status.success() && ran.stderr.contains("HOME"), "{ran}");
    }
}

/// Runs a script where nothing but the test's own folder can be written, as in a container whose root
/// is read-only.
fn read_only(env: &TestEnv, script: &str) -> Ran {
    let sealed = format!(
        "mount --bind '{own}' '{own}' && mount -o remount,ro,bind / && {{ {script}; }}",
        own = env.path("").display()
    );
    // Root has a namespace of its own for the asking, all others with a user of their own in it.
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let script = "flags=$1 sealed=$2; exec unshare \"$flags\" /bin/sh -c \"$sealed\" \"$0\"";
    env.run(env.shell(script, &[flags, &sealed]), b"")
}

#[test]
fn a_root_that_cannot_be_written_is_enough_where_the_home_can() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    env.session(SESSION).fill(165_000);
    let payload = env.session(SESSION).payload("UserPromptSubmit").to_string();
    env.write("payload.json", payload);
    let ran = read_only(
        &env,
        "! touch /usr/here 2>/dev/null && \"$0\" init --yes && \"$0\" hook < ../payload.json && \"$0\" checkpoint create",
    );
    assert!(ran.status.success(), "{ran}");
    assert!(ran.stdout.contains("additionalContext"), "{ran}");
    let kept = env.plimsoll("checkpoint list --json");
    assert!(kept.stdout.contains("\"id\""), "{kept}");
}

#[test]
fn where_not_even_the_home_can_be_written_the_agent_goes_on() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    env.session(SESSION).fill(165_000);
    let payload = env.session(SESSION).payload("PostToolUse").to_string();
    env.write("payload.json", payload);
    let own = env.path("").display().to_string();
    let script = format!(
        "mount -o remount,ro,bind '{own}' && \"$0\" hook < ../payload.json; echo \"exit $?\"; \"$0\" checkpoint create"
    );
    let ran = read_only(&env, &script);
    assert!(ran.stdout.contains("exit 0"), "{ran}");
    assert!(!ran.status.success() && ran.stderr.contains("could not"), "{ran}");
    assert!(!fs::exists(env.data()).unwrap());
}
