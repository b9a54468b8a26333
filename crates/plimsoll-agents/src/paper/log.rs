//! The paper agent's log: one record a line, each continuing the one before.

use std::borrow::Cow;

use plimsoll_core::entry::{Boundary, Entry, EntryId, Follows, Kind, ModelChange, Response};
use plimsoll_core::reading::Scope;
use plimsoll_core::time::moment;
use plimsoll_core::weight::{ClassCounter, Weight};
use plimsoll_extract::work::{ModelInput, ToolOutput, ToolUse, WorkEvent, WorkRecord};

use crate::json::Json;

fn record_of(line: &[u8]) -> Option<(&str, Json<'_>)> {
    let (record, _) = Json::first(line)?;
    Some((record.get("t")?.plain()?, record))
}

pub(super) fn entry(line: &[u8], scope: Scope) -> Option<Entry<'_>> {
    let (kind, fields) = record_of(line).filter(|_| scope == Scope::Main)?;
    let number = |name: &str| fields.get(name).and_then(Json::number);
    let text = |name: &str| fields.get(name).and_then(Json::plain);
    let kind = match kind {
        "start" => Kind::Link,
        "model" => Kind::ModelChange(ModelChange { model: text("name"), window: number("window") }),
        "user" => Kind::Prompt,
        "say" | "call" => Kind::Attachment,
        "result" => Kind::ToolResult,
        "usage" => Kind::Response(Response {
            message: EntryId::new(text("turn")?.as_bytes()),
            model: None,
            window: None,
            long_context: false,
            prompt_tokens: number("in")?,
            output_tokens: number("out")?,
            complete: true,
            block: Some(0),
        }),
        "compacted" => Kind::Boundary(Boundary {
            automatic: fields.get("auto").is_some_and(Json::is_true),
            tokens_before: number("before"),
            tokens_after: None,
        }),
        "summary" => Kind::Summary,
        _ => return None,
    };
    let follows = match kind {
        Kind::Boundary(_) => Follows::Nothing,
        _ => Follows::Previous,
    };
    let time = fields.get("at").and_then(Json::escaped).and_then(moment);
    // The time of a compaction is its name.
    let id = text("at").filter(|_| matches!(kind, Kind::Boundary(_)));
    let id = id.map(|at| EntryId::new(at.as_bytes()));
    Some(Entry { id, follows, time, version: Some("1.0.0"), kind })
}

pub(super) fn weigh(line: &[u8]) -> Weight {
    let mut weight = Weight::default();
    let Some((kind, fields)) = record_of(line) else { return weight };
    let mut counter = ClassCounter::default();
    if let Some(text) = fields.get("text").and_then(Json::text) {
        counter.add(text.as_bytes());
    }
    match kind {
        "user" => weight.said_text = counter.classes(),
        "summary" => weight.model_text = counter.classes(),
        // The usage line that follows has counted them; until then they are estimated like results.
        "say" | "call" | "result" => weight.tool_text = counter.classes(),
        _ => {}
    }
    weight
}

pub(super) fn record(line: &[u8], scope: Scope) -> Option<WorkRecord<'_>> {
    let (kind, fields) = record_of(line).filter(|_| scope == Scope::Main)?;
    let text = || fields.get("text").and_then(Json::text);
    let act = match kind {
        "user" => WorkEvent::UserPrompt(text()?),
        "say" => WorkEvent::ModelText(text()?),
        "call" => WorkEvent::ToolCall { call: fields.get("id")?.plain()?, tool: tool(fields)? },
        "result" => WorkEvent::ToolResult {
            call: fields.get("id")?.plain()?,
            failed: !fields.get("ok").is_some_and(Json::is_true),
            said: ToolOutput::new(fields.get("text").map_or(&b""[..], Json::raw), result),
            changes: Vec::new(),
            step: None,
        },
        "compacted" => WorkEvent::Compaction,
        _ => return None,
    };
    Some(WorkRecord {
        is_prompt: kind == "user",
        advances: kind != "compacted",
        time: fields.get("at").and_then(Json::escaped).and_then(moment),
        events: vec![act],
        ..WorkRecord::default()
    })
}

fn tool<'a>(fields: Json<'a>) -> Option<ToolUse<'a>> {
    let field = |name: &str| fields.get(name).and_then(Json::text);
    Some(match fields.get("tool")?.plain()? {
        "write" => ToolUse::Write { path: field("path")?, text: field("text").unwrap_or_default() },
        "shell" => ToolUse::Shell { command: field("text")? },
        name => {
            ToolUse::Other { name, path: field("path"), texts: field("text").into_iter().collect() }
        }
    })
}

fn result(raw: &[u8]) -> Cow<'_, str> {
    Json::first(raw).and_then(|(json, _)| json.text()).unwrap_or_default()
}

pub(super) fn shown(line: &[u8], scope: Scope) -> Option<ModelInput<'_>> {
    let (kind, fields) = record_of(line).filter(|_| scope == Scope::Main)?;
    let text = || fields.get("text").and_then(Json::text);
    match kind {
        "user" | "result" => Some(ModelInput::Texts(text().into_iter().collect())),
        "summary" => Some(ModelInput::Summary(text()?)),
        "compacted" => Some(ModelInput::Compacted { kept_from: None }),
        _ => None,
    }
}

pub(super) fn folder(line: &[u8]) -> Option<String> {
    let (_, fields) = record_of(line)?;
    Some(fields.get("cwd")?.text()?.into_owned())
}
