//! `plimsoll status`

use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::time::SystemTime;

use plimsoll_core::time::utc;
use plimsoll_engine::world::now;
use serde_json::{Value, json};

use crate::checkpoint::{MINUTE, sealed};
use crate::env::TestEnv;
use crate::terminal::Terminal;
use crate::transcript::{COMPACTING, answer, captured, time, user};

#[test]
fn every_session_is_listed_with_its_own_reading() {
    let env = TestEnv::new();
    env.session("11111111-one").fill(100_000);
    env.session("22222222-two").fill(150_000);
    let ran = env.plimsoll("status --all --json");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let mut used: Vec<_> = json.as_array().unwrap().iter().map(|s| &s["reading"]["used"]).collect();
    used.sort_by_key(|used| used.as_u64());
    assert_eq!(used, [100_000, 150_000]);
}

#[test]
fn an_unknown_session_is_named_and_hinted_at() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("status nope"), @"
    --- stderr
    error: no session `nope`
    hint: run `plimsoll status --all` to see all of them
    [exit 1]
    ");
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let env = TestEnv::new();
    for number in 0..40 {
        env.session(&format!("{number:08}-session")).fill(100_000);
    }
    for arguments in [&["status", "--all"][..], &["status", "--all", "--json"]] {
        let mut command = env.command(arguments);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(Stdio::from(writer));
        let ran = env.run(command, b"");
        assert!(ran.is_silent(), "{arguments:?}: {ran}");
    }
}

#[test]
fn a_prefix_of_several_names_some_of_them() {
    let env = TestEnv::new();
    for name in ["aa1", "aa2", "aa3", "aa4", "aa5"] {
        env.session(name).fill(100_000);
    }
    insta::assert_snapshot!(env.plimsoll("status aa"), @"
    --- stderr
    error: `aa` stands for 5 sessions
    hint: give more of the name: `aa1`, `aa2`, `aa3` or 2 more
    [exit 1]
    ");
    assert!(env.plimsoll("status aa1").status.success());
}

#[test]
fn a_session_takes_three_lines_that_fit_the_terminal() {
    let env = TestEnv::new();
    let folder = env.path(&format!("home/{}", "a-long-name/".repeat(9)));
    let text = crate::transcript::reading(COMPACTING, 150_000, &folder, false);
    env.session("11111111-one").write(text);
    let ran = env.plimsoll("status --all");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    let (sessions, criteria) = ran.stdout.split_once("\n\n").unwrap();
    let lines: Vec<&str> = sessions.lines().collect();
    assert_eq!(lines.len(), 3, "{ran}");
    assert!(
        lines
            .iter()
            .chain(&criteria.lines().collect::<Vec<_>>())
            .all(|line| line.chars().count() <= 80),
        "{ran}"
    );
    assert!(lines[0].starts_with("11111111  ██"), "{ran}");
    assert!(lines[2].ends_with("a-long-name") && lines[2].contains("· …"), "{ran}");
}

#[test]
fn a_project_in_the_home_is_shown_with_a_tilde() {
    let env = TestEnv::new();
    let folder = env.path("home/app");
    let text = crate::transcript::reading(COMPACTING, 150_000, &folder, false);
    env.session("11111111-one").write(text);
    let ran = env.plimsoll("status --all");
    assert!(ran.stdout.contains("window by model · ~/app\n\n"), "{ran}");
}

#[test]
fn what_was_read_once_is_not_read_again_and_news_are() {
    let env = TestEnv::new();
    let session = env.session("11111111-one");
    session.write(captured("compact-auto-headless.jsonl"));
    let compactions = |env: &TestEnv| {
        let ran = env.plimsoll("status --all --json");
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        json[0]["compactions"].as_u64().unwrap()
    };
    assert_eq!((compactions(&env), compactions(&env)), (1, 1));
    let again = captured("compact-manual-interactive.jsonl");
    File::options()
        .append(true)
        .open(&session.transcript)
        .unwrap()
        .write_all(again.as_bytes())
        .unwrap();
    assert_eq!(compactions(&env), 2);
}

#[test]
fn without_a_session_of_today_the_past_is_summed_up() {
    let env = TestEnv::new();
    let session = env.session("11111111-one");
    session.write(captured("compact-auto-headless.jsonl"));
    let file = File::options().append(true).open(&session.transcript).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let ran = env.plimsoll("status");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    assert!(ran.stdout.starts_with("No session was active in the last 24 hours;"), "{ran}");
    assert!(ran.stdout.contains("\n1 session in 1 project since 2026-11-15\n"), "{ran}");
    assert!(ran.stdout.contains("\n   0– 10 %  ████"), "{ran}");
    assert!(ran.stdout.contains("Compactions: 1 by the client, 0 by hand."), "{ran}");
    assert!(ran.stdout.contains("The client's fired at 9.2 % of the window."), "{ran}");
    assert!(ran.stdout.contains("/home/dev/bin/capture-hook …`."), "{ran}");
    assert!(ran.stdout.contains("1 session was compacted without a word of warning."), "{ran}");
    assert!(ran.stdout.contains("No session went past the line where plimsoll warns."), "{ran}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{ran}");
}

#[test]
fn watching_needs_a_terminal() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("status --watch"), @"
    --- stderr
    error: could not watch: this is no terminal
    hint: run `plimsoll status` to look once, or `plimsoll status --json` in a script
    [exit 1]
    ");
    assert_eq!(env.plimsoll("status --watch --json").status.code(), Some(2));
}

