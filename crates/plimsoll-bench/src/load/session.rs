//! A simulated session: it runs tools, fills its window and compacts, repeatedly.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use plimsoll_core::time::utc;
use serde_json::{Value, json};

use super::SESSIONS;

/// Prompt tokens after a compaction.
const FIRST: u64 = 30_000;
/// Tokens that each step adds.
const STEP: u64 = 1_500;
/// Prompt tokens at which the client compacts.
const FULL: u64 = 167_000;
/// Number of projects that the sessions are spread over.
pub(super) const PROJECTS: usize = 8;

pub(super) struct SimulatedSession {
    name: String,
    home: PathBuf,
    project: PathBuf,
    transcript: PathBuf,
    steps: u64,
    prompt: u64,
}

/// Hook durations in milliseconds, and failures.
#[derive(Default)]
pub(super) struct HookDurations {
    pub(super) tools: Vec<f64>,
    pub(super) compactions: Vec<f64>,
    pub(super) starts: Vec<f64>,
    pub(super) lost: Vec<String>,
}

impl HookDurations {
    pub(super) fn add(&mut self, other: Self) {
        self.tools.extend(other.tools);
        self.compactions.extend(other.compactions);
        self.starts.extend(other.starts);
        self.lost.extend(other.lost);
    }
}

impl SimulatedSession {
    pub(super) fn new(home: &Path, number: usize) -> anyhow::Result<Self> {
        let name = format!("5e55{number:04}-0000-4000-8000-000000000000");
        let project = number * PROJECTS / SESSIONS;
        let folder = home.join(format!(".claude/projects/-project-{project}"));
        let project = home.join(format!("project-{project}"));
        fs::create_dir_all(&project)?;
        fs::create_dir_all(&folder)?;
        let transcript = folder.join(&name).with_extension("jsonl");
        // Each session starts at a different distance from its next compaction.
        let prompt = FIRST + (FULL - FIRST) * number as u64 / SESSIONS as u64;
        Ok(Self { name, home: home.to_owned(), project, transcript, steps: 0, prompt })
    }

    /// Returns how many times the model has answered.
    pub(super) fn answers(&self) -> u64 {
        self.steps
    }

    /// Works until `until`, one step per `period`.
    pub(super) fn work(
        &mut self,
        plimsoll: &Path,
        from: Instant,
        until: Instant,
        period: Duration,
    ) -> anyhow::Result<HookDurations> {
        let mut called = HookDurations::default();
        let mut next = from;
        while next < until {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            next += period;
            self.append_answer()?;
            called.tools.push(self.hook(plimsoll, "PostToolUse", &json!({}))?);
            if self.prompt >= FULL {
                let before = self.latest_checkpoint()?;
                let compacting = json!({"trigger": "auto"});
                called.compactions.push(self.hook(plimsoll, "PreCompact", &compacting)?);
                if self.latest_checkpoint()? == before {
                    called
                        .lost
                        .push(format!("{}: no checkpoint at step {}", self.name, self.steps));
                }
                self.append_compaction()?;
                let started = json!({"source": "compact"});
                called.starts.push(self.hook(plimsoll, "SessionStart", &started)?);
            }
        }
        Ok(called)
    }

