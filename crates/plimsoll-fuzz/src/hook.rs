//! Hook payloads: for any payload, the answer is empty or one that the agent understands.

use std::path::Path;

use plimsoll_agents::{Agent, BadPayload, Home, HookCall, Output};
use plimsoll_core::event::{Event, EventKind};
use plimsoll_engine::hook;
use plimsoll_engine::world::World;
use serde_json::Value;

use crate::sandbox::{Sandbox, agent};

pub(crate) fn run(input: &[u8]) {
    let agent = agent();
    if let Some(dialect) = agent.status_line() {
        let _ = dialect.decode(input);
    }
    let event = decode(agent, input);
    let Ok(mut payload) = serde_json::from_slice::<Value>(input) else { return };
    if let Ok(Some(event)) = &event {
        check_against_full_parser(event, &payload, input);
    }
    if !payload.is_object() {
        return;
    }
    let sandbox = Sandbox::new();
    let transcript = sandbox.write_file("session.jsonl", sandbox.recorded_transcript().as_bytes());
    // The paths point into the sandbox, so that no payload can touch files outside.
    payload["transcript_path"] = transcript.to_str().into();
    payload["cwd"] = sandbox.project().to_str().into();
    for world in [sandbox.env(&[]), sandbox.env(SMALL_WINDOW)] {
        answer_and_check(&world, agent, payload.to_string().into_bytes());
    }
}

fn decode(agent: &'static dyn Agent, payload: &[u8]) -> Result<Option<Event>, BadPayload> {
    let home = Home { user: Path::new("/h"), config: None };
    agent.hooks().decode(&HookCall { payload, event: None, home })
}

/// A window so small that the recorded session exceeds every threshold.
pub(crate) const SMALL_WINDOW: &[(&str, &str)] = &[("PLIMSOLL_CONTEXT_WINDOW", "20000")];

/// Checks that the partial JSON reader returns the same values as a full parser. Skips names that
/// occur twice and inputs with escapes, where the two may differ.
fn check_against_full_parser(event: &Event, payload: &Value, input: &[u8]) {
    let is_plain = |name: &str| {
        let quoted = format!("\"{name}\"");
        input.windows(quoted.len()).filter(|window| *window == quoted.as_bytes()).count() == 1
    };
    if input.contains(&b'\\') {
        return;
    }
    if is_plain("session_id") {
        assert_eq!(payload["session_id"].as_str(), Some(event.session.as_str()));
    }
    if is_plain("cwd") {
        assert_eq!(payload["cwd"].as_str().map_or(Path::new(""), Path::new), event.cwd);
    }
}

/// Answers a hook call, checks that the agent understands the answer, and records it.
pub(crate) fn answer_and_check(world: &World, agent: &'static dyn Agent, payload: Vec<u8>) {
    let Ok(Some(event)) = decode(agent, &payload) else { return };
    let answer = hook::answer(world, agent, None, payload).unwrap();
    check_output(&event.kind, &answer.output);
    answer.delivered(world).unwrap();
}

/// Checks that the output is empty, one line of JSON that the client knows, text for its
/// summarizer, or a refusal.
fn check_output(event: &EventKind, output: &Output) {
    match output.exit {
        0 => assert!(output.stderr.is_empty(), "what is allowed gives no reasons"),
        2 => assert!(!output.stdout.is_empty() && !output.stderr.is_empty()),
        exit => panic!("no client understands {exit}"),
    }
    let printed = std::str::from_utf8(&output.stdout).unwrap();
    if printed.is_empty() || matches!(event, EventKind::Compacting { .. }) {
        return;
    }
    assert_eq!(printed.matches('\n').count(), 1, "{printed}");
    let answer: Value = serde_json::from_str(printed).unwrap();
    let known = ["continue", "stopReason", "systemMessage", "hookSpecificOutput"];
    let names = answer.as_object().unwrap().keys();
    names.for_each(|name| assert!(known.contains(&name.as_str()), "{printed}"));
}
