//! Whatever a repository, a tool, a model or another session says: on a terminal it is nothing but text.

use plimsoll_core::policy::is_plain;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::docs::commands;
use crate::env::{Ran, TestEnv};
use crate::secrets;
use crate::terminal::Terminal;
use crate::transcript::{self, captured};
use crate::watch::Watching;

/// A new title for the window, a wiped screen, a line written over, a colour in one character, text that
/// runs backwards.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\u{8}\u{9b}31m\u{202e}X\u{7f}";
const PROJECT: &str = "project\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";
const FILE: &str = "src/hull\u{1b}[2J\u{9b}31m\u{202e}.rs";
const SESSION: &str = "5f2c81aa";

/// A machine on which everything that can be named by somebody else bears such a name.
fn machine() -> TestEnv {
    let env = TestEnv::with_project(PROJECT).with("PATH", "/usr/bin:/bin");
    let git = |script: &str| {
        let git = "git -c user.name=a -c user.email=b";
        let ran = env.run(env.shell(&script.replace("git", git), &[HOSTILE]), b"");
        assert!(ran.status.success(), "{script}: {ran}");
    };
    git("git init -q -b 'ma\u{202e}in\u{9b}' && git commit -q --allow-empty -m \"$1\"");
    let text = secrets::session(&env, &[(HOSTILE.to_owned(), String::new())], &[]);
    let hostile = json!(HOSTILE).to_string();
    let after = |word: &str| format!("\"{word}{}", &hostile[1..]);
    let text = ["main", "2.1.325", transcript::MODEL]
        .iter()
        .fold(text, |text, word| text.replace(&format!("\"{word}\""), &after(word)));
    env.session(SESSION).write(text);
    let inner = hostile.trim_matches('"');
    let hooks = captured("hook-context-every-event.jsonl");
    env.session("77777777").write(hooks.replace("capture-hook", &format!("capture-{inner}")));
    env.project_config(
        "\"lin\\e[2Jes\\x9b\": 3\nwarn_command: \"/ha\\e[2J\\x9bnd\"\nlines: {warn: 10}\n",
    );
    env
}

/// The same after everything has happened that leaves something to show.
fn with_a_past() -> TestEnv {
    let env = machine();
    hooks(&env);
    let in_session = env.with("CLAUDE_CODE_SESSION_ID", SESSION);
    let run = |arguments: &[&str]| {
        let ran = in_session.run(in_session.command(arguments), b"");
        assert!(ran.status.success(), "{arguments:?}: {ran}");
    };
    run(&["ss", "--task", HOSTILE, "--context", HOSTILE, "--next-steps", HOSTILE]);
    run(&["board", "post", "--to", SESSION, HOSTILE]);
    run(&["board", "claim", FILE]);
    let env = in_session.without("CLAUDE_CODE_SESSION_ID");
    env.hook(format!("no JSON {HOSTILE}"));
    let planted = format!(
        "---\ncreated: 2026-11-15T14:30:22Z\ntrigger: auto\nproject: /p\nsession_id: \"a\\x9b\"\n\
         iteration: 3\nverified: true\n---\n\n## What Changed\n- {HOSTILE}\n\n## Next Steps\n- {HOSTILE}\n"
    );
    env.write(&format!("{PROJECT}/.claude/checkpoints/2026-11-15-143022\u{1b}[2J.md"), planted);
    env.write(&format!("{PROJECT}/tasks.md"), format!("- [ ] Mend the hull {HOSTILE}\n"));
    env.run(env.shell("git switch -q -c 'o\u{202e}ther\u{9b}'", &[]), b"");
    env
}

/// Every call of a session's life; gives what was answered.
fn hooks(env: &TestEnv) -> Vec<Ran> {
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": format!("git commit -m {HOSTILE}")},
        "tool_response": {"stdout": format!("[main 1234567] {HOSTILE}")}});
    let agent = json!({"tool_name": "Agent", "tool_input": {"subagent_type": HOSTILE}});
    let calls = [
        ("UserPromptSubmit", json!({"prompt": HOSTILE})),
        ("PostToolUse", tool),
        ("PreToolUse", agent),
        ("PreCompact", json!({"trigger": "auto", "custom_instructions": HOSTILE})),
        ("SessionStart", json!({"source": "compact"})),
        ("PostCompact", json!({"compact_summary": HOSTILE})),
        ("UserPromptSubmit", json!({"prompt": HOSTILE})),
        ("SessionStart", json!({"source": "resume"})),
        ("SessionEnd", json!({"reason": HOSTILE})),
    ];
    let mut answers: Vec<Ran> =
        calls.into_iter().map(|(event, more)| call(env, SESSION, event, more)).collect();
    answers.push(call(env, "another", "SessionStart", json!({"source": "startup"})));
    answers
}

fn call(env: &TestEnv, session: &str, event: &str, more: Value) -> Ran {
    let mut payload = env.session(session).payload(event);
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    env.hook(payload.to_string())
}

/// A text in which nothing but ends of lines moves the cursor.
fn is_harmless(text: &str) -> bool {
    text.chars().all(|character| character == '\n' || is_plain(character))
}

#[track_caller]
fn check(what: &str, ran: &Ran) {
    assert!(is_harmless(&ran.stdout) && is_harmless(&ran.stderr), "{what}: {:?}", ran.to_string());
}

