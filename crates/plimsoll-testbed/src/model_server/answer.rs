//! Answers of the scripted model, independent of the API's wire format.

use std::time::Duration;

use serde_json::Value;

/// Token counts that the API reports with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerUsage {
    /// Prompt tokens that were neither read from the cache nor written to it.
    pub input: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_creation: u64,
    /// Tokens of the answer.
    pub output: u64,
}

impl AnswerUsage {
    /// Returns the usage of a prompt of `tokens` tokens, nearly all read from the cache, with a
    /// short answer.
    pub fn of_prompt(tokens: u64) -> Self {
        let input = tokens.min(3);
        Self { input, cache_read: tokens - input, cache_creation: 0, output: 20 }
    }

    /// Returns the tokens of the whole prompt.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_creation
    }
}

/// One answer of the scripted model.
#[derive(Clone, Debug)]
pub struct ModelAnswer {
    pub(super) reply: AnswerContent,
    pub(super) usage: AnswerUsage,
    pub(super) pause: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum AnswerContent {
    Message(Vec<Block>),
    Error { status: u16, kind: String, message: String },
}

#[derive(Clone, Debug)]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    ToolUse { name: String, input: Value },
}

impl ModelAnswer {
    /// Says `text` and ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(Block::Text(text.into()))
    }

    /// Calls the tool `name`.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::message(Block::ToolUse { name: name.to_owned(), input })
    }

    /// Starts with a thinking block, which must be followed by text or a tool call.
    pub fn thinking(thought: impl Into<String>) -> Self {
        Self::message(Block::Thinking(thought.into()))
    }

    /// Gives a summary of the conversation, in the form that the client asks for.
    pub fn summary(text: &str) -> Self {
        Self::text(format!(
            "<analysis>\nWhat was said.\n</analysis>\n\n<summary>\n{text}\n</summary>"
        ))
    }

    /// Fails with HTTP status `status`. `kind` is the API's error type, such as `overloaded_error`.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::of(AnswerContent::Error {
            status,
            kind: kind.to_owned(),
            message: message.to_owned(),
        })
    }

    /// Fails as an overloaded API does. By default, the client retries.
    pub fn overloaded() -> Self {
        Self::error(529, "overloaded_error", "Overloaded")
    }

    /// Refuses a prompt of `tokens` tokens because the maximum is `limit`.
    pub fn prompt_too_long(tokens: u64, limit: u64) -> Self {
        let message = format!("prompt is too long: {tokens} tokens > {limit} maximum");
        Self::error(400, "invalid_request_error", &message)
    }

    /// Adds `text` to the answer.
    pub fn then_text(self, text: impl Into<String>) -> Self {
        self.then(Block::Text(text.into()))
    }

    /// Adds a call of the tool `name`. The calls of one answer run in parallel.
    pub fn then_tool(self, name: &str, input: Value) -> Self {
        self.then(Block::ToolUse { name: name.to_owned(), input })
    }

    /// Sets the token counts to report.
    pub fn usage(mut self, usage: AnswerUsage) -> Self {
        self.usage = usage;
        self
    }

    /// Reports a prompt of `tokens` tokens; see [`AnswerUsage::of_prompt`].
    pub fn prompt_tokens(self, tokens: u64) -> Self {
        self.usage(AnswerUsage::of_prompt(tokens))
    }

    /// Pauses for `pause` before each event of the stream.
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    fn message(first: Block) -> Self {
        Self::of(AnswerContent::Message(vec![first]))
    }

    fn of(reply: AnswerContent) -> Self {
        Self { reply, usage: AnswerUsage::of_prompt(20_000), pause: Duration::ZERO }
    }

    fn then(mut self, block: Block) -> Self {
        match &mut self.reply {
            AnswerContent::Message(blocks) => blocks.push(block),
            AnswerContent::Error { .. } => panic!("nothing can follow an API error in one answer"),
        }
        self
    }
}
