//! `plimsoll man`

use crate::env::TestEnv;

#[test]
fn there_is_a_page_for_the_whole_and_for_every_command() {
    let env = TestEnv::new();
    for (command, name) in [
        ("", "plimsoll"),
        ("status", "plimsoll-status"),
        ("config", "plimsoll-config"),
        ("config show", "plimsoll-config-show"),
    ] {
        let ran = env.plimsoll(&format!("man {command}"));
        assert!(ran.status.success() && ran.stderr.is_empty(), "{command}: {ran}");
        assert!(ran.stdout.contains(&format!(".TH {name} 1")), "{command}: {ran}");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"] {
            assert!(ran.stdout.contains(section), "{command}, {section}: {ran}");
        }
    }
}

#[test]
fn all_pages_are_written_into_a_folder() {
    let env = TestEnv::new();
    let folder = env.path("share/man1");
    let ran = env.run(env.command(&["man", "--all", folder.to_str().unwrap()]), b"");
    assert!(ran.status.success(), "{ran}");
    for (page, says) in [
        ("plimsoll.1", ".TH plimsoll 1"),
        ("plimsoll-batch-plan.1", ".TH plimsoll-batch-plan 1"),
        ("plimsoll-config-show.1", ".TH plimsoll-config-show 1"),
    ] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(says), "{page}: {text}");
    }
    insta::assert_snapshot!(env.plimsoll("man --all /dev/null/man1"), @"
    --- stderr
    error: could not write manual pages into `/dev/null/man1`
      caused by: Not a directory (os error 20)
    hint: name a folder that you may write to
    [exit 1]
    ");
}

#[test]
fn a_command_that_does_not_exist_has_none() {
    insta::assert_snapshot!(TestEnv::new().plimsoll("man config nope"), @"
    --- stderr
    error: there is no command `config nope`
    hint: `plimsoll --help` lists the commands
    [exit 1]
    ");
}
