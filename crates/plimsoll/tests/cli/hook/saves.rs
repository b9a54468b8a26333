//! When a hook saves the session.

use serde_json::{Value, json};

use super::checkpoints::{checkpoints, ran_in_shell, worked};
use crate::env::{TestEnv, at_noon};
use crate::ss::journal;

/// A session of a client that does not compact by itself.
fn env() -> TestEnv {
    let env = TestEnv::new();
    env.client_settings(&json!({"autoCompactEnabled": false}));
    env
}

fn saves(env: &TestEnv) -> Vec<Value> {
    journal(env)
}

#[test]
fn a_nearly_full_window_saves_itself_once_per_crossing() {
    let env = env();
    let session = worked(&env, "s", 840_000);
    session.tool_finished();
    assert!(saves(&env).is_empty());
    worked(&env, "s", 856_000);
    let said = session.tool_finished();
    assert_eq!(
        said.to_user().unwrap(),
        "CONTEXT: ~86% used. Session saved. Run 'plimsoll rs development' in a new session to continue."
    );
    assert!(said.stdout.contains("CONTEXT: ~86% used. Session saved. About 14"), "{said}");
    for _ in 0..3 {
        assert!(session.tool_finished().is_silent());
    }
    let [save] = &saves(&env)[..] else { panic!("{:?}", saves(&env)) };
    assert_eq!(save["kind"], "auto");
    assert_eq!((&save["session"], &save["environment"]), (&json!("s"), &json!("development")));
    let tags = save["tags"].as_array().unwrap();
    assert_eq!(tags[0], "auto-save");
    assert!(tags[1].as_str().unwrap().starts_with("tokens-856"), "{save}");
    assert!(save["context"].as_str().unwrap().contains("[b.txt"), "it was extracted: {save}");
    let id = save["checkpoint"].as_str().unwrap();
    assert!(checkpoints(&env).iter().any(|text| text.contains(id)), "{save}");
    worked(&env, "s", 100_000);
    session.tool_finished();
    worked(&env, "s", 900_000);
    session.tool_finished();
    assert_eq!(saves(&env).len(), 2, "after the window was emptied it is another crossing");
}

#[test]
fn advice_never_becomes_milder_in_the_same_window() {
    let env = env();
    let session = worked(&env, "s", 610_000);
    session.tool_finished();
    let said = |used: u64| {
        worked(&env, "s", used);
        at_noon(&session.tool_finished().to_user().unwrap())
    };
    assert_eq!(
        said(812_000),
        "CONTEXT: ~81% used. Checkpoint saved 12:00. Consider /compact before context exhaustion."
    );
    let new_session = |percent| {
        format!(
            "CONTEXT: ~{percent}% used. Session saved. Run 'plimsoll rs development' in a new session to continue."
        )
    };
    assert_eq!(said(881_000), new_session(88));
    assert_eq!(said(931_000), new_session(93));
    assert_eq!(saves(&env).len(), 1);
}

#[test]
fn what_was_saved_by_itself_is_what_the_next_session_goes_on_with() {
    let env = env().with("CONTEXTS_ENV", "release");
    env.write("home/.claude/commands/rs.md", "");
    let session = worked(&env, "s", 860_000);
    let said = session.tool_finished().to_user().unwrap();
    assert!(said.ends_with("Run '/rs release' in a new session to continue."), "{said}");
    let env = env.with("CLAUDE_CODE_SESSION_ID", "next");
    let ran = env.plimsoll("rs release");
    assert!(ran.stdout.contains("auto-save, tokens-860"), "{ran}");
    assert!(ran.stdout.contains("of another session, s") && ran.stdout.contains("b.txt"), "{ran}");
    let later = env.plimsoll("rs release --limit 5 --json");
    assert_eq!(later.stdout.matches("\"kind\": \"auto\"").count(), 1, "{later}");
}

#[test]
fn a_client_that_compacts_by_itself_is_saved_without_a_word() {
    let env = TestEnv::new();
    let session = worked(&env, "s", 900_000);
    let said = session.tool_finished();
    assert!(!said.stdout.contains("Session saved"), "{said}");
    assert_eq!(saves(&env).len(), 1);
}

#[test]
fn silence_keeps_words_away_and_only_the_switch_keeps_saves_away() {
    for (config, expected) in [("quiet: true\n", 1), ("auto_context: {enabled: false}\n", 0)] {
        let env = env();
        env.user_config(config);
        let session = worked(&env, "s", 900_000);
        assert!(session.tool_finished().is_silent(), "{config}");
        assert_eq!(saves(&env).len(), expected, "{config}");
    }
}

#[test]
fn a_save_that_cannot_be_written_is_not_told_and_is_tried_again() {
    let env = env();
    let blocked = env.write("home/.local/share/plimsoll/saves.jsonl/x", "");
    let session = worked(&env, "s", 900_000);
    let said = session.tool_finished();
    assert!(said.speaks() && !said.stdout.contains("Session saved"), "{said}");
    assert_eq!(env.log().len(), 1, "{:?}", env.log());
    std::fs::remove_dir_all(blocked.parent().unwrap()).unwrap();
    session.tool_finished();
    assert_eq!(saves(&env).len(), 1);
}

#[test]
fn a_subagents_full_window_is_no_reason_to_save_the_session() {
    let env = env();
    let subagent = env.session("s").subagent("a1");
    subagent.fill(190_000).tool_finished();
    assert!(saves(&env).is_empty());
}

#[test]
fn a_commit_in_the_tool_stream_and_in_gits_hook_is_one_save() {
    const SHA: &str = "0123abc4567890123456789012345678901234ff";
    let env = TestEnv::new();
    let git = json!({"id": "1", "created": 1, "environment": "development", "kind": "commit",
        "task": "Commit: first", "commit": SHA});
    env.write("home/.local/share/plimsoll/saves.jsonl", format!("{git}\n"));
    let session = worked(&env, "s", 20_000);
    let shown = "[main 0123abc] first\n 2 files changed, 3 insertions(+)";
    assert!(ran_in_shell(&session, &env, "git commit -m first", shown).is_silent());
    let told = saves(&env).pop().unwrap();
    assert_eq!(told["context"], "Branch: main, SHA: 0123abc, Files: 2");
    let found = env.plimsoll("rs --limit 9 --json");
    let found: Vec<Value> = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["id"], &found[0]["commit"]), (&json!("1"), &json!(SHA)));
    assert_eq!(found[0]["session_id"], "s");
    assert!(found[0]["checkpoint"].is_string(), "{found:?}");
}
