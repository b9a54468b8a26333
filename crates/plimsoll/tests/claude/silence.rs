//! A session under the lines, which must not notice plimsoll.

use std::fs;

use plimsoll_testbed::{Client, ModelAnswer, Script};

use crate::bed::{Bed, PLIMSOLL, agent, step};

#[test]
fn a_session_under_the_lines_hears_nothing_though_every_hook_fires() {
    under_the_lines(&Client::current());
}

#[test]
fn a_session_of_the_old_client_under_the_lines_hears_nothing_either() {
    under_the_lines(&Client::old());
}

fn under_the_lines(client: &Client) {
    let script = Script::new()
        .main([
            step(30_000),
            agent().prompt_tokens(31_000),
            ModelAnswer::text("all done").prompt_tokens(32_000),
        ])
        .subagent("SUBTASK", [ModelAnswer::text("counted")]);
    let bed = Bed::with(client, script);
    bed.install(
        &bed.sandbox.write_script("witness", &format!("{WITNESS}\nplimsoll={PLIMSOLL}\n{PASS}")),
    );

    let outcome = bed.prompt("go").run();

    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(outcome.text(), "all done");
    assert!(!outcome.stdout.contains("CONTEXT: "), "{}", outcome.stdout);
    assert_eq!(outcome.stderr, "");
    let calls = fs::read_to_string(bed.sandbox.home().join("calls")).unwrap();
    let expected = [
        "SessionStart exit 0, 0 bytes",
        "UserPromptSubmit exit 0, 0 bytes",
        "PostToolUse exit 0, 0 bytes",
        "PreToolUse exit 0, 0 bytes",
        "PostToolUse exit 0, 0 bytes",
        "SessionEnd exit 0, 0 bytes",
    ];
    assert_eq!(calls.lines().collect::<Vec<_>>(), expected);
    assert_eq!(bed.server.main_turns().len(), 3);
    for request in bed.server.requests() {
        let text = request.all_text();
        assert!(!text.contains("CONTEXT: ") && !text.contains("hook additional context"));
    }
    let transcript = outcome.transcript();
    let hooks = transcript.records.iter().map(|line| line["attachment"]["type"].to_string());
    assert_eq!(hooks.filter(|kind| kind.starts_with("\"hook_")).collect::<Vec<_>>(), [""; 0]);
    assert!(!bed.data().join("hook.log").exists());
    assert_eq!(bed.spools(), [""; 0], "a call that decides nothing writes nothing");
}

/// A hook that keeps the name of its event,
const WITNESS: &str = r#"payload=$(cat)
event=$(printf '%s' "$payload" | sed 's/.*"hook_event_name":"\([A-Za-z]*\)".*/\1/')"#;

/// and hands the payload on, and the answer back.
const PASS: &str = r#"answer=$(printf '%s' "$payload" | "$plimsoll" "$@" 2>&1)
exit=$?
echo "$event exit $exit, ${#answer} bytes" >> "$HOME/calls"
printf '%s' "$answer"
exit $exit"#;
