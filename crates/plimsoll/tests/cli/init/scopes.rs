//! For whom plimsoll is installed.

use std::fs;

use serde_json::Value;

use super::{picture, refuses, succeeds};
use crate::env::TestEnv;

#[test]
fn each_scope_has_its_own_file() {
    for (scope, settings, instructions) in [
        ("project", "project/.claude/settings.json", "project/CLAUDE.md"),
        ("local", "project/.claude/settings.local.json", "project/CLAUDE.local.md"),
    ] {
        let env = TestEnv::new();
        succeeds(&env, &format!("init --scope {scope} --instructions"));
        let text = fs::read(env.path(settings)).unwrap();
        let found: Value = serde_json::from_slice(&text).unwrap();
        let command = found["hooks"]["PreCompact"][0]["hooks"][0]["command"].as_str().unwrap();
        assert_eq!(command == "plimsoll", scope == "project", "{command}");
        assert!(found.get("statusLine").is_none(), "that is everybody's own");
        assert!(env.path(instructions).exists());
        assert!(!env.path("home/.claude").exists());
        succeeds(&env, &format!("uninstall --scope {scope}"));
        assert!(picture(&env.project()).is_empty());
    }
}

#[test]
fn in_a_project_the_user_is_told_what_it_means_for_others() {
    let env = TestEnv::new().with("PATH", "/nowhere");
    let ran = succeeds(&env, "init --scope project --dry-run");
    assert!(ran.stderr.contains("will see hook errors"), "{ran}");
    assert!(ran.stderr.contains("`plimsoll` is not on your own PATH"), "{ran}");
}

#[test]
fn an_installation_in_another_scope_is_named_with_what_it_means() {
    let env = TestEnv::new();
    succeeds(&env, "init");
    let ran = succeeds(&env, "init --scope local");
    let same = "plimsoll is in `$TEST/home/.claude/settings.json` too: the same command line runs \
                once; `plimsoll uninstall --scope user` removes it there";
    assert!(ran.stderr.contains(same), "{ran}");
    let ran = succeeds(&env, "init --scope project");
    assert!(ran.stderr.contains("by another command line, so that both run"), "{ran}");
    let ran = succeeds(&env, "uninstall");
    for scope in ["project", "local"] {
        let still = format!("still; `plimsoll uninstall --scope {scope}` removes it there");
        assert!(ran.stderr.contains(&still), "{ran}");
    }
}

#[test]
fn the_home_is_no_project() {
    let env = TestEnv::new();
    let mut command = env.command(&["init", "--scope", "project"]);
    command.current_dir(env.home());
    let ran = env.run(command, b"");
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(
        ran.stderr.contains("the settings of this folder are those of the user scope"),
        "{ran}"
    );
    assert_eq!(env.all_under(&env.home()), [env.home()]);
}

#[test]
fn the_agents_folder_may_be_elsewhere() {
    let env = TestEnv::new();
    let folder = env.home().join("moved");
    let env = env.with("CLAUDE_CONFIG_DIR", folder.to_str().unwrap());
    succeeds(&env, "init --commands");
    assert!(folder.join("settings.json").exists() && folder.join("commands/plimsoll.md").exists());
    assert!(!env.path("home/.claude").exists());
    succeeds(&env, "uninstall --purge");
    assert!(picture(&env.home()).is_empty());
    env.write("home/moved/settings.json", "nonsense");
    refuses(&env, "uninstall", "it is not JSON");
}
