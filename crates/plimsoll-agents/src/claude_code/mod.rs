//! Claude Code: its hooks, its transcripts, its settings.

mod client;
mod entry;
mod hook_runs;
mod install;
mod launch;
mod shown;
mod skim;
mod status;
mod transcript;
mod weigh;
mod wire;
mod work;

use std::path::{Path, PathBuf};

use plimsoll_core::breakpoint::{self, Breakpoint};
use plimsoll_core::entry::Entry;
use plimsoll_core::event::{
    Accepts, AgentId, Event, EventKind, Load, Reply, SessionId, Status, Subagent,
};
use plimsoll_core::hook_run::HookRun;
use plimsoll_core::reading::{Estimation, Scope};
use plimsoll_core::settings::{ClientSetting, ClientSettings};
use plimsoll_core::weight::{CURRENT, Weight};
use plimsoll_extract::work::{ModelInput, WorkRecord};

use crate::install::Installer;
use crate::json::Json;
use crate::{
    Agent, BadPayload, ClientConfig, Home, HookCall, HookDialect, Launch, Launcher, Layout,
    Liveness, NotConducted, Output, Owner, Profile, Request, Running, Sample, StatusLineDialect,
    TranscriptDialect, Variables,
};
use wire::Payload;

#[derive(Debug)]
pub struct ClaudeCode;

static PROFILE: Profile = Profile {
    id: AgentId::new_static("claude-code"),
    product: "Claude Code",
    variables: Variables {
        project: Some("CLAUDE_PROJECT_DIR"),
        session: Some("CLAUDE_CODE_SESSION_ID"),
        entry_point: Some("CLAUDE_CODE_ENTRYPOINT"),
        config_folder: Some("CLAUDE_CONFIG_DIR"),
    },
    headless_entry_points: &[
        "sdk-cli",
        "sdk-ts",
        "sdk-py",
        "mcp",
        "bench",
        "claude-code-github-action",
        "remote_trigger",
        "remote_cowork_trigger",
    ],
    compact_command: "/compact",
    clear_command: "/clear",
    checkpoint_folder: ".claude/checkpoints",
    estimation: &Estimation { tokenizer: &CURRENT, overhead: 20_000, unrecorded_files: 8_200 },
    reports_compactions: true,
    unrecorded_hook_runs: Some(
        "Calls that succeed and print nothing leave no record, except at Stop.",
    ),
    plugin_variable: Some("${CLAUDE_PLUGIN_ROOT}"),
    unrecorded_flag: Some("--no-session-persistence"),
};

impl Agent for ClaudeCode {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn hooks(&self) -> &dyn HookDialect {
        self
    }

    fn transcript(&self) -> &dyn TranscriptDialect {
        self
    }

    fn client(&self) -> &dyn ClientConfig {
        self
    }

    fn installer(&self) -> &dyn Installer {
        self
    }

    fn launcher(&self) -> Option<&dyn Launcher> {
        Some(self)
    }

    fn status_line(&self) -> Option<&dyn StatusLineDialect> {
        Some(self)
    }

    fn liveness(&self) -> Option<&dyn Liveness> {
        Some(self)
    }

    fn sample(&self) -> Option<Sample> {
        // The testbed's example `capture_demo` records it again.
        let tape = include_str!("../../assets/claude-code/sample.jsonl");
        Some(Sample { tape, home: "/home/dev" })
    }
}

impl HookDialect for ClaudeCode {
    fn decode(&self, call: &HookCall<'_>) -> Result<Option<Event>, BadPayload> {
        let payload = Payload::read(call.payload).ok_or(BadPayload("the payload is not JSON"))?;
        let kind = kind(&payload);
        if kind == EventKind::Other {
            return Ok(None);
        }
        let session = payload.session_id.as_deref().and_then(SessionId::own);
        let session = session.ok_or(BadPayload("the payload names no session"))?;
        let transcript = payload.transcript_path.as_deref().filter(|path| !path.is_empty());
        let transcript =
            PathBuf::from(transcript.ok_or(BadPayload("the payload names no transcript"))?);
        let subagent = subagent(&payload)?;
        let transcript = Some(match &subagent {
            Some(subagent) => subagents(&transcript).join(format!("agent-{}.jsonl", subagent.id)),
            None => transcript,
        });
        let cwd = payload.cwd.as_deref().unwrap_or_default().into();
        let breakpoint = breakpoint(&payload);
        Ok(Some(Event { session, subagent, transcript, usage: None, cwd, kind, breakpoint }))
    }

