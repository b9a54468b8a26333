//! `plimsoll statusline`, fed with what the client was seen to send.

use std::fs;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};

const TOLD: &str =
    include_str!("../../../plimsoll-agents/fixtures/claude-code/hooks/statusline.json");
const FRESH: &str = include_str!(
    "../../../plimsoll-agents/fixtures/claude-code/hooks/statusline.before_first_response.json"
);
const COMPACTED: &str = include_str!(
    "../../../plimsoll-agents/fixtures/claude-code/hooks/statusline.just_compacted.json"
);

fn shown(env: &TestEnv, arguments: &[&str], payload: &str) -> Ran {
    let arguments: Vec<&str> = ["statusline"].iter().chain(arguments).copied().collect();
    env.run(env.command(&arguments), payload.as_bytes())
}

const PLAIN: &str = "██░░░░░░░░░░░░░░░░░░░░░│ 4% · 43k/1M · 924k to compaction\n";

#[test]
fn load_and_distance_are_shown() {
    let env = TestEnv::new().with("NO_COLOR", "1");
    assert_eq!(shown(&env, &[], TOLD).stdout, PLAIN);
    assert_eq!(env.log(), [""; 0]);
}

/// Clients before 2.1.132 told the sum over the session there.
#[test]
fn totals_of_the_whole_session_are_not_the_load() {
    let env = TestEnv::new().with("NO_COLOR", "1");
    let mut told: Value = serde_json::from_str(TOLD).unwrap();
    told["context_window"]["total_input_tokens"] = json!(8_120_000);
    told["context_window"]["total_output_tokens"] = json!(640_000);
    assert_eq!(shown(&env, &[], &told.to_string()).stdout, PLAIN);
}

#[test]
fn colours_are_left_out_when_asked() {
    let env = TestEnv::new();
    let coloured = shown(&env, &[], TOLD).stdout;
    assert!(coloured.starts_with("\x1b[32m██"), "{coloured:?}");
    assert_eq!(shown(&env, &["--no-color"], TOLD).stdout, PLAIN);
}

#[test]
fn right_after_a_compaction_nothing_is_called_zero() {
    let env = TestEnv::new().with("NO_COLOR", "1");
    for payload in [FRESH, COMPACTED] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(shown(&env, &[], payload), @"
            --- stdout
            ░░░░░░░░░░░░░░░░░░░░░░░│ … · …/1M · compacts at 967k
            [exit 0]
            ");
        }
    }
}

#[test]
fn the_columns_of_the_terminal_are_kept() {
    let env = TestEnv::new().with("NO_COLOR", "1").with("COLUMNS", "40");
    assert_eq!(shown(&env, &[], TOLD).stdout, "██░░░░░░░░░░░░░░░░░░░░░│ 4% · 43k/1M\n");
}

