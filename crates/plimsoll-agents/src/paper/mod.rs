//! An agent that exists only on paper, and only in tests.
//!
//! It differs from Claude Code wherever agents differ: its log is flat and lies three folders deep, usage
//! has a line of its own, payloads name no transcript, there is no status line, no event before or after a
//! compaction, and text is counted by another tokenizer. The contract suite runs it beside the real agents,
//! so that nothing outside this crate can depend on the shape of one of them.

mod install;
mod log;

use std::path::{Path, PathBuf};

use plimsoll_core::entry::Entry;
use plimsoll_core::event::{
    Accepts, AgentId, Event, EventKind, Load, Reply, ReportedUsage, SessionId,
};
use plimsoll_core::hook_run::HookRun;
use plimsoll_core::reading::{Estimation, Scope};
use plimsoll_core::settings::{ClientSetting, ClientSettings};
use plimsoll_core::trigger::CompactionRule;
use plimsoll_core::weight::{Framing, Tokenizer, Weight};
use plimsoll_extract::work::{ModelInput, WorkRecord};
use serde_json::{Value, json};

use crate::install::Installer;
use crate::{
    Agent, BadPayload, ClientConfig, Home, HookCall, HookDialect, Layout, Output, Owner, Profile,
    Request, TranscriptDialect, Variables,
};

/// The paper agent.
#[derive(Debug)]
pub struct Paper;

/// One token for every four letters.
static TOKENIZER: Tokenizer = Tokenizer {
    classes: [0, 250, 250, 250, 250, 250],
    said_scale: 1_000,
    model_scale: 1_000,
    thinking_char: 250,
    attachment: 0,
    counted: Framing { tool_result: 0, call: 0 },
    uncounted: Framing { tool_result: 0, call: 0 },
};

const _: () = assert!(TOKENIZER.is_bounded());

static PROFILE: Profile = Profile {
    id: AgentId::new_static("paper"),
    product: "Paper",
    variables: Variables {
        project: None,
        session: Some("PAPER_SESSION"),
        entry_point: None,
        config_folder: None,
    },
    headless_entry_points: &[],
    compact_command: "/fold",
    clear_command: "/blank",
    checkpoint_folder: ".plimsoll/checkpoints",
    estimation: &Estimation { tokenizer: &TOKENIZER, overhead: 5_000, unrecorded_files: 0 },
    reports_compactions: false,
    unrecorded_hook_runs: None,
    plugin_variable: None,
    unrecorded_flag: None,
};

/// Compacts at 90 % of the window.
const RULE: CompactionRule = CompactionRule {
    reserve: 0,
    headroom: 0,
    percent: Some(90.0),
    smallest_window: 0,
    on_refusal: &[],
};

impl Agent for Paper {
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
}

impl HookDialect for Paper {
    fn decode(&self, call: &HookCall<'_>) -> Result<Option<Event>, BadPayload> {
        let payload: Value = serde_json::from_slice(call.payload)
            .map_err(|_| BadPayload("the payload is not JSON"))?;
        let text = |name: &str| payload[name].as_str().unwrap_or_default();
        let name = call.event.unwrap_or(text("event"));
        let Some(kind) = kind(name, &payload) else { return Ok(None) };
        let session = SessionId::of_agent(&PROFILE.id, text("session"));
        Ok(Some(Event {
            session: session.ok_or(BadPayload("the payload names no session"))?,
            subagent: None,
            transcript: None,
            usage: usage(&payload),
            cwd: PathBuf::from(text("cwd")),
            kind,
            breakpoint: None,
        }))
    }

    fn encode(&self, _event: &EventKind, reply: &Reply) -> Output {
        let fields = [
            ("context", &reply.to_model),
            ("notice", &reply.to_user),
            ("deny", &reply.refusal),
            ("halt", &reply.stop),
        ];
        let said = fields.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
        let said: serde_json::Map<String, Value> =
            said.map(|(name, text)| (name.to_owned(), json!(text))).collect();
        let stdout = if said.is_empty() { Vec::new() } else { json!(said).to_string().into() };
        Output { stdout, ..Output::default() }
    }

