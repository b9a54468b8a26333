//! Turns Claude Code's transcript records into entries.
//!
//! Every hook call does this for the last few records. It reads each record once and decodes
//! nothing that is not needed.

use plimsoll_core::Tokens;
use plimsoll_core::entry::{Boundary, Entry, EntryId, Follows, Kind, Response};
use plimsoll_core::reading::Scope;
use plimsoll_core::time::moment;

use super::transcript::is_conversation;
use crate::json::{Json, Members};

pub(super) fn entry(bytes: &[u8], scope: Scope) -> Option<Entry<'_>> {
    let record = Record::read(bytes, scope)?;
    Some(Entry {
        id: record.id,
        follows: Follows::parent(record.parent),
        time: record.time.and_then(Json::escaped).and_then(moment),
        version: record.version.and_then(Json::plain),
        kind: record.into_kind(),
    })
}

#[derive(Default)]
struct Record<'a> {
    kind: &'a [u8],
    id: Option<EntryId>,
    parent: Option<EntryId>,
    sidechain: bool,
    meta: bool,
    api_error: bool,
    summary: bool,
    subtype: &'a [u8],
    time: Option<Json<'a>>,
    version: Option<Json<'a>>,
    requested_model: Option<Json<'a>>,
    block: Option<Json<'a>>,
    compaction: Option<Json<'a>>,
    message: Message<'a>,
}

impl<'a> Record<'a> {
    /// Reads a record that belongs to the conversation of `scope`. The field that decides this is
    /// near the start, so a subagent's long records cost nothing.
    fn read(bytes: &'a [u8], scope: Scope) -> Option<Self> {
        let mut record = Self::default();
        let mut members = Members::of(bytes)?;
        while let Some(key) = members.key() {
            match key {
                b"message" => record.message = Message::read(&mut members)?,
                _ => record.take(key, members.value()?, scope)?,
            }
        }
        let is_whole = members.ended() && !record.kind.is_empty();
        (is_whole && scope.holds(record.sidechain)).then_some(record)
    }

    /// Stores a field; `None` if the record is not needed.
    #[inline]
    fn take(&mut self, key: &[u8], value: Json<'a>, scope: Scope) -> Option<()> {
        match key {
            b"type" => self.kind = value.escaped().filter(|kind| is_conversation(kind))?,
            b"isSidechain" => {
                self.sidechain = value.is_true();
                return scope.holds(self.sidechain).then_some(());
            }
            b"uuid" => self.id = value.escaped().map(EntryId::new),
            b"parentUuid" => self.parent = value.escaped().map(EntryId::new),
            b"isMeta" => self.meta = value.is_true(),
            b"isApiErrorMessage" => self.api_error = value.is_true(),
            b"isCompactSummary" => self.summary = value.is_true(),
            b"subtype" => self.subtype = value.escaped().unwrap_or_default(),
            b"timestamp" => self.time = Some(value),
            b"version" => self.version = Some(value),
            b"requestedModel" => self.requested_model = Some(value),
            b"apiBlockIndex" => self.block = Some(value),
            b"compactMetadata" => self.compaction = Some(value),
            _ => {}
        }
        Some(())
    }

    fn into_kind(self) -> Kind<'a> {
        match self.kind {
            b"assistant" => self.response().map_or(Kind::Link, Kind::Response),
            b"user" if self.summary => Kind::Summary,
            b"user" if self.message.has_result => Kind::ToolResult,
            b"user" if self.meta => Kind::Attachment,
            b"user" => Kind::Prompt,
            b"attachment" => Kind::Attachment,
            b"system" if self.subtype == b"compact_boundary" => Kind::Boundary(self.boundary()),
            _ => Kind::Link,
        }
    }

    /// Returns the response that a record is a block of. Messages that the client wrote itself,
    /// such as errors, have no usage or an empty one, and only link the chain.
    fn response(&self) -> Option<Response<'a>> {
        let Message { id, model, complete, usage, .. } = &self.message;
        let model = model.and_then(Json::plain)?;
        let is_the_models = model != "<synthetic>" && !self.api_error;
        let prompt_tokens = usage.prompt_tokens();
        (is_the_models && prompt_tokens > 0).then_some(Response {
            message: id.and_then(Json::escaped).map(EntryId::new)?,
            model: Some(model),
            window: None,
            // `model` does not include the mark.
            long_context: self
                .requested_model
                .and_then(Json::escaped)
                .is_some_and(|model| model.ends_with(b"[1m]")),
            prompt_tokens,
            output_tokens: usage.output,
            complete: *complete,
            block: self.block.and_then(Json::number),
        })
    }

    fn boundary(&self) -> Boundary {
        let field = |key| self.compaction.and_then(|compaction| compaction.get(key));
        Boundary {
            automatic: field("trigger").and_then(Json::plain) == Some("auto"),
            tokens_before: field("preTokens").and_then(Json::number),
            tokens_after: field("postTokens").and_then(Json::number),
        }
    }
}

