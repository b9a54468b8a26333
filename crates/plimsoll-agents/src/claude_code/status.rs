//! Reads the payload of Claude Code's status line.

use plimsoll_core::Tokens;
use plimsoll_core::event::{SessionId, Status};
use serde::Deserialize;

use crate::BadPayload;

/// The fields of the payload that we use.
#[derive(Deserialize)]
struct Payload {
    session_id: String,
    model: Model,
    workspace: Workspace,
    #[serde(default)]
    version: Option<String>,
    context_window: ContextWindow,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

#[derive(Deserialize)]
struct Workspace {
    project_dir: String,
}

#[derive(Deserialize)]
struct ContextWindow {
    context_window_size: Tokens,
    /// Usage of the last response. The totals beside it are equal now, but were sums over the whole
    /// session in clients before 2.1.132.
    #[serde(default)]
    current_usage: Option<Usage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Tokens,
    output_tokens: Tokens,
    cache_creation_input_tokens: Tokens,
    cache_read_input_tokens: Tokens,
}

impl Usage {
    fn prompt(&self) -> Tokens {
        let cached = self.cache_creation_input_tokens.saturating_add(self.cache_read_input_tokens);
        self.input_tokens.saturating_add(cached)
    }
}

/// Suffix of the model's name if a long context was requested. Transcripts omit it.
const LONG_CONTEXT: &str = "[1m]";

pub(super) fn read(payload: &[u8]) -> Result<Status, BadPayload> {
    let payload: Payload = serde_json::from_slice(payload)
        .map_err(|_| BadPayload("the payload is none of a status line"))?;
    let session =
        SessionId::own(&payload.session_id).ok_or(BadPayload("the payload names no session"))?;
    let counted = &payload.context_window;
    // Before the first response and right after a compaction the usage is missing, or 0.
    let usage = counted.current_usage.as_ref().filter(|usage| usage.prompt() > 0);
    Ok(Status {
        session,
        project: payload.workspace.project_dir.into(),
        long_context: payload.model.id.ends_with(LONG_CONTEXT),
        model: payload.model.id.trim_end_matches(LONG_CONTEXT).to_owned(),
        version: payload.version,
        window: counted.context_window_size,
        used: usage.map(|usage| usage.prompt().saturating_add(usage.output_tokens)),
    })
}
