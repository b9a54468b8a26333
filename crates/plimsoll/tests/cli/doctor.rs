//! `plimsoll doctor` on machines with something wrong.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::transcript::captured;

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
    let found = about(&env, "store");
    let [[_, _, mend]] = &found[..] else { panic!("{found:?}") };
    assert!(!mend.contains("mv "), "there is nothing to move: {mend}");
}

#[test]
fn a_transcript_that_cannot_be_read_is_named() {
    let mut env = TestEnv::new();
    let transcript = env.session("closed").fill(20_000).transcript.clone();
    env.session("open").fill(20_000);
    fs::set_permissions(&transcript, fs::Permissions::from_mode(0o200)).unwrap();
    env.as_plain_user();
    let found = about(&env, "sessions");
    let [[state, text, mend]] = &found[..] else { panic!("{found:?}") };
    assert_eq!(state, "broken");
    assert!(text.contains("closed.jsonl` cannot be read (Permission denied"), "{text}");
    assert!(mend.contains("chmod u+rw "), "{mend}");
}

#[test]
fn a_folder_of_transcripts_that_cannot_be_listed_is_named() {
    let mut env = TestEnv::new();
    let transcript = env.session("closed").fill(20_000).transcript.clone();
    env.as_plain_user();
    fs::set_permissions(transcript.parent().unwrap(), fs::Permissions::from_mode(0o300)).unwrap();
    let found = about(&env, "sessions");
    let [[state, text, mend]] = &found[..] else { panic!("{found:?}") };
    assert_eq!(state, "broken");
    assert!(text.contains("projects/-project` cannot be read (Permission denied"), "{text}");
    assert!(mend.contains("chmod u+rwx "), "{mend}");
}

/// It times a hook call, and a session that is past its line is given a checkpoint by one.
#[test]
fn a_look_leaves_nothing_in_a_project_and_nothing_in_the_agents_folder() {
    let env = TestEnv::new();
    env.session("past-its-line").fill(150_000);
    for command in ["doctor", "tax"] {
        env.plimsoll(command);
        assert_eq!(env.all_under(&env.project()), [env.project()], "{command}");
        assert!(!env.home().join(".claude/clc").exists(), "{command}");
    }
}

#[test]
fn a_data_folder_that_others_can_read_is_named() {
    let env = TestEnv::new();
    fs::create_dir_all(env.data()).unwrap();
    fs::set_permissions(env.data(), fs::Permissions::from_mode(0o755)).unwrap();
    let [state, text, mend] = about(&env, "data folder").remove(0);
    assert_eq!(state, "note");
    assert_eq!(text, "`$TEST/home/.local/share/plimsoll` is open to others (mode 755)");
    assert_eq!(mend, "chmod 700 $TEST/home/.local/share/plimsoll");
}

#[test]
fn a_password_in_a_config_that_others_can_read_is_named() {
    for (url, mode, is_named) in [
        ("postgres://ann:hunter2@127.0.0.1:1/x", 0o644, true),
        ("postgres://127.0.0.1:1/x?user=ann&password=hunter2", 0o640, true),
        ("postgres://ann:hunter2@127.0.0.1:1/x", 0o600, false),
        ("postgres://ann@127.0.0.1:1/x", 0o644, false),
    ] {
        let env = TestEnv::new();
        env.user_config(&format!("team: {{database_url: \"{url}\"}}\n"));
        let config = env.path("home/.config/plimsoll/config.yaml");
        fs::set_permissions(&config, fs::Permissions::from_mode(mode)).unwrap();
        let found = about(&env, "config");
        assert_eq!(!found.is_empty(), is_named, "{url} {mode:o}: {found:?}");
        for [state, text, mend] in found {
            assert_eq!(state, "note");
            assert!(text.contains("the password of a database, and others can read it"), "{text}");
            assert!(!text.contains("hunter2"), "{text}");
            assert_eq!(mend, "chmod 600 $TEST/home/.config/plimsoll/config.yaml");
        }
    }
}

