//! Each agent's dialect, to and from core: bytes in, values out.
//!
//! An agent knows what its client's payloads, transcripts and settings mean. It opens nothing and reads
//! neither clock nor environment. No agent's name occurs outside this crate.

use std::path::{Path, PathBuf};

use plimsoll_core::entry::Entry;
use plimsoll_core::event::{Accepts, AgentId, Event, EventKind, Reply, SessionId, Status};
use plimsoll_core::hook_run::HookRun;
use plimsoll_core::reading::{Estimation, Scope};
use plimsoll_core::settings::{ClientSetting, ClientSettings};
use plimsoll_core::weight::Weight;
use plimsoll_extract::work::{ModelInput, WorkRecord};

use crate::install::Installer;

pub mod claude_code;
mod ends;
mod image;
pub mod install;
mod json;
mod jsonc;
#[cfg(feature = "paper")]
pub mod paper;
mod sample;

pub use sample::{Sample, Step};

/// A coding agent: its data, and one part for each thing that plimsoll does with it. A part that an agent
/// does not have is `None`.
pub trait Agent: Sync {
    /// Returns what is known about the agent without reading anything.
    fn profile(&self) -> &'static Profile;

    /// Returns how the agent talks to its hooks.
    fn hooks(&self) -> &dyn HookDialect;

    /// Returns how its transcripts are laid out and read.
    fn transcript(&self) -> &dyn TranscriptDialect;

    /// Returns how its client is configured.
    fn client(&self) -> &dyn ClientConfig;

    /// Returns how plimsoll gets into the agent's files, and out of them again.
    fn installer(&self) -> &dyn Installer;

    /// Returns how the agent is started without a person, if it can be.
    fn launcher(&self) -> Option<&dyn Launcher> {
        None
    }

    /// Returns how the agent talks to a status line, if it has one.
    fn status_line(&self) -> Option<&dyn StatusLineDialect> {
        None
    }

    /// Returns how the agent records which of its sessions run, if it does.
    fn liveness(&self) -> Option<&dyn Liveness> {
        None
    }

    /// Returns a recorded session for the demo, if there is one.
    fn sample(&self) -> Option<Sample> {
        None
    }
}

impl dyn Agent {
    /// Returns the agent's id.
    pub fn id(&self) -> &'static AgentId {
        &self.profile().id
    }
}

/// An agent compares by its id.
impl PartialEq for dyn Agent {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for dyn Agent {}

impl std::fmt::Debug for dyn Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.id())
    }
}

/// What is known about an agent without reading anything.
#[derive(Debug)]
pub struct Profile {
    /// The agent's id, as users write it.
    pub id: AgentId,
    /// The agent's name in a sentence.
    pub product: &'static str,
    /// The environment variables that the client sets or reads.
    pub variables: Variables,
    /// The values of [`Variables::entry_point`] under which the client runs without a person. Any other
    /// value counts as interactive.
    pub headless_entry_points: &'static [&'static str],
    /// The client's own command that makes room in the window.
    pub compact_command: &'static str,
    /// The client's own command that starts an empty conversation.
    pub clear_command: &'static str,
    /// The folder in a project that its checkpoints are written to.
    pub checkpoint_folder: &'static str,
    /// What readings assume where a transcript says nothing.
    pub estimation: &'static Estimation,
    /// Whether the client calls a hook after a compaction. If it does not, a compaction shows in the
    /// transcript only, and the next hook that can tell the model delivers the restore.
    pub reports_compactions: bool,
    /// Which hook runs its transcripts do not record, in a sentence; `None` if they record none at all.
    pub unrecorded_hook_runs: Option<&'static str>,
    /// The text that stands for a plugin's folder in the records of its hooks.
    pub plugin_variable: Option<&'static str>,
    /// The flag with which the client writes no transcript.
    pub unrecorded_flag: Option<&'static str>,
}

/// The environment variables of an agent; `None` if it has no such variable.
#[derive(Debug)]
pub struct Variables {
    /// Names the folder that the agent was started in.
    pub project: Option<&'static str>,
    /// Names the session that a command runs in.
    pub session: Option<&'static str>,
    /// Says how the client was started.
    pub entry_point: Option<&'static str>,
    /// Moves the agent's own folder.
    pub config_folder: Option<&'static str>,
}

