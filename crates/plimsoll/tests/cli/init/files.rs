//! Settings files of every kind: the right result or a clear refusal, and never a lost byte.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use super::{SETTINGS, THEIRS, refuses, succeeds};
use crate::env::TestEnv;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn text(env: &TestEnv) -> String {
    fs::read_to_string(env.path(SETTINGS)).unwrap()
}

#[track_caller]
fn refused(contents: impl AsRef<[u8]>, why: &str) {
    let env = TestEnv::new();
    env.write(SETTINGS, contents);
    refuses(&env, "init --yes", why);
}

#[test]
fn what_cannot_be_understood_stays_as_it_is() {
    refused("{\n  \"a\": \n}", "it is not JSON: ");
    refused("{} {}", "it is not JSON: ");
    refused("[1]", "the whole of it is not an object");
    refused(r#"{"hooks": {}, "hooks": {}}"#, "`hooks` is there twice");
    refused(r#"{"hooks": {"PreCompact": 1}}"#, "`hooks.PreCompact` is not an array");
    refused(b"{\"a\": \"\xff\"}", "it is not UTF-8");
    refused(" ".repeat(17 << 20), "it is larger than 16 MiB");
}

#[test]
fn a_refusal_says_where_and_what_to_do() {
    let env = TestEnv::new().with("PATH", "/nowhere");
    env.write(SETTINGS, "{\n  \"model\" \"opus\"\n}\n");
    insta::assert_snapshot!(env.plimsoll("init --yes"), @"
    --- stderr
    note: `claude` is not on your PATH; the hooks wait for it (`--client PATH` names another place)
    error: could not change `$TEST/home/.claude/settings.json`
      caused by: it is not JSON: expected colon after the string or word in object property in line 2, column 11
    hint: mend it and run the same again; it was left as it is
    [exit 1]
    ");
}

#[test]
fn a_file_with_comments_keeps_them_and_the_user_is_told_that_the_client_does_not_read_it() {
    let env = TestEnv::new();
    let theirs = "{\n  // mine\n  \"model\": \"opus\", // the best\n}\n";
    env.write(SETTINGS, theirs);
    let ran = succeeds(&env, "init --yes");
    let why = "until it is mended: it is not JSON: comments are not allowed in line 2, column 3";
    assert!(ran.stderr.contains(why), "{ran}");
    assert!(text(&env).contains("// mine") && text(&env).contains("// the best"));
    assert!(succeeds(&env, "init --yes").stderr.contains(why), "again, for nothing was mended");
    succeeds(&env, "uninstall --yes");
    assert_eq!(text(&env), theirs);
}

#[test]
fn a_file_of_ten_megabytes_is_no_trouble() {
    let env = TestEnv::new();
    let line = format!("    \"{}\",\n", "x".repeat(90));
    let theirs = format!("{{\n  \"list\": [\n{}    1\n  ]\n}}\n", line.repeat(100_000));
    env.write(SETTINGS, &theirs);
    let ran = succeeds(&env, "init --yes");
    assert!(ran.stdout.len() < 10_000);
    assert!(text(&env).contains("PreCompact"));
    succeeds(&env, "uninstall --yes");
    assert!(text(&env) == theirs);
}

#[test]
fn a_link_into_a_dotfiles_folder_stays_a_link() {
    let env = TestEnv::new();
    let target = env.write("home/dotfiles/settings.json", THEIRS);
    fs::create_dir(env.path("home/.claude")).unwrap();
    let link = env.path(SETTINGS);
    symlink("../dotfiles/settings.json", &link).unwrap();
    succeeds(&env, "init --yes");
    assert!(link.is_symlink() && !target.is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("PreCompact"));
    succeeds(&env, "uninstall --yes");
    assert_eq!(fs::read_to_string(&target).unwrap(), THEIRS);
    fs::remove_file(&target).unwrap();
    refuses(&env, "init --yes", "it is a link to a file that is not there");
}

#[test]
fn permissions_are_kept() {
    let env = TestEnv::new();
    let path = env.write(SETTINGS, THEIRS);
    chmod(&path, 0o640);
    succeeds(&env, "init --yes");
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o640);
    succeeds(&env, "uninstall --yes");
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o640);
}

#[test]
fn a_write_protected_file_is_not_written_to_even_by_root() {
    for plain_user in [false, true] {
        let mut env = TestEnv::new();
        let path = env.write(SETTINGS, THEIRS);
        if plain_user {
            env.as_plain_user();
        }
        chmod(&path, 0o444);
        let before = text(&env);
        let ran = env.plimsoll("init --yes");
        assert_eq!(ran.status.code(), Some(1), "{ran}");
        assert!(ran.stderr.contains("it is write-protected"), "{ran}");
        let hint = "hint: run `chmod u+w $TEST/home/.claude/settings.json`, then the same again";
        assert!(ran.stderr.contains(hint), "{ran}");
        assert_eq!(text(&env), before);
        chmod(&path, 0o644);
        succeeds(&env, "init --yes");
    }
}

#[test]
fn what_may_not_be_read_or_written_is_named() {
    let mut env = TestEnv::new();
    let path = env.write(SETTINGS, THEIRS);
    env.as_plain_user();
    chmod(&path, 0o200);
    let ran = env.plimsoll("init --yes");
    assert!(ran.stderr.contains("could not read `$TEST/home/.claude/settings.json`"), "{ran}");
    chmod(&path, 0o644);
    // A file can only be replaced where a new one can be made.
    chmod(path.parent().unwrap(), 0o555);
    let ran = env.plimsoll("init --yes");
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("could not change `$TEST/home/.claude/settings.json`"), "{ran}");
    assert_eq!(text(&env), THEIRS);
    chmod(path.parent().unwrap(), 0o755);
}

#[test]
fn a_folder_or_a_fifo_in_the_place_of_the_file_is_refused() {
    let env = TestEnv::new();
    fs::create_dir_all(env.path(SETTINGS)).unwrap();
    refuses(&env, "init --yes", "it is not a regular file");
    fs::remove_dir(env.path(SETTINGS)).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        env.path(SETTINGS),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let ran = env.plimsoll("init --yes");
    assert!(ran.stderr.contains("it is not a regular file"), "{ran}");
}
