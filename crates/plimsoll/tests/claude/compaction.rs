//! A compaction, after which all that was said about the window is void.

use plimsoll_testbed::{Client, ModelAnswer, Script};

use crate::bed::{Bed, PLAIN, shown, step};

#[test]
fn after_a_compaction_the_same_lines_are_warned_about_again() {
    warned_again(&Client::current());
}

#[test]
fn after_a_compaction_of_the_old_client_the_same_lines_are_warned_about_again() {
    warned_again(&Client::old());
}

fn warned_again(client: &Client) {
    // The client compacts this model at 167,000 tokens.
    let script = Script::new()
        .main([
            step(162_000),
            step(170_500),
            step(30_000),
            step(162_000),
            ModelAnswer::text("all done").prompt_tokens(162_200),
        ])
        .summaries([ModelAnswer::summary("SUMMARY-OF-IT")]);
    let bed = Bed::with(client, script);

    let outcome = bed.sandbox.prompt("go").model("claude-sonnet-4-6").run();

    assert_eq!(outcome.text(), "all done");
    let transcript = outcome.transcript();
    assert_eq!(transcript.boundaries().len(), 1);
    let first = "CONTEXT: ~81% used. Consider /compact before context exhaustion.";
    let no_milder =
        "CONTEXT: ~85% used. Checkpoint saved TIME. Consider /compact before context exhaustion.";
    let afresh = "CONTEXT: ~81% used. Checkpoint saved TIME; no action needed.";
    assert_eq!(shown(&transcript), [first, no_milder, afresh]);
    let turns = bed.server.main_turns();
    assert!(turns[2].all_text().contains("SUMMARY-OF-IT"));
    let heard = bed.heard();
    assert!(heard[1][0].starts_with("CONTEXT: ~81% used. About "), "{heard:?}");
    assert_eq!(heard[3], heard[2], "nothing new at 30,000");
    assert_eq!(heard[4].len(), heard[3].len() + 1, "{heard:?}");
    let last = heard[4].last().unwrap();
    assert!(last.starts_with("CONTEXT: ~81% used. About "), "{last}");
}

#[test]
fn the_warn_line_follows_a_compaction_window_that_the_user_sets() {
    // 100,000 makes the client compact at 67,000, so the line lies at 52,000.
    let script = Script::new()
        .main([
            step(48_000),
            step(54_000),
            step(70_000),
            step(20_000),
            ModelAnswer::text("all done").prompt_tokens(21_000),
        ])
        .summaries([ModelAnswer::summary("SUMMARY-OF-IT")]);
    let bed = Bed::new(script);

    let outcome = bed.prompt("go").env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000").run();

    assert_eq!(outcome.text(), "all done");
    let transcript = outcome.transcript();
    let boundaries = transcript.boundaries();
    assert_eq!(boundaries.len(), 1);
    assert_eq!(boundaries[0]["compactMetadata"]["trigger"], "auto");
    let heard = bed.heard();
    assert_eq!((heard[0].len(), heard[1].len(), heard[2].len()), (0, 0, 1), "{heard:?}");
    let fact = "tokens until the conversation is compacted (27% of the window used).";
    assert!(heard[2][0].starts_with("CONTEXT: about 1"), "12,900 or so: {heard:?}");
    assert!(heard[2][0].contains(fact), "{heard:?}");
    assert!(shown(&transcript)[0].contains(fact), "{:?}", shown(&transcript));
    assert_eq!(heard[4], heard[3], "nothing new at 20,000");
}

#[test]
fn right_after_a_compaction_the_reading_is_an_estimate() {
    let script = Script::new()
        .main([ModelAnswer::text("so far").prompt_tokens(30_000), ModelAnswer::text("further")])
        .summaries([ModelAnswer::summary("SUMMARY-OF-IT")]);
    let bed = Bed::new(script);
    bed.prompt("begin").run();
    bed.prompt("go on").continue_last_session().run();

    let outcome = bed.prompt("/compact").continue_last_session().run();

    assert_eq!(bed.server.summaries().len(), 1);
    let json = bed.measure_json(&outcome.transcript().path);
    assert_eq!(json["source"], "estimated");
    assert_eq!(json["model"], PLAIN);
    let used = json["used"].as_u64().unwrap();
    assert!((20_000..45_000).contains(&used), "{used}");
}
