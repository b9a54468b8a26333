//! The warning over the warn line, on its way to the model and to the user.

use std::fs;
use std::time::Duration;

use plimsoll_testbed::{AnswerUsage, Client, ClientTranscript, ModelAnswer, Script};
use serde_json::{Value, json};

use crate::bed::{Bed, PROSE, attachments, bash, shown, step};

#[test]
fn a_tool_call_over_the_warn_line_brings_a_warning_into_the_next_request() {
    warned_after_a_tool(&Client::current());
}

#[test]
fn a_tool_call_over_the_warn_line_brings_a_warning_with_the_old_client_too() {
    warned_after_a_tool(&Client::old());
}

fn warned_after_a_tool(client: &Client) {
    let usage = AnswerUsage { input: 7, cache_read: 150_000, cache_creation: 15_500, output: 500 };
    let script = Script::new().main([
        step(120_000),
        step(0).usage(usage),
        ModelAnswer::text("all done").prompt_tokens(167_000),
    ]);
    let bed = Bed::with(client, script);

    let outcome = bed.prompt("go").run();

    assert_eq!(outcome.text(), "all done");
    // 166,007 and some of 200,000.
    assert_eq!(bed.heard(), [vec![], vec![], vec!["CONTEXT: ~83% used."]]);
    let transcript = outcome.transcript();
    let expected = "CONTEXT: ~83% used. Checkpoint saved TIME; no action needed.";
    assert_eq!(shown(&transcript), [expected], "it was, at 120,000");
    let shown = attachments(&transcript, "hook_system_message").next().unwrap();
    assert_eq!(shown["hookEvent"], "PostToolUse");
}

#[test]
fn a_prompt_over_the_warn_line_is_sent_with_a_warning() {
    let script = Script::new().main([
        ModelAnswer::text("so far").prompt_tokens(166_000),
        ModelAnswer::text("all done").prompt_tokens(167_000),
    ]);
    let bed = Bed::new(script);

    let first = bed.prompt("begin").run();
    assert_eq!(shown(&first.transcript()), [""; 0]);
    let outcome = bed.prompt("go on").continue_last_session().run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.heard(), [vec![], vec!["CONTEXT: ~83% used."]]);
    let transcript = outcome.transcript();
    let expected = "CONTEXT: ~83% used. Consider /compact before context exhaustion.";
    assert_eq!(shown(&transcript), [expected]);
    let shown = attachments(&transcript, "hook_system_message").next().unwrap();
    assert_eq!(shown["hookEvent"], "UserPromptSubmit");
}

#[test]
fn each_bucket_of_five_points_is_warned_about_once() {
    let script = Script::new().main([
        step(158_000),
        step(162_000),
        step(164_000),
        step(168_000),
        step(172_000),
        step(174_000),
        ModelAnswer::text("so far").prompt_tokens(176_000),
        step(178_000),
        step(182_000),
        ModelAnswer::text("all done").prompt_tokens(184_000),
    ]);
    let bed = Bed::new(script);

    assert_eq!(bed.prompt("begin").run().text(), "so far");
    let outcome = bed.prompt("go on").continue_last_session().run();

    assert_eq!(outcome.text(), "all done");
    let heard: Vec<usize> = bed.heard().iter().map(Vec::len).collect();
    assert_eq!(heard, [0, 0, 1, 1, 1, 2, 2, 2, 2, 3], "warnings in each request so far");
    let expected = [
        "CONTEXT: ~81% used.",
        "CONTEXT: ~86% used. Session saved.",
        "CONTEXT: ~91% used. Session saved.",
    ];
    assert_eq!(bed.heard_at_last(), expected);
    let shown = shown(&outcome.transcript());
    assert_eq!(shown.len(), 3);
    let new_session = "Session saved. Run 'plimsoll rs development' in a new session to continue.";
    assert!(shown[1..].iter().all(|said| said.ends_with(new_session)), "{shown:?}");
}