    fn encode(&self, event: &EventKind, reply: &Reply) -> Output {
        match &reply.refusal {
            Some(reason) => Output {
                stdout: wire::refusal(reason),
                stderr: format!("{reason}\n").into_bytes(),
                exit: 2,
            },
            None => Output { stdout: wire::answer(event, reply), ..Output::default() },
        }
    }

    fn accepts(&self, event: &EventKind) -> Accepts {
        wire::accepts(event)
    }

    fn everyday_payload(&self, session: &SessionId, transcript: &Path) -> Vec<u8> {
        wire::everyday(session, transcript)
    }
}

impl TranscriptDialect for ClaudeCode {
    fn layout(&self, home: &Home<'_>) -> Layout {
        Layout { root: folder(home).join("projects"), depth: 1, folder_per_project: true }
    }

    fn owner(&self, transcript: &Path) -> Option<Owner> {
        let name = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
        let folder = transcript.parent()?;
        let stem = name(transcript)?;
        if folder.file_name()? != "subagents" {
            return Some(Owner { session: SessionId::own(&stem)?, subagent: None });
        }
        let session = SessionId::own(&name(folder.parent()?)?)?;
        Some(Owner { session, subagent: Some(SessionId::own(stem.strip_prefix("agent-")?)?) })
    }

    fn subagents(&self, transcript: &Path) -> Option<PathBuf> {
        Some(subagents(transcript))
    }

    fn entry<'a>(&self, line: &'a [u8], scope: Scope) -> Option<Entry<'a>> {
        entry::entry(line, scope)
    }

    fn skim<'a>(
        &self,
        line: &'a [u8],
        scope: Scope,
        has_only_to_end: &dyn Fn(&str) -> bool,
    ) -> Option<WorkRecord<'a>> {
        work::record(line, scope, has_only_to_end)
    }

    fn shown<'a>(&self, line: &'a [u8], scope: Scope) -> Option<ModelInput<'a>> {
        shown::shown(line, scope)
    }

    fn weigh(&self, line: &[u8]) -> Weight {
        weigh::weigh(line)
    }

    fn request(&self, line: &[u8]) -> Request {
        transcript::request(line)
    }

    fn hook_runs(&self, line: &[u8]) -> Vec<HookRun> {
        hook_runs::hook_runs(line)
    }

    fn compaction_mark(&self) -> &'static [u8] {
        b"\"compact_boundary\""
    }

    fn folder_of(&self, line: &[u8]) -> Option<String> {
        transcript::folder(line)
    }

    fn entry_point_of(&self, line: &[u8]) -> Option<String> {
        transcript::entry_point(line)
    }
}

impl ClientConfig for ClaudeCode {
    fn files(&self, home: &Home<'_>, project: &Path) -> Vec<PathBuf> {
        let own = project.join(".claude");
        vec![
            PathBuf::from("/etc/claude-code/managed-settings.json"),
            own.join("settings.local.json"),
            own.join("settings.json"),
            folder(home).join("settings.json"),
        ]
    }

    fn settings(&self, files: &[&str]) -> ClientSettings {
        client::settings(files)
    }

    fn with_environment(
        &self,
        settings: ClientSettings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> ClientSettings {
        client::environment(ClientSettings { rule: client::RULE, ..settings }, env)
    }

    fn variables(&self) -> &'static [&'static str] {
        &client::VARIABLES
    }

    fn setting_name(&self, setting: ClientSetting) -> &'static str {
        client::setting_name(setting)
    }

    fn command_folders(&self, home: &Home<'_>, project: &Path) -> Vec<PathBuf> {
        vec![project.join(".claude/commands"), folder(home).join("commands")]
    }

    fn checkpoint_index(&self, home: &Home<'_>) -> Option<PathBuf> {
        Some(folder(home).join("clc/checkpoints/index.json"))
    }
}

impl Liveness for ClaudeCode {
    fn folder(&self, home: &Home<'_>) -> PathBuf {
        folder(home).join("sessions")
    }

    fn read(&self, text: &str) -> Option<Running> {
        let (note, _) = Json::first(text.as_bytes())?;
        let session = SessionId::own(&note.get("sessionId")?.text()?)?;
        let process = i32::try_from(note.get("pid")?.number()?).ok()?;
        Some(Running { session, process })
    }
}