#[test]
fn the_clients_settings_move_the_trigger() {
    let env = TestEnv::new().with("NO_COLOR", "1");
    env.client_settings(&json!({"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}}));
    let line = shown(&env, &[], TOLD).stdout;
    assert!(line.ends_with("4% · 43k/1M · 124k to compaction\n"), "{line}");
}

#[test]
fn a_pretended_window_moves_the_share_and_not_the_compaction() {
    let env = TestEnv::new().with("NO_COLOR", "1").with("PLIMSOLL_CONTEXT_WINDOW", "60000");
    let line = shown(&env, &[], TOLD).stdout;
    assert!(line.ends_with("72% · 43k/60k · 17k left\n"), "{line}");
}

#[test]
fn the_hooks_learn_the_window() {
    let env = TestEnv::new();
    let session = env.session("cd1d7cea-7344-44bc-880c-ba1f2b3758f0");
    session.fill_with("house-model", 90_000);
    let mut told: Value = serde_json::from_str(TOLD).unwrap();
    told["model"]["id"] = json!("house-model[1m]");
    told["context_window"]["context_window_size"] = json!(100_000);
    shown(&env, &[], &told.to_string());

    let warned = session.prompted().to_user().unwrap();
    assert!(warned.starts_with("CONTEXT: ~90% used."), "{warned}");
    let status: Value = serde_json::from_str(&env.plimsoll("status --all --json").stdout).unwrap();
    let window = json!({"tokens": 100_000, "source": "status_line"});
    assert_eq!(status[0]["reading"]["window"], window);

    // What is known already is not written again.
    let spool = fs::read(session.spool()).unwrap();
    shown(&env, &[], &told.to_string());
    assert_eq!(fs::read(session.spool()).unwrap(), spool);
}

#[test]
fn the_users_own_status_line_stands_above_ours() {
    let env = TestEnv::new().with("NO_COLOR", "1").with("PATH", "/usr/bin:/bin");
    let own = r#"printf 'on %s' "$(grep -c claude-opus-5-5)""#;
    assert_eq!(shown(&env, &["--wrap", own], TOLD).stdout, format!("on 1\n{PLAIN}"));
}

#[test]
fn a_status_line_of_the_users_that_fails_or_hangs_does_not_hide_ours() {
    let env = TestEnv::new().with("NO_COLOR", "1").with("PATH", "/usr/bin:/bin");
    for own in ["exit 3", "no-such-command", "sleep 600", "exec <&-; yes | head -c 0"] {
        assert_eq!(shown(&env, &["--wrap", own], TOLD).stdout, PLAIN, "{own}");
    }
}

#[test]
fn a_status_line_never_wraps_itself() {
    let env = TestEnv::new().with("NO_COLOR", "1").with("PATH", "/usr/bin:/bin");
    let binary = env!("CARGO_BIN_EXE_plimsoll");
    let own = format!("{binary} statusline --wrap '{binary} statusline --wrap \"echo never\"'");
    assert_eq!(shown(&env, &["--wrap", &own], TOLD).stdout, PLAIN);
}

#[test]
fn bad_payloads_are_logged_and_leave_the_users_own_line() {
    let env = TestEnv::new();
    for payload in ["", "{}", "nonsense", r#"{"session_id": "../x"}"#] {
        let ran = shown(&env, &["--wrap", "echo own"], payload);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("own\n", ""));
        assert!(ran.status.success());
    }
    assert_eq!(env.log().len(), 4);
}

#[test]
fn switched_off_it_shows_the_users_own_line_alone() {
    let env = TestEnv::new().with("PLIMSOLL", "off");
    assert_eq!(shown(&env, &["--wrap", "echo own"], TOLD).stdout, "own\n");
    assert_eq!(shown(&env, &[], TOLD).stdout, "");
    assert!(!env.data().exists());
}

#[test]
fn the_last_checkpoint_has_its_age_shown() {
    let env = TestEnv::new().with("NO_COLOR", "1").with("PATH", "/usr/bin:/bin");
    let session = env.session("cd1d7cea-7344-44bc-880c-ba1f2b3758f0");
    session.fill(43_000).hook("PreCompact");
    let line = shown(&env, &[], TOLD).stdout;
    assert!(line.contains(" to compaction · saved ") && line.ends_with(" ago\n"), "{line}");
}

#[test]
fn a_session_without_a_transcript_is_noticed_beside_a_status_line_too() {
    let env = TestEnv::new();
    let session = env.session("cd1d7cea-7344-44bc-880c-ba1f2b3758f0");
    session.hook("SessionStart");
    shown(&env, &[], TOLD);
    assert!(session.tool_finished().is_silent());
    let spool = fs::read_to_string(session.spool()).unwrap();
    let last = spool.lines().last().unwrap();
    assert!(last.contains(r#""what":"unseen""#) && last.contains("status_line"), "{spool}");
    assert!(env.plimsoll("doctor --json").stdout.contains("left no transcript"));
}