    /// Calls a hook as the client does, and returns the duration in milliseconds.
    fn hook(&self, plimsoll: &Path, event: &str, more: &Value) -> anyhow::Result<f64> {
        let mut payload = json!({
            "session_id": self.name, "transcript_path": self.transcript, "cwd": self.project,
            "hook_event_name": event, "tool_name": "Read", "tool_input": {"file_path": "src/hull.rs"},
            "tool_response": {"type": "text"},
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            payload[name] = value.clone();
        }
        let payload = payload.to_string();
        let began = Instant::now();
        let mut child = Command::new(plimsoll)
            .arg("hook")
            .env_clear()
            .env("HOME", &self.home)
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().context("no stdin")?.write_all(payload.as_bytes())?;
        let output = child.wait_with_output()?;
        let took = began.elapsed().as_secs_f64() * 1e3;
        ensure!(output.status.success() && output.stderr.is_empty(), "{event}: {output:?}");
        Ok(took)
    }

    /// Appends an answer of the model and a tool result.
    fn append_answer(&mut self) -> anyhow::Result<()> {
        self.steps += 1;
        self.prompt += STEP;
        let (n, prompt) = (self.steps, self.prompt);
        let (session, tail) = (&self.name, self.common_fields()?);
        let result = "fn load_line(hull: &Hull) -> Depth { hull.depth() }\\n".repeat(20);
        self.append(&format!(
            r#"{{"parentUuid":null,"isSidechain":false,"message":{{"id":"msg_{session}_{n}","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"tool_use","id":"toolu_{n}","name":"Edit","input":{{"file_path":"src/hull_{n}.rs","old_string":"a","new_string":"b"}}}}],"stop_reason":"tool_use","usage":{{"input_tokens":{prompt},"output_tokens":60}}}},"type":"assistant","uuid":"{session}-a{n}",{tail}}}
{{"parentUuid":"{session}-a{n}","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{n}","content":"{result}"}}]}},"uuid":"{session}-b{n}",{tail}}}
"#
        ))
    }

    /// Appends a compaction boundary and its summary.
    fn append_compaction(&mut self) -> anyhow::Result<()> {
        let (n, before) = (self.steps, self.prompt);
        self.prompt = FIRST;
        let (session, tail) = (&self.name, self.common_fields()?);
        self.append(&format!(
            r#"{{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"{session}-c{n}","compactMetadata":{{"trigger":"auto","preTokens":{before}}},{tail}}}
{{"parentUuid":"{session}-c{n}","isSidechain":false,"type":"user","isCompactSummary":true,"message":{{"role":"user","content":"What was done so far."}},"uuid":"{session}-d{n}",{tail}}}
"#
        ))
    }

    fn common_fields(&self) -> anyhow::Result<String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
        let (session, project) = (&self.name, self.project.display());
        Ok(format!(
            r#""timestamp":"{}","cwd":"{project}","sessionId":"{session}","version":"2.1.325""#,
            utc(now)
        ))
    }

    fn append(&self, lines: &str) -> anyhow::Result<()> {
        let mut file = File::options().append(true).create(true).open(&self.transcript)?;
        Ok(file.write_all(lines.as_bytes())?)
    }

    /// Returns the id of the session's latest checkpoint, according to its spool.
    fn latest_checkpoint(&self) -> anyhow::Result<Option<String>> {
        let spool = self.home.join(".local/share/plimsoll/spool").join(&self.name);
        let text = match fs::read_to_string(spool.with_extension("jsonl")) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let last: Value = serde_json::from_str(text.lines().last().unwrap_or("null"))?;
        Ok(last["state"]["sealed"]["id"].as_str().map(str::to_owned))
    }

    /// Returns the session's checkpoints on disk, and verifies the latest one recorded in the
    /// spool.
    pub(super) fn checkpoints(
        &self,
        plimsoll: &Path,
        lost: &mut Vec<String>,
    ) -> anyhow::Result<Vec<String>> {
        let folder = self.project.join(".claude/checkpoints");
        if let Some(id) = self.latest_checkpoint()? {
            let verified = Command::new(plimsoll)
                .args(["checkpoint", "verify"])
                .arg(folder.join(&id).with_extension("md"))
                .env_clear()
                .env("HOME", &self.home)
                .current_dir(&self.project)
                .output()?;
            if !verified.status.success() {
                lost.push(format!("{id}: {}", String::from_utf8_lossy(&verified.stderr)));
            }
        }
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let ids = files.filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()));
        Ok(ids.filter(|id| id.contains(&self.name[..8])).collect())
    }
}
