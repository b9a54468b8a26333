//! Whatever becomes of plimsoll, the session goes on.

use std::fs;
use std::path::Path;

use plimsoll_testbed::{ModelAnswer, Outcome, Prompt, Script};

use crate::bed::{Bed, agent, bash, shown};

/// A session far over every line that makes a file and starts a subagent.
fn working() -> Bed {
    let script = Script::new()
        .main([
            bash("sleep 0.3; echo made > made").prompt_tokens(190_000),
            agent().prompt_tokens(190_200),
            ModelAnswer::text("all done").prompt_tokens(190_400),
        ])
        .subagent("SUBTASK", [ModelAnswer::text("counted")]);
    Bed::new(script)
}

/// Runs a prompt to the same end as without any hook.
#[track_caller]
fn undisturbed(bed: &Bed, prompt: Prompt<'_>) -> Outcome {
    let outcome = prompt.run();
    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(outcome.text(), "all done");
    assert_eq!(fs::read_to_string(bed.sandbox.project().join("made")).unwrap(), "made\n");
    assert_eq!(bed.server.main_turns().len(), 3);
    assert_eq!(bed.server.subagent_turns().len(), 1);
    outcome
}

#[test]
fn a_session_goes_on_when_nothing_can_be_remembered() {
    let bed = working();
    let file = bed.sandbox.home().join("file");
    fs::write(&file, "not a folder").unwrap();

    undisturbed(&bed, bed.prompt("go").env("PLIMSOLL_DATA_DIR", file.join("data")));

    assert_eq!(bed.heard_at_last(), [""; 0], "what is not remembered would be said at every call");
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
}

#[test]
fn a_session_goes_on_without_the_hooks_program() {
    let bed = working();
    bed.install(Path::new("/nowhere/plimsoll"));

    undisturbed(&bed, bed.prompt("go"));

    assert_eq!(bed.heard_at_last(), [""; 0]);
}

#[test]
fn a_session_goes_on_when_plimsoll_panics() {
    let bed = working();

    undisturbed(&bed, bed.prompt("SECRET go").env("PLIMSOLL_TEST_PANIC", "1"));

    assert_eq!(bed.heard_at_last(), [""; 0]);
    let log = fs::read_to_string(bed.data().join("hook.log")).unwrap();
    // Start, prompt, two tools, the guard, end.
    assert_eq!(log.lines().count(), 6, "{log}");
    assert!(log.lines().all(|line| line.contains("panicked at ") && line.contains("hook/mod.rs")));
    assert!(!log.contains("SECRET") && !log.contains("asked to"), "{log}");
}

#[test]
fn plimsoll_switched_off_says_nothing_at_any_load() {
    let bed = working();

    let prompt = bed.prompt("go").env("PLIMSOLL", "off").env("PLIMSOLL_CONTEXT_STRICT", "on");
    let outcome = undisturbed(&bed, prompt);

    assert_eq!(bed.heard_at_last(), [""; 0]);
    assert_eq!(shown(&outcome.transcript()), [""; 0]);
    assert!(!bed.data().exists());
}

#[test]
fn a_session_without_a_transcript_goes_on_unmeasured() {
    let bed = working();

    undisturbed(&bed, bed.prompt("go").arg("--no-session-persistence"));

    assert_eq!(bed.heard_at_last(), [""; 0]);
    assert!(!bed.data().join("hook.log").exists());
}

#[test]
fn a_config_that_is_no_config_changes_nothing() {
    let bed = working();
    fs::write(bed.sandbox.project().join(".plimsoll.yaml"), "lines: [this is: not it").unwrap();

    undisturbed(&bed, bed.prompt("go"));

    assert!(bed.heard_at_last().contains(&"CONTEXT: ~95% used. Session saved.".to_owned()));
}
