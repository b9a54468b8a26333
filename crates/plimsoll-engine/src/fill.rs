//! Breaks down what fills a window: the conversation since the last compaction, by origin.
//!
//! The API counts only the total. The parts are estimates, with the same rates as readings.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_agents::Agent;
use plimsoll_core::Tokens;
use plimsoll_core::entry::Kind;
use plimsoll_core::models;
use plimsoll_core::reading::Scope;
use plimsoll_core::weight::{Answer, MilliTokens, Tokenizer};
use plimsoll_extract::work::{ToolUse, WorkEvent};

use crate::jsonl::{HORIZON, JsonLines};

/// Breakdown of a window, largest parts first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// By origin.
    pub sides: Vec<Part>,
    /// By tool, arguments and results together.
    pub tools: Vec<Part>,
    /// By file that tools read or wrote.
    pub files: Vec<Part>,
    /// Whether the deadline passed before everything was read.
    pub partial: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    /// Estimated size.
    pub tokens: Tokens,
    /// Number of texts.
    pub texts: u64,
}

/// Weighs the conversation in a transcript for at most `patience`. `None` if the file does not
/// exist.
pub fn fill(
    agent: &'static dyn Agent,
    transcript: &Path,
    model: &str,
    patience: Duration,
) -> io::Result<Option<Fill>> {
    let deadline = Instant::now() + patience;
    let Some(file) = JsonLines::open(transcript)? else { return Ok(None) };
    let mut weighing =
        Weighing::new(models::tokenizer(Some(model), agent.profile().estimation.tokenizer));
    let mut lines = file.forward(start(agent, &file)?);
    let mut partial = false;
    while let Some(line) = lines.next()? {
        if Instant::now() >= deadline {
            partial = true;
            break;
        }
        weighing.take(agent, line.bytes);
    }
    Ok(Some(weighing.finish(partial)))
}

/// Returns the offset where the window's content begins: at the last compaction, or 0.
fn start(agent: &'static dyn Agent, file: &JsonLines) -> io::Result<u64> {
    let (far, mut end) = (file.len().saturating_sub(HORIZON), file.len());
    while let Some(place) = file.last_line_with(agent.transcript().compaction_mark(), far..end)? {
        let line = file.forward(place).next()?.and_then(|line| {
            let entry = agent.transcript().entry(line.bytes, Scope::Main)?;
            matches!(entry.kind, Kind::Boundary(_)).then_some(place)
        });
        if let Some(place) = line {
            return Ok(place);
        }
        end = place;
    }
    Ok(0)
}

/// Tokens and number of texts by name.
#[derive(Default)]
struct Parts(HashMap<String, (MilliTokens, u64)>);

impl Parts {
    fn add(&mut self, name: &str, tokens: MilliTokens) {
        match self.0.get_mut(name) {
            Some(part) => *part = (part.0 + tokens, part.1 + 1),
            None => drop(self.0.insert(name.to_owned(), (tokens, 1))),
        }
    }

    fn sorted(self) -> Vec<Part> {
        let part = |(name, (tokens, texts)): (String, (MilliTokens, u64))| Part {
            name,
            tokens: (tokens + 500) / 1000,
            texts,
        };
        let mut parts: Vec<Part> = self.0.into_iter().map(part).collect();
        parts.retain(|part| part.tokens > 0);
        parts.sort_by(|one, other| (other.tokens, &one.name).cmp(&(one.tokens, &other.name)));
        parts
    }
}

struct Weighing {
    tokenizer: &'static Tokenizer,
    sides: Parts,
    tools: Parts,
    files: Parts,
    /// Tool and file of each call.
    calls: HashMap<String, (String, Option<String>)>,
}

impl Weighing {
    fn new(tokenizer: &'static Tokenizer) -> Self {
        let (sides, tools, files) = (Parts::default(), Parts::default(), Parts::default());
        Self { tokenizer, sides, tools, files, calls: HashMap::new() }
    }

    fn take(&mut self, agent: &'static dyn Agent, line: &[u8]) {
        let Some(entry) = agent.transcript().entry(line, Scope::Main) else { return };
        let weight = agent.transcript().weigh(line);
        let tokens =
            self.tokenizer.added(&weight, Answer::Counted) + self.tokenizer.answer(&weight);
        let side = match entry.kind {
            Kind::Response(_) if self.called(agent, line, tokens) => "tool calls",
            Kind::Response(_) => "the model's words",
            Kind::Prompt => "prompts",
            Kind::ToolResult => {
                self.returned(agent, line, tokens);
                "tool results"
            }
            Kind::Attachment => "attachments",
            Kind::Summary => "summary",
            Kind::Boundary(_) | Kind::ModelChange(_) | Kind::Link => return,
        };
        self.sides.add(side, tokens);
    }

