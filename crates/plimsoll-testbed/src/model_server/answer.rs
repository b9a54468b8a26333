//! What the scripted model says, before it is put into the API's words.

use std::time::Duration;

use serde_json::Value;

/// The token figures the API reports with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens that were neither read from the cache nor written to it.
    pub input: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_creation: u64,
    /// Tokens of the answer.
    pub output: u64,
}

impl Usage {
    /// A prompt of `tokens` tokens, nearly all of it read from the cache, and a short answer.
    pub fn of_prompt(tokens: u64) -> Self {
        let input = tokens.min(3);
        Self { input, cache_read: tokens - input, cache_creation: 0, output: 20 }
    }

    /// Tokens of the whole prompt.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_creation
    }
}

/// One answer of the scripted model.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) reply: Reply,
    pub(super) usage: Usage,
    pub(super) pause: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum Reply {
    Message(Vec<Block>),
    Error { status: u16, kind: String, message: String },
}

#[derive(Clone, Debug)]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    ToolUse { name: String, input: Value },
}

impl Answer {
    /// Says `text` and ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(Block::Text(text.into()))
    }

    /// Calls the tool `name`.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::message(Block::ToolUse { name: name.to_owned(), input })
    }

    /// Thinks first; something has to follow.
    pub fn thinking(thought: impl Into<String>) -> Self {
        Self::message(Block::Thinking(thought.into()))
    }

    /// A summary of the conversation, in the form the client asks for.
    pub fn summary(text: &str) -> Self {
        Self::text(format!(
            "<analysis>\nWhat was said.\n</analysis>\n\n<summary>\n{text}\n</summary>"
        ))
    }

    /// The API fails with `status`; `kind` is its word for it, such as `overloaded_error`.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::of(Reply::Error { status, kind: kind.to_owned(), message: message.to_owned() })
    }

    /// The API has too much to do. The client tries again unless told how often it may.
    pub fn overloaded() -> Self {
        Self::error(529, "overloaded_error", "Overloaded")
    }

    /// The API refuses a prompt of `tokens` tokens, `limit` being the most it takes.
    pub fn prompt_too_long(tokens: u64, limit: u64) -> Self {
        let message = format!("prompt is too long: {tokens} tokens > {limit} maximum");
        Self::error(400, "invalid_request_error", &message)
    }

    /// Then says `text`.
    pub fn then_text(self, text: impl Into<String>) -> Self {
        self.then(Block::Text(text.into()))
    }

    /// Then calls the tool `name`; calls of one answer run in parallel.
    pub fn then_tool(self, name: &str, input: Value) -> Self {
        self.then(Block::ToolUse { name: name.to_owned(), input })
    }

    /// Reports these figures.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Reports a prompt of `tokens` tokens, see [`Usage::of_prompt`].
    pub fn prompt_tokens(self, tokens: u64) -> Self {
        self.usage(Usage::of_prompt(tokens))
    }

    /// Waits for `pause` before each event of the stream.
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    fn message(first: Block) -> Self {
        Self::of(Reply::Message(vec![first]))
    }

    fn of(reply: Reply) -> Self {
        Self { reply, usage: Usage::of_prompt(20_000), pause: Duration::ZERO }
    }

    fn then(mut self, block: Block) -> Self {
        match &mut self.reply {
            Reply::Message(blocks) => blocks.push(block),
            Reply::Error { .. } => panic!("nothing can follow an API error in one answer"),
        }
        self
    }
}
