//! `plimsoll restore`

use std::fs;

use crate::env::TestEnv;
use crate::transcript::captured;

#[test]
fn a_session_is_told_what_it_was_about() {
    let env = TestEnv::new();
    let path = env.write("session.jsonl", captured("tools.jsonl"));
    let ran = env.plimsoll(&format!("restore --transcript {}", path.display()));
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran}");
    assert!(ran.stdout.starts_with("## Resuming from Checkpoint\n"), "{ran}");
    for section in ["## Task", "## Working Set"] {
        assert!(ran.stdout.contains(section), "{ran}");
    }
    let short = env.plimsoll(&format!("restore --transcript {} --budget 100", path.display()));
    assert!(short.stdout.len() <= 400 && short.status.success(), "{short}");
}

#[test]
fn secrets_are_not_given_back() {
    let env = TestEnv::new();
    let secret = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let text = captured("tools.jsonl").replace("do tools", &format!("do tools with {secret}"));
    assert!(text.contains(&secret));
    let path = env.write("session.jsonl", text);
    let ran = env.plimsoll(&format!("restore --transcript {}", path.display()));
    assert!(ran.stdout.contains("[redacted:") && !ran.stdout.contains(&secret), "{ran}");
}

#[test]
fn what_is_no_transcript_is_refused() {
    let env = TestEnv::new();
    let path = env.write("notes.txt", "nothing of that kind\n");
    for arguments in
        [format!("restore --transcript {}", path.display()), "restore --transcript gone".to_owned()]
    {
        let ran = env.plimsoll(&arguments);
        assert_eq!(ran.status.code(), Some(1), "{ran}");
        assert!(ran.stderr.contains("hint: give the path of a transcript"), "{ran}");
    }
}

#[test]
fn a_checkpoint_is_made_on_request_and_holds_no_secret() {
    let env = TestEnv::new();
    let secret = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let text = captured("tools.jsonl").replace("do tools", &format!("do tools with {secret}"));
    env.session("5f2c1a3b").write(text);
    let ran = env.plimsoll("checkpoint create 5f2c");
    assert!(ran.status.success(), "{ran}");
    let path = ran
        .stdout
        .trim_end()
        .replace("$TEST", env.path("").to_str().unwrap().trim_end_matches('/'));
    let sealed = fs::read_to_string(&path).unwrap();
    assert!(sealed.contains("trigger: manual") && sealed.contains("## Next Steps"), "{sealed}");
    assert!(env.plimsoll("checkpoint verify --all").status.success());
    for file in env.all_under(&env.path("")).into_iter().filter(|path| path.is_file()) {
        let stored = fs::read(&file).unwrap();
        let leaked = stored.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert_eq!(leaked, file.extension().is_some_and(|it| it == "jsonl"), "{}", file.display());
    }
    let ran = env.plimsoll("checkpoint create nope");
    assert!(ran.stderr.contains("no session `nope`"), "{ran}");
}

#[test]
fn a_compaction_without_a_transcript_gets_a_partial_checkpoint() {
    let env = TestEnv::new();
    let payload = r#"{"session_id":"abc123","transcript_path":"/nowhere/abc123.jsonl","hook_event_name":"PreCompact","trigger":"auto"}"#;
    assert!(env.hook(payload).is_silent());
    assert_eq!(env.log(), [""; 0]);
    let ran = env.plimsoll("checkpoint show");
    assert!(
        ran.stdout.contains("partial: true") && ran.stdout.contains("## What Changed"),
        "{ran}"
    );
    assert!(env.plimsoll("checkpoint verify --all").status.success());
}