/// Every command that ends by itself and shows what others have said, with the file above as `FILE`.
const SHOWN: &[&str] = &[
    "audit",
    "batch plan tasks.md",
    "batch run tasks.md --dry-run",
    "batch status",
    "batch status --calibration",
    "board ack nothing",
    "board claim FILE",
    "board list",
    "board post --to 5f2c FILE",
    "board release FILE",
    "board take --session 5f2c",
    "checkpoint create",
    "checkpoint diff",
    "checkpoint list",
    "checkpoint prune",
    "checkpoint show",
    "checkpoint show 2026-11-15",
    "checkpoint verify --all",
    "config check",
    "config default",
    "config path",
    "config schema",
    "config show",
    "doctor",
    "init --dry-run --git",
    "init --dry-run --scope project --commands --instructions",
    "log",
    "measure --transcript FILE",
    "restore",
    "resume",
    "rs --limit 9 --all",
    "rs development FILE",
    "score",
    "search decided",
    "search FILE",
    "ss --task FILE",
    "status",
    "status --all",
    "status --criteria",
    "status 5f2c",
    "status FILE",
    "tax",
    "team init",
    "team prune",
    "team status",
    "team sync",
    "uninstall --dry-run",
];

/// Those that show nothing of the kind, run on, or are looked at below.
const OTHERS: &[&str] =
    &["completions", "demo", "hook", "man", "run", "serve", "statusline", "test", "top", "watch"];

#[test]
fn no_command_prints_what_moves_the_cursor() {
    let env = with_a_past();
    for line in SHOWN {
        let word = |word| if word == "FILE" { FILE } else { word };
        let words: Vec<&str> = line.split(' ').map(word).collect();
        let ran = env.run(env.command(&words), b"");
        assert_ne!(ran.status.code(), Some(2), "{line}: {ran}");
        check(line, &ran);
        let json = env.run(env.command(&[&words[..], &["--json"]].concat()), b"");
        check(&format!("{line} --json"), &json);
    }
    let env = env.with("CLAUDE_CODE_SESSION_ID", "another");
    for line in ["restore", "resume", "rs"] {
        check(line, &env.plimsoll(line));
    }
}

#[test]
fn every_command_is_among_those() {
    let known: Vec<&str> = SHOWN.iter().chain(OTHERS).copied().collect();
    let has = |name: &String| {
        known.iter().any(|line| {
            line.split(' ').eq(name.split(' ')) || line.starts_with(&format!("{name} "))
        })
    };
    let missing: Vec<String> =
        commands(&TestEnv::new()).into_iter().filter(|name| !has(name)).collect();
    assert!(missing.is_empty(), "is what these print harmless? {missing:?}");
}

#[test]
fn no_hook_tells_the_user_or_the_model_what_moves_the_cursor() {
    for answer in hooks(&machine()) {
        check("a hook", &answer);
        // The client shows what it has decoded.
        if let Ok(decoded) = serde_json::from_str(&answer.stdout) {
            assert!(is_harmless(&texts(&decoded)), "{:?}", answer.to_string());
        }
    }
}

/// A repository in a folder of another, as a clone may bring it along: git finds it, and does what its
/// config says.
const HIDDEN: &str = "git init -q .. && git init -q t && mv t/.git/HEAD t/.git/objects t/.git/refs . && rm -r t
    printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\n[filter \"x\"]\\nclean = \"touch ../ran; cat\"\\n' > config
    echo one > a && git add a && echo '* filter=x' > .gitattributes && echo two > a";
/// A config that names a program to watch the files with.
const WATCHED: &str =
    "git init -q . && git config core.fsmonitor 'touch ../ran; false' && echo one > a";

#[test]
fn no_program_that_a_repository_names_is_run() {
    for trap in [HIDDEN, WATCHED] {
        let env = TestEnv::with_project("home/folder").with("PATH", "/usr/bin:/bin");
        let ran = || env.home().join("ran").exists();
        assert!(env.run(env.shell(trap, &[]), b"").status.success());
        env.run(env.shell("git status && echo three > a", &[]), b"");
        assert!(ran(), "the trap is none: {trap}");
        std::fs::remove_file(env.home().join("ran")).unwrap();
        env.session(SESSION).fill(100_000);
        hooks(&env);
        for line in [
            "checkpoint create",
            "resume",
            "restore",
            "ss --task x",
            "init --git --yes",
            "git-hook",
        ] {
            env.plimsoll(line);
        }
        assert!(!ran(), "{trap}");
    }
}

/// All texts of an answer.
fn texts(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Object(members) => members.values().map(texts).collect(),
        Value::Array(items) => items.iter().map(texts).collect(),
        _ => String::new(),
    }
}

#[test]
fn nor_does_what_runs_on_a_terminal() {
    let env = with_a_past();
    let (watching, first) = Watching::start(&env, &["watch"]);
    watching.send(Signal::TERM);
    let (_, rest, errors) = watching.rest();
    assert!(is_harmless(&(first + &rest + &errors)), "{rest:?} {errors:?}");

    let mut terminal = Terminal::start(env.command(&["top"]));
    let mut drawn = terminal.wait_for("5f2c81aa");
    terminal.press("/5f2c\r\r");
    drawn += &terminal.wait_for("## What Changed");
    terminal.press("qq");
    drawn += &terminal.end().0;
    // It moves the cursor itself, but never so.
    for begins in ["\u{1b}]0;", "\u{7}", "\u{9b}", "\u{202e}"] {
        assert!(!drawn.contains(begins), "{begins:?} in {drawn:?}");
    }
}