#[test]
fn a_watched_screen_is_given_back() {
    for quit in ["q", "\x03"] {
        let env = TestEnv::new();
        env.session("11111111-one").fill(100_000);
        let mut terminal = Terminal::start(env.command(&["status", "--watch"]));
        let drawn = terminal.wait_for("q quits");
        assert!(drawn.contains("\x1b[?1049h") && drawn.contains("11111111"), "{drawn:?}");
        terminal.press(quit);
        let (rest, status) = terminal.end();
        assert!(status.success());
        assert!(rest.ends_with("\x1b[?25h\x1b[?1049l"), "{rest:?}");
    }
}

#[test]
fn the_line_where_we_warn_is_lower_before_a_compaction() {
    let env = TestEnv::new();
    // Of 200,000 tokens, and compacted at 167,000: we warn at 152,000, which is less than 80 %.
    let session = env.session("11111111-one");
    session.fill_with(COMPACTING, 156_000);
    let file = File::options().append(true).open(&session.transcript).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let ran = env.plimsoll("status");
    assert!(ran.stdout.contains("1 session went past the line where plimsoll warns."), "{ran}");
}

/// A prompt and two answers, seven minutes apart, in the last hour.
fn worked_for_seven_minutes(env: &TestEnv) {
    let project = &env.project();
    let ago = |minutes: u64| utc((now() - minutes * 60_000) as i64);
    let text = user(1, 0, project, false, r#""go on""#, "")
        + &answer(2, 1, COMPACTING, 90_000, project, false)
        + &answer(3, 2, COMPACTING, 100_000, project, false);
    let text = text.replace(&time(1), &ago(50)).replace(&time(2), &ago(45));
    env.session("5f2c81aa-77b0").write(text.replace(&time(3), &ago(38)));
}

#[test]
fn the_criteria_are_told() {
    let env = TestEnv::new();
    worked_for_seven_minutes(&env);
    let sealed = env.plimsoll("checkpoint create 5f2c").stdout.replace("$TEST", "");
    insta::assert_snapshot!(env.plimsoll("status --criteria"), @"
    --- stdout
    In the last day
      phantom checkpoints  0
      checkpoints a day    1.0 by hand, 0.0 by themselves
      without a human      7 min at the longest (5f2c81aa)
      full windows         0, 0 without a word before
      restores             0; nothing was needed after a compaction
    [exit 0]
    ");
    assert!(env.plimsoll("status --all").stdout.ends_with("after a compaction\n"));
    std::fs::remove_file(env.path(sealed.trim().trim_start_matches('/'))).unwrap();
    let told: Value =
        serde_json::from_str(&env.plimsoll("status --criteria --json").stdout).unwrap();
    assert_eq!((&told["phantoms"], &told["days"]), (&json!(1), &json!(1)), "{told}");
    assert_eq!(told["manual_checkpoints_per_day"], 1.0, "what is gone was made: {told}");
    assert_eq!(told["longest_stretch"]["seconds"], 420, "{told}");
    assert_eq!(told["restore_score"], Value::Null, "{told}");
}

#[test]
fn the_last_checkpoint_is_told() {
    let env = TestEnv::new();
    env.session("5f2c81aa-77b0").fill_with(COMPACTING, 100_000);
    let told = |arguments: &str| env.plimsoll(&format!("status {arguments}")).stdout;
    assert!(told("5f2c").contains("\n          no checkpoint yet\n"));
    assert!(told("5f2c --json").contains("\"checkpoint\": null"));
    let own = sealed(&env, "5f2c81aa-77b0", 12 * MINUTE, "x");
    let line = format!(" (12 min ago) · {}\n", own.meta.id);
    assert!(told("5f2c").contains(&line), "{}", told("5f2c"));
    assert!(told("").contains(" · checkpoint 12 min ago"), "{}", told(""));
    let listed: serde_json::Value = serde_json::from_str(&told("--json")).unwrap();
    assert_eq!(listed[0]["checkpoint"]["id"], *own.meta.id);
}
