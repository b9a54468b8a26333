//! The ceiling guard: what may be loaded above the ceiling.

use serde_json::json;

use crate::env::TestEnv;
use crate::transcript::COMPACTING;

#[test]
fn an_agent_above_the_ceiling_is_loaded_with_a_word_to_user_and_model() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.session("s").fill(90_000).loads_agent(), @r#"
    --- stdout
    {"systemMessage":"CONTEXT: Agent general-purpose starts while the window is at 45 %, above the 40 % ceiling. For new work, /clear first. If that is too low, raise lines.ceiling.","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"CONTEXT: Agent general-purpose starts while the window is at 45 %, above the 40 % ceiling. Its report will add to the window."}}
    [exit 0]
    "#);
}

#[test]
fn in_strict_mode_it_is_refused() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    insta::assert_snapshot!(env.session("s").fill(90_000).loads_skill("greet"), @r#"
    --- stdout
    {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"CONTEXT: Skill greet was not loaded because the window is at 45 %, above the 40 % ceiling. Finish or summarize first. Still allowed: all other tools, and the skills context-summarization, context-loading-protocol, continue, review-summary, session-review, checkpoint, resume-work, ss, rs, handoff."}}
    --- stderr
    CONTEXT: Skill greet was not loaded because the window is at 45 %, above the 40 % ceiling. Finish or summarize first. Still allowed: all other tools, and the skills context-summarization, context-loading-protocol, continue, review-summary, session-review, checkpoint, resume-work, ss, rs, handoff.
    [exit 2]
    "#);
}

#[test]
fn a_guessed_window_is_never_a_reason_to_refuse_and_the_variable_is_named() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    let session = env.session("s");
    insta::assert_snapshot!(session.fill_with("no-one-knows", 90_000).loads_agent(), @r#"
    --- stdout
    {"systemMessage":"CONTEXT: Agent general-purpose starts while the window is at 45 %, above the 40 % ceiling. For new work, /clear first. If that is too low, raise lines.ceiling. The window of 200000 tokens is a guess: set PLIMSOLL_CONTEXT_WINDOW.","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"CONTEXT: Agent general-purpose starts while the window is at 45 %, above the 40 % ceiling. Its report will add to the window."}}
    [exit 0]
    "#);
    let env = env.with("PLIMSOLL_CONTEXT_WINDOW", "200000");
    let ran = env.session("s").loads_agent();
    assert!(ran.refuses(), "{ran}");
}

#[test]
fn nothing_is_refused_on_an_estimate() {
    let env = TestEnv::new()
        .with("PLIMSOLL_CONTEXT_STRICT", "on")
        .with("PLIMSOLL_CONTEXT_WINDOW", "200000");
    let unanswered = crate::transcript::unanswered(716_800, &env.project());
    let ran = env.session("s").write(unanswered).loads_agent();
    assert!(ran.speaks(), "{ran}");
}

#[test]
fn the_ceiling_lies_at_forty_percent_exactly() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    assert!(env.session("s").fill(79_999).loads_agent().is_silent());
    assert!(env.session("s").fill(80_000).loads_agent().refuses());
}

#[test]
fn a_word_comes_once_in_five_points_but_a_refusal_every_time() {
    let env = TestEnv::new();
    let session = env.session("s");
    assert!(session.fill(90_000).loads_agent().speaks());
    assert!(session.loads_agent().is_silent());
    assert!(session.loads_skill("greet").is_silent());
    assert!(session.fill(100_000).loads_agent().speaks());
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    let session = env.session("s");
    session.fill(90_000);
    for _ in 0..3 {
        assert!(session.loads_agent().refuses());
    }
}

#[test]
fn the_older_name_of_the_agent_tool_is_guarded_too_and_other_tools_are_not() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    let session = env.session("s");
    session.fill(90_000);
    assert!(session.tool_begins("Task", json!({"subagent_type": "Explore"})).refuses());
    assert!(session.tool_begins("Agent", json!({})).refuses());
    for tool in ["Read", "Bash", "Grep", "mcp__agent__Agent"] {
        assert!(session.tool_begins(tool, json!({"subagent_type": "x"})).is_silent(), "{tool}");
    }
}