impl Profile {
    /// Returns whether a client with this entry point runs without a person.
    pub fn is_headless(&self, entry_point: &str) -> bool {
        self.headless_entry_points.contains(&entry_point)
    }
}

/// One call of a hook, as it reaches us.
#[derive(Clone, Copy, Debug)]
pub struct HookCall<'a> {
    /// What the client wrote on stdin.
    pub payload: &'a [u8],
    /// The event's name, if the hook's command line names it (`--event`).
    pub event: Option<&'a str>,
    /// Where the agent keeps its files.
    pub home: Home<'a>,
}

/// How an agent talks to its hooks.
pub trait HookDialect: Sync {
    /// Decodes a call; `None` if plimsoll has no use for the event.
    fn decode(&self, call: &HookCall<'_>) -> Result<Option<Event>, BadPayload>;

    /// Encodes a reply as the client expects it after `event`.
    fn encode(&self, event: &EventKind, reply: &Reply) -> Output;

    /// Returns what can be done at `event`.
    fn accepts(&self, event: &EventKind) -> Accepts;

    /// Returns the payload of an ordinary call about which there is nothing to say.
    fn everyday_payload(&self, session: &SessionId, transcript: &Path) -> Vec<u8>;
}

/// How an agent's transcripts are laid out and read.
pub trait TranscriptDialect: Sync {
    /// Returns where the transcripts are.
    fn layout(&self, home: &Home<'_>) -> Layout;

    /// Returns whose window a transcript holds, by its path.
    fn owner(&self, transcript: &Path) -> Option<Owner>;

    /// Returns the folder of the subagents' transcripts; `None` if subagents have none of their own.
    fn subagents(&self, transcript: &Path) -> Option<PathBuf>;

    /// Returns what a line is to the conversation of `scope`; `None` if it is no part of it.
    fn entry<'a>(&self, line: &'a [u8], scope: Scope) -> Option<Entry<'a>>;

    /// Returns what a line says about the work of `scope`, if anything.
    fn record<'a>(&self, line: &'a [u8], scope: Scope) -> Option<WorkRecord<'a>> {
        self.skim(line, scope, &|_| false)
    }

    /// Like [`TranscriptDialect::record`], but for calls where `has_only_to_end` holds, it may report only
    /// that the call has finished.
    fn skim<'a>(
        &self,
        line: &'a [u8],
        scope: Scope,
        has_only_to_end: &dyn Fn(&str) -> bool,
    ) -> Option<WorkRecord<'a>>;

    /// Returns the text of a line that the model of `scope` was shown, other than its own words.
    fn shown<'a>(&self, line: &'a [u8], scope: Scope) -> Option<ModelInput<'a>>;

    /// Returns what a line adds to the window.
    fn weigh(&self, line: &[u8]) -> Weight;

    /// Returns what a line beside the conversation says about the request whose response follows it.
    fn request(&self, line: &[u8]) -> Request;

    /// Returns the hook runs that a line records, of plimsoll's hooks and of others.
    fn hook_runs(&self, line: &[u8]) -> Vec<HookRun>;

    /// Returns the bytes that every record of a compaction contains, and few other lines do.
    fn compaction_mark(&self) -> &'static [u8];

    /// Returns the folder that a line says the agent works in.
    fn folder_of(&self, line: &[u8]) -> Option<String>;

    /// Returns how the client that wrote a line was started, if the line says so.
    fn entry_point_of(&self, line: &[u8]) -> Option<String>;
}

/// Where an agent's transcripts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The folder that holds all of them.
    pub root: PathBuf,
    /// How many levels of folders lie between the root and the transcripts.
    pub depth: usize,
    /// The sessions of one project share a folder.
    pub folder_per_project: bool,
}

