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
fn a_command_that_does_not_exist_has_none() {
    insta::assert_snapshot!(TestEnv::new().plimsoll("man config nope"), @"
    --- stderr
    error: there is no command `config nope`
    hint: `plimsoll --help` lists the commands
    [exit 1]
    ");
}