#[test]
fn a_watcher_that_is_relied_on_and_does_not_run_is_named() {
    let env = TestEnv::new();
    assert!(about(&env, "watcher").is_empty());
    env.user_config("checkpoint: {on_line: watcher}\n");
    let [state, text, mend] = about(&env, "watcher").remove(0);
    assert_eq!((&*state, &*mend), ("note", "plimsoll watch"));
    assert!(text.ends_with("to a watcher, and none runs"), "{text}");
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
    fs::remove_file(&store).unwrap();
    fs::create_dir(&store).unwrap();
    let [state, text, mend] = about(&env, "store").remove(0);
    assert_eq!(state, "broken");
    assert!(text.starts_with("it cannot be used: "), "{text}");

    let mend = mend.split(" && ").next().unwrap().replace("$TEST/", env.path("").to_str().unwrap());
    assert!(env.run(env.shell(&mend, &[]), b"").status.success());
    assert!(env.plimsoll("status --all").stderr.is_empty());
    assert!(about(&env, "store").is_empty());
}

#[test]
fn a_damaged_store_is_mended_by_whoever_looks() {
    let env = TestEnv::new();
    env.session("s").fill(100_000);
    env.plimsoll("status");
    fs::write(env.data().join("store.sqlite"), "this is no database ".repeat(100)).unwrap();
    let said = env.plimsoll("doctor").stderr;
    assert!(
        said.contains("note: the store was damaged and is made anew from your files"),
        "{said}"
    );
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
    assert!(mend.ends_with("models: {house-model: {window: …}}"), "{mend}");
    let env = env.with("PLIMSOLL_CONTEXT_WINDOW", "400000");
    assert!(about(&env, "window").is_empty());
}

#[test]
fn lines_above_the_trigger_are_told_with_where_they_went() {
    let env = TestEnv::new();
    env.session("s").fill_with("claude-opus-4-6", 50_000);
    let ran = env.plimsoll("doctor");
    let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains(
            "✓ lines the client compacts at 167,000 of 200,000 tokens; lines at which less than \
             three calls would be left were lowered: warn 160,000 → 152,000, restart 170,000 → 152,000"
        ),
        "{ran}"
    );
}

#[test]
fn a_session_whose_client_never_called_us_is_named() {
    let env = installed();
    let hooked = env.session("hooked");
    hooked.hook("SessionStart");
    hooked.fill_now(50_000);
    assert!(about(&env, "sessions").is_empty());
    env.session("unhooked").fill_now(50_000);
    let [state, text, mend] = about(&env, "sessions").remove(0);
    assert_eq!(state, "broken");
    assert!(text.starts_with("session `unhooked` began after plimsoll was installed"), "{text}");
    assert_eq!(mend, "start the client and type `/hooks`");
}

#[test]
fn hooks_of_ours_in_another_form_are_named() {
    let check = |spoil: &dyn Fn(&mut Value)| {
        let env = installed();
        change(&env, |settings| spoil(&mut settings["hooks"]));
        let found = about(&env, "hooks");
        let odd = |[state, text, mend]: &[String; 3]| {
            state == "broken" && text.contains("not as they should be") && mend == "plimsoll init"
        };
        assert!(found.iter().any(odd), "{found:?}");
        assert!(env.plimsoll("init --yes").status.success());
        assert!(about(&env, "hooks").is_empty());
    };
    check(&|hooks| hooks["PreToolUse"][0]["matcher"] = json!("agent"));
    check(&|hooks| hooks["PostToolUse"][0]["hooks"][0]["timeout"] = json!(60));
}

#[test]
fn hooks_of_ours_twice_in_one_file_are_named() {
    let env = installed();
    change(&env, |settings| {
        let line = format!("{} hook", env!("CARGO_BIN_EXE_plimsoll"));
        let hooks = settings["hooks"]["PostToolUse"][0]["hooks"].as_array_mut().unwrap();
        hooks.push(json!({"type": "command", "command": line}));
    });
    let [state, text, mend] = hooks(&env);
    assert_eq!((state.as_str(), mend.as_str()), ("broken", "plimsoll init"));
    assert!(text.starts_with("plimsoll is installed by two command lines"), "{text}");
    assert!(env.plimsoll("init --yes").status.success());
    assert!(about(&env, "hooks").is_empty());
}

