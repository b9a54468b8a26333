//! Encodes an answer for the Messages API: one JSON object, or a stream of events.

use serde_json::{Value, json};
use uuid::Uuid;

use super::AnswerUsage;
use super::answer::Block;

/// Encodes the message as one object.
pub(super) fn message(model: &str, blocks: &[Block], usage: &AnswerUsage) -> Value {
    let mut message = envelope(model, usage_json(usage, usage.output));
    message["content"] = blocks.iter().map(whole_block).collect();
    message["stop_reason"] = json!(stop_reason(blocks));
    message
}

/// Encodes the message as server-sent events, each ready to be written.
pub(super) fn events(model: &str, blocks: &[Block], usage: &AnswerUsage) -> Vec<String> {
    let start = json!({ "message": envelope(model, usage_json(usage, 1)) });
    let mut events = vec![event("message_start", start)];
    for (index, block) in blocks.iter().enumerate() {
        events.extend(block_events(index, block));
    }
    let delta = json!({ "stop_reason": stop_reason(blocks), "stop_sequence": null });
    let usage = usage_json(usage, usage.output);
    events.push(event("message_delta", json!({ "delta": delta, "usage": usage })));
    events.push(event("message_stop", json!({})));
    events
}

/// Encodes the body of a failed call.
pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

/// Returns a new id in the API's format. Ids are unique, because transcript readers count by them.
pub(super) fn id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::now_v7().simple())
}

fn envelope(model: &str, usage: Value) -> Value {
    json!({
        "id": id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    })
}

fn usage_json(usage: &AnswerUsage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_creation,
        "output_tokens": output,
    })
}

fn stop_reason(blocks: &[Block]) -> &'static str {
    let calls_a_tool = blocks.iter().any(|block| matches!(block, Block::ToolUse { .. }));
    if calls_a_tool { "tool_use" } else { "end_turn" }
}

fn whole_block(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Thinking(thought) => {
            json!({ "type": "thinking", "thinking": thought, "signature": SIGNATURE })
        }
        Block::ToolUse { name, input } => {
            json!({ "type": "tool_use", "id": id("toolu"), "name": name, "input": input })
        }
    }
}

/// Encodes one content block as start, delta and stop events.
fn block_events(index: usize, block: &Block) -> Vec<String> {
    let mut empty = whole_block(block);
    let deltas = match block {
        Block::Text(text) => {
            empty["text"] = json!("");
            vec![json!({ "type": "text_delta", "text": text })]
        }
        Block::Thinking(thought) => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            vec![
                json!({ "type": "thinking_delta", "thinking": thought }),
                json!({ "type": "signature_delta", "signature": SIGNATURE }),
            ]
        }
        Block::ToolUse { input, .. } => {
            empty["input"] = json!({});
            vec![json!({ "type": "input_json_delta", "partial_json": input.to_string() })]
        }
    };
    let start = json!({ "index": index, "content_block": empty });
    let mut events = vec![event("content_block_start", start)];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| event("content_block_delta", json!({ "index": index, "delta": delta }))),
    );
    events.push(event("content_block_stop", json!({ "index": index })));
    events
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}

const SIGNATURE: &str = "c2lnbmVk";
