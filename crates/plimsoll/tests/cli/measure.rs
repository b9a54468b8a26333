//! `plimsoll measure`

use std::fs::File;
use std::process::Stdio;

use plimsoll_testbed::generator::{self, Ending, GeneratorOptions, Layout, Truth};
use serde_json::Value;

use crate::env::{Ran, TestEnv, feed};
use crate::transcript::{self, COMPACTING, MODEL};

#[track_caller]
fn tokens(env: &TestEnv, arguments: &str) -> u64 {
    let ran = env.plimsoll(&format!("measure --tokens {arguments}"));
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    ran.stdout.strip_suffix('\n').unwrap().parse().unwrap()
}

fn of_transcript(env: &TestEnv, contents: impl AsRef<[u8]>) -> u64 {
    let path = env.write("t.jsonl", contents);
    tokens(env, &format!("--transcript {}", path.display()))
}

#[test]
fn tokens_are_one_number() {
    let env = TestEnv::new();
    let project = env.project();
    for used in [12_345, 160_000, 199_999] {
        let transcript = transcript::reading(MODEL, used, &project, false);
        assert_eq!(of_transcript(&env, transcript), used);
    }
}

#[test]
fn what_is_no_transcript_is_refused() {
    let env = TestEnv::new();
    let path = env.write("notes.md", "# Notes\n\nNothing that an agent has said.\n");
    let ran = env.plimsoll(&format!("measure --transcript {} --tokens", path.display()));
    assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(1), ""), "{ran}");
    assert!(ran.stderr.contains("its first line is no JSON object"), "{ran}");
}

#[test]
fn what_was_appended_since_is_added() {
    let env = TestEnv::new();
    let project = env.project();
    let counted = transcript::reading(MODEL, 100_000, &project, false);
    let content = format!(
        r#"[{{"type":"tool_result","tool_use_id":"t","content":"{}"}}]"#,
        "word ".repeat(2_000)
    );
    let result = transcript::user(3, 2, &project, false, &content, "");
    let used = of_transcript(&env, counted + &result);
    assert!((101_500..103_500).contains(&used), "{used}");
}

#[test]
fn json_tells_all_with_its_provenance() {
    let env = TestEnv::new();
    env.write("t.jsonl", transcript::reading(COMPACTING, 100_000, &env.project(), false));
    let ran = env.plimsoll("measure --json --transcript ../t.jsonl");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    let mut json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let age = json["counted"]["age_seconds"].take();
    assert!(age.is_i64(), "{age}");
    // How the service's count and our frame of a call share it is core's own business.
    json["counted"]["prompt_tokens"].take();
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap(), @r#"
    {
      "band": "warning",
      "client_version": "2.1.325",
      "counted": {
        "age_seconds": null,
        "output_tokens": 40,
        "prompt_tokens": null
      },
      "lines": {
        "ceiling": 80000,
        "checkpoint": 120000,
        "moved": true,
        "restart": 152000,
        "save": 140000,
        "warn": 152000
      },
      "model": "claude-opus-4-6",
      "percent": 50.0,
      "source": "measured",
      "trigger": {
        "source": "formula",
        "tokens": 167000
      },
      "used": 100000,
      "window": {
        "source": "table",
        "tokens": 200000
      }
    }
    "#);
}

#[test]
fn people_get_a_gauge() {
    let env = TestEnv::new();
    env.write("t.jsonl", transcript::reading(COMPACTING, 100_000, &env.project(), false));
    let ran = env.plimsoll("measure --transcript ../t.jsonl");
    let (gauge, origin) = ran.stdout.split_once('\n').unwrap();
    assert_eq!(gauge, "████████████░░░░░░░░│░░░  50.0 %  100,000 of 200,000 tokens");
    assert!(origin.starts_with("measured") && origin.contains("window by model"), "{ran}");
}

#[test]
fn a_window_given_by_hand_is_taken() {
    let env = TestEnv::new();
    env.write("t.jsonl", transcript::reading(COMPACTING, 100_000, &env.project(), false));
    let ran = env.plimsoll("measure --json --window 400000 --transcript ../t.jsonl");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["percent"], 25.0);
    assert_eq!(json["window"]["tokens"], 400_000);
    assert_eq!(json["window"]["source"], "override");
}

