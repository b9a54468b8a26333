//! A request of the client, prepared for inspection by tests.

use serde_json::Value;

use super::AnswerUsage;

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// The next turn of a conversation, of the main session or of a subagent.
    Turn,
    /// A summary of a conversation that is about to be compacted.
    Summary,
    /// A request for the client's own use: a title, a probe, the verdict of a prompt hook.
    Side,
}

/// One request to the Messages API.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub body: Value,
    pub session_id: Option<String>,
    /// The subagent that sent the request. `None` for the main session.
    pub agent_id: Option<String>,
    pub kind: RequestKind,
    /// Token counts of the answer. `None` if the answer was an error.
    pub usage: Option<AnswerUsage>,
}

impl ModelRequest {
    pub(super) fn new(body: Value, header: impl Fn(&str) -> Option<String>) -> Self {
        let kind = kind(&body);
        let session_id = header("x-claude-code-session-id");
        let agent_id = header("x-claude-code-agent-id");
        Self { body, session_id, agent_id, kind, usage: None }
    }

    /// Returns true for a turn of the main conversation.
    pub fn is_main_turn(&self) -> bool {
        self.kind == RequestKind::Turn && self.agent_id.is_none()
    }

    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// Returns all text of the system prompt and the messages, including tool results.
    pub fn all_text(&self) -> String {
        [texts(&self.body["system"]), texts(&self.body["messages"])].concat().join("\n")
    }

    /// Returns the text of the first message: the prompt and the text that the client puts around
    /// it.
    pub fn first_text(&self) -> String {
        self.messages().first().map(|message| texts(message).join("\n")).unwrap_or_default()
    }

    fn messages(&self) -> &[Value] {
        messages(&self.body)
    }
}

fn kind(body: &Value) -> RequestKind {
    let last = messages(body).iter().rfind(|message| message["role"] == "user");
    let last_text = last.map(|message| texts(message).join("\n")).unwrap_or_default();
    if last_text.contains("Respond with TEXT ONLY") && last_text.contains("<summary>") {
        RequestKind::Summary
    } else if has_tools(body) && !is_agent_hook(body) {
        RequestKind::Turn
    } else {
        RequestKind::Side
    }
}

fn has_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

/// Returns true if the request comes from an `agent` hook. Such a request has tools, but no agent
/// id.
fn is_agent_hook(body: &Value) -> bool {
    texts(&body["system"]).iter().any(|text| text.starts_with("You are evaluating a "))
}

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the texts in a message, a content block, or a list of either.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => ["text", "thinking", "content"]
            .iter()
            .filter_map(|key| fields.get(*key))
            .flat_map(texts)
            .collect(),
        _ => Vec::new(),
    }
}
