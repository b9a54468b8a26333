//! Generates transcripts of any size in the format of Claude Code 2.1.325, together with the facts
//! that tests compare readings with.
//!
//! Record shapes and key order are the client's. Texts, sizes and token counts come from a seeded
//! random generator, so the same [`GeneratorOptions`] always produce the same bytes. The separate files of
//! sub-agents are not generated.

mod random;
mod records;

use std::io::{self, Write};

use serde_json::Value;

pub use random::SplitMix64;
use random::{POOL, code_pool, prose_pool};
use records::*;

#[derive(Clone, Debug)]
pub struct GeneratorOptions {
    /// Size in bytes at which the last turn ends. The file ends slightly above it.
    pub size: u64,
    pub seed: u64,
    pub model: String,
    pub layout: Layout,
    pub ending: Ending,
    /// Prompt tokens of the last main-chain response. If `None`, they follow from the content.
    pub prompt_tokens: Option<u64>,
}

impl Default for GeneratorOptions {
    fn default() -> Self {
        Self {
            size: 1_000_000,
            seed: 7,
            model: "claude-opus-4-6".to_owned(),
            layout: Layout::Separate,
            ending: Ending::Complete,
            prompt_tokens: None,
        }
    }
}

/// How the client arranges the records of sub-agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Client 2.1: sub-agents have their own files; requests and attachments are recorded.
    Separate,
    /// Client 2.0: sub-agents are recorded inline, as sidechains.
    Inline,
}

/// How the file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// After a finished turn.
    Complete,
    /// Inside a running inline sub-agent: at least this many sidechain records after the last main
    /// usage, then an API error, then a torn line.
    Trap(usize),
}

/// Facts about a generated transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    pub session_id: String,
    pub bytes: u64,
    /// Lines that end in a newline, so a torn last line is not counted.
    pub lines: u64,
    /// Prompt tokens of the last main-chain response.
    pub prompt_tokens: u64,
    /// Output tokens of the last main-chain response.
    pub output_tokens: u64,
    /// Model of the last main-chain response.
    pub model: String,
    pub compactions: u64,
}

/// Writes one transcript and returns the facts about it.
///
/// # Errors
///
/// Returns any error from writing to `out`.
pub fn write(out: impl Write, options: &GeneratorOptions) -> io::Result<Truth> {
    let mut session = SessionWriter::new(out, options);
    session.write_opening()?;
    while !session.write_turn()? {}
    if let Ending::Trap(records) = options.ending {
        session.write_trap(records)?;
    }
    session.out.flush()?;
    Ok(session.truth)
}

/// Tokens in the window when a session starts or has just been compacted.
const FIRST_PROMPT: f64 = 14_000.0;
/// Prompt tokens at which the client compacts.
const COMPACTS_AT: f64 = 155_000.0;
/// Tokens that a record adds to the window per byte in the file, where results appear twice.
const TOKENS_PER_BYTE: f64 = 1.0 / 7.0;

type Fields<'a> = &'a [(&'a str, &'a str)];

/// A sub-agent whose records are being written.
struct SidechainAgent {
    id: String,
    prompt: f64,
}

struct SessionWriter<'a, W> {
    out: W,
    options: &'a GeneratorOptions,
    random: SplitMix64,
    prose: String,
    code: String,
    truth: Truth,
    parent: Option<String>,
    prompt_id: String,
    millis: u64,
    /// Tokens in the main window.
    prompt: f64,
    /// How many of them are cached.
    cached: f64,
    /// Offset at which the last window begins. This window grows to the wanted reading and is not
    /// compacted.
    last_window_start: Option<u64>,
    agent: Option<SidechainAgent>,
}