#[test]
fn a_file_that_is_not_there_is_named_and_hinted_at() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("measure --transcript nope.jsonl"), @"
    --- stderr
    error: could not measure `nope.jsonl`
      caused by: No such file or directory (os error 2)
    hint: give the path of a transcript; `plimsoll status --all --json` names them
    [exit 1]
    ");
}

#[test]
fn what_is_no_transcript_fails_and_does_not_hang() {
    use rustix::fs::{CWD, FileType, mknodat};
    let env = TestEnv::new();
    mknodat(CWD, env.path("fifo"), FileType::Fifo, 0o600.into(), 0).unwrap();
    for path in ["../fifo", "/dev/zero", ".", "../project"] {
        let ran = env.plimsoll(&format!("measure --tokens --transcript {path}"));
        assert_eq!(ran.status.code(), Some(1), "{path}: {ran}");
        assert!(ran.stdout.is_empty() && ran.stderr.contains("hint: "), "{path}: {ran}");
    }
}

#[test]
fn misuse_has_an_exit_code_of_its_own() {
    let env = TestEnv::new();
    for arguments in [
        "measure",
        "measure --transcript",
        "measure --transcript x --window 0",
        "measure --transcript x --window -3",
        "measure --transcript x --window big",
        "measure --transcript x --tokens --json",
        "measure x",
    ] {
        let ran = env.plimsoll(arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments}: {ran}");
        assert!(ran.stdout.is_empty() && ran.stderr.contains("error: "), "{arguments}: {ran}");
    }
}

