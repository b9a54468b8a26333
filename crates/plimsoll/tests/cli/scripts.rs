//! `hooks/*.sh` and the scripts of the seed that they stand in for, with the system's own curl, jq and
//! git, at a server that really runs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};
use crate::serve::client::Running;

/// Ours, and the seed's, which must work as they are.
const BOTH: [&str; 2] = ["../../hooks", "tests/cli/seed"];
const OURS: &str = BOTH[0];

/// A machine whose shell knows the way to a server.
struct Bed {
    env: TestEnv,
}

impl Bed {
    fn new() -> Self {
        Self { env: TestEnv::new().with("PATH", "/usr/bin:/bin") }
    }

    /// Runs a script that asks `url`.
    fn script(&self, url: &str, path: PathBuf, arguments: &[&str]) -> Ran {
        let mut command = self.env.shell("exec \"$@\"", &[]);
        command.arg(path).args(arguments).env("CONTEXTS_URL", url);
        self.env.run(command, b"")
    }

    fn monitor(&self, url: &str, folder: &str, arguments: &[&str]) -> Ran {
        self.script(url, script(folder, "context-monitor.sh"), arguments)
    }

    /// Commits two files in a repository whose hook is the script; gives the hash and what was said.
    fn commits(&self, url: &str, folder: &str, message: &str) -> (String, Ran) {
        let steps = "git init -q -b main && git config user.name A && git config user.email a@b.c \
             && git commit -q --allow-empty -m root && cp \"$2\" .git/hooks/post-commit && echo \"$1\" > x.txt && echo \"$1\" > y.txt \
             && git add -A && exec git commit -q -m \"$1\"";
        let hook = script(folder, "post-commit.sh");
        let mut command = self.env.shell(steps, &[message, hook.to_str().unwrap()]);
        command.env("CONTEXTS_URL", url);
        let ran = self.env.run(command, b"");
        let head = self.env.run(self.env.shell("git rev-parse HEAD", &[]), b"");
        (head.stdout.trim().to_owned(), ran)
    }
}

fn script(folder: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name)
}

/// As the scripts name it when nothing else is said.
fn url(server: &Running<'_>) -> String {
    format!("http://localhost:{}", server.address.port())
}

/// Where nobody listens.
const NOWHERE: &str = "http://127.0.0.1:1";

