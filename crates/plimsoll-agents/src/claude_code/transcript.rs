//! Reads the fields of Claude Code's transcript records.

use plimsoll_core::bytes;
use plimsoll_core::entry::EntryId;
use plimsoll_core::reading::Scope;
use plimsoll_core::time::moment;

use crate::Request;
use crate::json::{Fields, Json, Members};

/// The fields of a record that we use.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) kind: &'a str,
    pub(super) message: Option<Fields<'a>>,
    /// The content blocks of the message, if it has any.
    pub(super) blocks: Vec<Fields<'a>>,
    pub(super) attachment: Option<Json<'a>>,
    pub(super) rendered: Option<Json<'a>>,
    pub(super) summary: bool,
    pub(super) id: Option<EntryId>,
    pub(super) parent: Option<EntryId>,
    pub(super) meta: bool,
    pub(super) folder: Option<Json<'a>>,
    pub(super) branch: Option<Json<'a>>,
    pub(super) result: Option<Fields<'a>>,
    subtype: &'a str,
    time: Option<&'a str>,
    compaction: Option<Json<'a>>,
}

impl<'a> Line<'a> {
    /// Reads a record that belongs to a conversation, of `scope` if there is one.
    ///
    /// The field that decides this is near the start, so a subagent's long records cost nothing.
    pub(super) fn read(bytes: &'a [u8], scope: Option<Scope>) -> Option<Self> {
        let mut walk = Walk::new(bytes, scope)?;
        while let Some(key) = walk.key() {
            walk.take(key)?;
        }
        walk.end()
    }
}

/// Reads a record field by field.
pub(super) struct Walk<'a> {
    /// The fields read so far.
    pub(super) line: Line<'a>,
    /// The unread fields.
    pub(super) members: Members<'a>,
    scope: Option<Scope>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(bytes: &'a [u8], scope: Option<Scope>) -> Option<Self> {
        Some(Self { line: Line::default(), members: Members::of(bytes)?, scope })
    }

    /// Reads the next key.
    #[inline]
    pub(super) fn key(&mut self) -> Option<&'a [u8]> {
        self.members.key()
    }

    /// Stores the value of the current key; `None` if the record is not needed.
    #[inline]
    pub(super) fn take(&mut self, key: &[u8]) -> Option<()> {
        let Self { line, members, scope } = self;
        match key {
            b"message" => {
                let (message, blocks) = members.fields_with(b"content")?;
                (line.message, line.blocks) = (Some(message), blocks);
                return Some(());
            }
            b"toolUseResult" => {
                // Skip the whole file as it was before the edit.
                line.result =
                    Some(members.fields_without(b"originalFile", br#""structuredPatch":"#)?);
                return Some(());
            }
            _ => {}
        }
        let value = members.value()?;
        match key {
            b"type" => {
                line.kind = value.plain()?;
                if !is_conversation(line.kind.as_bytes()) {
                    return None;
                }
            }
            b"uuid" => line.id = value.escaped().map(EntryId::new),
            b"parentUuid" => line.parent = value.escaped().map(EntryId::new),
            b"isSidechain" if scope.is_some_and(|scope| !scope.holds(value.is_true())) => {
                return None;
            }
            b"isMeta" => line.meta = value.is_true(),
            b"isCompactSummary" => line.summary = value.is_true(),
            b"subtype" => line.subtype = value.plain().unwrap_or_default(),
            b"timestamp" => line.time = value.plain(),
            b"attachment" => line.attachment = Some(value),
            b"cwd" => line.folder = Some(value),
            b"gitBranch" => line.branch = Some(value),
            b"rendered" => line.rendered = Some(value),
            b"compactMetadata" => line.compaction = Some(value),
            _ => {}
        }
        Some(())
    }

    /// Returns the record; `None` if it has not been read to its end.
    pub(super) fn end(self) -> Option<Line<'a>> {
        (self.members.ended() && !self.line.kind.is_empty()).then_some(self.line)
    }
}

impl Line<'_> {
    pub(super) fn is_boundary(&self) -> bool {
        self.subtype == "compact_boundary"
    }

    /// Returns the first record that a compaction leaves unchanged.
    pub(super) fn kept_from(&self) -> Option<EntryId> {
        self.compaction?.get("preservedSegment")?.get("headUuid")?.escaped().map(EntryId::new)
    }

    pub(super) fn time(&self) -> Option<plimsoll_core::Millis> {
        self.time.and_then(moment)
    }
}

/// Returns whether records of this type belong to the conversation. All other types are
/// bookkeeping, and each release adds more.
pub(super) fn is_conversation(kind: &[u8]) -> bool {
    matches!(kind, b"user" | b"assistant" | b"system" | b"attachment" | b"progress")
}

/// Beginning of the name of the header that requests a million tokens.
const LONG: &[u8] = b"context-1m";

/// Reads whether a request asked for a long context.
///
/// Newer clients record each request before its answer, with the header that asks for a million
/// tokens among its `betas`. Records outside the conversation begin with their type.
pub(super) fn request(line: &[u8]) -> Request {
    let Some(mut members) = Members::of(line) else { return Request::Elsewhere };
    let Some((b"type", kind)) = members.next() else { return Request::Unrecorded };
    match kind.escaped() {
        Some(b"api-request") if !bytes::contains_once(LONG, line) => {
            Request::Recorded { long_context: false }
        }
        Some(b"api-request") => {
            let params = members.find(|(key, _)| *key == b"params").map(|(_, params)| params);
            let betas = params.and_then(|params| params.get("betas"));
            let is_long =
                |beta: Json<'_>| beta.escaped().is_some_and(|beta| beta.starts_with(LONG));
            let long_context = betas.into_iter().flat_map(Json::elements).any(is_long);
            Request::Recorded { long_context }
        }
        Some(kind) if is_conversation(kind) => Request::Unrecorded,
        _ => Request::Elsewhere,
    }
}

/// Returns the agent's working directory at a record.
pub(super) fn folder(line: &[u8]) -> Option<String> {
    text(line, b"cwd")
}

/// Returns how the client that wrote a record was started.
pub(super) fn entry_point(line: &[u8]) -> Option<String> {
    text(line, b"entrypoint")
}

/// Returns the text of one field of a record.
fn text(line: &[u8], field: &[u8]) -> Option<String> {
    let (_, value) = Members::of(line)?.find(|(key, _)| *key == field)?;
    Some(value.text()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_a_long_context_is_seen() {
        let recorded = |betas: &str| {
            let line = format!(r#"{{"type":"api-request","params":{{"betas":[{betas}]}}}}"#);
            request(line.as_bytes())
        };
        let long = recorded(r#""claude-code-20250219","context-1m-2025-08-07""#);
        assert_eq!(long, Request::Recorded { long_context: true });
        let usual = recorded(r#""claude-code-20250219""#);
        assert_eq!(usual, Request::Recorded { long_context: false });
        assert_eq!(request(br#"{"type":"tools-used"}"#), Request::Elsewhere);
        assert_eq!(request(br#"{"parentUuid":null}"#), Request::Unrecorded);
    }
}