#[test]
fn an_agent_nobody_knows_is_a_failure_with_its_name() {
    let env = TestEnv::new();
    let ran = env.plimsoll("measure --transcript x --agent teapot");
    assert_eq!(ran.status.code(), Some(2), "{ran}");
    assert!(ran.stderr.contains("teapot") && ran.stderr.contains("claude-code"), "{ran}");
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let env = TestEnv::new();
    env.write("t.jsonl", transcript::reading(MODEL, 100_000, &env.project(), false));
    for arguments in [
        &["measure", "--transcript", "../t.jsonl"][..],
        &["measure", "--transcript", "../t.jsonl", "--json"],
        &["measure", "--transcript", "../t.jsonl", "--tokens"],
        &["--help"],
        &["measure", "--help"],
    ] {
        let mut command = env.command(arguments);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(Stdio::from(writer));
        let ran = env.run(command, b"");
        assert!(ran.is_silent(), "{arguments:?}: {ran}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let env = TestEnv::new();
    env.write("t.jsonl", transcript::reading(MODEL, 100_000, &env.project(), false));
    let mut command = env.command(&["measure", "--tokens", "--transcript", "../t.jsonl"]);
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    let ran = env.run(command, b"");
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.starts_with("error: "), "{ran}");
}

fn generated(env: &TestEnv, options: &GeneratorOptions) -> Truth {
    let path = env.write("t.jsonl", "");
    generator::write(std::io::BufWriter::new(File::create(path).unwrap()), options).unwrap()
}

#[test]
fn a_transcript_that_ends_in_every_trap_is_measured_within_a_percent() {
    for layout in [Layout::Separate, Layout::Inline] {
        for seed in 1..=3 {
            let env = TestEnv::new();
            let options = GeneratorOptions {
                size: 2_000_000,
                seed,
                layout,
                ending: Ending::Trap(300),
                prompt_tokens: Some(94_000),
                ..GeneratorOptions::default()
            };
            let truth = generated(&env, &options);
            let used = tokens(&env, "--transcript ../t.jsonl");
            let expected = truth.prompt_tokens + truth.output_tokens;
            let off = used.abs_diff(expected) as f64 / expected as f64;
            assert!(off < 0.01, "{layout:?} {seed}: {used} instead of {expected}");
        }
    }
}

/// Runs with so little memory that no file is held whole.
fn in_little_memory(env: &TestEnv, arguments: &[&str], stdin: &[u8]) -> Ran {
    let script = "ulimit -v 49152; exec \"$0\" \"$@\"";
    env.run(env.shell(script, arguments), stdin)
}

#[test]
fn a_line_of_twenty_megabytes_is_measured_right_in_little_memory() {
    let env = TestEnv::new();
    let project = env.project();
    let counted = transcript::reading(MODEL, 170_000, &project, false);
    let content = r#"[{"type":"tool_result","tool_use_id":"t","content":"short"}]"#;
    let result = |stdout: &str| {
        let more = format!(r#","toolUseResult":{{"stdout":"{stdout}"}}"#);
        transcript::user(3, 2, &project, false, content, &more)
    };
    let expected = of_transcript(&env, counted.clone() + &result("short"));
    let last = counted.clone() + &result(&"x\\n".repeat(7_000_000));
    let first =
        transcript::user(9, 0, &project, false, &format!("{:?}", "y".repeat(20_000_000)), "");
    for transcript in [last.clone(), first + &last] {
        env.write("t.jsonl", transcript);
        let arguments = ["measure", "--tokens", "--transcript", "../t.jsonl"];
        let ran = in_little_memory(&env, &arguments, b"");
        assert_eq!((ran.stdout.trim_end(), &*ran.stderr), (&*expected.to_string(), ""), "{ran}");
        let session = env.session("s");
        session.write(std::fs::read(env.path("t.jsonl")).unwrap());
        let payload = session.payload("UserPromptSubmit").to_string();
        std::fs::remove_dir_all(env.data()).unwrap();
        let ran = in_little_memory(&env, &["hook"], payload.as_bytes());
        assert!(ran.speaks() && ran.stdout.contains("~85%"), "{ran}");
    }
}

#[test]
fn bytes_that_are_no_text_do_not_spoil_a_measurement() {
    let env = TestEnv::new();
    let project = env.project();
    let transcript = transcript::reading(MODEL, 123_456, &project, false);
    let (prompt, answer) = transcript.split_at(transcript.find('\n').unwrap() + 1);
    let garbage = b"\xff\xfe\x00garbage\x80\n\0\0\0\0\n{\"type\":\"user\",\xc3\x28}\n\n[1,2]\n";
    for torn in
        [&b""[..], b"\xf0\x9f", b"{\"type\":\"assistant\",\"message\":{\"usage\":{\"input_tok"]
    {
        let bytes =
            [garbage, prompt.as_bytes(), garbage, answer.as_bytes(), garbage, torn].concat();
        assert_eq!(of_transcript(&env, bytes), 123_456);
    }
}

#[test]
fn a_growing_transcript_may_be_measured_at_any_time() {
    let env = TestEnv::new();
    let transcript = transcript::reading(MODEL, 100_000, &env.project(), false);
    let whole = transcript.len();
    for cut in (0..whole).step_by(97) {
        // Cut before the answer is whole, nothing was counted yet: four bytes are a token.
        assert_eq!(of_transcript(&env, &transcript[..cut]), cut as u64 / 4, "cut at {cut}");
    }
    assert_eq!(of_transcript(&env, &transcript[..whole - 1]), 100_000);
}

#[test]
fn a_subagents_own_transcript_is_measured_as_its_window() {
    let env = TestEnv::new();
    let transcript = transcript::reading(MODEL, 77_000, &env.project(), true);
    assert_eq!(of_transcript(&env, transcript), 77_000);
}

#[test]
fn measuring_needs_no_stdin_and_nothing_of_ours() {
    let env = TestEnv::new().with("PLIMSOLL_DATA_DIR", "/proc/plimsoll");
    env.write("t.jsonl", transcript::reading(MODEL, 100_000, &env.project(), false));
    let mut command = env.command(&["measure", "--tokens", "--transcript", "../t.jsonl"]);
    let child = feed(command.spawn().unwrap(), b"ignored");
    let ran = env.ran(child.wait_with_output().unwrap());
    assert_eq!(ran.stdout, "100000\n");
    assert!(ran.status.success(), "{ran}");
}
