//! The settings in force: changed files count at once, unchanged ones are not read again.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::env::TestEnv;
use crate::transcript::COMPACTING;

/// A fresh session each time, so that only the settings decide.
fn warns(env: &TestEnv, name: &str, model: &str, used: u64) -> bool {
    let ran = env.session(name).fill_with(model, used).prompted();
    assert!(ran.speaks() || ran.is_silent(), "{name}: {ran}");
    ran.speaks()
}

#[test]
fn a_change_of_the_users_config_counts_in_the_very_next_call() {
    let env = TestEnv::new();
    let warns = |name| warns(&env, name, "claude-opus-4-5", 130_000);
    assert!(!warns("default"));
    env.user_config("lines: {warn: 60}\n");
    assert!(warns("made"));
    env.user_config("lines: {warn: 90}\n");
    assert!(!warns("same-size"));
    env.user_config("lines: {warn: 60}\n");
    assert!(warns("and-back"));
    fs::remove_file(env.path("home/.config/plimsoll/config.yaml")).unwrap();
    assert!(!warns("removed"));
}

#[test]
fn a_change_of_the_projects_config_counts_in_the_very_next_call() {
    let env = TestEnv::new();
    let warns = |name| warns(&env, name, "claude-opus-4-5", 130_000);
    assert!(!warns("default"));
    env.project_config("lines: {warn: 60}\n");
    assert!(warns("made"));
    env.project_config("lines: {warn: 90}\n");
    assert!(!warns("changed"));
}

#[test]
fn the_projects_lines_come_before_the_users() {
    let env = TestEnv::new();
    env.user_config("lines: {warn: 60}\n");
    env.project_config("lines: {warn: 70}\n");
    assert!(!warns(&env, "below", "claude-opus-4-5", 139_999));
    assert!(warns(&env, "above", "claude-opus-4-5", 140_000));
}