/// A message to or from the model.
#[derive(Default)]
struct Message<'a> {
    id: Option<Json<'a>>,
    model: Option<Json<'a>>,
    complete: bool,
    usage: Usage,
    /// Whether one of its blocks is a tool result.
    has_result: bool,
}

impl<'a> Message<'a> {
    fn read(members: &mut Members<'a>) -> Option<Self> {
        let mut message = Self::default();
        members.each(|key, members| {
            match key {
                b"content" => message.has_result = has_result(members)?,
                b"usage" => message.usage = Usage::read(members)?,
                _ => message.take(key, members.value()?),
            }
            Some(())
        })?;
        Some(message)
    }

    fn take(&mut self, key: &[u8], value: Json<'a>) {
        match key {
            b"id" => self.id = Some(value),
            b"model" => self.model = Some(value),
            b"stop_reason" => self.complete = !value.is_null(),
            _ => {}
        }
    }
}

/// Returns whether one of the blocks is a tool result.
fn has_result(content: &mut Members<'_>) -> Option<bool> {
    let mut found = false;
    content.each_element(|part| {
        part.each(|key, members| {
            let value = members.value()?;
            found |= key == b"type" && value.escaped() == Some(b"tool_result");
            Some(())
        })
    })?;
    Some(found)
}

#[derive(Clone, Copy, Default)]
struct Usage {
    input: Tokens,
    cache_read: Tokens,
    cache_creation: Tokens,
    output: Tokens,
}

impl Usage {
    /// Reads the usage of a response. If the service ran tools itself, the totals cover several
    /// prompts, and only the last iteration shows the window.
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (mut usage, mut iterations, mut last) = (Self::default(), 0, None);
        members.each(|key, members| match key {
            b"iterations" => members.each_element(|iteration| {
                (iterations, last) = (iterations + 1, iteration.value());
                last.map(drop)
            }),
            _ => members.value().map(|value| usage.take(key, value)),
        })?;
        Some(last.filter(|_| iterations > 1).map_or(usage, Self::of))
    }

    fn of(iteration: Json<'_>) -> Self {
        let mut usage = Self::default();
        iteration.members().for_each(|(key, value)| usage.take(key, value));
        usage
    }

    fn take(&mut self, key: &[u8], value: Json<'_>) {
        let figure = match key {
            b"input_tokens" => &mut self.input,
            b"cache_read_input_tokens" => &mut self.cache_read,
            b"cache_creation_input_tokens" => &mut self.cache_creation,
            b"output_tokens" => &mut self.output,
            _ => return,
        };
        *figure = value.number().unwrap_or(0);
    }

    fn prompt_tokens(&self) -> Tokens {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_creation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_iterations_is_the_window() {
        let prompt = |usage: &str| {
            let line = format!(r#"{{"usage":{usage}}}"#);
            let mut members = Members::of(line.as_bytes()).unwrap();
            assert_eq!(members.key(), Some(&b"usage"[..]));
            Usage::read(&mut members).unwrap().prompt_tokens()
        };
        assert_eq!(prompt(r#"{"input_tokens":900,"iterations":[{"input_tokens":1}]}"#), 900);
        let twice =
            r#"{"input_tokens":900,"iterations":[{"input_tokens":400},{"input_tokens":500}]}"#;
        assert_eq!(prompt(twice), 500);
        assert_eq!(prompt(r#"{"input_tokens":900,"iterations":null}"#), 900);
    }
}
