//! What a compaction of the real client lost, judged by the work after it.

use plimsoll_testbed::{Client, ModelAnswer, Script};
use serde_json::{Value, json};

use crate::bed::{Bed, step};

#[test]
fn a_real_compaction_is_judged_although_we_gave_the_names_back() {
    judged(&Client::current());
}

#[test]
fn and_one_of_the_old_client_too() {
    judged(&Client::old());
}

fn judged(client: &Client) {
    let names = json!({"command": "echo loadLine of PROJ-12", "description": "names"});
    // The client compacts this model at 167,000 tokens.
    let script = Script::new()
        .main([
            ModelAnswer::tool("Bash", names).prompt_tokens(150_000),
            step(160_000),
            step(170_500),
            ModelAnswer::text("loadLine is as PROJ-12 wants it").prompt_tokens(31_000),
        ])
        .summaries([ModelAnswer::summary("It is about loadLine.")]);
    let bed = Bed::bare(client, script);
    bed.plimsoll(&["init", "--yes", "--client", client.program().to_str().unwrap()]);
    bed.sandbox.prompt("go on").model("claude-sonnet-4-6").run();
    let given = bed.server.main_turns()[3].all_text();
    assert!(given.contains("## Resuming from Checkpoint") && given.contains("PROJ-12"), "{given}");

    let score: Value = bed.json("score");
    let facts = score["compactions"][0]["facts"].as_array().unwrap();
    let kept = |fact: &Value| {
        let name = fact["name"].as_str().unwrap().to_owned();
        (name, fact["in_summary"] == true, fact["in_restore"] == true)
    };
    let expected = [("loadLine".to_owned(), true, true), ("PROJ-12".to_owned(), false, true)];
    assert_eq!(facts.iter().map(kept).collect::<Vec<_>>(), expected, "{score:#}");
}