#[test]
fn an_override_that_is_no_percentage_is_named() {
    let env = installed();
    change(&env, |settings| settings["env"] = json!({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "forty"}));
    let [state, text, _] = about(&env, "trigger").remove(0);
    assert_eq!(state, "broken");
    assert!(text.starts_with("`forty` in "), "{text}");
}

#[test]
fn an_override_that_the_client_does_not_honour_is_named() {
    let env = TestEnv::new();
    env.session("11111111").write(captured("compact-auto-headless.jsonl"));
    let settings = json!({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "4"}});
    let settings = File::options().append(true).open(env.client_settings(&settings)).unwrap();
    settings.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    let [state, text, mend] = about(&env, "trigger").remove(0);
    assert_eq!((state.as_str(), mend.as_str()), ("broken", "plimsoll audit"));
    assert!(text.starts_with("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=4 is not honoured"), "{text}");
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
fn a_variable_that_makes_no_sense_is_named() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_WINDOW", "abc");
    let [state, text, _] = about(&env, "variable").remove(0);
    assert_eq!(state, "note");
    assert!(text.starts_with("`PLIMSOLL_CONTEXT_WINDOW` changes nothing"), "{text}");
    assert!(env.plimsoll("config check").stderr.contains(&text));
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

/// A machine with our hooks, as `init` writes them.
fn installed() -> TestEnv {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    let ran = env.plimsoll("init --yes");
    assert!(ran.status.success(), "{ran}");
    env
}

/// The user's settings of the client, changed.
fn change(env: &TestEnv, change: impl FnOnce(&mut Value)) {
    let path = env.home().join(".claude/settings.json");
    let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut settings);
    fs::write(path, settings.to_string()).unwrap();
}

/// The only finding about the hooks.
#[track_caller]
fn hooks(env: &TestEnv) -> [String; 3] {
    let mut found = about(env, "hooks");
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn hooks_that_were_never_installed_are_missed() {
    let env = TestEnv::new();
    let [state, text, mend] = hooks(&env);
    assert_eq!(
        [state, text, mend],
        ["broken", "none is installed: nobody is warned", "plimsoll init"]
    );
    assert!(env.plimsoll("init --yes").status.success());
    assert!(about(&env, "hooks").is_empty());
}

#[test]
fn a_hook_that_was_taken_out_is_missed() {
    let env = installed();
    change(&env, |settings| {
        settings["hooks"].as_object_mut().unwrap().remove("PreCompact");
    });
    let [state, text, mend] = hooks(&env);
    assert_eq!(
        [state, text, mend],
        ["broken", "plimsoll is not called at PreCompact", "plimsoll init"]
    );
}

#[test]
fn a_program_that_is_gone_is_named() {
    let env = installed();
    change(&env, |settings| {
        let text = settings["hooks"].to_string();
        let binary = env!("CARGO_BIN_EXE_plimsoll");
        settings["hooks"] = serde_json::from_str(&text.replace(binary, "/gone/plimsoll")).unwrap();
    });
    let [state, text, mend] = hooks(&env);
    assert_eq!(state, "broken");
    assert_eq!(text, "the hooks call `/gone/plimsoll`, and there is no such program");
    assert_eq!(mend, "plimsoll init");
    assert!(env.plimsoll("init --yes").status.success());
    assert!(about(&env, "hooks").is_empty());
}

#[test]
fn a_program_that_is_not_on_the_path_is_named() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    assert!(env.plimsoll("init --yes --scope project").status.success());
    let found = about(&env, "hooks");
    let missing = "the hooks call `plimsoll`, which is not on the PATH";
    assert!(found.iter().any(|[state, text, _]| state == "broken" && text == missing), "{found:?}");
}

