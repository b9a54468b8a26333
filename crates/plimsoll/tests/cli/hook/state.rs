//! What is remembered between two calls, by whom, and what becomes of it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use crate::env::{Ran, Session, TestEnv, feed};

/// Answers many calls of a session at once.
fn at_once(env: &TestEnv, session: &Session<'_>, calls: usize) -> Vec<Ran> {
    let payload = session.payload("PostToolUse").to_string();
    let started: Vec<_> = (0..calls).map(|_| env.command(&["hook"]).spawn().unwrap()).collect();
    // Each of them waits for its payload.
    let fed: Vec<_> = started.into_iter().map(|child| feed(child, payload.as_bytes())).collect();
    fed.into_iter().map(|child| env.ran(child.wait_with_output().unwrap())).collect()
}

#[test]
fn of_sixty_four_calls_at_once_one_warns() {
    let env = TestEnv::new();
    for round in 0..6 {
        let session = env.session(&format!("round-{round}"));
        session.fill(170_000);
        let ran = at_once(&env, &session, 64);
        let warned = ran.iter().filter(|ran| ran.speaks()).count();
        let silent = ran.iter().filter(|ran| ran.is_silent()).count();
        assert_eq!((warned, silent), (1, 63), "{round}");
        assert!(session.prompted().is_silent());
    }
    assert_eq!(env.log(), Vec::<String>::new());
}

#[test]
fn each_of_many_calls_at_once_is_refused() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    let session = env.session("s");
    session.fill(170_000);
    let mut payload = session.payload("PreToolUse");
    payload["tool_name"] = "Agent".into();
    let started: Vec<_> = (0..32).map(|_| env.command(&["hook"]).spawn().unwrap()).collect();
    let payload = payload.to_string();
    let fed: Vec<_> = started.into_iter().map(|child| feed(child, payload.as_bytes())).collect();
    for child in fed {
        let ran = env.ran(child.wait_with_output().unwrap());
        assert!(ran.refuses(), "{ran}");
    }
}

#[test]
fn two_sessions_of_a_project_share_nothing() {
    let env = TestEnv::new();
    let (one, two) = (env.session("one"), env.session("two"));
    assert!(one.fill(170_000).prompted().speaks());
    assert!(two.fill(170_000).prompted().speaks());
    assert!(one.prompted().is_silent());
    assert!(two.fill(30_000).prompted().is_silent());
    assert!(one.prompted().is_silent());
    assert!(two.fill(170_000).prompted().speaks());
    assert!(one.prompted().is_silent());
}

#[test]
fn a_subagents_memory_is_its_own() {
    let env = TestEnv::new();
    let session = env.session("s");
    let (one, two) = (session.subagent("a1"), session.subagent("a2"));
    assert!(session.fill(170_000).tool_finished().speaks());
    assert!(one.fill(170_000).tool_finished().speaks());
    assert!(two.fill(30_000).tool_finished().is_silent());
    assert!(session.tool_finished().is_silent());
    assert!(one.tool_finished().is_silent());
    assert!(two.fill(180_000).tool_finished().speaks());
    for window in [&session, &one, &two] {
        assert!(window.spool().is_file(), "{}", window.spool().display());
    }
}

#[test]
fn a_call_that_decides_nothing_writes_nothing() {
    let env = TestEnv::new();
    let session = env.session("s");
    session.fill(30_000).prompted();
    assert!(!session.spool().exists());
    session.fill(170_000).tool_finished();
    let spool = fs::read(session.spool()).unwrap();
    for _ in 0..5 {
        session.tool_finished();
    }
    assert_eq!(fs::read(session.spool()).unwrap(), spool);
}

#[test]
fn our_files_are_for_the_user_alone_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let env = TestEnv::new();
        let session = env.session("s");
        session.fill(170_000);
        for payload in [session.payload("UserPromptSubmit").to_string(), "not JSON".to_owned()] {
            let command = env.shell(&format!("umask {umask}; exec \"$0\" hook"), &[]);
            env.run(command, payload.as_bytes());
        }
        let found = env.all_under(&env.data());
        assert!(found.len() >= 6, "{found:?}");
        for path in found {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, expected, "{mode:o} {}", path.display());
        }
    }
}

/// Without a memory a warning would come with every call, so none comes; a refusal needs none.
#[track_caller]
fn check_without_memory(env: TestEnv) {
    let session = env.session("s");
    for _ in 0..2 {
        let ran = session.prompted();
        assert!(ran.is_silent(), "{ran}");
        let ran = session.loads_agent();
        assert!(ran.is_silent(), "{ran}");
    }
    let env = env.with("PLIMSOLL_CONTEXT_STRICT", "on");
    for _ in 0..2 {
        let ran = env.session("s").loads_agent();
        assert!(ran.refuses(), "{ran}");
    }
}

#[test]
fn a_data_folder_that_is_a_file_disturbs_nobody() {
    let env = TestEnv::new();
    env.session("s").fill(170_000);
    env.write("home/.local/share/plimsoll", "a file");
    check_without_memory(env);
}

