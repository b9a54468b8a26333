//! `plimsoll batch status`

use std::fmt::Write as _;

use plimsoll_core::time::utc;
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::journal::{Journal, half_done};

fn json(env: &TestEnv, arguments: &str) -> Value {
    let ran = env.plimsoll(arguments);
    assert!(ran.status.success(), "{ran}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn runs_are_listed_with_how_they_stand_and_how_they_go_on() {
    let env = TestEnv::new();
    half_done(&env, 1, false);
    let mut broken = Journal::begin(&env, 2, "Round and round", false);
    let limit = json!({"what": "ended", "outcome": "limited", "limit": {"sessions": 9}});
    broken.says(limit);
    insta::assert_snapshot!(env.plimsoll("batch status"), @"
    --- stdout
    45678902  limited      Round and round
      ░░░░░░░░░░░░░░░░  0 of 3 tasks done; 2 s
      0 sessions; tokens unknown, 25,200 estimated
      the limit of 9 sessions is reached
      to go on: plimsoll batch run --resume 019a8f00-0000-7000-8000-012345678902 --max-sessions 18
    45678901  interrupted  Careen the hull
      ███████████░░░░░  2 of 3 tasks done; 9 s
      3 sessions, 1 restart; 190,000 tokens, 25,200 estimated
      to go on: plimsoll batch run --resume 019a8f00-0000-7000-8000-012345678901
    [exit 0]
    ");
}

#[test]
fn a_run_that_is_conducted_tells_what_it_is_at() {
    let env = TestEnv::new();
    let mut run = half_done(&env, 1, true);
    let listed = env.plimsoll("batch status").stdout;
    assert!(listed.contains("45678901  running      Careen the hull"), "{listed}");
    assert!(listed.contains("now: batch 2: The hold, session 1 cccccccc"), "{listed}");
    assert!(!listed.contains("--resume"), "somebody does it: {listed}");
    run.ends(2, 1, 30_000, false);
    run.done(2);
    run.says(json!({"what": "ended", "outcome": "done"}));
    let listed = json(&env, "batch status --json");
    assert_eq!(listed[0]["state"], "done");
    assert_eq!((&listed[0]["done"], &listed[0]["of"]), (&json!(3), &json!(3)));
    assert_eq!(listed[0]["resume"], Value::Null);
}

#[test]
fn one_run_is_told_with_its_batches_and_sessions() {
    let env = TestEnv::new();
    half_done(&env, 1, false);
    for name in ["45678901", "019a8f00", "019a8f00-0000-7000-8000-012345678901"] {
        insta::allow_duplicates! {
        insta::assert_snapshot!(env.plimsoll(&format!("batch status {name}")), @"
        --- stdout
        45678901  interrupted  Careen the hull
          ███████████░░░░░  2 of 3 tasks done; 9 s
          3 sessions, 1 restart; 190,000 tokens, 25,200 estimated
          to go on: plimsoll batch run --resume 019a8f00-0000-7000-8000-012345678901

        batch 1: Keel and mast  done; 190,000 tokens, 13,200 estimated
           1  aaaaaaaa  full, stopped by us; 170,000 tokens at its end
           2  bbbbbbbb  ended by itself; 40,000 tokens at its end
          checkpoint 2026-11-15-060000-5f2c81aa (pruned since)

        batch 2: The hold  open; 13,200 estimated
           1  cccccccc  has not ended
        [exit 0]
        ");
        }
    }
    let told = json(&env, "batch status 45678901 --json");
    assert_eq!(told["jobs"][0]["legs"][0]["how"], "stopped");
    assert_eq!(told["pieces"][2]["state"], "open");
    insta::assert_snapshot!(env.plimsoll("batch status nope"), @"
    --- stderr
    error: no run `nope`
    hint: run `plimsoll batch status --all` to see all runs
    [exit 1]
    ");
}

#[test]
fn sessions_of_a_run_are_told_apart_and_each_at_work_is_shown() {
    let env = TestEnv::new();
    let names = [1, 2].map(|number| format!("019a8f00-1111-7000-8000-01234567890{number}"));
    let mut run = Journal::begin(&env, 1, "Careen the hull", true);
    run.begins(1, "The keel", &["1"], &names[0]);
    run.begins(2, "The mast", &["2"], &names[1]);
    let listed = env.plimsoll("batch status").stdout;
    assert!(listed.contains("  now: batch 1: The keel, session 1 45678901\n"), "{listed}");
    assert!(listed.contains("  now: batch 2: The mast, session 1 45678902\n"), "{listed}");
    for name in &names {
        env.session(name).fill(100_000);
    }
    let shown = env.plimsoll("status 45678902").stdout;
    assert!(shown.starts_with("45678902  "), "what is shown may be said: {shown}");
}

#[test]
fn what_an_agent_printed_is_pointed_to_and_its_end_is_shown_where_it_failed() {
    let env = TestEnv::new();
    let mut run = Journal::begin(&env, 1, "Careen the hull", false);
    run.begins(1, "The keel", &["1"], "aaaaaaaa-1");
    run.says(json!({"what": "leg_ended", "job": 1, "leg": 1, "how": "exited", "code": 3}));
    run.says(json!({"what": "leg_begun", "job": 1, "leg": 2, "attempt": 2}));
    run.says(json!({"what": "leg_ended", "job": 1, "leg": 2, "how": "exited", "code": 3}));
    run.says(json!({"what": "job_failed", "job": 1, "why": "exit code 3"}));
    run.says(json!({"what": "ended", "outcome": "failed", "code": 3}));
    let folder = format!("home/.local/share/plimsoll/runs/{}", run.id);
    env.write(&format!("{folder}/1-2.out"), "I caulk\n");
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    env.write(&format!("{folder}/1-2.err"), format!("the \u{1b}[31mtide is out\n{secret}\n"));
    insta::assert_snapshot!(env.plimsoll("batch status 45678901"), @"
    --- stdout
    45678901  failed       Careen the hull
      ░░░░░░░░░░░░░░░░  0 of 3 tasks done; 8 s
      2 sessions, 1 retry; tokens unknown, 25,200 estimated
      the agent ended with exit code 3
      to go on: plimsoll batch run --resume 019a8f00-0000-7000-8000-012345678901

    batch 1: The keel  failed; 13,200 estimated
       1  aaaaaaaa  ended with exit code 3
       2  -         ended with exit code 3
      exit code 3
      ~/.local/share/plimsoll/runs/019a8f00-0000-7000-8000-012345678901/1-2.out
      ~/.local/share/plimsoll/runs/019a8f00-0000-7000-8000-012345678901/1-2.err
        the [31mtide is out
        [redacted:github-token]

    batch 1  waiting; 7,200 estimated
      2  Add a mast

    batch 2  waiting; 12,000 estimated
      3  Refactor the hold
    [exit 0]
    ");
    let told = json(&env, "batch status 45678901 --json");
    let printed = told["jobs"][0]["legs"][1]["printed"].as_array().unwrap().clone();
    assert_eq!((printed.len(), &told["restarts"], &told["retries"]), (2, &json!(0), &json!(1)));
    assert_eq!((&told["tokens"], &told["measured"]), (&Value::Null, &Value::Null));
}

#[test]
fn secrets_in_tasks_and_commands_are_neither_kept_nor_shown() {
    const KEY: &str = "sk-ant-api03-8Fk2mNq7RtYw3XzB5cVd9LpJ1hGsQ4uE";
    let env = TestEnv::new();
    let mut run = Journal::begin(&env, 1, &format!("Use {KEY}"), false);
    let pieces = json!([[{"id": "1", "description": format!("Use {KEY}"), "tokens": 5}]]);
    run.says(json!({"what": "planned", "plan": {"available": 9, "batches": pieces}}));
    run.says(json!({"what": "job_begun", "job": 1, "title": KEY, "pieces": ["1"]}));
    run.says(json!({"what": "job_failed", "job": 1, "why": format!("refused {KEY}")}));
    for arguments in ["batch status", "batch status 45678901 --json"] {
        let ran = env.plimsoll(arguments);
        assert!(ran.status.success() && !ran.stdout.contains("8Fk2mNq7"), "{ran}");
    }
    for file in env.all_under(&env.data()).iter().filter(|file| file.is_file()) {
        let is_journal = file.extension().is_some_and(|extension| extension == "jsonl");
        let bytes = std::fs::read(file).unwrap();
        let held = bytes.windows(8).any(|part| part == b"8Fk2mNq7");
        assert!(!held || is_journal, "{}", file.display());
    }
}

#[test]
fn runs_of_other_projects_are_shown_where_they_are_asked_for() {
    let (env, other) = (TestEnv::new(), TestEnv::new());
    let run = half_done(&other, 1, false);
    env.write(
        &format!("home/.local/share/plimsoll/runs/{}.jsonl", run.id),
        std::fs::read(other.data().join(format!("runs/{}.jsonl", run.id))).unwrap(),
    );
    let listed = env.plimsoll("batch status").stdout;
    assert_eq!(listed, "No run was found; `batch status --all` looks at all projects.\n");
    assert_eq!(json(&env, "batch status --json"), json!([]));
    assert_eq!(json(&env, "batch status --all --json")[0]["run"], run.id);
}

#[test]
fn what_others_have_written_cannot_speak_to_the_terminal() {
    let env = TestEnv::new();
    let mut run = Journal::begin(&env, 1, "\u{1b}[2Jowned", false);
    run.begins(1, "\u{1b}]0;owned\u{7}", &["1"], "aaaaaaaa-1");
    run.says(json!({"what": "job_failed", "job": 1, "why": "\u{1b}[31mred"}));
    for arguments in ["batch status", "batch status 45678901"] {
        let ran = env.plimsoll(arguments);
        assert!(!ran.stdout.contains('\u{1b}') && ran.stdout.contains("owned"), "{ran}");
    }
}

/// A past session that was asked for something, and whose window grew by so much.
fn session(env: &TestEnv, name: &str, asked: &str, hours_ago: i64, grown: u64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let began = now.as_millis() as i64 - hours_ago * 3_600_000;
    let mut text = String::new();
    let mut line = |number: i64, kind: &str, message: Value| {
        let uuid = |number| format!("00000000-0000-4000-8000-{number:012}");
        let parent = (number > 1).then(|| uuid(number - 1));
        let record = json!({"type": kind, "message": message, "uuid": uuid(number),
            "parentUuid": parent, "isSidechain": false, "timestamp": utc(began + number * 1_000),
            "cwd": env.project(), "sessionId": name, "version": "2.1.325", "userType": "external"});
        writeln!(text, "{record}").unwrap();
    };
    let answer = |number: i64, held: u64| {
        json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant",
            "model": "claude-opus-4-5", "content": [{"type": "text", "text": "Done."}],
            "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 0,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": held - 3}})
    };
    line(1, "user", json!({"role": "user", "content": asked}));
    line(2, "assistant", answer(2, 20_000));
    line(3, "user", json!({"role": "user", "content": "and now refactor it"}));
    line(4, "assistant", answer(4, 20_000 + grown));
    env.session(name).write(&text);
}

#[test]
fn estimates_learn_from_past_sessions_where_that_makes_them_better() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("batch status --calibration"), @"
    --- stdout
    There is no past work to learn from yet: the formula is used as it is.
    [exit 0]
    ");
    for number in 0..9 {
        session(&env, &format!("fix-{number}"), "fix the leak", 20 - number, 36_018);
    }
    for number in 0..3 {
        session(&env, &format!("add-{number}"), "add a mast", 20 - number, 36_000);
    }
    session(&env, "running", "fix it now", 0, 90_000);
    let table = "--- stdout
    KIND       CASES  FACTOR  FORMULA OFF  WITH IT
    add            3       -  5 more cases needed
    fix            9    6.00        ×6.00    ×1.00  used

    Off is how many times too large or too small an estimate is, in the median, of the newest third
    of the cases; the factor is made from the older ones.
    [exit 0]"
        .replace("\n    ", "\n");
    assert_eq!(env.plimsoll("batch status --calibration").to_string().trim(), table);
    let tasks = env.write("project/tasks.yaml", "- Fix the mast\n- Paint it\n");
    let planned = env.plimsoll(&format!("batch plan {} --available 90000", tasks.display())).stdout;
    assert!(planned.contains("36,018") && planned.contains("6,002"), "{planned}");
    assert!(planned.contains("calibrated by past work: fix ×6.00\n"), "{planned}");
    let tasks = env.write("project/other.yaml", "- {description: Fix it, tokens: 9}\n- Paint it\n");
    let planned = env.plimsoll(&format!("batch plan {} --available 90000", tasks.display())).stdout;
    assert!(!planned.contains("calibrated"), "it changed nothing here: {planned}");
    // Each transcript is read once, and what it taught outlasts it.
    std::fs::remove_dir_all(env.home().join(".claude/projects")).unwrap();
    let learned = json(&env, "batch status --calibration --json");
    let fix = &learned["kinds"][1];
    assert_eq!((&fix["kind"], &fix["factor"]), (&json!("fix"), &json!(6.0)));
    assert_eq!((&fix["cases"], &fix["held_back"]), (&json!(9), &json!(3)));
    assert_eq!(fix["used"], true);
}

#[test]
fn estimates_learn_from_past_runs() {
    let env = TestEnv::new();
    half_done(&env, 1, false);
    // 190,000 tokens, shared as they were estimated: 6,000 of 13,200 and 7,200 of 13,200.
    let learned = json(&env, "batch status --calibration --json");
    let kinds: Vec<_> = learned["kinds"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["add", "fix"], "what is not done teaches nothing");
    assert_eq!(learned["kinds"][0]["lacking"], 7);
}