#[test]
fn recovery_skills_run_whatever_the_ceiling() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    let session = env.session("s");
    session.fill(190_000);
    for name in [
        "context-summarization",
        "context-loading-protocol",
        "continue",
        "review-summary",
        "session-review",
        "checkpoint",
        "plugin:checkpoint",
        "dev-team:continue",
        "/checkpoint",
        "handoff",
    ] {
        let ran = session.loads_skill(name);
        assert!(ran.is_silent(), "{name}: {ran}");
    }
    for name in ["checkpoints", "checkpoint:greet", "greet", ""] {
        assert!(session.loads_skill(name).refuses(), "{name}");
    }
    // An agent that is called like a recovery skill is an agent.
    assert!(session.tool_begins("Agent", json!({"subagent_type": "checkpoint"})).refuses());
}

#[test]
fn users_may_name_recovery_skills_of_their_own() {
    let env = TestEnv::new();
    env.user_config("guard: {mode: strict, recovery_skills: [tidy-up]}\n");
    let session = env.session("s");
    session.fill(90_000);
    assert!(session.loads_skill("house:tidy-up").is_silent());
    assert!(session.loads_skill("checkpoint").is_silent(), "ours stay");
    assert!(session.loads_skill("deploy").refuses());
}

#[test]
fn a_subagent_is_guarded_by_its_own_window() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", "on");
    let session = env.session("s");
    session.fill(190_000);
    let subagent = session.subagent("a1");
    assert!(subagent.fill(30_000).loads_skill("greet").is_silent());
    assert!(subagent.fill(90_000).loads_skill("greet").refuses());
    assert!(session.fill(30_000).loads_skill("greet").is_silent());
}

/// What the guard does at 45 % of an ordinary window.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Speaks,
    Refuses,
    Nothing,
}

#[track_caller]
fn check(env: &TestEnv, model: &str, used: u64, expected: Does) {
    let ran = env.session("s").fill_with(model, used).loads_agent();
    let does = match &ran {
        ran if ran.is_silent() => Does::Nothing,
        ran if ran.speaks() => Does::Speaks,
        ran if ran.refuses() => Does::Refuses,
        ran => panic!("{ran}"),
    };
    assert_eq!(does, expected, "{ran}");
}

#[test]
fn every_variable_is_heard_by_both_of_its_names() {
    for prefix in ["PLIMSOLL_CONTEXT_", "DEV_TEAM_CONTEXT_"] {
        let with = |name: &str, value: &str| TestEnv::new().with(&format!("{prefix}{name}"), value);
        for (name, value, used, expected) in [
            ("WINDOW", "1000000", 90_000, Does::Nothing),
            ("WINDOW", "100000", 45_000, Does::Speaks),
            ("CEILING_PCT", "50", 90_000, Does::Nothing),
            ("CEILING_PCT", "30.5", 61_000, Does::Speaks),
            ("CEILING_PCT", "30.5", 60_999, Does::Nothing),
            ("STRICT", "on", 90_000, Does::Refuses),
            ("STRICT", "1", 90_000, Does::Refuses),
            ("STRICT", "off", 90_000, Does::Speaks),
            ("CEILING", "off", 90_000, Does::Nothing),
            ("CEILING", "on", 90_000, Does::Speaks),
            ("ABS_CEILING", "50000", 50_000, Does::Speaks),
            ("ABS_CEILING", "50000", 49_999, Does::Nothing),
            // What makes no sense counts as absent.
            ("WINDOW", "huge", 90_000, Does::Speaks),
            ("WINDOW", "0", 90_000, Does::Speaks),
            ("WINDOW", "-5", 79_999, Does::Nothing),
            ("CEILING_PCT", "140", 90_000, Does::Speaks),
            ("CEILING_PCT", "forty", 79_999, Does::Nothing),
            ("CEILING_PCT", "NaN", 90_000, Does::Speaks),
            ("STRICT", "maybe", 90_000, Does::Speaks),
            ("CEILING", "maybe", 90_000, Does::Speaks),
            ("CEILING", "", 90_000, Does::Speaks),
            ("ABS_CEILING", "lots", 50_000, Does::Nothing),
        ] {
            check(&with(name, value), "claude-opus-4-5", used, expected);
        }
    }
}

