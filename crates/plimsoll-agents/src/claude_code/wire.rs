//! Claude Code's hook payloads and answers, exactly as sent.

use std::borrow::Cow;
use std::path::Path;

use plimsoll_core::event::{Accepts, EventKind, Reply, SessionId};
use serde::Serialize;
use serde_json::json;

use crate::json::{Json, Members};

/// The fields of a payload that we use. All others are skipped.
#[derive(Default)]
pub(super) struct Payload<'a> {
    pub(super) session_id: Option<Cow<'a, str>>,
    pub(super) transcript_path: Option<Cow<'a, str>>,
    pub(super) cwd: Option<Cow<'a, str>>,
    pub(super) hook_event_name: Option<Cow<'a, str>>,
    pub(super) agent_id: Option<Cow<'a, str>>,
    pub(super) agent_type: Option<Cow<'a, str>>,
    pub(super) source: Option<Cow<'a, str>>,
    pub(super) tool_name: Option<Cow<'a, str>>,
    pub(super) tool_input: Option<Json<'a>>,
    pub(super) tool_response: Option<Json<'a>>,
    pub(super) error: Option<Json<'a>>,
    pub(super) is_interrupt: Option<Json<'a>>,
    pub(super) compact_summary: Option<Json<'a>>,
}

impl<'a> Payload<'a> {
    /// Parses a payload; `None` if it is not a JSON object.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut payload = Self::default();
        let mut members = Members::of(bytes)?;
        for (key, value) in members.by_ref() {
            let field = match key {
                b"session_id" => &mut payload.session_id,
                b"transcript_path" => &mut payload.transcript_path,
                b"cwd" => &mut payload.cwd,
                b"hook_event_name" => &mut payload.hook_event_name,
                b"agent_id" => &mut payload.agent_id,
                b"agent_type" => &mut payload.agent_type,
                b"source" => &mut payload.source,
                b"tool_name" => &mut payload.tool_name,
                _ => {
                    payload.keep(key, value);
                    continue;
                }
            };
            *field = value.text();
        }
        members.ended().then_some(payload)
    }
}

impl<'a> Payload<'a> {
    /// Stores a value that is decoded only if needed.
    fn keep(&mut self, key: &[u8], value: Json<'a>) {
        let field = match key {
            b"tool_input" => &mut self.tool_input,
            b"tool_response" => &mut self.tool_response,
            b"error" => &mut self.error,
            b"is_interrupt" => &mut self.is_interrupt,
            b"compact_summary" => &mut self.compact_summary,
            _ => return,
        };
        *field = Some(value);
    }
}

/// Returns the payload of a finished tool call, the most frequent event.
pub(super) fn everyday(session: &SessionId, transcript: &Path) -> Vec<u8> {
    let payload = json!({
        "session_id": session.as_str(),
        "transcript_path": transcript.to_string_lossy(),
        "cwd": "/",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": "true" },
        "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
    });
    payload.to_string().into_bytes()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    goes_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<HookSpecificOutput<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput<'a> {
    hook_event_name: &'static str,
    additional_context: &'a str,
}

/// Returns the text for stdout: one JSON object, instructions for a summary, or nothing if there is
/// nothing to say.
pub(super) fn answer(event: &EventKind, reply: &Reply) -> Vec<u8> {
    // Before a compaction the client passes stdout to the summarizer unchanged, even JSON.
    if matches!(event, EventKind::Compacting { .. }) {
        return reply.to_model.clone().unwrap_or_default().into_bytes();
    }
    let to_model = reply.to_model.as_deref().zip(injects(event));
    let answer = Answer {
        goes_on: reply.stop.as_ref().map(|_| false),
        stop_reason: reply.stop.as_deref(),
        system_message: reply.to_user.as_deref(),
        hook_specific_output: to_model.map(|(additional_context, hook_event_name)| {
            HookSpecificOutput { hook_event_name, additional_context }
        }),
    };
    let says_nothing = answer.system_message.is_none() && answer.hook_specific_output.is_none();
    if says_nothing && answer.goes_on.is_none() {
        return Vec::new();
    }
    let mut bytes = serde_json::to_vec(&answer).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Returns a refused tool call as JSON: the hook command that `init` writes drops the exit code.
pub(super) fn refusal(reason: &str) -> Vec<u8> {
    let output = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    });
    let mut bytes = json!({ "hookSpecificOutput": output }).to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Returns the event's name if the client passes context to the model at this event.
fn injects(event: &EventKind) -> Option<&'static str> {
    match event {
        EventKind::Prompted => Some("UserPromptSubmit"),
        EventKind::ToolFinished => Some("PostToolUse"),
        EventKind::Loading(_) => Some("PreToolUse"),
        EventKind::ToolFailed => Some("PostToolUseFailure"),
        EventKind::Started | EventKind::Resumed | EventKind::Cleared | EventKind::Compacted => {
            Some("SessionStart")
        }
        EventKind::Compacting { .. }
        | EventKind::Summarised(_)
        | EventKind::Stopped
        | EventKind::Ended
        | EventKind::Other => None,
    }
}

/// Returns the effects that the client supports at an event.
pub(super) fn accepts(event: &EventKind) -> Accepts {
    let to_model = injects(event).is_some() || matches!(event, EventKind::Compacting { .. });
    let refusal = matches!(event, EventKind::Loading(_));
    let stop = matches!(event, EventKind::ToolFinished | EventKind::ToolFailed);
    let to_user = !matches!(event, EventKind::Compacting { .. } | EventKind::Ended);
    Accepts { to_model, to_user, refusal, stop }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_said_in_the_words_of_the_client() {
        let reply = Reply { stop: Some("full".to_owned()), ..Reply::default() };
        let printed = String::from_utf8(answer(&EventKind::ToolFinished, &reply)).unwrap();
        assert_eq!(printed, "{\"continue\":false,\"stopReason\":\"full\"}\n");
        assert!(answer(&EventKind::ToolFinished, &Reply::default()).is_empty());
    }
}
