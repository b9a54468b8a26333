//! The warning: when it comes, and what it says.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use plimsoll_testbed::generator::{self, Ending, GeneratorOptions, Layout};
use serde_json::json;

use crate::env::TestEnv;
use crate::transcript::{self, COMPACTING};

#[test]
fn a_prompt_over_the_line_is_answered_with_a_warning_to_user_and_model() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.session("s").fill(170_000).prompted(), @r#"
    --- stdout
    {"systemMessage":"CONTEXT: ~85% used. Consider /compact before context exhaustion.","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"CONTEXT: ~85% used. About 30000 tokens are left."}}
    [exit 0]
    "#);
}

#[test]
fn a_tool_over_the_line_is_answered_with_a_warning_that_names_what_is_left() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.session("s").fill_with(COMPACTING, 160_000).tool_finished(), @r#"
    --- stdout
    {"systemMessage":"CONTEXT: ~80% used. Consider /compact before context exhaustion.","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"CONTEXT: ~80% used. About 7000 tokens are left before the conversation is compacted."}}
    [exit 0]
    "#);
}

#[test]
fn a_subagents_window_is_warned_of_by_its_kind() {
    let env = TestEnv::new();
    let subagent = env.session("s").subagent("a1");
    insta::assert_snapshot!(subagent.fill(170_000).tool_finished(), @r#"
    --- stdout
    {"systemMessage":"CONTEXT: ~85% used in subagent Explore.","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"CONTEXT: ~85% used. About 30000 tokens are left."}}
    [exit 0]
    "#);
}

#[test]
fn the_warning_comes_at_eighty_percent_and_not_a_token_before() {
    let env = TestEnv::new();
    for (used, warns) in
        [(100_000, false), (159_800, false), (159_999, false), (160_000, true), (160_001, true)]
    {
        let session = env.session(&format!("at-{used}"));
        let ran = session.fill(used).prompted();
        assert_eq!(ran.speaks(), warns, "{used}: {ran}");
        assert_eq!(ran.is_silent(), !warns, "{used}: {ran}");
        if warns {
            assert!(ran.stdout.contains("CONTEXT: ~80% used."), "{ran}");
        }
    }
}

#[test]
fn a_client_that_cannot_compact_is_not_told_to() {
    let env = TestEnv::new().with("DISABLE_COMPACT", "1");
    let said = env.session("s").fill(170_000).prompted().to_user().unwrap();
    assert_eq!(said, "CONTEXT: ~85% used. Consider /clear before context exhaustion.");
}

#[test]
fn where_the_client_compacts_early_the_warning_comes_before_that() {
    let env = TestEnv::new();
    for (used, warns) in [(151_999, false), (152_000, true)] {
        let session = env.session(&format!("at-{used}"));
        let ran = session.fill_with(COMPACTING, used).prompted();
        assert_eq!(ran.speaks(), warns, "{used}: {ran}");
        assert_eq!(ran.is_silent(), !warns, "{used}: {ran}");
    }
}

#[test]
fn where_the_client_is_set_to_compact_early_the_tokens_until_then_come_first() {
    let env = TestEnv::new().with("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200000");
    let session = env.session("s");
    insta::assert_snapshot!(session.fill_with("claude-opus-5-5", 152_000).prompted(), @r#"
    --- stdout
    {"systemMessage":"CONTEXT: about 15,000 tokens until the conversation is compacted (15% of the window used). Consider /compact before then.","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"CONTEXT: about 15,000 tokens until the conversation is compacted (15% of the window used)."}}
    [exit 0]
    "#);
    let env = TestEnv::new();
    env.client_settings(&json!({"autoCompactWindow": 200_000}));
    let said = env.session("s").fill_with("claude-opus-5-5", 160_000).prompted().to_user().unwrap();
    let fact =
        "CONTEXT: about 7,000 tokens until the conversation is compacted (16% of the window used).";
    assert!(said.starts_with(fact), "{said}");
    let env = TestEnv::new().with("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50");
    let said = env.session("s").fill_with(COMPACTING, 80_000).prompted().to_user().unwrap();
    let fact = "CONTEXT: about 10,000 tokens until the conversation is compacted (40% of the window used).";
    assert!(said.starts_with(fact), "{said}");
}

#[test]
fn a_pretended_window_is_warned_of_from_eighty_percent_and_no_compaction_is_announced() {
    for model in [COMPACTING, "claude-opus-5-5"] {
        let env = TestEnv::new().with("PLIMSOLL_CONTEXT_WINDOW", "60000").with("NO_COLOR", "1");
        let session = env.session("s");
        let mut said = Vec::new();
        for used in (24_000..=57_000).step_by(500) {
            let ran = session.fill_with(model, used).prompted();
            assert!(!ran.stdout.contains("compacted"), "{used}: {ran}");
            said.extend(ran.to_user().map(|said| (used, said)));
        }
        let warning = |percent| {
            format!("CONTEXT: ~{percent}% used. Consider /compact before context exhaustion.")
        };
        let expected = [(48_000, 80), (51_000, 85), (54_000, 90), (57_000, 95)];
        assert_eq!(said, expected.map(|(used, percent)| (used, warning(percent))), "{model}");
        let shown = env.plimsoll("status --all").stdout;
        assert!(shown.contains(", beyond this window · 3,000 left"), "{shown}");
    }
}

#[test]
fn the_warning_names_a_command_that_is_there() {
    let env = TestEnv::new();
    env.write("home/.claude/commands/checkpoint.md", "Save.");
    let ran = env.session("installed").fill(170_000).prompted();
    assert!(ran.stdout.contains("Consider /checkpoint before context exhaustion."), "{ran}");
    env.user_config("warn_command: /new-checkpoint\n");
    let ran = env.session("configured").fill(170_000).prompted();
    assert!(ran.stdout.contains("Consider /new-checkpoint before context exhaustion."), "{ran}");
}

#[test]
fn a_warning_comes_once_in_five_points() {
    let env = TestEnv::new();
    let session = env.session("s");
    for (used, warns) in [
        (160_000, true),
        (160_000, false),
        (169_999, false),
        (170_000, true),
        (171_000, false),
        (160_500, false),
        (170_500, false),
        (195_000, true),
    ] {
        let ran = session.fill(used).tool_finished();
        assert_eq!(ran.speaks(), warns, "{used}: {ran}");
        assert_eq!(ran.is_silent(), !warns, "{used}: {ran}");
    }
}

#[test]
fn after_a_compaction_the_warning_comes_again() {
    let env = TestEnv::new();
    let session = env.session("s");
    assert!(session.fill(170_000).prompted().speaks());
    assert!(session.prompted().is_silent());
    let mut compacted = session.payload("SessionStart");
    compacted["source"] = json!("compact");
    let ran = env.hook(compacted.to_string());
    assert!(ran.stdout.contains("## Resuming from Checkpoint") && ran.to_user().is_none(), "{ran}");
    assert!(session.prompted().speaks());
}

#[test]
fn a_transcript_replaced_by_a_shorter_one_is_read_anew() {
    let env = TestEnv::new();
    let session = env.session("s");
    assert!(session.fill(190_000).prompted().speaks());
    assert!(session.fill(30_000).prompted().is_silent());
    assert!(session.fill(159_999).prompted().is_silent());
    let ran = session.fill(160_000).prompted();
    assert!(ran.speaks() && ran.stdout.contains("~80%"), "{ran}");
}

#[test]
fn without_a_transcript_there_is_silence() {
    let env = TestEnv::new();
    assert!(env.session("s").prompted().is_silent());
    assert!(env.log().is_empty());
    assert!(!env.data().exists());
}

#[test]
fn an_empty_transcript_is_silence() {
    let env = TestEnv::new();
    assert!(env.session("s").write("").prompted().is_silent());
    assert!(env.log().is_empty());
}

#[test]
fn a_transcript_without_a_count_is_read_by_its_size() {
    let env = TestEnv::new();
    let warning = |bytes: usize| {
        let session = env.session(&format!("of-{bytes}"));
        let ran = session.write(transcript::unanswered(bytes, &env.project())).prompted();
        assert_eq!(fs::metadata(&session.transcript).unwrap().len(), bytes as u64);
        assert!(ran.is_silent() || ran.speaks(), "{ran}");
        ran.to_user()
    };
    let says = |percent: u8| {
        Some(format!("CONTEXT: ~{percent}% used. Consider /compact before context exhaustion."))
    };
    assert_eq!(warning(400_000), None);
    assert_eq!(warning(716_800), says(90));
    assert_eq!(warning(5_000_000), says(100));
    assert_eq!(warning(33 << 20), says(100), "more than is ever looked through");
}

#[test]
fn a_count_too_far_back_to_be_seen_is_unknown_to_the_hook_and_found_by_people() {
    let env = TestEnv::new();
    let project = env.project();
    let counted = transcript::reading("claude-opus-4-5", 20_000, &project, false);
    let content = r#"[{"type":"tool_result","tool_use_id":"t","content":"short"}]"#;
    let more = format!(r#","toolUseResult":{{"stdout":"{}"}}"#, "x".repeat(34 << 20));
    let session = env.session("s");
    session.write(counted + &transcript::user(3, 2, &project, false, content, &more));
    let ran = session.prompted();
    assert!(ran.is_silent() && env.log().is_empty(), "{ran}");
    let path = session.transcript.display().to_string();
    let ran = env.run(env.command(&["measure", "--tokens", "--transcript", &path]), b"");
    let tokens: u64 = ran.stdout.trim_end().parse().unwrap();
    assert!((20_000..20_050).contains(&tokens), "{ran}");
}

#[test]
fn saving_is_suggested_where_there_is_a_command_for_it() {
    let env = TestEnv::new();
    let session = env.session("s");
    assert_eq!(session.fill(145_000).prompted().to_user(), None);
    env.write("home/.claude/commands/ss.md", "save");
    let session = env.session("t");
    let suggestion = "CONTEXT: ~72% used. Consider /ss to save the session.";
    assert_eq!(session.fill(145_000).prompted().to_user().as_deref(), Some(suggestion));
    assert_eq!(session.fill(147_000).prompted().to_user(), None, "once");
}

#[test]
fn a_transcript_that_may_not_be_read_is_silence() {
    let mut env = TestEnv::new();
    let path = env.session("s").fill(170_000).own_transcript();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    env.as_plain_user();
    assert!(fs::File::open(&path).is_err() || rustix::process::geteuid().is_root());
    let ran = env.session("s").prompted();
    assert!(ran.is_silent(), "{ran}");
    assert_eq!(env.log().len(), 1);
}

#[test]
fn words_can_be_switched_off() {
    let silent = |env: TestEnv| {
        for ran in [env.session("s").fill(190_000).prompted(), env.session("s").loads_agent()] {
            assert!(ran.is_silent(), "{ran}");
        }
    };
    for value in ["off", "0", "false", "no", "OFF"] {
        silent(TestEnv::new().with("PLIMSOLL", value));
    }
    for config in ["quiet: true\n", "auto_context: {enabled: false}\n"] {
        let env = TestEnv::new();
        env.user_config(config);
        silent(env);
    }
    let env = TestEnv::new();
    env.project_config("quiet: true\n");
    silent(env);
}

#[test]
fn a_project_cannot_switch_us_off() {
    let env = TestEnv::new();
    env.project_config("auto_context: {enabled: false}\n");
    assert!(env.session("s").fill(190_000).prompted().speaks());
}

#[test]
fn other_words_for_on_leave_us_on() {
    let env = TestEnv::new().with("PLIMSOLL", "on");
    assert!(env.session("s").fill(190_000).prompted().speaks());
}

#[test]
fn a_line_moves_with_the_config() {
    let env = TestEnv::new();
    env.user_config("lines: {warn: 50}\n");
    assert!(env.session("a").fill(99_999).prompted().is_silent());
    assert!(env.session("b").fill(100_000).prompted().speaks());
}

#[test]
fn a_transcript_that_ends_in_every_trap_is_read_right() {
    for layout in [Layout::Separate, Layout::Inline] {
        let env = TestEnv::new();
        for (prompt_tokens, warns) in [(140_000, false), (165_000, true)] {
            let options = GeneratorOptions {
                model: transcript::MODEL.to_owned(),
                ending: Ending::Trap(300),
                prompt_tokens: Some(prompt_tokens),
                layout,
                ..GeneratorOptions::default()
            };
            let mut bytes = Vec::new();
            generator::write(&mut bytes, &options).unwrap();
            let session = env.session(&format!("of-{prompt_tokens}"));
            let ran = session.write(bytes).prompted();
            assert_eq!(ran.speaks(), warns, "{ran}");
        }
    }
}

#[test]
fn a_call_without_arguments_is_answered_like_any_other() {
    let env = TestEnv::new();
    let session = env.session("s");
    let payload = session.fill(166_000).payload("UserPromptSubmit").to_string();
    let ran = env.run(env.command(&[]), payload.as_bytes());
    assert!(ran.speaks(), "{ran}");
    assert!(session.prompted().is_silent(), "it is remembered too");
    let off = env.with("PLIMSOLL", "off");
    assert!(off.run(off.command(&[]), payload.as_bytes()).is_silent());
}

#[test]
fn a_call_without_arguments_does_not_wait_for_a_pipe_that_stays_open() {
    let env = TestEnv::new();
    let mut child = env.command(&[]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"\n no payload\n").unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(30), "it waits");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
}