#[test]
fn our_own_names_come_before_the_older_ones() {
    let env = TestEnv::new()
        .with("DEV_TEAM_CONTEXT_STRICT", "on")
        .with("PLIMSOLL_CONTEXT_STRICT", "off")
        .with("DEV_TEAM_CONTEXT_CEILING_PCT", "10");
    check(&env, "claude-opus-4-5", 90_000, Does::Speaks);
    let malformed = TestEnv::new()
        .with("DEV_TEAM_CONTEXT_CEILING_PCT", "60")
        .with("PLIMSOLL_CONTEXT_CEILING_PCT", "sixty");
    check(&malformed, "claude-opus-4-5", 90_000, Does::Nothing);
}

#[test]
fn a_ceiling_in_tokens_needs_no_window_to_refuse() {
    let env = TestEnv::new()
        .with("PLIMSOLL_CONTEXT_STRICT", "on")
        .with("PLIMSOLL_CONTEXT_ABS_CEILING", "60000");
    check(&env, "no-one-knows", 60_000, Does::Refuses);
    let refused = env.session("s").loads_agent();
    insta::assert_snapshot!(refused.stderr, @"CONTEXT: Agent general-purpose was not started because the window is at 30 %, above the 60,000-token ceiling. Finish or summarize first. Still allowed: all other tools, and the skills context-summarization, context-loading-protocol, continue, review-summary, session-review, checkpoint, resume-work, ss, rs, handoff.");
}

#[test]
fn the_users_config_sets_the_mode() {
    for (config, expected) in [
        ("guard: {mode: strict}\n", Does::Refuses),
        ("guard: {mode: warn}\n", Does::Speaks),
        ("guard: {mode: off}\n", Does::Nothing),
        ("guard: {mode: \"off\"}\n", Does::Nothing),
        ("guard: {mode: strict}\nquiet: true\n", Does::Refuses),
        ("guard: {mode: strict}\nauto_context: {enabled: false}\n", Does::Nothing),
        ("guard: {ceiling_tokens: 95000}\nlines: {ceiling: 90}\n", Does::Nothing),
        ("guard: {mode: severe}\n", Does::Speaks),
    ] {
        let env = TestEnv::new();
        env.user_config(config);
        check(&env, "claude-opus-4-5", 90_000, expected);
    }
    let env = TestEnv::new().with("DEV_TEAM_CONTEXT_STRICT", "off");
    env.user_config("guard: {mode: strict}\n");
    check(&env, "claude-opus-4-5", 90_000, Does::Speaks);
}

#[test]
fn a_project_cannot_make_the_guard_strict_nor_switch_it_off_but_may_move_its_line() {
    for (config, expected) in [
        ("guard: {mode: strict}\n", Does::Speaks),
        ("guard: {mode: off}\n", Does::Speaks),
        ("guard: {recovery_skills: [general-purpose]}\n", Does::Speaks),
        ("window: 1000000\n", Does::Speaks),
        ("lines: {ceiling: 50}\n", Does::Nothing),
    ] {
        let env = TestEnv::new();
        env.project_config(config);
        check(&env, "claude-opus-4-5", 90_000, expected);
    }
}

#[test]
fn where_the_client_compacts_very_early_the_ceiling_lies_before_that() {
    let env = TestEnv::new().with("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000");
    // It compacts at 67,000: the highest line lies 15,000 below.
    check(&env, COMPACTING, 51_999, Does::Nothing);
    check(&env, COMPACTING, 52_000, Does::Speaks);
}

#[test]
fn the_advice_names_the_setting_that_decides() {
    let advice = |env: TestEnv| {
        let said = env.session("s").fill(90_000).loads_agent().to_user().unwrap();
        said.rsplit_once(" raise ").unwrap().1.to_owned()
    };
    assert_eq!(advice(TestEnv::new()), "lines.ceiling.");
    let percent = TestEnv::new().with("DEV_TEAM_CONTEXT_CEILING_PCT", "30");
    assert_eq!(advice(percent), "PLIMSOLL_CONTEXT_CEILING_PCT.");
    let tokens = TestEnv::new();
    tokens.user_config("guard: {ceiling_tokens: 50000}\n");
    assert_eq!(advice(tokens), "guard.ceiling_tokens.");
    let tokens = TestEnv::new().with("PLIMSOLL_CONTEXT_ABS_CEILING", "50000");
    assert_eq!(advice(tokens), "PLIMSOLL_CONTEXT_ABS_CEILING.");
}
