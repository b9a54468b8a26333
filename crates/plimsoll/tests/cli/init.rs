//! `plimsoll init` and `plimsoll uninstall`

mod files;
mod program;
mod projects;
mod scopes;
mod terminal;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};

const SETTINGS: &str = "home/.claude/settings.json";

/// A file with an indentation of its own, and somebody else's hooks and status line.
const THEIRS: &str = r#"{
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]
    },
    "statusLine": {"type": "command", "command": "echo it's me", "padding": 0}
}
"#;

/// Everything under a folder: what it is, its permissions, and what it holds.
fn picture(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut picture = BTreeMap::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let contents = match (metadata.is_symlink(), metadata.is_file()) {
            (true, _) => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            (_, true) => fs::read(&path).unwrap(),
            _ => Vec::new(),
        };
        if metadata.is_dir() {
            picture.extend(self::picture(&path));
        }
        picture.insert(path, (metadata.mode(), contents));
    }
    picture
}

/// The picture of the home without our data.
fn home(env: &TestEnv) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let local = env.home().join(".local");
    let mut picture = picture(&env.home());
    picture.retain(|path, _| !path.starts_with(&local));
    picture
}

fn settings(env: &TestEnv) -> Value {
    serde_json::from_slice(&fs::read(env.path(SETTINGS)).unwrap()).unwrap()
}

#[track_caller]
fn succeeds(env: &TestEnv, arguments: &str) -> Ran {
    let ran = env.plimsoll(arguments);
    assert!(ran.status.success(), "{arguments}: {ran}");
    ran
}

/// It failed for this reason, and the home is as it was.
#[track_caller]
fn refuses(env: &TestEnv, arguments: &str, why: &str) {
    let before = picture(&env.home());
    let ran = env.plimsoll(arguments);
    assert_eq!(ran.status.code(), Some(1), "{arguments}: {ran}");
    assert!(ran.stderr.contains(why) && ran.stderr.contains("hint: "), "{arguments}: {ran}");
    assert!(picture(&env.home()) == before, "{arguments} left traces");
}

#[test]
fn a_home_is_the_same_to_the_byte_after_init_and_uninstall() {
    for all in ["", " --commands --instructions --compact-at 40"] {
        for text in
            [None, Some(""), Some("{}"), Some("{ }\n"), Some(THEIRS), Some("\u{feff}{}\r\n")]
        {
            let env = TestEnv::new();
            env.write("home/.profile", "umask 022\n");
            text.map(|text| env.write(SETTINGS, text));
            let (before, whole) = (home(&env), picture(&env.home()));
            succeeds(&env, &format!("init --yes{all}"));
            assert!(home(&env) != before, "{text:?}");
            succeeds(&env, "uninstall --yes");
            assert!(home(&env) == before, "{text:?}{all}: {:?}", home(&env));
            for ours in ["installed.json", "backups"] {
                assert!(!env.data().join(ours).exists(), "{ours} is left");
            }
            succeeds(&env, &format!("init --yes{all}"));
            succeeds(&env, "uninstall --purge --yes");
            assert!(home(&env) == before, "{text:?}{all}");
            assert!(!env.data().exists());
            let again = TestEnv::new();
            again.write("home/.profile", "umask 022\n");
            text.map(|text| again.write(SETTINGS, text));
            succeeds(&again, &format!("init --yes{all}"));
            succeeds(&again, "uninstall --purge --yes");
            assert_eq!(picture(&again.home()).len(), whole.len(), "no folder is left either");
        }
    }
}

