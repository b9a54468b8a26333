//! `plimsoll score`

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};
use crate::transcript::captured;

/// A session of the real client with one automatic compaction, in which the agent speaks of a few
/// things before it and after it.
fn compacted() -> String {
    captured("compact-auto-headless.jsonl")
        .replace("Step 1.", "First readHull in src/hull.rs, waterLine in src/mast.rs, for PROJ-12.")
        .replace(r#""seq 1 2000","description":"one""#, r#""mise run lint","description":"one""#)
        .replace("Step 3.", "Step 3 is about keptByClient.")
        .replace("FAKE-SUMMARY-MARKER", "readHull of hull.rs")
        .replace("echo after", "mise run lint")
        .replace("Finished after compaction.", "readHull in src/hull.rs, keptByClient, PROJ-12.")
}

fn json(ran: &Ran) -> Value {
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn what_the_work_needed_is_told_with_who_kept_it() {
    let env = TestEnv::new();
    env.session("c593fbf0").write(compacted());
    insta::assert_snapshot!(env.plimsoll("score"), @"
    --- stdout
    Your client's summaries kept 50 % of what the work needed; with plimsoll 100 %.
    1 compaction · 1 session · 4 needed names

                          needed  summary  restore  together
    files                      1    100 %    100 %     100 %  ██████████████████████
    symbols                    1    100 %    100 %     100 %  ██████████████████████
    commands                   1      0 %    100 %     100 %  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
    references                 1      0 %    100 %     100 %  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
    all                        4     50 %    100 %     100 %  ███████████▒▒▒▒▒▒▒▒▒▒▒

    compaction            needed  summary  restore  together
    c593fbf0  2026-11-15       4     50 %    100 %     100 %  ███████████▒▒▒▒▒▒▒▒▒▒▒

    █ the summary kept   ▒ the restore adds   ░ neither
    [exit 0]
    ");
}

#[test]
fn json_names_every_fact() {
    let env = TestEnv::new();
    let session = env.session("c593fbf0");
    session.write(compacted());
    let score = json(&env.plimsoll("score --json"));
    let total = json!({"needed": 4, "summary": 2, "restore": 4, "together": 4, "neither": 0});
    assert_eq!(score["total"], total);
    assert_eq!(score["commands"]["summary"], 0);
    let compaction = &score["compactions"][0];
    assert_eq!(compaction["session"], "c593fbf0");
    assert_eq!(compaction["has_summary"], true);
    let facts: Vec<_> = compaction["facts"].as_array().unwrap().iter().collect();
    let names: Vec<_> = facts.iter().map(|fact| (&fact["kind"], &fact["name"])).collect();
    assert_eq!(
        names,
        [
            (&json!("command"), &json!("mise run lint")),
            (&json!("symbol"), &json!("readHull")),
            (&json!("file"), &json!("src/hull.rs")),
            (&json!("reference"), &json!("PROJ-12")),
        ]
    );
    assert_eq!((&facts[0]["in_summary"], &facts[0]["in_restore"]), (&json!(false), &json!(true)));
    let file = env.plimsoll(&format!("score --json {}", session.transcript.display()));
    let folder = env.plimsoll(&format!("score --json {}", env.home().display()));
    assert_eq!((json(&file), json(&folder)), (score.clone(), score));
}

#[test]
fn names_that_neither_kept_are_shown_without_what_moves_the_cursor() {
    let env = TestEnv::new();
    let name = |at: usize| format!(r" ship\u001b[2J{at}/hull{at}.rs");
    let many: String = (0..1500).map(name).collect();
    let text = compacted().replace("Step 2.", &many).replace("keptByClient,", &name(1400));
    env.session("c593fbf0").write(text);
    let ran = env.plimsoll("score");
    assert!(ran.stdout.contains("\n  1 lost: ship[2J1400/hull1400.rs"), "{ran}");
    assert!(!ran.stdout.contains('\x1b'), "{ran}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{ran}");
}

#[test]
fn a_compaction_without_its_summary_is_not_held_against_the_client() {
    let env = TestEnv::new();
    let text = compacted();
    let lines = text.lines().filter(|line| !line.contains("isCompactSummary"));
    env.session("c593fbf0").write(lines.collect::<Vec<_>>().join("\n"));
    let ran = env.plimsoll("score");
    assert!(ran.stdout.contains("1 without a summary, not counted\n"), "{ran}");
    assert!(ran.stdout.contains("c593fbf0  2026-11-15       4        –    100 %"), "{ran}");
}

#[test]
fn without_compactions_there_is_a_sentence() {
    let env = TestEnv::new();
    env.session("11111111").fill(100_000);
    insta::assert_snapshot!(env.plimsoll("score"), @"
    --- stdout
    No conversation was compacted: nothing was lost that could be counted.
    [exit 0]
    ");
    assert_eq!(json(&env.plimsoll("score --json"))["compactions"], json!([]));
    env.session("22222222").write(captured("compact-manual-interactive.jsonl"));
    let ran = env.plimsoll("score");
    assert!(ran.stdout.starts_with("Nothing from before a compaction was needed"), "{ran}");
}

#[test]
fn a_transcript_that_is_not_there_is_an_error() {
    insta::assert_snapshot!(TestEnv::new().plimsoll("score nothing.jsonl"), @"
    --- stderr
    error: could not read `nothing.jsonl`
      caused by: No such file or directory (os error 2)
    hint: give a transcript or a folder; `plimsoll status --all --json` names them
    [exit 1]
    ");
}

#[test]
fn init_tells_it_of_past_sessions() {
    let env = TestEnv::new();
    env.session("c593fbf0").write(compacted());
    let ran = env.plimsoll("init --yes");
    let told = "  Summaries kept 50 % of what the work needed later; with plimsoll 100 %.\n  \
                What was lost: `plimsoll score`.\n";
    assert!(ran.stdout.ends_with(told), "{ran}");
}