/// The README's own trial, typed by a user: what is read there is what is seen.
#[test]
fn the_trial_in_the_readme_shows_what_the_readme_says() {
    const TRIAL: &str = "`PLIMSOLL_CONTEXT_WINDOW=60000 claude`";
    let readme = include_str!("../../../../README.md");
    assert!(readme.contains(TRIAL));
    // A first prompt, two calls to the checkpoint line at 36,000, then one call after the other.
    let uses = [28_000, 37_000, 47_500, 48_020, 49_500, 51_020, 52_500, 54_020, 55_000];
    let end = ModelAnswer::text("all done").prompt_tokens(55_200);
    let script = Script::new().main(uses.map(step).into_iter().chain([end]));
    let client = Client::current();
    let bed = Bed::bare(&client, script);
    bed.plimsoll(&["init", "--yes", "--client", client.program().to_str().unwrap()]);

    let terminal = bed.sandbox.terminal(120, 60).env("PLIMSOLL_CONTEXT_WINDOW", "60000");
    let terminal = terminal.arg("--dangerously-skip-permissions").start();
    terminal.type_line("go");
    let screen = terminal.wait_for(
        |screen| screen.contains("all done") && screen.contains("92% · 55k/60k"),
        Duration::from_secs(180),
    );
    terminal.exit();

    let line = screen.lines().find(|line| line.contains("92% · 55k/60k")).unwrap();
    assert!(line.contains("k left · saved "), "{line}");
    assert!(!screen.contains("any moment") && !screen.contains("to compaction"), "{screen}");
    let session = bed.json("status")[0]["session"].as_str().unwrap().to_owned();
    let transcript = ClientTranscript::find(&bed.sandbox.home(), &session);
    let warning =
        |percent| format!("CONTEXT: ~{percent}% used. Checkpoint saved TIME; no action needed.");
    assert_eq!(shown(&transcript), [80, 85, 90].map(warning));
    assert!(readme.contains(&warning(80).replace("TIME", "14:02")));
    assert_eq!(transcript.boundaries().len(), 0, "no compaction comes");
    assert!(bed.heard_at_last().iter().all(|heard| !heard.contains("compacted")));
}

#[test]
fn where_the_client_compacts_the_warning_comes_in_time_and_says_what_is_left() {
    // The client compacts this model at 167,000, so the line lies 15,000 before that.
    let script = Script::new().main([
        step(150_000),
        step(154_000),
        ModelAnswer::text("all done").prompt_tokens(155_000),
    ]);
    let bed = Bed::new(script);

    let outcome = bed.sandbox.prompt("go").model("claude-sonnet-4-6").run();

    assert_eq!(outcome.text(), "all done");
    let heard = bed.heard();
    assert_eq!((heard[0].len(), heard[1].len(), heard[2].len()), (0, 0, 1));
    let (fact, left) = heard[2][0].split_once(" About ").unwrap();
    assert_eq!(fact, "CONTEXT: ~77% used.");
    let (left, rest) = left.split_once(' ').unwrap();
    assert_eq!(rest, "tokens are left before the conversation is compacted.");
    let left: u64 = left.parse().unwrap();
    assert!((12_800..=12_980).contains(&left), "{left} of 167,000 - 154,020");
}

#[test]
fn after_a_tool_quicker_than_the_transcript_the_warning_comes_with_the_next_one_at_latest() {
    let script = Script::new().main([
        bash("true").prompt_tokens(166_000),
        step(166_200),
        ModelAnswer::text("all done").prompt_tokens(166_400),
    ]);
    let bed = Bed::new(script);

    let outcome = bed.prompt("go").run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.heard_at_last(), ["CONTEXT: ~83% used."]);
}

#[test]
fn what_was_added_since_the_response_counts() {
    // 158,220 counted, and a result of 25,000 letters, which are 5,800 tokens or so.
    let until_it_is_on_disk = "for i in $(seq 1500); do \
        grep -rqs '\"tool_use_id\"' $HOME/.claude/projects && break; sleep 0.02; done";
    let both = bash("head -c 25000 notes")
        .then_tool("Bash", json!({ "command": until_it_is_on_disk, "description": "wait" }));
    let script = Script::new()
        .main([both.prompt_tokens(158_200), ModelAnswer::text("all done").prompt_tokens(164_200)]);
    let bed = Bed::new(script);
    fs::write(bed.sandbox.project().join("notes"), PROSE.repeat(100)).unwrap();

    let outcome = bed.prompt("go").run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.heard_at_last(), ["CONTEXT: ~82% used."]);
}

#[test]
fn in_a_stream_the_user_reads_the_warning_where_it_falls() {
    let script =
        Script::new().main([step(166_000), ModelAnswer::text("all done").prompt_tokens(166_200)]);
    let bed = Bed::new(script);

    let streaming = ["--verbose", "--output-format", "stream-json"];
    let prompt = streaming.into_iter().fold(bed.prompt("go"), |prompt, arg| prompt.arg(arg));
    let outcome = prompt.run();

    assert!(outcome.status.success(), "{outcome:?}");
    let events = outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let notices: Vec<Value> = events.filter(|event| event["subtype"] == "informational").collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(
        notices[0]["content"],
        "PostToolUse:Bash says: CONTEXT: ~83% used. Consider /compact before context exhaustion."
    );
}

#[test]
fn parallel_calls_over_the_warn_line_bring_one_warning() {
    let both = step(166_000)
        .then_tool("Bash", json!({ "command": "sleep 0.3; echo second" }))
        .then_tool("Bash", json!({ "command": "sleep 0.3; echo third" }));
    let script = Script::new().main([both, ModelAnswer::text("all done").prompt_tokens(166_400)]);
    let bed = Bed::new(script);

    let outcome = bed.prompt("go").run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.heard_at_last(), ["CONTEXT: ~83% used."]);
    assert_eq!(shown(&outcome.transcript()).len(), 1);
}