#[test]
fn init_shows_what_it_writes_and_says_how_to_undo_it() {
    let env = TestEnv::new();
    env.write(SETTINGS, THEIRS);
    let ran = succeeds(&env, "init --yes --no-status-line");
    assert!(ran.stdout.contains("--- $TEST/home/.claude/settings.json\n"), "{ran}");
    assert!(ran.stdout.contains("\n+            { \"hooks\": [{ \"type\": \"command\""), "{ran}");
    assert!(ran.stdout.contains("\nUndo    plimsoll uninstall\n"), "{ran}");
    assert!(!ran.stdout.contains('\u{1b}'), "no colour without a terminal");
    let backup = ran.stdout.lines().find_map(|line| line.strip_prefix("Backup  ")).unwrap();
    let backup = backup.replace("$TEST", env.path("").to_str().unwrap().trim_end_matches('/'));
    assert_eq!(fs::read_to_string(&backup).unwrap(), THEIRS);
    assert_eq!(fs::metadata(&backup).unwrap().mode() & 0o777, 0o600);
    let record = env.data().join("installed.json");
    assert_eq!(fs::metadata(record).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_dry_run_writes_nothing() {
    let env = TestEnv::new();
    env.write(SETTINGS, THEIRS);
    let before = picture(&env.home());
    let ran = succeeds(&env, "init --dry-run --commands --instructions");
    assert!(ran.stdout.contains("+++ $TEST/home/.claude/commands/plimsoll.md"), "{ran}");
    assert!(ran.stdout.ends_with("Nothing was written.\n"), "{ran}");
    assert!(picture(&env.home()) == before);
    succeeds(&env, "init --yes");
    let before = picture(&env.home());
    let ran = succeeds(&env, "uninstall --dry-run --purge");
    assert!(ran.stdout.ends_with("Nothing was removed.\n"), "{ran}");
    assert!(picture(&env.home()) == before);
}

#[test]
fn without_a_terminal_nothing_is_written_unless_somebody_says_yes() {
    let env = TestEnv::new();
    env.write(SETTINGS, THEIRS);
    let before = picture(&env.home());
    let ran = env.plimsoll("init --commands");
    assert!(ran.stdout.contains("--- $TEST/home/.claude/settings.json\n"), "{ran}");
    let (_, said) = ran.stderr.split_once("error: ").unwrap();
    insta::assert_snapshot!(said, @"
    nothing was changed: there is no terminal to ask you on
    hint: run the same with `--yes` to agree; `--dry-run` only shows what would change
    ");
    assert_eq!(ran.status.code(), Some(1));
    assert!(picture(&env.home()) == before);
    succeeds(&env, "init --yes");
    refuses(&env, "uninstall", "nothing was changed");
    succeeds(&env, "uninstall --yes");
    succeeds(&env, "uninstall");
}

#[test]
fn an_installation_of_release_0_1_0_is_found_upgraded_and_removed_to_the_byte() {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let old = |text: &str, quote: &str| {
        let now = format!("{quote}command{quote}: {quote}{program} hook || :{quote}");
        let then = format!(
            "{quote}command{quote}: {quote}{program}{quote}, {quote}args{quote}: [{quote}hook{quote}]"
        );
        assert_eq!(text.matches(&now).count(), 8);
        text.replace(&now, &then)
    };
    let installed = || {
        let env = TestEnv::new();
        env.write(SETTINGS, THEIRS);
        succeeds(&env, "init --yes");
        let record = env.data().join("installed.json");
        let (settings, recorded) =
            (fs::read_to_string(env.path(SETTINGS)).unwrap(), fs::read_to_string(&record).unwrap());
        fs::write(env.path(SETTINGS), old(&settings, "\"")).unwrap();
        fs::write(record, old(&recorded, "\\\"")).unwrap();
        (env, settings)
    };
    let (env, _) = installed();
    succeeds(&env, "uninstall --yes");
    assert_eq!(fs::read_to_string(env.path(SETTINGS)).unwrap(), THEIRS);
    let (env, now) = installed();
    let ran = env.plimsoll("doctor");
    let found = "`args`, which clients before 2.1.140 ignore";
    assert!(ran.stdout.contains(found) && ran.stdout.contains("→ plimsoll init"), "{ran}");
    succeeds(&env, "init --yes");
    assert_eq!(settings(&env), serde_json::from_str::<Value>(&now).unwrap());
    succeeds(&env, "uninstall --yes");
    assert_eq!(fs::read_to_string(env.path(SETTINGS)).unwrap(), THEIRS);
}

#[test]
fn commands_of_an_earlier_release_are_brought_up_to_date() {
    let env = TestEnv::new();
    succeeds(&env, "init --yes --commands");
    let path = env.path("home/.claude/commands/rs.md");
    let now = fs::read_to_string(&path).unwrap();
    let record = env.data().join("installed.json");
    let recorded = fs::read_to_string(&record).unwrap();
    fs::write(&path, now.replace("Restore what", "Run what")).unwrap();
    fs::write(record, recorded.replace("Restore what", "Run what")).unwrap();
    succeeds(&env, "init --yes");
    assert_eq!(fs::read_to_string(&path).unwrap(), now);
    fs::write(&path, "my own\n").unwrap();
    succeeds(&env, "init --yes");
    assert_eq!(fs::read_to_string(&path).unwrap(), "my own\n");
}

#[test]
fn a_second_init_has_nothing_to_change() {
    let env = TestEnv::new();
    env.write(SETTINGS, THEIRS);
    succeeds(&env, "init --yes --commands --instructions --compact-at 55");
    let before = home(&env);
    let ran = succeeds(&env, "init --yes --commands --instructions --compact-at 55");
    let expected = "Nothing to change: plimsoll is installed in $TEST/home/.claude/settings.json\n\n\
                    There is no session to look back on yet.\n";
    assert_eq!(ran.stdout, expected);
    let ran = succeeds(&env, "init --commands --instructions --compact-at 55 --dry-run");
    assert!(!ran.stdout.contains("look back"), "{ran}");
    assert!(home(&env) == before);
    succeeds(&env, "uninstall --yes");
    let ran = succeeds(&env, "uninstall --yes");
    let expected = "Nothing to remove: plimsoll is not in $TEST/home/.claude/settings.json\n";
    assert!(ran.stdout.starts_with(expected), "{ran}");
}

#[test]
fn a_status_line_is_wrapped_around_the_users_own() {
    let env = TestEnv::new();
    env.write(SETTINGS, THEIRS);
    succeeds(&env, "init --yes");
    let line = settings(&env)["statusLine"].clone();
    let command = line["command"].as_str().unwrap();
    assert!(command.ends_with(r"plimsoll statusline --wrap 'echo it'\''s me'"), "{command}");
    assert_eq!(line["padding"], 0);
    succeeds(&env, "init --yes --no-status-line");
    assert_eq!(settings(&env)["statusLine"]["command"], "echo it's me");
}

#[test]
fn what_the_user_changes_between_init_and_uninstall_stays() {
    let env = TestEnv::new();
    env.write(SETTINGS, THEIRS);
    succeeds(&env, "init --yes");
    let text = fs::read_to_string(env.path(SETTINGS)).unwrap();
    env.write(SETTINGS, text.replace("\"opus\",", "\"opus\",\n    \"theme\": \"dark\","));
    // A second one takes what it finds for the user's own, as far as it is not ours.
    succeeds(&env, "init --yes --compact-at 40");
    succeeds(&env, "uninstall --yes");
    let text = fs::read_to_string(env.path(SETTINGS)).unwrap();
    assert_eq!(text, THEIRS.replace("\"opus\",", "\"opus\",\n    \"theme\": \"dark\","));
}

#[test]
fn without_a_record_everything_of_ours_is_found_all_the_same() {
    let env = TestEnv::new();
    env.write(SETTINGS, THEIRS);
    env.write("home/.claude/CLAUDE.md", "# Mine");
    let before = home(&env);
    succeeds(&env, "init --yes --commands --instructions");
    fs::remove_dir_all(env.data()).unwrap();
    let ran = succeeds(&env, "uninstall --yes");
    assert!(ran.stdout.contains("Backup  "), "{ran}");
    let mut after = home(&env);
    // Nobody knows any more who made the folder.
    after.remove(&env.path("home/.claude/commands"));
    assert!(after == before);
}

#[test]
fn hooks_that_were_put_in_by_hand_are_taken_over_and_removed() {
    let env = TestEnv::new();
    let hook = json!({"type": "command", "command": "/old/plimsoll", "args": ["hook"]});
    let stop = json!([{"hooks": [hook]}]);
    env.client_settings(&json!({"hooks": {"Notification": stop, "PostToolUse": stop}}));
    succeeds(&env, "init --yes");
    let text = settings(&env).to_string();
    assert!(!text.contains("/old/plimsoll") && !text.contains("Notification"), "{text}");
    assert!(!text.contains("\"args\""), "{text}");
    assert_eq!(text.matches(" hook || :").count(), 8);
    succeeds(&env, "uninstall --yes");
    assert_eq!(settings(&env), json!({}));
}

#[test]
fn an_existing_command_is_never_overwritten() {
    let env = TestEnv::new();
    let command = env.write("home/.claude/commands/plimsoll.md", "my own\n");
    let ran = succeeds(&env, "init --yes --commands");
    assert!(ran.stderr.contains("plimsoll.md` is there already and stays as it is"), "{ran}");
    let ran = succeeds(&env, "uninstall --yes");
    assert!(ran.stderr.contains("plimsoll.md` is not as plimsoll wrote it, and stays"), "{ran}");
    assert_eq!(fs::read_to_string(command).unwrap(), "my own\n");
}

#[test]
fn the_client_is_asked_for_its_version() {
    let client = |env: &TestEnv, says: &str| {
        let path = env.write("bin/claude", format!("#!/bin/sh\n{says}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let env = TestEnv::new();
    let bin = env.path("bin");
    let env = env.with("PATH", bin.to_str().unwrap());
    let ran = succeeds(&env, "init --dry-run");
    assert!(ran.stderr.contains("`claude` is not on your PATH"), "{ran}");
    client(&env, "echo '2.1.325 (Claude Code)'");
    let ran = succeeds(&env, "init --dry-run");
    assert_eq!(ran.stderr, "");
    client(&env, "echo what");
    let ran = succeeds(&env, "init --dry-run");
    assert!(ran.stderr.contains("does not tell its version"), "{ran}");
    client(&env, "echo '2.1.39 (Claude Code)'");
    refuses(&env, "init --yes", "the client is version 2.1.39, and plimsoll needs 2.1.40 or newer");
    refuses(&env, "init --yes --client /bin/true", "`/bin/true` does not tell its version");
}

#[test]
fn a_percentage_that_is_none_is_misuse() {
    let env = TestEnv::new();
    for percent in ["0", "101", "many"] {
        let ran = env.plimsoll(&format!("init --yes --compact-at {percent}"));
        assert_eq!(ran.status.code(), Some(2), "{ran}");
    }
    assert_eq!(env.all_under(&env.home()), [env.home()]);
}

#[test]
fn a_hook_calls_the_program_by_the_path_that_the_user_has() {
    let env = TestEnv::new();
    let bin = env.path("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_plimsoll"), bin.join("plimsoll")).unwrap();
    succeeds(&env, "init --yes --no-status-line");
    let command = |env: &TestEnv| settings(env)["hooks"]["PreCompact"][0]["hooks"][0].clone();
    let line = concat!(env!("CARGO_BIN_EXE_plimsoll"), " hook || :");
    assert_eq!(command(&env)["command"], line);
    let env = env.with("PATH", &format!("/usr/bin:{}", bin.display()));
    succeeds(&env, "init --yes --no-status-line");
    let line = format!("{}/plimsoll hook || :", bin.display());
    let expected = json!({"type": "command", "command": line, "timeout": 5});
    assert_eq!(command(&env), expected, "a link stays the same over upgrades");
}

#[test]
fn a_record_that_cannot_be_understood_is_put_aside() {
    let env = TestEnv::new();
    env.write(SETTINGS, THEIRS);
    succeeds(&env, "init --yes");
    fs::write(env.data().join("installed.json"), "{\"files\": {\"/ho").unwrap();
    let before = picture(&env.home());
    let ran = succeeds(&env, "uninstall --dry-run");
    assert!(ran.stderr.contains("installed.json` cannot be understood"), "{ran}");
    assert!(picture(&env.home()) == before);
    let ran = succeeds(&env, "uninstall --yes");
    assert!(ran.stderr.contains("installed.json.bad-"), "{ran}");
    assert_eq!(fs::read_to_string(env.path(SETTINGS)).unwrap(), THEIRS);
    let names = env.all_under(&env.data());
    let name = |path: &PathBuf| path.to_string_lossy().contains("installed.json.bad-");
    let aside = names.iter().find(|path| name(path)).unwrap();
    assert_eq!(fs::read_to_string(aside).unwrap(), "{\"files\": {\"/ho");
}

#[test]
fn a_record_that_cannot_be_read_stops_everything() {
    let env = TestEnv::new();
    fs::create_dir_all(env.data().join("installed.json")).unwrap();
    refuses(&env, "init --yes", "could not read `$TEST/home/.local/share/plimsoll/installed.json`");
    refuses(
        &env,
        "uninstall --yes",
        "could not read `$TEST/home/.local/share/plimsoll/installed.json`",
    );
}

#[test]
fn a_status_line_that_cannot_be_unwrapped_is_not_lost() {
    let env = TestEnv::new();
    let line = json!({"type": "command", "command": "plimsoll statusline --wrap=date"});
    env.client_settings(&json!({"statusLine": line}));
    succeeds(&env, "uninstall --yes");
    assert_eq!(settings(&env)["statusLine"]["command"], "date");
    let line = json!({"type": "command", "command": "plimsoll statusline && my-line"});
    env.client_settings(&json!({"statusLine": line}));
    refuses(&env, "uninstall --yes", "is not one that plimsoll can be taken out of");
}

#[test]
fn a_purge_of_what_is_installed_elsewhere_is_refused_with_the_commands() {
    let env = TestEnv::with_project("my project");
    succeeds(&env, "init --yes --scope local --instructions");
    succeeds(&env, "init --yes");
    refuses(&env, "uninstall --purge --yes", "plimsoll is installed elsewhere too: `$TEST/my");
    let ran = env.plimsoll("uninstall --purge --yes");
    let hint = "run `cd '$TEST/my project' && plimsoll uninstall --scope local`, then the same";
    assert!(ran.stderr.contains(hint), "{ran}");
    // Where somebody else has taken us out, nothing is left to undo.
    fs::remove_dir_all(env.project()).unwrap();
    fs::create_dir(env.project()).unwrap();
    succeeds(&env, "uninstall --purge --yes");
    assert!(!env.data().exists());
}

#[test]
fn a_purge_can_be_looked_at_first() {
    let env = TestEnv::new();
    succeeds(&env, "init --yes");
    succeeds(&env, "uninstall --purge --dry-run");
    assert!(env.data().exists());
    refuses(&env, "uninstall --purge", "nothing was changed: there is no terminal to ask you on");
    assert!(env.data().exists());
    succeeds(&env, "uninstall --purge --yes");
    assert!(!env.data().exists());
}

#[test]
fn purging_leaves_a_folder_with_our_names_and_others_files_alone() {
    let env = TestEnv::new();
    env.write("home/other/backups/db.dump", "x");
    fs::create_dir(env.path("home/other/settings")).unwrap();
    let other = env.home().join("other");
    let env = env.with("PLIMSOLL_DATA_DIR", other.to_str().unwrap());
    let foreign = "holds what is not plimsoll's: `backups/db.dump`";
    refuses(&env, "uninstall --purge --yes", foreign);
    env.write("home/other/store.sqlite", "");
    refuses(&env, "uninstall --purge --yes", foreign);
    fs::remove_file(other.join("backups/db.dump")).unwrap();
    fs::remove_file(other.join("store.sqlite")).unwrap();
    refuses(&env, "uninstall --purge --yes", "is not a folder of plimsoll's own");
}

#[test]
fn what_others_left_beside_the_settings_is_not_swept_away() {
    let env = TestEnv::new();
    // As another program may name it; no process has that number.
    let theirs = env.write("home/.claude/settings.4194305.tmp", "theirs");
    succeeds(&env, "init --yes");
    assert!(theirs.exists());
}

#[test]
fn commands_in_hints_can_be_pasted() {
    let env = TestEnv::new();
    let folder = env.home().join("my agent");
    let env = env.with("CLAUDE_CONFIG_DIR", folder.to_str().unwrap());
    let settings = env.write("home/my agent/settings.json", "{}");
    fs::set_permissions(settings, fs::Permissions::from_mode(0o444)).unwrap();
    let hint = "run `chmod u+w '$TEST/home/my agent/settings.json'`, then the same again";
    refuses(&env, "init --yes", hint);
}

#[test]
fn purging_removes_nothing_that_may_be_others() {
    let env = TestEnv::new();
    env.write("home/data/mine.txt", "x");
    let data = env.home().join("data");
    let env = env.with("PLIMSOLL_DATA_DIR", data.to_str().unwrap());
    refuses(&env, "uninstall --purge --yes", "holds what is not plimsoll's: `mine.txt`");
    let home = env.home();
    let env = env.with("PLIMSOLL_DATA_DIR", home.to_str().unwrap());
    refuses(&env, "uninstall --purge --yes", "is not a folder of plimsoll's own");
    let env = env.with("PLIMSOLL_DATA_DIR", "/");
    refuses(&env, "uninstall --purge --yes", "`/` is not a folder of plimsoll's own");
    let env = TestEnv::new();
    let config = env.user_config("quiet: true\n");
    env.session("s").fill(170_000);
    env.session("s").prompted();
    succeeds(&env, "status --all");
    let ran = succeeds(&env, "uninstall --purge --yes");
    assert!(ran.stdout.contains("Your own config stays: $TEST/home/.config/plimsoll"), "{ran}");
    assert!(config.exists() && !env.data().exists());
}