/// How an agent's client is configured.
pub trait ClientConfig: Sync {
    /// Returns the client's settings files that matter in `project`, strongest first.
    fn files(&self, home: &Home<'_>, project: &Path) -> Vec<PathBuf>;

    /// Reads the client's settings from the texts of these files, strongest first.
    fn settings(&self, files: &[&str]) -> ClientSettings;

    /// Adds the client's environment to settings, which comes before any file, and the agent's compaction
    /// rule.
    fn with_environment(
        &self,
        settings: ClientSettings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> ClientSettings;

    /// Returns the variables that [`ClientConfig::with_environment`] reads.
    fn variables(&self) -> &'static [&'static str];

    /// Returns what the user calls a setting of the client.
    fn setting_name(&self, setting: ClientSetting) -> &'static str;

    /// Returns the folders of the user's own commands, each command a file.
    fn command_folders(&self, home: &Home<'_>, project: &Path) -> Vec<PathBuf>;

    /// Returns the file that lists the checkpoints of all projects; `None` for plimsoll's own.
    fn checkpoint_index(&self, _home: &Home<'_>) -> Option<PathBuf> {
        None
    }
}

/// How an agent records which of its sessions run.
pub trait Liveness: Sync {
    /// Returns the folder that has a file for each running session.
    fn folder(&self, home: &Home<'_>) -> PathBuf;

    /// Reads such a file.
    fn read(&self, text: &str) -> Option<Running>;
}

/// How an agent talks to a status line.
pub trait StatusLineDialect: Sync {
    /// Decodes what the client writes to its status line command.
    fn decode(&self, payload: &[u8]) -> Result<Status, BadPayload>;
}

/// How an agent is started without a person at the keyboard.
pub trait Launcher: Sync {
    /// Returns the command that does so.
    fn headless_command(&self) -> &'static [&'static str];

    /// Returns how a command line starts this agent, or why it cannot be run in several sessions; `None` if
    /// it starts something else.
    fn launch(&self, command: &[String]) -> Option<Result<Launch, NotConducted>>;

    /// Returns such a command line for a session with this id, with `prompt` in place of its own.
    fn started(&self, command: &[String], session: &SessionId, prompt: Option<&str>)
    -> Vec<String>;
}

/// A command line that a conductor can start again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What the agent prints tells of its work while it goes on.
    pub streams: bool,
    /// It reads what it is asked on its stdin, where that stands nowhere else.
    pub reads_stdin: bool,
}

/// Why plimsoll cannot run a command line over several sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotConducted {
    /// The option that is in the way.
    pub option: Option<&'static str>,
    /// Why it is.
    pub why: &'static str,
}

/// What a line that stands before a response tells of the request for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// It is the request's record.
    Recorded {
        /// The request asked for a long context.
        long_context: bool,
    },
    /// It is some other record; the request's may stand before it.
    Elsewhere,
    /// It is part of the conversation: there is no record.
    Unrecorded,
}

/// Whose window a transcript holds, among one agent's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The session.
    pub session: SessionId,
    /// The subagent; `None` for the session's own window.
    pub subagent: Option<SessionId>,
}

/// A session that runs, or ran when somebody last noted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The session.
    pub session: SessionId,
    /// The process of the client.
    pub process: i32,
}

/// Where an agent keeps its files.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// The user's home folder.
    pub user: &'a Path,
    /// The agent's own folder, where the user moved it.
    pub config: Option<&'a Path>,
}

/// Every supported agent, the default one first.
pub const ALL: &[&dyn Agent] = &[
    &claude_code::ClaudeCode,
    #[cfg(feature = "paper")]
    &paper::Paper,
];

/// The agent that is meant where none is named: a hook command without `--agent`, a file without an agent's
/// name in its own.
pub const DEFAULT: &dyn Agent = &claude_code::ClaudeCode;

/// Returns the agent with this id.
pub fn find(id: &str) -> Option<&'static dyn Agent> {
    ALL.iter().copied().find(|agent| agent.id().as_str() == id)
}

/// Returns the agent of a session; `None` if this release does not know it.
pub fn of_session(session: &SessionId) -> Option<&'static dyn Agent> {
    session.agent().map_or(Some(DEFAULT), find)
}

/// A payload that makes no sense. It carries no text of the payload, which may hold secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPayload(pub &'static str);

impl std::fmt::Display for BadPayload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BadPayload {}

/// What a hook prints, and how it exits. The default says nothing and lets the agent go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// For the agent.
    pub stdout: Vec<u8>,
    /// The reason of a refusal.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub exit: u8,
}
