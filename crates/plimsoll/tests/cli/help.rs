//! Help, versions and misuse.

use crate::env::TestEnv;

#[track_caller]
fn check(command: &str) {
    let env = TestEnv::new();
    for flag in ["-h", "--help"] {
        let ran = env.plimsoll(&format!("{command} {flag}"));
        assert!(ran.status.success() && ran.stderr.is_empty(), "{command} {flag}: {ran}");
        assert!(ran.stdout.contains("Usage: plimsoll"), "{command} {flag}: {ran}");
    }
    assert_eq!(env.all_under(&env.home()), [env.home()], "help leaves no traces");
}

#[test]
fn help_is_given() {
    let commands = [
        "",
        "audit",
        "batch",
        "batch plan",
        "batch run",
        "batch status",
        "board",
        "board ack",
        "board claim",
        "board list",
        "board post",
        "board release",
        "board take",
        "checkpoint",
        "checkpoint create",
        "checkpoint diff",
        "checkpoint list",
        "checkpoint prune",
        "checkpoint show",
        "checkpoint verify",
        "completions",
        "config",
        "config show",
        "demo",
        "doctor",
        "init",
        "log",
        "man",
        "measure",
        "restore",
        "resume",
        "rs",
        "run",
        "score",
        "search",
        "serve",
        "ss",
        "status",
        "statusline",
        "tax",
        "team",
        "team init",
        "team prune",
        "team status",
        "team sync",
        "test",
        "top",
        "uninstall",
        "watch",
    ];
    commands.into_iter().for_each(check);
}

#[test]
fn help_is_given_for_the_hook_too() {
    check("hook");
}

#[test]
fn the_version_is_told() {
    let ran = TestEnv::new().plimsoll("--version");
    assert_eq!(ran.stdout, format!("plimsoll {}\n", env!("CARGO_PKG_VERSION")));
    assert!(ran.status.success());
}

#[test]
fn misuse_is_told_apart_from_failure() {
    let env = TestEnv::new();
    for arguments in ["no-such-command", "--no-such-flag", "measure --no-such-flag"] {
        let ran = env.plimsoll(arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments}: {ran}");
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{arguments}: {ran}");
    }
}

#[test]
fn a_client_never_sees_the_exit_code_of_misuse() {
    let env = TestEnv::new();
    for (arguments, stdin) in
        [("", ""), ("", "[1]"), ("", "{\"a\": 1}"), ("statusline --nonsense", "{}")]
    {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let ran = env.run(env.command(&arguments), stdin.as_bytes());
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}: {ran}");
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{arguments:?}: {ran}");
    }
    let ran = env.run(env.command(&["hook", "--nonsense"]), b"{}");
    assert!(ran.is_silent(), "{ran}");
}

#[test]
fn without_arguments_a_pipe_that_stays_open_is_not_waited_for() {
    let env = TestEnv::new();
    let mut child = env.command(&[]).spawn().unwrap();
    let open = child.stdin.take();
    let ran = env.ran(child.wait_with_output().unwrap());
    drop(open);
    assert!(ran.stderr.contains("Usage: plimsoll <COMMAND>"), "{ran}");
    assert_eq!(ran.status.code(), Some(1), "{ran}");
}

#[test]
fn without_a_home_people_are_told_what_to_do() {
    let env = TestEnv::new().without("HOME");
    insta::assert_snapshot!(env.plimsoll("measure --transcript x"), @"
    --- stderr
    error: could not find your home folder: `HOME` names no absolute path
    hint: set HOME, for example `HOME=/home/me plimsoll status`
    [exit 1]
    ");
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let coloured = |variables: &[(&str, &str)]| {
        let with = |env: TestEnv, (name, value): &(&str, &str)| env.with(name, value);
        let env = variables.iter().fold(TestEnv::new(), with);
        let both = [env.plimsoll("config check"), env.plimsoll("--help")];
        both.map(|ran| ran.stdout.contains('\x1b'))
    };
    assert_eq!(coloured(&[]), [false; 2]);
    assert_eq!(coloured(&[("CLICOLOR_FORCE", "1")]), [true; 2]);
    assert_eq!(coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), [false; 2]);
}