#[test]
fn a_data_folder_that_cannot_be_made_disturbs_nobody() {
    let env = TestEnv::new().with("PLIMSOLL_DATA_DIR", "/proc/plimsoll");
    env.session("s").fill(170_000);
    check_without_memory(env);
}

#[test]
fn a_data_folder_that_may_not_be_written_disturbs_nobody() {
    let mut env = TestEnv::new();
    env.session("s").fill(170_000);
    fs::create_dir_all(env.data()).unwrap();
    fs::set_permissions(env.data(), fs::Permissions::from_mode(0o500)).unwrap();
    env.as_plain_user();
    check_without_memory(env);
}

#[test]
fn a_data_folder_that_may_not_even_be_read_disturbs_nobody() {
    let mut env = TestEnv::new();
    env.session("s").fill(170_000);
    fs::create_dir_all(env.data()).unwrap();
    fs::set_permissions(env.data(), fs::Permissions::from_mode(0o000)).unwrap();
    env.as_plain_user();
    check_without_memory(env);
}

#[test]
fn a_link_in_the_place_of_the_spool_is_not_written_through() {
    let env = TestEnv::new();
    let session = env.session("s");
    session.fill(170_000);
    let victim = env.write("victim", "precious");
    fs::create_dir_all(session.spool().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&victim, session.spool()).unwrap();
    let ran = session.prompted();
    assert!(ran.is_silent(), "{ran}");
    assert_eq!(fs::read(victim).unwrap(), b"precious");
}

#[test]
fn a_data_folder_elsewhere_is_used() {
    let env = TestEnv::new();
    let elsewhere = env.path("elsewhere");
    let env = env.with("PLIMSOLL_DATA_DIR", elsewhere.to_str().unwrap());
    let session = env.session("s");
    assert!(session.fill(170_000).prompted().speaks());
    assert!(session.prompted().is_silent());
    assert!(elsewhere.join("spool/s.jsonl").is_file());
    assert!(!env.data().exists());
}

#[test]
fn a_spool_with_a_torn_or_zeroed_end_still_tells_what_was_said() {
    let env = TestEnv::new();
    let session = env.session("s");
    assert!(session.fill(160_000).prompted().speaks());
    let whole = fs::read(session.spool()).unwrap();
    assert!(session.fill(170_000).prompted().speaks());
    let second = fs::read(session.spool()).unwrap()[whole.len()..].to_vec();
    let ends: Vec<Vec<u8>> = (1..second.len() - 1)
        .step_by(13)
        .map(|cut| second[..cut].to_vec())
        .chain([vec![0; 4096], b"\0\0\0\n".to_vec(), b"\xff\xfe\n".to_vec(), b"{}\n".to_vec()])
        .chain([[&[0; 100], &second[50..]].concat()])
        .collect();
    for end in ends {
        fs::write(session.spool(), [&whole[..], &end].concat()).unwrap();
        // What was said stays said, what is new is said once, behind the torn line.
        assert!(session.fill(160_000).prompted().is_silent(), "{end:?}");
        assert!(session.fill(170_000).prompted().speaks(), "{end:?}");
        assert!(session.prompted().is_silent(), "{end:?}");
    }
}

#[test]
fn a_spool_without_a_whole_line_is_as_good_as_none() {
    let env = TestEnv::new();
    let session = env.session("s");
    session.fill(170_000).prompted();
    for spoiled in [&b""[..], b"\0\0\0\0", b"{\"at\":1", b"\n\n\n", b"[]\n"] {
        fs::write(session.spool(), spoiled).unwrap();
        assert!(session.prompted().speaks(), "{spoiled:?}");
        assert!(session.prompted().is_silent(), "{spoiled:?}");
    }
}

#[test]
fn a_held_spool_is_left_to_who_holds_it_and_a_refusal_stands() {
    let env = TestEnv::new();
    let session = env.session("s");
    assert!(session.fill(160_000).prompted().speaks());
    let held = fs::File::options().append(true).open(session.spool()).unwrap();
    held.lock().unwrap();
    assert!(session.fill(170_000).prompted().is_silent());
    let strict = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    let data = env.data();
    let strict = strict.with("PLIMSOLL_DATA_DIR", data.to_str().unwrap());
    let ran = strict.session("s").fill(170_000).loads_agent();
    assert!(ran.refuses(), "{ran}");
    drop(held);
    assert!(session.prompted().speaks());
}

#[test]
fn a_log_that_grew_large_is_begun_anew() {
    let env = TestEnv::new();
    env.hook("not JSON");
    let log = env.data().join("hook.log");
    let mut file = fs::File::options().append(true).open(&log).unwrap();
    file.write_all("x\n".repeat(600_000).as_bytes()).unwrap();
    env.hook("not JSON");
    env.hook("not JSON");
    assert_eq!(env.log().len(), 1);
    assert!(env.data().join("hook.log.1").is_file());
}