impl<'a, W: Write> SessionWriter<'a, W> {
    fn new(out: W, options: &'a GeneratorOptions) -> Self {
        let mut random = SplitMix64::new(options.seed);
        let (prose, code) = (prose_pool(&mut random), code_pool(&mut random));
        let truth = Truth {
            session_id: random.uuid(),
            bytes: 0,
            lines: 0,
            prompt_tokens: 0,
            output_tokens: 0,
            model: options.model.clone(),
            compactions: 0,
        };
        Self {
            out,
            options,
            prose,
            code,
            truth,
            parent: None,
            prompt_id: random.uuid(),
            random,
            millis: 9 * 3_600_000,
            prompt: FIRST_PROMPT,
            cached: 0.0,
            last_window_start: None,
            agent: None,
        }
    }

    fn is_inline(&self) -> bool {
        self.options.layout == Layout::Inline
    }

    fn is_full(&self) -> bool {
        self.truth.bytes >= self.options.size
    }

    /// Writes a record and returns its length in bytes. A record with a uuid becomes the parent of
    /// the next.
    fn write_record(&mut self, template: &str, fields: Fields) -> io::Result<usize> {
        let (uuid, hash, time) = (self.random.uuid(), self.random.hex("", 64), self.time());
        let parent = self.parent.as_ref().map_or("null".to_owned(), |uuid| format!("\"{uuid}\""));
        let agent = self.agent.as_ref().map(|agent| format!(",\"agentId\":\"{}\"", agent.id));
        let (session, model) = (self.truth.session_id.clone(), self.options.model.clone());
        let own = [
            ("parent", parent.as_str()),
            ("side", if agent.is_some() { "true" } else { "false" }),
            ("agent", agent.as_deref().unwrap_or_default()),
            ("session", &session),
            ("model", &model),
            ("uuid", &uuid),
            ("hash", &hash),
            ("time", &time),
        ];
        let (head, tail) = if self.is_inline() { (INLINE_HEAD, "") } else { (HEAD, TAIL) };
        let (head, tail) = (self.fill(head, &own), self.fill(tail, &own));
        let frame = [("head", head.as_str()), ("tail", &tail)];
        let line = self.fill(template, &[fields, &own, &frame].concat()) + "\n";
        self.out.write_all(line.as_bytes())?;
        self.truth.bytes += line.len() as u64;
        self.truth.lines += 1;
        if template.contains("\"$uuid\"") {
            self.parent = Some(uuid);
        }
        Ok(line.len())
    }

