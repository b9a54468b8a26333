//! `plimsoll batch plan`

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};
use crate::transcript::COMPACTING;

const CHECK_LIST: &str = "\
# Release
- [ ] Fix the reader in `src/read.rs`
- [x] Write the notes
- [ ] Refactor the parser
  after: 1
  - [ ] Move the lexer out
    files: src/lexer.rs, src/parser.rs
  - [ ] Rename it
    tokens: 12000
- [ ] Update the docs
  after: 3
";

fn list(env: &TestEnv) -> &TestEnv {
    env.write("project/TODO.md", CHECK_LIST);
    for (name, lines) in [("read", 20), ("lexer", 200), ("parser", 300)] {
        env.write(&format!("project/src/{name}.rs"), "let load = read(line)?;\n".repeat(lines));
    }
    env
}

/// Plans what comes on stdin.
fn piped(env: &TestEnv, text: &str) -> Ran {
    env.run(env.command(&["batch", "plan", "-", "--available", "5000"]), text.as_bytes())
}

#[test]
fn a_plan_is_shown_as_a_tree() {
    let env = TestEnv::new();
    insta::assert_snapshot!(list(&env).plimsoll("batch plan TODO.md --available 12500"), @"
    --- stdout
    batch 1  █░░░░░░░░░░░░░░░░░░░░░░░  2%  259 tokens
      └─ 1  Fix the reader in `src/read.rs`  259
      │ checkpoint
    batch 2  ████████████░░░░░░░░░░░░  49%  6,150 tokens
      └─ 3.1  Move the lexer out  6,150
         src/lexer.rs src/parser.rs
         after 1
      │ checkpoint
    batch 3  ████████████████████████  96%  12,000 tokens
      └─ 3.2  Rename it  12,000
         after 1
      │ checkpoint
    batch 4  ████████████░░░░░░░░░░░░  48%  6,003 tokens
      └─ 4  Update the docs  6,003
         after 3.1, 3.2

    2 tasks, 2 parts of tasks · 24,412 tokens · 4 batches · no plan has fewer than 4
    12,500 available = 12,500 (--available)
    [exit 0]
    ");
}

#[test]
fn a_plan_is_printed_as_the_workflow_and_as_a_chart() {
    let env = TestEnv::new();
    env.write(
        "project/tasks.json",
        r#"[{"id": "a", "description": "Fix \"it\"", "tokens": 3000},
        {"description": "Add\u001b[2J it", "tokens": 3000, "after": ["a"]}]"#,
    );
    let ran = env.plimsoll("batch plan tasks.json --available 5000 --json");
    let workflow: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(workflow["nodes"]["batch_1"]["tasks"][0]["after"], json!(["a"]));
    assert_eq!(workflow["edges"][0], json!({"from": "batch_0", "to": "checkpoint_0"}));
    insta::assert_snapshot!(env.plimsoll("batch plan tasks.json --available 5000 --mermaid"), @r#"
    --- stdout
    flowchart TD
      batch_0["batch_0: 3,000 tokens<br/>a Fix #34;it#34;"]
      checkpoint_0(["Run /checkpoint to save progress"])
      batch_1["batch_1: 3,000 tokens<br/>2 Add[2J it"]
      batch_0 --> checkpoint_0
      checkpoint_0 --> batch_1
    [exit 0]
    "#);
}

#[test]
fn without_a_window_the_budget_is_a_cautious_one() {
    let env = TestEnv::new();
    let ran = list(&env).plimsoll("batch plan TODO.md");
    assert!(ran.stdout.contains("100,000 available = 100,000 (window unknown)"), "{ran}");
}

#[test]
fn what_a_batch_may_hold_follows_from_the_window_and_the_sessions_before() {
    let env = TestEnv::new();
    env.session("11111111-one").fill_with(COMPACTING, 30_000);
    let last = |ran: Ran| ran.stdout.lines().last().unwrap().to_owned();
    let fresh = last(list(&env).plimsoll("batch plan TODO.md"));
    assert_eq!(fresh, "122,043 available = 200,000 (window) − 29,957 held − 48,000 reserve");
    env.user_config("batch: {budget: 60000}\n");
    let budget = last(env.plimsoll("batch plan TODO.md"));
    assert_eq!(budget, "30,043 available = 60,000 (batch.budget) − 29,957 held");
    env.session("22222222-two").fill_with(COMPACTING, 50_000);
    let session = last(env.plimsoll("batch plan TODO.md --session 2222"));
    assert_eq!(session, "10,000 available = 60,000 (batch.budget) − 50,000 held");
}

#[test]
fn files_that_changed_together_stay_together() {
    let env = TestEnv::new();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        assert!(
            git.current_dir(env.project())
                .env("HOME", env.home())
                .output()
                .unwrap()
                .status
                .success()
        );
    };
    git(&["init", "-q"]);
    for round in 0..4 {
        for name in ["x/a.rs", "y/b.rs"] {
            env.write(&format!("project/{name}"), format!("// {round}\n"));
        }
        git(&["add", "."]);
        git(&["commit", "-qm", "both"]);
    }
    env.write("project/x/c.rs", "// c\n");
    env.write(
        "project/tasks.yaml",
        "- description: look\n  files: [x/a.rs, x/c.rs, y/b.rs]\n  tokens: 3000\n",
    );
    let ran = env.plimsoll("batch plan tasks.yaml --available 2100 --json");
    let workflow: Value = serde_json::from_str(&ran.stdout).unwrap();
    let files = |batch: &str| workflow["nodes"][batch]["tasks"][0]["files"].clone();
    assert_eq!(
        (files("batch_0"), files("batch_1")),
        (json!(["x/a.rs", "y/b.rs"]), json!(["x/c.rs"]))
    );
}