#[test]
fn hooks_in_two_scopes_run_twice() {
    let env = installed();
    assert!(env.plimsoll("init --yes --scope project").status.success());
    let found = about(&env, "hooks");
    let twice = "plimsoll is installed by two command lines, so that both run at each event";
    let [_, _, mend] = found.iter().find(|[_, text, _]| text == twice).unwrap();
    assert_eq!(mend, "plimsoll uninstall --scope project");
    assert!(env.plimsoll("uninstall --yes --scope project").status.success());
    assert!(about(&env, "hooks").is_empty());
}

#[test]
fn hooks_of_a_folder_that_is_not_trusted_wait() {
    let env = installed();
    assert!(env.plimsoll("init --yes --scope local").status.success());
    let [state, text, _] = hooks(&env);
    assert_eq!(state, "note");
    assert!(text.ends_with("wait until its folder is trusted"), "{text}");
    let project = env.project().canonicalize().unwrap();
    let trust = json!({"projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
    env.write("home/.claude.json", trust.to_string());
    assert!(about(&env, "hooks").is_empty());
}

#[test]
fn what_the_client_passes_over_or_stumbles_on_is_named() {
    let check = |expected: &str, spoil: &dyn Fn(&mut Value)| {
        let env = installed();
        change(&env, spoil);
        let found = about(&env, "hooks");
        assert!(found.iter().any(|[_, text, _]| text.contains(expected)), "{expected}: {found:?}");
    };
    check("all hooks are switched off", &|settings| settings["disableAllHooks"] = json!(true));

    let foreign = |timeout: Value| json!([{"hooks": [{"type": "command", "command": "true", "timeout": timeout}]}]);
    check("no event that the client knows", &|settings| {
        settings["hooks"]["PreLunch"] = foreign(json!(5));
    });
    check("is no number", &|settings| settings["hooks"]["Stop"] = foreign(json!("5")));
    check("5000 seconds, not milli", &|settings| settings["hooks"]["Stop"] = foreign(json!(5000)));
    let env = installed();
    env.write("home/.claude/settings.json", "{\"hooks\": ");
    let [state, text, _] = &about(&env, "hooks")[0];
    assert_eq!(state, "broken");
    assert!(text.contains("it is not JSON"), "{text}");
}

#[test]
fn a_switch_in_the_clients_settings_is_named() {
    let env = installed();
    change(&env, |settings| settings["env"] = json!({"PLIMSOLL": "no"}));
    let [state, text, _] = about(&env, "switch").remove(0);
    assert_eq!(state, "note");
    assert!(text.starts_with("`PLIMSOLL` in the variables of `$TEST/home/"), "{text}");
}

#[test]
fn clients_that_plimsoll_was_not_tried_with_are_named() {
    let check = |version: &str, state: &str, words: &str| {
        let env = installed();
        let client = env.write("bin/claude", format!("#!/bin/sh\necho '{version} (a client)'\n"));
        fs::set_permissions(client, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", env.path("bin").display());
        let env = env.with("PATH", &path);
        let found = about(&env, "client");
        let [[found, text, _]] = &found[..] else { panic!("{found:?}") };
        assert_eq!(found, state);
        assert!(text.contains(words), "{text}");
    };
    check("1.0.5", "broken", "older than any that plimsoll works with (2.1.40)");
    check("9.0.0", "note", "newer than any that plimsoll was tried with (2.1.325)");
    check("dev", "note", "does not tell its version");
}

#[test]
fn all_is_well_where_it_is() {
    let env = installed();
    let client = env.write("bin/claude", "#!/bin/sh\necho '2.1.325 (a client)'\n");
    fs::set_permissions(client, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", env.path("bin").display());
    let env = env.with("PATH", &path);
    let [state, text, mend] = hooks(&env);
    assert_eq!((state.as_str(), mend.as_str()), ("note", "plimsoll init"));
    assert_eq!(text, "plimsoll is not called at PostCompact", "init has seen no client");
    assert!(env.plimsoll("init --yes").status.success());
    let ran = env.plimsoll("doctor");
    assert!(ran.status.success(), "{ran}");
    assert!(ran.stdout.ends_with("\nAll is well.\n"), "{ran}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 110), "paths are long: {ran}");
}