#[test]
fn a_change_of_the_clients_settings_counts_in_the_very_next_call() {
    let env = TestEnv::new();
    let warns = |name| warns(&env, name, COMPACTING, 155_000);
    assert!(warns("compacts-at-167000"));
    env.client_settings(&json!({"autoCompactEnabled": false}));
    assert!(!warns("compacts-never"));
    env.client_settings(&json!({"autoCompactEnabled": true}));
    assert!(warns("compacts-again"));
    env.write("project/.claude/settings.json", r#"{"autoCompactEnabled": false}"#);
    assert!(!warns("the-project-knows-better"));
    env.write("project/.claude/settings.local.json", r#"{"autoCompactEnabled": true}"#);
    assert!(warns("and-i-know-best"));
}

#[test]
fn a_change_within_one_session_counts_too() {
    let env = TestEnv::new();
    let session = env.session("s");
    assert!(session.fill(130_000).prompted().is_silent());
    env.user_config("lines: {warn: 60}\n");
    assert!(session.prompted().speaks());
    env.user_config("lines: {warn: 60}\nwindow: 1000000\n");
    assert!(session.prompted().is_silent());
}

#[test]
fn changes_in_quick_succession_are_all_noticed() {
    let env = TestEnv::new();
    for round in 0..40 {
        // The same length, the same inode: only the time tells.
        let quiet = round % 2 == 0;
        env.user_config(if quiet { "quiet: true \n" } else { "quiet: false\n" });
        let name = format!("round-{round}");
        assert_eq!(warns(&env, &name, "claude-opus-4-5", 170_000), !quiet, "{name}");
    }
}

#[test]
fn a_change_that_the_files_time_does_not_show_is_noticed_where_that_can_happen() {
    let env = TestEnv::new();
    // As if the clock of the file system had not moved between the two changes.
    let soon = SystemTime::now() + Duration::from_secs(3600);
    for (name, config, expected) in [("a", "quiet: true \n", false), ("b", "quiet: false\n", true)]
    {
        let file = fs::File::options().append(true).open(env.user_config(config)).unwrap();
        file.set_modified(soon).unwrap();
        assert_eq!(warns(&env, name, "claude-opus-4-5", 170_000), expected);
    }
}

#[test]
fn a_broken_config_counts_as_none_and_the_agent_goes_on() {
    for config in [
        "lines: {warn: 60\n",
        "lines: {warn: 600}\n",
        "lines: {warn: -1}\n",
        "lines: 7\n",
        "no_such_key: 1\n",
        "- a\n- b\n",
        "\u{0}\u{1}",
        "a: &a [*a]\n",
        "lines: {warn: 60}\nlines: {warn: 60}\n",
    ] {
        let env = TestEnv::new();
        env.user_config(config);
        assert!(!warns(&env, "below", "claude-opus-4-5", 159_999), "{config:?}");
        assert!(warns(&env, "above", "claude-opus-4-5", 160_000), "{config:?}");
        env.user_config("lines: {warn: 60}\n");
        assert!(warns(&env, "mended", "claude-opus-4-5", 120_000), "{config:?}");
    }
}

#[test]
fn a_config_that_is_no_readable_file_counts_as_none() {
    let env = TestEnv::new();
    fs::create_dir_all(env.path("home/.config/plimsoll/config.yaml")).unwrap();
    env.write("project/.plimsoll.yaml", b"\xff\xfe\xff");
    env.write("home/.claude/settings.json", "{\"autoCompactEnabled\": fal");
    assert!(!warns(&env, "below", COMPACTING, 151_999));
    assert!(warns(&env, "above", COMPACTING, 152_000));
}

#[test]
fn a_repository_cannot_make_us_read_what_it_points_to_nor_more_than_a_config() {
    let env = TestEnv::new();
    let secret = env.write("secret", "TOPSECRETKEY: [hunter2\n");
    std::os::unix::fs::symlink(&secret, env.path("project/.plimsoll.yaml")).unwrap();
    std::thread::sleep(Duration::from_millis(40));
    assert!(warns(&env, "link", "claude-opus-4-5", 160_000));
    fs::remove_file(env.path("project/.plimsoll.yaml")).unwrap();
    env.project_config("lines: {warn: 10}\nTOPSECRETKEY: [hunter2\n");
    std::thread::sleep(Duration::from_millis(40));
    assert!(warns(&env, "broken", "claude-opus-4-5", 160_000));
    let status = env.plimsoll("status");
    assert!(status.stderr.contains(".plimsoll.yaml:2:15: the file cannot be read"), "{status}");
    for file in env.all_under(&env.data()).into_iter().filter(|path| path.is_file()) {
        let bytes = fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{}", file.display());
    }
    assert!(!status.stderr.contains("hunter2"), "{status}");
    env.project_config(&format!("lines: {{warn: 10}}\n{}", "# filler\n".repeat(300_000)));
    assert!(!warns(&env, "large", "claude-opus-4-5", 100_000));
}

#[test]
fn keys_nobody_knows_leave_the_others_in_force() {
    let env = TestEnv::new();
    env.user_config("lines: {warn: 60, wram: 3}\nauto_context: {pull_interval: 60}\n");
    assert!(warns(&env, "s", "claude-opus-4-5", 120_000));
    let status = env.plimsoll("status");
    assert!(status.stderr.contains("`lines.wram` is no key we know"), "{status}");
}

#[test]
fn one_bad_value_does_not_void_the_others() {
    let env = TestEnv::new();
    env.user_config(
        "guard: {mode: strict, ceiling_tokens: many}\nwindow: 1m\nlines: {warn: 300}\n",
    );
    let ran = env.session("s").fill(90_000).loads_agent();
    assert!(ran.refuses(), "{ran}");
    let status = env.plimsoll("status").stderr;
    for key in ["`guard.ceiling_tokens`", "`window`", "`lines.warn`"] {
        assert!(status.contains(key), "{key} in {status}");
    }
    let log = env.log().join("\n");
    assert!(log.contains("`window` is ignored"), "{log}");
}

#[test]
fn a_window_of_nothing_is_not_believed() {
    let env = TestEnv::new();
    env.user_config("window: 0\nguard: {mode: strict, ceiling_tokens: 0}\n");
    let ran = env.session("s").fill(10_000).loads_agent();
    assert!(ran.is_silent(), "{ran}");
}

#[test]
fn a_broken_config_of_the_project_leaves_the_users_in_force() {
    let env = TestEnv::new();
    env.user_config("lines: {warn: 60}\n");
    env.project_config("lines: [\n");
    assert!(warns(&env, "s", "claude-opus-4-5", 120_000));
}

#[test]
fn lines_that_contradict_each_other_are_left_at_their_defaults() {
    let env = TestEnv::new();
    env.user_config("lines: {save: 90, restart: 80, warn: 50}\n");
    assert!(!warns(&env, "below", "claude-opus-4-5", 159_999));
    assert!(warns(&env, "above", "claude-opus-4-5", 160_000));
}

/// The one file that the merged settings are kept in.
fn cache(env: &TestEnv) -> PathBuf {
    let mut found = env.all_under(&env.data().join("settings"));
    found.retain(|path| path.is_file());
    let [cache] = &found[..] else { panic!("{found:?}") };
    cache.clone()
}

#[test]
fn unchanged_files_are_not_read_again() {
    let env = TestEnv::new();
    env.old_user_config("lines: {warn: 60}\n");
    env.session("s").fill(50_000).prompted();
    let identity = || {
        let metadata = fs::metadata(cache(&env)).unwrap();
        (metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.ctime_nsec())
    };
    let before = identity();
    for _ in 0..3 {
        env.session("s").prompted();
    }
    assert_eq!(identity(), before);
    env.old_user_config("lines: {warn: 61 }\n");
    env.session("s").prompted();
    assert_ne!(identity(), before);
}

#[test]
fn the_environment_is_never_kept() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_WINDOW", "1000000");
    assert!(!warns(&env, "a", "claude-opus-4-5", 170_000));
    let env = env.without("PLIMSOLL_CONTEXT_WINDOW");
    assert!(warns(&env, "b", "claude-opus-4-5", 170_000));
}

#[test]
fn a_spoiled_cache_is_made_again() {
    let env = TestEnv::new();
    env.old_user_config("lines: {warn: 60}\n");
    assert!(warns(&env, "first", "claude-opus-4-5", 120_000));
    let good = fs::read(cache(&env)).unwrap();
    for (name, spoiled) in [
        ("empty", Vec::new()),
        ("torn", good[..100].to_vec()),
        ("zeros", vec![0; 500]),
        ("ones", vec![0xff; 500]),
        ("other", b"{\"release\":\"0.1.0\",\"sources\":[]}".to_vec()),
    ] {
        fs::write(cache(&env), spoiled).unwrap();
        assert!(warns(&env, name, "claude-opus-4-5", 120_000), "{name}");
        assert_eq!(fs::read(cache(&env)).unwrap(), good, "{name}");
    }
}

#[test]
fn projects_have_settings_of_their_own() {
    let env = TestEnv::new();
    env.project_config("lines: {warn: 60}\n");
    assert!(warns(&env, "here", "claude-opus-4-5", 120_000));
    let other = env.path("other");
    fs::create_dir(&other).unwrap();
    let env = env.with("CLAUDE_PROJECT_DIR", other.to_str().unwrap());
    assert!(!warns(&env, "there", "claude-opus-4-5", 120_000));
}