    /// Records the calls in a response. Returns whether there are any.
    fn called(&mut self, agent: &'static dyn Agent, line: &[u8], tokens: MilliTokens) -> bool {
        let acts = agent
            .transcript()
            .record(line, Scope::Main)
            .map(|record| record.events)
            .unwrap_or_default();
        let calls = acts.iter().filter_map(|act| match act {
            WorkEvent::ToolCall { call, tool } => Some((*call, tool)),
            _ => None,
        });
        let calls: Vec<(&str, &ToolUse<'_>)> = calls.collect();
        for (call, tool) in &calls {
            let told = (tool_name(tool).to_owned(), file(tool));
            self.count(&told, tokens / calls.len() as u64);
            self.calls.insert((*call).to_owned(), told);
        }
        !calls.is_empty()
    }

    /// Attributes tool results to their calls.
    fn returned(&mut self, agent: &'static dyn Agent, line: &[u8], tokens: MilliTokens) {
        let acts = agent
            .transcript()
            .record(line, Scope::Main)
            .map(|record| record.events)
            .unwrap_or_default();
        let calls = acts.iter().filter_map(|act| match act {
            WorkEvent::ToolResult { call, .. } | WorkEvent::CallDropped { call } => Some(*call),
            _ => None,
        });
        let calls: Vec<&str> = calls.collect();
        for call in &calls {
            let unknown = || ("other".to_owned(), None);
            let told = self.calls.get(*call).cloned().unwrap_or_else(unknown);
            self.count(&told, tokens / calls.len() as u64);
        }
    }

    fn count(&mut self, (tool, file): &(String, Option<String>), tokens: MilliTokens) {
        self.tools.add(tool, tokens);
        file.iter().for_each(|file| self.files.add(file, tokens));
    }

    fn finish(self, partial: bool) -> Fill {
        let (sides, tools) = (self.sides.sorted(), self.tools.sorted());
        Fill { sides, tools, files: self.files.sorted(), partial }
    }
}

fn tool_name<'t>(tool: &'t ToolUse<'_>) -> &'t str {
    match tool {
        ToolUse::Edit { .. } => "editing files",
        ToolUse::Write { .. } => "writing files",
        ToolUse::Read { .. } => "reading files",
        ToolUse::Shell { .. } => "shell commands",
        ToolUse::Delegate { .. } => "subagents",
        ToolUse::Plan(_) | ToolUse::AddStep { .. } | ToolUse::SetStep { .. } => "the plan",
        ToolUse::Other { name, .. } => name,
    }
}

fn file(tool: &ToolUse<'_>) -> Option<String> {
    match tool {
        ToolUse::Edit { path, .. } | ToolUse::Write { path, .. } | ToolUse::Read { path, .. } => {
            Some(path.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const LINES: &str = r#"{"type":"user","uuid":"a","message":{"role":"user","content":"please fix the leak in the hull"}}
{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m1","model":"claude-opus-4-5","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/p/hull.rs"}}],"usage":{"input_tokens":900,"output_tokens":20}}}
{"type":"user","uuid":"c","parentUuid":"b","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"fn hull() { plank(); plank(); plank(); nail(); }"}]}}
{"type":"assistant","uuid":"d","parentUuid":"c","message":{"id":"m2","model":"claude-opus-4-5","content":[{"type":"text","text":"A plank is loose."}],"usage":{"input_tokens":990,"output_tokens":9}}}
"#;

    #[test]
    fn a_window_is_taken_apart_by_side_tool_and_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(LINES.as_bytes()).unwrap();
        let agent = plimsoll_agents::DEFAULT;
        let long = Duration::from_secs(60);
        let fill = fill(agent, file.path(), "claude-opus-4-5", long).unwrap().unwrap();
        let names = |parts: &[Part]| parts.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&fill.tools), ["reading files"]);
        assert_eq!(names(&fill.files), ["/p/hull.rs"]);
        let mut sides = names(&fill.sides);
        sides.sort();
        let all = ["prompts", "the model's words", "tool calls", "tool results"];
        assert_eq!(sides, all);
        assert_eq!(fill.tools[0].texts, 2, "the call, and what came back");
        assert!(!fill.partial);
    }
}
