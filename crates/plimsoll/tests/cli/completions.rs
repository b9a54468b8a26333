//! `plimsoll completions`

use std::process::Command;

use crate::env::TestEnv;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = env.plimsoll(&format!("completions {shell}"));
        assert!(ran.status.success() && ran.stderr.is_empty(), "{shell}: {ran}");
        for command in ["status", "measure", "config", "completions"] {
            assert!(ran.stdout.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn the_script_for_bash_completes() {
    let env = TestEnv::new();
    let script = env.write("completions.bash", env.plimsoll("completions bash").stdout);
    let ask = r#"source "$0" && COMP_WORDS=(plimsoll config sh) COMP_CWORD=2
        && _plimsoll plimsoll sh config && echo "${COMPREPLY[*]}""#;
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-c", &ask.replace('\n', " ")]).arg(script).env_clear();
    let output = bash.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "show\n", "{output:?}");
}

#[test]
fn an_unknown_shell_is_misuse() {
    let ran = TestEnv::new().plimsoll("completions tcsh");
    assert_eq!(ran.status.code(), Some(2), "{ran}");
    assert!(ran.stderr.contains("bash"), "{ran}");
}
