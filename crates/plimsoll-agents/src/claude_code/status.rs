//! What Claude Code tells its status line.

use plimsoll_core::Tokens;
use plimsoll_core::event::{SessionId, Status};
use serde::Deserialize;

use crate::BadPayload;

/// The payload, as far as we have a use for it.
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
    /// The current prompt, not a sum.
    #[serde(default)]
    total_input_tokens: Tokens,
    /// Of the last response.
    #[serde(default)]
    total_output_tokens: Tokens,
}

/// The model's name carries this where a long context was asked for; transcripts leave it out.
const LONG_CONTEXT: &str = "[1m]";

pub(super) fn read(payload: &[u8]) -> Result<Status, BadPayload> {
    let payload: Payload = serde_json::from_slice(payload)
        .map_err(|_| BadPayload("the payload is none of a status line"))?;
    let session =
        SessionId::new(&payload.session_id).ok_or(BadPayload("the payload names no session"))?;
    let counted = &payload.context_window;
    // Before the first response and right after a compaction the client says 0.
    let used = counted.total_input_tokens.saturating_add(counted.total_output_tokens);
    Ok(Status {
        session,
        project: payload.workspace.project_dir.into(),
        long_context: payload.model.id.ends_with(LONG_CONTEXT),
        model: payload.model.id.trim_end_matches(LONG_CONTEXT).to_owned(),
        version: payload.version,
        window: counted.context_window_size,
        used: (counted.total_input_tokens > 0).then_some(used),
    })
}
