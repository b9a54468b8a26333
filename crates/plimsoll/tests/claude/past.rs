//! What plimsoll says afterwards about sessions of the real client.

use std::path::Path;

use plimsoll_testbed::{Client, ModelAnswer, Script};
use serde_json::{Value, json};

use crate::bed::{Bed, PLIMSOLL, bash, hooks, step};

/// A session with a tool call, in which other hooks run beside ours.
fn session_beside(client: &Client, others: &[(&str, &str)]) -> Bed {
    let bed = Bed::with(client, Script::new().main([bash("true"), ModelAnswer::text("all done")]));
    let sh = Path::new("/bin/sh");
    let hooks = others.iter().fold(hooks(Path::new(PLIMSOLL)), |hooks, (event, script)| {
        hooks.on(event, sh, &["-c", script])
    });
    bed.sandbox.write_user_settings(&hooks.settings());
    assert_eq!(bed.prompt("go").run().text(), "all done");
    bed
}

/// The hook that runs `program`; what it is given is not kept.
fn hook<'a>(tax: &'a Value, program: &str) -> Option<&'a Value> {
    let is_it = |hook: &&Value| hook["command"].as_str().unwrap().contains(program);
    tax["hooks"].as_array().unwrap().iter().find(is_it)
}

#[test]
fn a_slow_hook_beside_ours_is_named_with_what_it_takes() {
    for client in [Client::current(), Client::old()] {
        let slow = "sleep 0.2; echo slow";
        let bed = session_beside(&client, &[("PostToolUse", slow), ("PreToolUse", slow)]);
        let tax = bed.json("tax");
        let slow = hook(&tax, "sleep").unwrap_or_else(|| panic!("{tax:#}"));
        assert_eq!(slow["calls"], 2, "{tax:#}");
        assert_eq!(slow["events"], json!(["PostToolUse", "PreToolUse"]));
        assert!(slow["times"]["p50_ms"].as_f64().unwrap() >= 200.0, "{tax:#}");
        assert!(slow["share"].as_f64().unwrap() > 0.0, "{tax:#}");
    }
}

#[test]
fn a_silent_hook_leaves_a_record_at_stop_alone() {
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    let bed = session_beside(&Client::current(), &events.map(|event| (event, "exit 0")));
    let tax = bed.json("tax");
    let silent = hook(&tax, "exit").unwrap_or_else(|| panic!("{tax:#}"));
    assert_eq!((&silent["calls"], &silent["events"]), (&json!(1), &json!(["Stop"])), "{tax:#}");
}

#[test]
fn hooks_that_fail_are_counted_as_such() {
    let bed = session_beside(&Client::current(), &[("PostToolUse", "exit 3"), ("Stop", "exit 3")]);
    let tax = bed.json("tax");
    let failing = hook(&tax, "exit").unwrap_or_else(|| panic!("{tax:#}"));
    assert_eq!((&failing["calls"], &failing["failed"]), (&json!(2), &json!(2)), "{tax:#}");
}

#[test]
fn a_percentage_that_the_client_goes_by_is_honoured() {
    // Half of the 180,000 tokens that are left beside the answer.
    let script = Script::new()
        .main([step(60_000), step(95_000), step(30_000), ModelAnswer::text("all done")])
        .summaries([ModelAnswer::summary("SUMMARY-OF-IT")]);
    let bed = Bed::new(script);
    let mut settings = hooks(Path::new(PLIMSOLL)).settings();
    settings["env"] = json!({ "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50" });
    bed.sandbox.write_user_settings(&settings);

    let outcome = bed.sandbox.prompt("go").model("claude-sonnet-4-6").run();

    assert_eq!(outcome.transcript().boundaries().len(), 1);
    let audit = bed.json("audit");
    let [finding] = &audit.as_array().unwrap()[..] else { panic!("{audit:#}") };
    assert_eq!(finding["model"], "claude-sonnet-4-6");
    assert_eq!(finding["configured"]["tokens"], 90_000);
    assert_eq!(finding["configured"]["setting"], "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=50");
    assert_eq!(finding["verdict"], "honoured", "{audit:#}");
}