impl StatusLineDialect for ClaudeCode {
    fn decode(&self, payload: &[u8]) -> Result<Status, BadPayload> {
        status::read(payload)
    }
}

impl Launcher for ClaudeCode {
    fn headless_command(&self) -> &'static [&'static str] {
        &launch::HEADLESS
    }

    fn launch(&self, command: &[String]) -> Option<Result<Launch, NotConducted>> {
        launch::launch(command)
    }

    fn started(
        &self,
        command: &[String],
        session: &SessionId,
        prompt: Option<&str>,
    ) -> Vec<String> {
        launch::started(command, session, prompt)
    }
}

fn subagents(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

fn folder(home: &Home<'_>) -> PathBuf {
    home.config.map_or_else(|| home.user.join(".claude"), Path::to_owned)
}

fn kind(payload: &Payload<'_>) -> EventKind {
    match payload.hook_event_name.as_deref().unwrap_or_default() {
        "UserPromptSubmit" => EventKind::Prompted,
        "PostToolUse" => EventKind::ToolFinished,
        "PostToolUseFailure" => EventKind::ToolFailed,
        "PreToolUse" => load(payload).map_or(EventKind::Other, EventKind::Loading),
        "SessionStart" => match payload.source.as_deref() {
            Some("compact") => EventKind::Compacted,
            Some("clear") => EventKind::Cleared,
            Some("resume" | "fork") => EventKind::Resumed,
            _ => EventKind::Started,
        },
        "PreCompact" => EventKind::Compacting { certain: true },
        "PostCompact" => {
            let summary = payload.compact_summary.and_then(Json::text);
            EventKind::Summarised(summary.unwrap_or_default().into_owned())
        }
        "Stop" => EventKind::Stopped,
        "SessionEnd" => EventKind::Ended,
        _ => EventKind::Other,
    }
}

/// Returns the breakpoint that a tool call reached. Reads the output only if the command may be
/// one.
fn breakpoint(payload: &Payload<'_>) -> Option<Breakpoint> {
    let failed = payload.hook_event_name.as_deref() == Some("PostToolUseFailure");
    let is_shell = matches!(payload.tool_name.as_deref(), Some("Bash" | "PowerShell"));
    let has_ended = failed || payload.tool_response.is_some();
    let command = payload.tool_input.filter(|_| is_shell && has_ended)?.get("command")?.text()?;
    if !breakpoint::may_be(&command) {
        return None;
    }
    let response = |name: &str| payload.tool_response?.get(name);
    // A background or interrupted command has no result yet.
    if response("backgroundTaskId").is_some_and(|task| !task.is_null())
        || payload.is_interrupt.is_some_and(Json::is_true)
    {
        return None;
    }
    let said = |name: &str| response(name)?.text();
    let parts = [said("stdout"), said("stderr"), payload.error.and_then(Json::text)];
    let output = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    breakpoint::of(&command, failed, &output)
}

/// Returns the subagent or skill that a tool call loads. `Task` is the older name of `Agent`.
fn load(payload: &Payload<'_>) -> Option<Load> {
    let input = |keys: &[&str]| {
        let input = payload.tool_input?;
        keys.iter().find_map(|key| input.get(key)?.text()).map(|text| text.into_owned())
    };
    match payload.tool_name.as_deref()? {
        "Agent" | "Task" => {
            Some(Load::Agent(input(&["subagent_type"]).unwrap_or_else(|| "agent".to_owned())))
        }
        "Skill" => {
            let name = input(&["skill", "name"]).unwrap_or_default();
            let name = name.trim_start_matches('/');
            // A plugin's skill is called `plugin:skill`.
            Some(Load::Skill(name.rsplit(':').next().unwrap_or_default().to_owned()))
        }
        _ => None,
    }
}

fn subagent(payload: &Payload<'_>) -> Result<Option<Subagent>, BadPayload> {
    let Some(id) = payload.agent_id.as_deref() else { return Ok(None) };
    let id = SessionId::own(id).ok_or(BadPayload("the payload names no proper subagent"))?;
    let kind = payload.agent_type.as_deref().unwrap_or_default().to_owned();
    Ok(Some(Subagent { id, kind }))
}