    fn accepts(&self, event: &EventKind) -> Accepts {
        match event {
            EventKind::Prompted => Accepts { to_model: true, to_user: true, ..Accepts::default() },
            EventKind::ToolFinished => Accepts { to_user: true, ..Accepts::default() },
            EventKind::Loading(_) => Accepts { refusal: true, to_user: true, ..Accepts::default() },
            _ => Accepts::default(),
        }
    }

    fn everyday_payload(&self, session: &SessionId, _transcript: &Path) -> Vec<u8> {
        json!({ "event": "tool_done", "session": session.own_id(), "cwd": "/" }).to_string().into()
    }
}

fn kind(event: &str, payload: &Value) -> Option<EventKind> {
    Some(match event {
        "prompt" => EventKind::Prompted,
        "tool_start" if payload["tool"] == "spawn" => {
            EventKind::Loading(Load::Agent(payload["name"].as_str()?.to_owned()))
        }
        "tool_done" => EventKind::ToolFinished,
        "start" => EventKind::Started,
        "stop" => EventKind::Stopped,
        "end" => EventKind::Ended,
        _ => return None,
    })
}

fn usage(payload: &Value) -> Option<ReportedUsage> {
    let usage = payload.get("usage")?;
    Some(ReportedUsage {
        used: usage["used"].as_u64(),
        window: usage["window"].as_u64(),
        model: usage["model"].as_str().map(str::to_owned),
    })
}

impl TranscriptDialect for Paper {
    fn layout(&self, home: &Home<'_>) -> Layout {
        Layout { root: folder(home).join("log"), depth: 3, folder_per_project: false }
    }

    fn owner(&self, transcript: &Path) -> Option<Owner> {
        let id = transcript.file_stem()?.to_str()?.strip_prefix("run-")?;
        Some(Owner { session: SessionId::of_agent(&PROFILE.id, id)?, subagent: None })
    }

    fn subagents(&self, _transcript: &Path) -> Option<PathBuf> {
        None
    }

    fn entry<'a>(&self, line: &'a [u8], scope: Scope) -> Option<Entry<'a>> {
        log::entry(line, scope)
    }

    fn skim<'a>(
        &self,
        line: &'a [u8],
        scope: Scope,
        _has_only_to_end: &dyn Fn(&str) -> bool,
    ) -> Option<WorkRecord<'a>> {
        log::record(line, scope)
    }

    fn shown<'a>(&self, line: &'a [u8], scope: Scope) -> Option<ModelInput<'a>> {
        log::shown(line, scope)
    }

    fn weigh(&self, line: &[u8]) -> Weight {
        log::weigh(line)
    }

    fn request(&self, _line: &[u8]) -> Request {
        Request::Unrecorded
    }

    fn hook_runs(&self, _line: &[u8]) -> Vec<HookRun> {
        Vec::new()
    }

    fn compaction_mark(&self) -> &'static [u8] {
        b"\"compacted\""
    }

    fn folder_of(&self, line: &[u8]) -> Option<String> {
        log::folder(line)
    }

    fn entry_point_of(&self, _line: &[u8]) -> Option<String> {
        None
    }
}

impl ClientConfig for Paper {
    fn files(&self, home: &Home<'_>, _project: &Path) -> Vec<PathBuf> {
        vec![folder(home).join("config")]
    }

    fn settings(&self, files: &[&str]) -> ClientSettings {
        let percent = files
            .iter()
            .flat_map(|text| text.lines())
            .find_map(|line| line.strip_prefix("compact_percent = ")?.trim().parse().ok());
        ClientSettings { compact_percent: percent, ..ClientSettings::default() }
    }

    fn with_environment(
        &self,
        settings: ClientSettings,
        _env: &dyn Fn(&str) -> Option<String>,
    ) -> ClientSettings {
        ClientSettings { rule: RULE, ..settings }
    }

    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    fn setting_name(&self, _setting: ClientSetting) -> &'static str {
        "compact_percent"
    }

    fn command_folders(&self, _home: &Home<'_>, _project: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

fn folder(home: &Home<'_>) -> PathBuf {
    home.user.join(".paper")
}