    fn fill(&mut self, template: &str, fields: Fields) -> String {
        let mut pieces = template.split('$');
        let mut line = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let end = piece.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(piece.len());
            let (name, rest) = piece.split_at(end);
            match fields.iter().find(|(key, _)| *key == name) {
                Some((_, value)) => line += value,
                None => {
                    let length = name.strip_prefix("prose").and_then(|length| length.parse().ok());
                    line.extend(length.map(|length| self.prose(length)));
                }
            }
            line += rest;
        }
        line
    }

    fn time(&mut self) -> String {
        self.millis += self.random.between(20, 2_000) as u64;
        let (seconds, milli) = (self.millis / 1_000, self.millis % 1_000);
        let (day, hour) = (1 + seconds / 86_400, seconds / 3_600 % 24);
        let (minute, second) = (seconds / 60 % 60, seconds % 60);
        format!("2026-11-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }

    /// Adds tokens to the window of the current chain, main or sub-agent.
    fn grow(&mut self, tokens: f64) {
        match &mut self.agent {
            Some(agent) => agent.prompt += tokens,
            None => self.prompt += tokens,
        }
    }

    /// Returns the tokens in the main window. In the last window, they are interpolated from the
    /// position in the file.
    fn window_tokens(&self) -> f64 {
        let (Some(start), Some(wanted)) = (self.last_window_start, self.options.prompt_tokens)
        else {
            return self.prompt;
        };
        let (done, all) = (self.truth.bytes - start, self.options.size.saturating_sub(start));
        let first = FIRST_PROMPT.min(wanted as f64);
        first + (wanted as f64 - first) * (done as f64 / all.max(1) as f64).min(1.0)
    }

    /// Returns true, and begins the last window, if the rest of the file is just enough to fill it.
    fn begin_last_window_if_due(&mut self) -> bool {
        let left = self.options.size.saturating_sub(self.truth.bytes) as f64 * TOKENS_PER_BYTE;
        let reach = |wanted| left <= (wanted as f64 - FIRST_PROMPT).max(0.0);
        let now = self.last_window_start.is_none() && self.options.prompt_tokens.is_some_and(reach);
        if now {
            self.last_window_start = Some(self.truth.bytes);
        }
        now
    }

    fn write_opening(&mut self) -> io::Result<()> {
        self.begin_last_window_if_due();
        if self.is_inline() {
            return self.write_record(SUMMARY, &[]).map(drop);
        }
        self.write_record(MODE, &[])?;
        self.write_attachments("SessionStart:startup")
    }

    /// Writes the attachments that follow a session start or a compaction.
    fn write_attachments(&mut self, event: &str) -> io::Result<()> {
        for template in ATTACHED {
            self.write_record(template, &[("event", event)])?;
        }
        Ok(())
    }

    /// Writes a turn: a prompt, some steps and a closing answer. Returns true if it was the last
    /// one.
    fn write_turn(&mut self) -> io::Result<bool> {
        self.write_record(FILE_HISTORY, &[])?;
        self.prompt_id = self.random.uuid();
        let chars = self.random.lognormal(120.0, 1.0);
        let prompt = self.prose(chars.max(12));
        self.write_user(&prompt, "", "", None)?;
        for _ in 0..self.random.lognormal(10.0, 0.8).max(1) {
            if self.is_full() {
                break;
            }
            self.write_step()?;
            self.compact_when_due()?;
        }
        self.compact_when_due()?;
        let last = self.is_full();
        let answer = self.text_block(500.0);
        self.write_assistant(&[answer], "end_turn")?;
        if !self.is_inline() {
            self.write_record(TURN_DURATION, &[])?;
            self.write_record(LAST_PROMPT, &[("text", &prompt)])?;
            self.write_record(COST_STATE, &[])?;
        }
        Ok(last)
    }

    /// Compacts at the client's threshold, and once manually before the last window.
    fn compact_when_due(&mut self) -> io::Result<()> {
        if self.begin_last_window_if_due() {
            self.write_compaction("manual")
        } else if self.last_window_start.is_none() && self.prompt > COMPACTS_AT {
            self.write_compaction("auto")
        } else {
            Ok(())
        }
    }

    fn write_compaction(&mut self, trigger: &str) -> io::Result<()> {
        let before = (self.prompt as u64).to_string();
        let template = if self.is_inline() { INLINE_BOUNDARY } else { BOUNDARY };
        self.write_record(template, &[("trigger", trigger), ("before", &before)])?;
        self.truth.compactions += 1;
        let summary = self.fill(SUMMARY_CONTENT, &[]);
        self.write_user(&summary, SUMMARY_FLAGS, "", Some(0.0))?;
        (self.prompt, self.cached) = (FIRST_PROMPT, 0.0);
        if self.is_inline() { Ok(()) } else { self.write_attachments("SessionStart:compact") }
    }

    /// Writes one step: usually the model's answer with a tool call, then the tool's result.
    fn write_step(&mut self) -> io::Result<()> {
        let mut roll = self.random.below(1_000);
        for tool in &TOOLS {
            if roll < tool.weight {
                let too_big = self.last_window_start.is_some() && tool.content.contains("$image");
                return self.write_tool_use(if too_big { &READ } else { tool });
            }
            roll -= tool.weight;
        }
        if roll < 6 { self.write_api_error() } else { self.write_subagent_call() }
    }

    fn write_tool_use(&mut self, tool: &Tool) -> io::Result<()> {
        let path = format!("\"/home/dev/project/src/module_{}.rs\"", self.random.below(40));
        let [a, b, c] = tool.texts.map(|(median, sigma)| {
            let chars = self.random.lognormal(median, sigma);
            self.code(chars)
        });
        let image = if tool.content.contains("$image") { self.image() } else { String::new() };
        let fields = [("path", path.as_str()), ("a", &a), ("b", &b), ("c", &c), ("image", &image)];
        let input = self.fill(tool.input, &fields);
        let (content, result) = (self.fill(tool.content, &fields), self.fill(tool.result, &fields));
        let id = self.write_tool_call(tool.name, &input)?;
        self.write_tool_result(&id, &content, &result, tool.tokens)
    }

    fn image(&mut self) -> String {
        let most = (self.options.size as usize / 16).clamp(64, 380_000);
        let chars = self.random.between(most / 8, most);
        let mut data = PNG.to_owned();
        while data.len() < chars {
            data += &self.random.hex("kZ", 62);
        }
        data
    }

    /// Writes a call of a sub-agent. Only the inline layout has the sub-agent's records in this
    /// file. The `usage` in the result says nothing about this session's window.
    fn write_subagent_call(&mut self) -> io::Result<()> {
        let id = self.write_agent_call()?;
        if self.is_inline() {
            let records = self.random.between(4, 40);
            self.write_sidechain(records)?;
        }
        let usage = self.fill(USAGE, &[("created", "1234"), ("read", "45678"), ("output", "777")]);
        let content = self.fill(r#"[{"type":"text","text":$prose2500}]"#, &[]);
        let result = self.fill(AGENT_RESULT, &[("content", &content), ("usage", &usage)]);
        self.write_tool_result(&id, &content, &result, None)
    }

    fn write_agent_call(&mut self) -> io::Result<String> {
        let input = self.fill(AGENT_INPUT, &[]);
        self.write_tool_call(if self.is_inline() { "Task" } else { "Agent" }, &input)
    }

    /// Writes an inline sub-agent of at least `records` records. The main chain then continues from
    /// its previous record.
    fn write_sidechain(&mut self, records: usize) -> io::Result<()> {
        let end = self.truth.lines + records as u64;
        let main = self.parent.take();
        self.agent = Some(SidechainAgent { id: self.random.hex("a", 16), prompt: 9_000.0 });
        let prompt = self.prose(900);
        self.write_user(&prompt, "", "", None)?;
        while self.truth.lines < end {
            let tool = if self.random.percent(50) { &READ } else { &GREP };
            self.write_tool_use(tool)?;
        }
        self.agent = None;
        self.parent = main;
        Ok(())
    }

    fn write_trap(&mut self, records: usize) -> io::Result<()> {
        self.write_agent_call()?;
        self.write_sidechain(records)?;
        self.write_api_error()?;
        let model = self.options.model.clone();
        let torn = self.fill(TORN, &[("model", &model)]);
        self.out.write_all(torn.as_bytes())?;
        self.truth.bytes += torn.len() as u64;
        Ok(())
    }

    fn write_api_error(&mut self) -> io::Result<()> {
        self.write_record(API_ERROR, &[]).map(drop)
    }

    /// Writes the model's answer with a tool call, and returns the call's id.
    fn write_tool_call(&mut self, name: &str, input: &str) -> io::Result<String> {
        let mut blocks = Vec::new();
        if self.random.percent(35) {
            let (chars, length) =
                (self.random.lognormal(300.0, 0.9), self.random.between(200, 900));
            let (text, signature) = (self.prose(chars), self.random.hex("Eq", length));
            blocks.push(self.fill(THINKING, &[("text", &text), ("signature", &signature)]));
        }
        if self.random.percent(45) {
            blocks.push(self.text_block(150.0));
        }
        let id = self.random.hex("toolu_01", 22);
        blocks.push(self.fill(TOOL_USE, &[("id", &id), ("name", name), ("input", input)]));
        self.write_assistant(&blocks, "tool_use")?;
        Ok(id)
    }

    fn text_block(&mut self, median: f64) -> String {
        let chars = self.random.lognormal(median, 0.8);
        let text = self.prose(chars);
        self.fill(r#"{"type":"text","text":$text}"#, &[("text", &text)])
    }

    /// Writes one line per content block, all with the same message id and usage.
    fn write_assistant(&mut self, blocks: &[String], stop: &str) -> io::Result<()> {
        let (message, request) = (self.random.hex("msg_01", 22), self.random.hex("req_01", 22));
        let (reference, usage) = (self.random.uuid(), self.next_usage());
        if !self.is_inline() && self.agent.is_none() {
            if self.random.percent(30) {
                self.write_record(REQUEST_BLOB, &[])?;
            }
            self.write_record(REQUEST, &[("ref", &reference)])?;
        }
        let template = if self.is_inline() { INLINE_ASSISTANT } else { ASSISTANT };
        for (index, block) in blocks.iter().enumerate() {
            let fields = [
                ("message", message.as_str()),
                ("request", &request),
                ("ref", &reference),
                ("block", block),
                ("index", &index.to_string()),
                ("usage", &usage),
                ("stop", stop),
            ];
            self.write_record(template, &fields)?;
            self.grow(block.len() as f64 * TOKENS_PER_BYTE);
        }
        Ok(())
    }

    /// Returns the usage of the next response. On the main chain, it also updates the truth.
    fn next_usage(&mut self) -> String {
        let output = self.random.between(1, 1_500) as u64;
        let (prompt, cached) = match &self.agent {
            Some(agent) => (agent.prompt as u64, agent.prompt as u64 / 10 * 9),
            None => (self.window_tokens() as u64, self.cached as u64),
        };
        let read = cached.min(prompt.saturating_sub(3));
        let created = prompt.saturating_sub(3 + read);
        if self.agent.is_none() {
            self.cached = prompt as f64;
            self.truth.prompt_tokens = 3 + read + created;
            self.truth.output_tokens = output;
        }
        let template = if self.is_inline() { INLINE_USAGE } else { USAGE };
        let [created, read, output] = [created, read, output].map(|tokens| tokens.to_string());
        self.fill(template, &[("created", &created), ("read", &read), ("output", &output)])
    }

    fn write_tool_result(
        &mut self,
        id: &str,
        content: &str,
        result: &str,
        tokens: Option<f64>,
    ) -> io::Result<()> {
        let failed = if result.starts_with('"') { "true" } else { "false" };
        let fields = [("id", id), ("content", content), ("failed", failed)];
        let content = self.fill(TOOL_RESULT, &fields);
        self.write_user(&content, "", &format!(",\"toolUseResult\":{result}"), tokens)?;
        if !self.is_inline() && self.agent.is_none() && self.random.percent(40) {
            self.write_record(HOOK_SUCCESS, &[("event", "PostToolUse")])?;
        }
        Ok(())
    }

    fn write_user(
        &mut self,
        content: &str,
        flags: &str,
        result: &str,
        tokens: Option<f64>,
    ) -> io::Result<()> {
        let prompt = format!(",\"promptId\":\"{}\"", self.prompt_id);
        let prompt = if self.is_inline() { "" } else { &prompt };
        let fields =
            [("prompt", prompt), ("content", content), ("flags", flags), ("result", result)];
        let bytes = self.write_record(USER, &fields)?;
        self.grow(tokens.unwrap_or(bytes as f64 * TOKENS_PER_BYTE));
        Ok(())
    }

    /// Returns a piece of prose as a JSON string.
    fn prose(&mut self, chars: usize) -> String {
        let start = self.random.below(POOL);
        quote(piece(&self.prose, start, self.clamp_length(chars)))
    }

    /// Returns a piece of code as a JSON string.
    fn code(&mut self, chars: usize) -> String {
        let start = self.random.below(POOL);
        quote(piece(&self.code, start, self.clamp_length(chars)))
    }

    /// Limits the length of a text, so that no single text dominates a small file.
    fn clamp_length(&self, chars: usize) -> usize {
        chars.clamp(1, (self.options.size as usize / 32).max(64))
    }
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns at most `len` bytes of `pool`, starting near `start`.
fn piece(pool: &str, start: usize, len: usize) -> &str {
    let start = start.min(pool.len().saturating_sub(len));
    &pool[pool.floor_char_boundary(start)..pool.floor_char_boundary(start + len)]
}

#[cfg(test)]
mod tests;
