//! Sessions with a past: prompts, tools, compactions.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_core::time::utc;
use serde_json::{Value, json};

use crate::env::TestEnv;

/// A transcript that is told turn by turn.
pub(crate) struct Story {
    folder: String,
    model: &'static str,
    text: String,
    count: u64,
    /// When the next line is written.
    time: i64,
    step: i64,
}

impl Story {
    /// A story that began so many minutes ago; a line comes every `step` seconds.
    pub(crate) fn new(env: &TestEnv, model: &'static str, minutes: i64, step: i64) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
        let folder = env.project().to_str().unwrap().to_owned();
        let time = now - minutes * 60_000;
        Self { folder, model, text: String::new(), count: 0, time, step: step * 1000 }
    }

    /// The user says something.
    pub(crate) fn asked(&mut self, text: &str) -> &mut Self {
        self.line("user", json!({"message": {"role": "user", "content": text}}))
    }

    /// The agent uses a tool, which gives this back; then the window holds so much.
    pub(crate) fn used(&mut self, tool: &str, input: Value, result: &str, held: u64) -> &mut Self {
        let call = format!("toolu_{}", self.count);
        let block = json!({"type": "tool_use", "id": call, "name": tool, "input": input});
        self.answer(block, held);
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": result});
        self.line("user", json!({"message": {"role": "user", "content": [block]}}))
    }

    /// The model says something, and the window holds so much.
    pub(crate) fn said(&mut self, text: &str, held: u64) -> &mut Self {
        self.answer(json!({"type": "text", "text": text}), held)
    }

    /// The client compacts by itself.
    pub(crate) fn compacted(&mut self, before: u64, after: u64) -> &mut Self {
        let told = json!({"trigger": "auto", "preTokens": before, "postTokens": after});
        let boundary = json!({"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": told});
        self.line("system", boundary);
        let summary =
            "This session is being continued: the hull was mended, and tests are to be run.";
        let summary = json!({"role": "user", "content": summary});
        self.line("user", json!({"isCompactSummary": true, "message": summary}))
    }

    fn answer(&mut self, block: Value, held: u64) -> &mut Self {
        let id = format!("msg_{}", self.count);
        let usage = json!({"input_tokens": 3, "cache_creation_input_tokens": 400,
            "cache_read_input_tokens": held - 443, "output_tokens": 40});
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": self.model,
            "content": [block], "stop_reason": "end_turn", "usage": usage});
        self.line("assistant", json!({"message": message}))
    }

    fn line(&mut self, kind: &str, mut record: Value) -> &mut Self {
        let name = |count: u64| format!("00000000-0000-4000-8000-{count:012}");
        let parent = (self.count > 0).then(|| name(self.count));
        self.count += 1;
        let more = json!({"type": kind, "parentUuid": parent, "uuid": name(self.count),
            "isSidechain": false, "timestamp": utc(self.time), "cwd": self.folder,
            "sessionId": "s", "version": "2.1.325", "gitBranch": "main", "userType": "external"});
        let record = record.as_object_mut().unwrap();
        record.extend(more.as_object().unwrap().clone());
        let _ = writeln!(self.text, "{}", json!(record));
        self.time += self.step;
        self
    }

    /// Writes it down as the transcript of a session.
    pub(crate) fn of(&self, env: &TestEnv, session: &str) {
        env.session(session).write(&self.text);
    }
}
