//! A compaction of the real client: the work is sealed before, and what a summary loses is given back.

use std::fs;
use std::path::PathBuf;

use plimsoll_testbed::{Client, ModelAnswer, Script};
use serde_json::json;

use crate::bed::{Bed, step};

fn checkpoints(bed: &Bed) -> Vec<PathBuf> {
    let folder = bed.sandbox.project().join(".claude/checkpoints");
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files
        .filter(|path| path.extension().is_some_and(|it| it == "md") && !path.is_symlink())
        .filter(|path| path.file_name().unwrap() != "latest.md")
        .collect()
}

fn edit() -> ModelAnswer {
    let input = json!({"file_path": "hold.rs", "content": "fn load_line() {}\n"});
    ModelAnswer::tool("Write", input).prompt_tokens(50_000)
}

#[test]
fn a_compaction_by_the_client_is_preceded_by_a_checkpoint_and_followed_by_a_restore() {
    compacted(&Client::current());
}

#[test]
fn and_with_the_old_client_too() {
    compacted(&Client::old());
}

fn compacted(client: &Client) {
    // The client compacts this model at 167,000 tokens.
    let script = Script::new()
        .main([
            edit(),
            step(170_500),
            step(30_000),
            ModelAnswer::text("all done").prompt_tokens(31_000),
        ])
        .summaries([ModelAnswer::summary("SUMMARY-OF-IT")]);
    let bed = Bed::bare(client, script);
    bed.plimsoll(&["init", "--yes", "--client", client.program().to_str().unwrap()]);
    let prompt = "Write hold.rs. Never touch the ballast.";
    let outcome = bed.sandbox.prompt(prompt).model("claude-sonnet-4-6").run();
    assert_eq!(outcome.text(), "all done");

    let mut sealed = checkpoints(&bed);
    sealed.sort();
    assert_eq!(sealed.len(), 2, "before the compaction, and when the session ended: {sealed:?}");
    assert!(bed.plimsoll(&["checkpoint", "verify", "--all"]).contains("sealed by you"));
    let text = fs::read_to_string(&sealed[0]).unwrap();
    assert!(text.contains("trigger: auto") && text.contains("[hold.rs"), "{text}");
    assert!(text.contains("Never touch the ballast."), "{text}");

    let summary = bed.server.summaries();
    assert_eq!(summary.len(), 1);
    assert!(summary[0].all_text().contains("Keep in the summary, word for word"));
    let turns = bed.server.main_turns();
    let restored = |at: usize| turns[at].all_text().matches("## Resuming from Checkpoint").count();
    assert_eq!((restored(1), restored(2)), (0, 1), "after the compaction, and only then");
    let given = turns[2].all_text();
    assert!(given.contains("Never touch the ballast.") && given.contains("load_line"), "{given}");
}

#[test]
fn a_folder_that_cannot_be_written_does_not_stop_the_compaction() {
    let script = Script::new()
        .main([edit(), step(170_500), ModelAnswer::text("all done").prompt_tokens(31_000)])
        .summaries([ModelAnswer::summary("SUMMARY-OF-IT")]);
    let bed = Bed::bare(&Client::current(), script);
    let program = Client::current().program().to_str().unwrap().to_owned();
    bed.plimsoll(&["init", "--yes", "--client", &program]);
    fs::create_dir_all(bed.sandbox.project().join(".claude")).unwrap();
    fs::write(bed.sandbox.project().join(".claude/checkpoints"), "in the way").unwrap();
    let outcome = bed.sandbox.prompt("Write hold.rs").model("claude-sonnet-4-6").run();
    assert_eq!(outcome.text(), "all done");
    let log = fs::read_to_string(bed.data().join("hook.log")).unwrap();
    assert!(log.contains("could not make a checkpoint"), "{log}");
}