#[test]
fn files_that_cannot_be_weighed_are_told() {
    let env = TestEnv::new();
    env.write("secret.txt", "words ".repeat(100_000));
    env.write("project/picture.png", b"\x89PNG\0\0");
    symlink(env.path("secret.txt"), env.project().join("link.txt")).unwrap();
    let text = "- description: look\n  files: [gone.rs, picture.png, ../secret.txt, link.txt]\n";
    insta::assert_snapshot!(piped(&env, text).stderr, @"
    note: 2 files are no text files in this project and count as 2,000 tokens each: `gone.rs`, `picture.png`
    note: 2 files are outside this project and count as 2,000 tokens each: `../secret.txt`, `link.txt`
    ");
}

#[test]
fn what_cannot_be_planned_is_told_with_its_line() {
    let env = TestEnv::new();
    for (text, told) in [
        (
            "- id: a\n  description: x\n  after: b\n- id: b\n  description: y\n  after: a\n",
            "line 1: these tasks wait for one another: `a` before `b` before `a`",
        ),
        ("- description: x\n- id: 1\n  description: y\n", "line 2: there are two tasks called `1`"),
        (
            "- description: x\n  tokens: -5\n",
            "line 2: invalid value: integer `-5`, expected a whole number from 0 to 1,000,000,000",
        ),
        (
            "- description: x\n  after: nobody\n",
            "line 1: `1` is after `nobody`, which no task is called",
        ),
        ("- [ ] x\n- [ ]\n", "line 2: `2` does not say what is to be done"),
        ("", "there is no task in it"),
        ("tasks: [", "line 1: "),
    ] {
        let ran = piped(&env, text);
        assert_eq!(ran.status.code(), Some(1), "{ran}");
        assert!(
            ran.stdout.is_empty() && ran.stderr.contains(&format!("  caused by: {told}")),
            "{ran}"
        );
        assert!(ran.stderr.contains("hint: run `plimsoll batch plan --help`"), "{ran}");
    }
    let ran = env.run(env.command(&["batch", "plan", "-"]), b"\xff\xfe");
    assert!(ran.stderr.contains("caused by: it is not text in UTF-8"), "{ran}");
    let help = "hint: run `plimsoll batch plan --help` to see what a task file looks like\n";
    assert!(ran.stderr.ends_with(help), "{ran}");
    let ran = env.plimsoll("batch plan .");
    assert!(
        ran.stderr.contains("caused by: it is a folder\n") && ran.stderr.ends_with(help),
        "{ran}"
    );
    let ran = env.plimsoll("batch plan nowhere.md");
    assert!(ran.stderr.contains("hint: run `ls -l nowhere.md`"), "{ran}");
    assert_eq!(env.plimsoll("batch plan x --json --mermaid").status.code(), Some(2));
}

#[test]
fn what_is_all_done_needs_no_plan() {
    let env = TestEnv::new();
    let ran = piped(&env, "- [x] Fix the keel\n");
    assert_eq!(ran.stdout, "nothing left to do: its one task is done\n");
    assert!(ran.status.success());
}

#[test]
fn a_batch_that_may_hold_nothing_is_refused() {
    let env = TestEnv::new();
    let ran = list(&env).plimsoll("batch plan TODO.md --available 0");
    assert_eq!(ran.status.code(), Some(2), "{ran}");
    assert!(ran.stderr.contains("nothing fits into 0 tokens"), "{ran}");
    env.user_config("batch: {budget: 40000}\n");
    env.session("22222222-two").fill_with(COMPACTING, 50_000);
    insta::assert_snapshot!(env.plimsoll("batch plan TODO.md --session 2222"), @"
    --- stderr
    error: could not plan `TODO.md`
      caused by: there is no room: 0 available = 40,000 (batch.budget) − 50,000 held
    hint: say what a batch may hold: add `--available 50000`
    [exit 1]
    ");
}

#[test]
fn figures_beyond_reason_are_refused() {
    let env = TestEnv::new();
    let ran = piped(&env, "- description: x\n  tokens: 9000000000000000000\n");
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    let told =
        "line 2: invalid value: integer `9000000000000000000`, expected a whole number from 0 to";
    assert!(ran.stderr.contains(told), "{ran}");
}
