//! `plimsoll doctor` on machines with something wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::env::TestEnv;

/// The findings that are not fine: subject, state, text, what to do.
fn found(env: &TestEnv) -> Vec<[String; 4]> {
    let ran = env.plimsoll("doctor --json");
    let findings: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let field = |finding: &Value, name| finding[name].as_str().unwrap_or_default().to_owned();
    let found: Vec<[String; 4]> = findings
        .iter()
        .map(|finding| ["subject", "state", "text", "mend"].map(|name| field(finding, name)))
        .filter(|[_, state, ..]| state != "fine")
        .map(|finding| finding.map(|text| text.replace(env.path("").to_str().unwrap(), "$TEST/")))
        .collect();
    let broken = found.iter().any(|[_, state, ..]| state == "broken");
    assert_eq!(ran.status.code(), Some(i32::from(broken)), "{ran}");
    found
}

/// What was found about `subject`.
fn about(env: &TestEnv, subject: &str) -> Vec<[String; 3]> {
    let found = found(env).into_iter().filter(|[found, ..]| found == subject);
    found.map(|[_, state, text, mend]| [state, text, mend]).collect()
}

#[test]
fn a_data_folder_that_cannot_be_written_is_named() {
    let mut env = TestEnv::new();
    fs::create_dir_all(env.data()).unwrap();
    fs::set_permissions(env.data(), fs::Permissions::from_mode(0o500)).unwrap();
    env.as_plain_user();
    let found = about(&env, "data folder");
    let [[state, text, mend]] = &found[..] else { panic!("{found:?}") };
    assert_eq!(state, "broken");
    assert!(text.contains("cannot be written (Permission denied"), "{text}");
    assert!(mend.starts_with("chown \"$(id -u)\""), "{mend}");
    assert!(mend.contains("$TEST/home/.local/share/plimsoll"), "{mend}");
}

#[test]
fn a_data_folder_that_others_can_read_is_named() {
    let env = TestEnv::new();
    fs::create_dir_all(env.data()).unwrap();
    fs::set_permissions(env.data(), fs::Permissions::from_mode(0o755)).unwrap();
    let [state, text, mend] = about(&env, "data folder").remove(0);
    assert_eq!(state, "note");
    assert_eq!(text, "`$TEST/home/.local/share/plimsoll` is open to others (mode 755)");
    assert_eq!(mend, "chmod 700 '$TEST/home/.local/share/plimsoll'");
}

#[test]
fn a_broken_store_is_named_and_its_mending_works() {
    let env = TestEnv::new();
    env.session("s").fill(100_000);
    env.plimsoll("status");
    let store = env.data().join("store.sqlite");
    for beside in ["store.sqlite-wal", "store.sqlite-shm"] {
        let _ = fs::remove_file(env.data().join(beside));
    }
    fs::write(&store, "this is no database, whatever its name says ".repeat(100)).unwrap();
    let [state, text, mend] = about(&env, "store").remove(0);
    assert_eq!(state, "broken");
    assert!(text.starts_with("the store cannot be opened: "), "{text}");

    let mend = mend.split(" && ").next().unwrap().replace("$TEST/", env.path("").to_str().unwrap());
    assert!(env.run(env.shell(&mend, &[]), b"").status.success());
    assert!(env.plimsoll("status --all").stderr.is_empty());
    assert!(about(&env, "store").is_empty());
}

#[test]
fn a_window_that_is_a_guess_is_named() {
    let env = TestEnv::new();
    env.session("a").fill_with("house-model", 50_000);
    env.session("b").fill_with("house-model", 60_000);
    let [state, text, mend] = about(&env, "window").remove(0);
    assert_eq!(state, "broken");
    assert_eq!(text, "nobody knows the window of `house-model` (2 sessions): 200,000 is a guess");
    assert!(mend.starts_with("export PLIMSOLL_CONTEXT_WINDOW="), "{mend}");
    let env = env.with("PLIMSOLL_CONTEXT_WINDOW", "400000");
    assert!(about(&env, "window").is_empty());
}

#[test]
fn lines_above_the_trigger_are_named_with_where_they_went() {
    let env = TestEnv::new();
    env.session("s").fill_with("claude-opus-4-6", 50_000);
    let [state, text, _] = about(&env, "lines").remove(0);
    assert_eq!(state, "note");
    assert_eq!(
        text,
        "the client compacts at 167,000 of 200,000 tokens, so lines too near were moved: warn \
         160,000 → 152,000, restart 170,000 → 152,000"
    );
}

#[test]
fn a_session_without_a_transcript_is_named() {
    let env = TestEnv::new();
    let session = env.session("ghost");
    assert!(session.tool_finished().is_silent());
    assert!(session.tool_finished().is_silent());
    let [state, text, mend] = about(&env, "sessions").remove(0);
    assert_eq!(state, "broken");
    assert!(text.starts_with("session `ghost` left no transcript"), "{text}");
    assert_eq!(mend, "start the client without `--no-session-persistence`");
    // The client was merely slow.
    session.fill(50_000);
    assert!(about(&env, "sessions").is_empty());
}

#[test]
fn what_silences_us_is_named() {
    let env = TestEnv::new().with("PLIMSOLL", "off");
    env.user_config("quiet: true\nauto_context: {enabled: false}\nlines: {wran: 70}\n");
    let found = found(&env);
    let has = |subject: &str, words: &str| {
        found.iter().any(|[found, _, text, _]| found == subject && text.contains(words))
    };
    assert!(has("switch", "PLIMSOLL=off"), "{found:?}");
    assert!(has("switch", "auto_context.enabled: false"), "{found:?}");
    assert!(has("switch", "quiet: true"), "{found:?}");
    assert!(has("config", "`lines.wran` is no key we know"), "{found:?}");
}
