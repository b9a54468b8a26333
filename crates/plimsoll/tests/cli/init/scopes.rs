//! For whom plimsoll is installed.

use std::fs;
use std::os::unix::fs::symlink;

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
        succeeds(&env, &format!("init --yes --scope {scope} --instructions"));
        let text = fs::read(env.path(settings)).unwrap();
        let found: Value = serde_json::from_slice(&text).unwrap();
        let command = found["hooks"]["PreCompact"][0]["hooks"][0]["command"].as_str().unwrap();
        assert_eq!(command == "plimsoll hook || :", scope == "project", "{command}");
        assert!(found.get("statusLine").is_none(), "that is everybody's own");
        assert!(env.path(instructions).exists());
        assert!(!env.path("home/.claude").exists());
        succeeds(&env, &format!("uninstall --yes --scope {scope}"));
        assert!(picture(&env.project()).is_empty());
    }
}

#[test]
fn in_a_project_the_user_is_told_what_it_means_for_others() {
    let env = TestEnv::new().with("PATH", "/nowhere");
    let ran = succeeds(&env, "init --scope project --dry-run");
    assert!(ran.stderr.contains("on their PATH they do nothing"), "{ran}");
    assert!(ran.stderr.contains("`plimsoll` is not on your own PATH"), "{ran}");
}

#[test]
fn an_installation_in_another_scope_is_named_with_what_it_means() {
    let env = TestEnv::new();
    succeeds(&env, "init --yes");
    let ran = succeeds(&env, "init --yes --scope local");
    let same = "plimsoll is in `$TEST/home/.claude/settings.json` too: the same command line runs \
                once; `plimsoll uninstall --scope user` removes it there";
    assert!(ran.stderr.contains(same), "{ran}");
    let ran = succeeds(&env, "init --yes --scope project");
    assert!(ran.stderr.contains("by another command line, so that both run"), "{ran}");
    let ran = succeeds(&env, "uninstall --yes");
    for scope in ["project", "local"] {
        let still = format!("still; `plimsoll uninstall --scope {scope}` removes it there");
        assert!(ran.stderr.contains(&still), "{ran}");
    }
}

#[test]
fn no_link_of_a_repository_leads_us_out_of_it() {
    for (link, target) in
        [("CLAUDE.md", ".bashrc"), (".claude/commands", "elsewhere"), (".claude", "elsewhere")]
    {
        let env = TestEnv::new();
        env.write("home/.bashrc", "alias x=y\n");
        fs::create_dir(env.path("home/elsewhere")).unwrap();
        let link = env.project().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(env.home().join(target), link).unwrap();
        let all = "init --yes --scope project --commands --instructions";
        refuses(&env, all, "it leads out of the project, to `$TEST/home/");
    }
    // One that stays inside is the repository's own affair.
    let env = TestEnv::new();
    env.write("project/docs/AGENTS.md", "Be kind.\n");
    symlink("docs/AGENTS.md", env.project().join("CLAUDE.md")).unwrap();
    succeeds(&env, "init --yes --scope project --instructions");
    assert!(fs::read_to_string(env.path("project/docs/AGENTS.md")).unwrap().contains("plimsoll"));
}

#[test]
fn the_home_is_no_project() {
    let env = TestEnv::new();
    let mut command = env.command(&["init", "--yes", "--scope", "project"]);
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
    succeeds(&env, "init --yes --commands");
    assert!(folder.join("settings.json").exists() && folder.join("commands/plimsoll.md").exists());
    assert!(!env.path("home/.claude").exists());
    succeeds(&env, "uninstall --purge --yes");
    assert!(picture(&env.home()).is_empty());
    env.write("home/moved/settings.json", "nonsense");
    refuses(&env, "uninstall --yes", "it is not JSON");
}

#[test]
fn in_a_folder_of_a_repository_its_root_is_named() {
    let env = TestEnv::with_project("my project");
    fs::create_dir_all(env.project().join(".git")).unwrap();
    let source = env.project().join("src");
    fs::create_dir(&source).unwrap();
    let init = |folder: &std::path::Path, scope| {
        let mut command = env.command(&["init", "--dry-run", "--scope", scope]);
        command.current_dir(folder);
        env.run(command, b"")
    };
    let told = "this is a folder of the repository `$TEST/my project`";
    let ran = init(&source, "local");
    assert!(ran.stderr.contains(told), "{ran}");
    assert!(ran.stderr.contains("`cd '$TEST/my project'` leads there"), "{ran}");
    assert!(!init(&source, "user").stderr.contains(told));
    assert!(!init(&env.project(), "local").stderr.contains(told));
}

#[test]
fn the_project_is_the_one_that_the_client_names() {
    let env = TestEnv::new();
    let source = env.project().join("src");
    fs::create_dir(&source).unwrap();
    let project = env.project();
    let env = env.with("CLAUDE_PROJECT_DIR", project.to_str().unwrap());
    for arguments in
        [["init", "--yes", "--scope", "local"], ["uninstall", "--yes", "--scope", "local"]]
    {
        let mut command = env.command(&arguments);
        command.current_dir(&source);
        let ran = env.run(command, b"");
        assert!(ran.status.success(), "{ran}");
        assert_eq!(arguments[0] == "init", project.join(".claude/settings.local.json").exists());
        assert!(!source.join(".claude").exists());
    }
}