#[test]
fn without_a_number_the_monitor_tells_its_usage() {
    for folder in BOTH {
        insta::allow_duplicates! {
            insta::assert_snapshot!(Bed::new().monitor(NOWHERE, folder, &[]), @"
            --- stdout
            Usage: context-monitor.sh <used_tokens> [max_tokens]
            [exit 1]
            ");
        }
    }
}

#[test]
fn below_the_lines_the_monitor_says_nothing_and_at_the_save_line_it_suggests() {
    let bed = Bed::new();
    let server = Running::start(&bed.env, &[]);
    for folder in BOTH {
        let monitor = |arguments: &[&str]| bed.monitor(&url(&server), folder, arguments);
        for arguments in [&["139999"][..], &["1", "200000"], &["150000", "1000000"]] {
            assert!(monitor(arguments).is_silent(), "{folder}: {:?}", monitor(arguments));
        }
        let suggests = "--- stdout\nContext warning (150000/200000). Consider: ss\n[exit 0]";
        assert_eq!(monitor(&["150000"]).to_string(), suggests);
        assert_eq!(monitor(&["150000", "200000"]).to_string(), suggests);
    }
    assert!(server.saves().is_empty());
}

#[test]
fn at_the_restart_line_the_monitor_saves() {
    for folder in BOTH {
        let bed = Bed { env: Bed::new().env.with("CONTEXTS_ENV", "release-1.0") };
        let server = Running::start(&bed.env, &[]);
        let ran = bed.monitor(&url(&server), folder, &["170000"]);
        let [save] = &server.saves()[..] else { panic!("{ran}") };
        let answer = json!({
            "status": "saved",
            "session_id": save["id"],
            "percent_at_save": 85.0,
            "restart_command": "rs release-1.0",
            "message": "Session saved. Run 'rs release-1.0' to continue.",
        });
        let lines: Vec<&str> = ran.stdout.lines().collect();
        let [first, answered, last] = lines[..] else { panic!("{ran}") };
        assert_eq!(first, "Context critical (170000/200000). Auto-saving...");
        assert_eq!(serde_json::from_str::<Value>(answered).unwrap(), answer);
        assert_eq!(last, "Session saved. Recommend: rs release-1.0");
        assert!(ran.stderr.is_empty() && ran.status.success(), "{ran}");
        assert_eq!(save["environment"], "release-1.0");
        assert_eq!(save["tags"], json!(["auto-save", "tokens-170000"]));
    }
}

#[test]
fn our_monitor_does_not_say_saved_of_what_was_not() {
    let bed = Bed { env: Bed::new().env.with("CONTEXTS_ENV", "a \"b\" 'c' $(d)") };
    let server = Running::start(&bed.env, &[]);
    let ran = bed.monitor(&url(&server), OURS, &["90", "100"]);
    let (said, problem) = ran.stdout.split_once('\n').unwrap();
    assert_eq!(said, "Context critical (90/100). Auto-saving...");
    // What it was called reached the server as it is, and is refused there.
    let problem: Value = serde_json::from_str(problem).unwrap();
    assert_eq!(problem["status"], 400, "{problem}");
    assert_eq!((ran.stderr.as_str(), ran.status.code()), ("Session not saved.\n", Some(0)));
    assert!(server.saves().is_empty());
}

#[test]
fn without_a_server_the_monitor_stays_out_of_the_way() {
    for folder in BOTH {
        let ran = Bed::new().monitor(NOWHERE, folder, &["170000"]);
        assert!(ran.is_silent(), "{folder}: {ran}");
    }
}

#[test]
fn a_commit_is_told() {
    for folder in BOTH {
        let bed = Bed::new();
        let server = Running::start(&bed.env, &[]);
        let (sha, ran) = bed.commits(&url(&server), folder, "Mend the parser\n\nAll of it.");
        let said = format!("Session saved at commit {}\n", &sha[..8]);
        // What a hook of git prints, git prints to stderr.
        assert_eq!((ran.stderr, ran.status.code()), (said, Some(0)), "{folder}");
        let [save] = &server.saves()[..] else { panic!("{folder}: {:?}", server.saves()) };
        assert_eq!(save["task"], "Commit: Mend the parser");
        assert_eq!(save["context"], format!("Branch: main, SHA: {}, Files: 2", &sha[..8]));
        assert_eq!(save["tags"], json!(["git-commit", "main", &sha[..8]]));
        assert_eq!((&save["commit"], &save["environment"]), (&json!(sha), &json!("development")));
    }
}

#[test]
fn a_commit_message_of_any_characters_reaches_the_server_from_ours() {
    let bed = Bed::new();
    let server = Running::start(&bed.env, &[]);
    let subject = r#"Say "it's" \ \n $(done) `now` {"a": 1} é %s"#;
    let message = format!("{subject}\n\nA \"body\"\nof \\ lines\n");
    let (sha, ran) = bed.commits(&url(&server), OURS, &message);
    assert_eq!(ran.stderr, format!("Session saved at commit {}\n", &sha[..8]));
    let [save] = &server.saves()[..] else { panic!("{:?}", server.saves()) };
    assert_eq!(save["task"], format!("Commit: {subject}"));
}

#[test]
fn the_seeds_own_hook_cannot_tell_of_quotes_and_nothing_is_stored_of_them() {
    let bed = Bed::new();
    let server = Running::start(&bed.env, &[]);
    let (sha, ran) = bed.commits(&url(&server), BOTH[1], "Say \"it\"");
    assert_eq!(ran.stderr, format!("Session saved at commit {}\n", &sha[..8]), "as it always says");
    assert!(server.saves().is_empty());
}

#[test]
fn without_a_server_the_commit_is_made_all_the_same_and_ours_says_so() {
    let bed = Bed::new();
    let (sha, ran) = bed.commits(NOWHERE, OURS, "first");
    let said = format!("Session not saved at commit {}\n", &sha[..8]);
    assert_eq!((ran.stderr, ran.status.code()), (said, Some(0)));
    assert!(fs::metadata(bed.env.project().join(".git/refs/heads/main")).is_ok());
}
