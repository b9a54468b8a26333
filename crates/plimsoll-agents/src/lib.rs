//! Each agent's dialect, to and from core: bytes in, values out.
//!
//! An adapter knows what an agent's payloads, transcripts and settings mean. It opens nothing and
//! reads neither clock nor environment. No agent's name stands outside this crate.

use std::path::{Path, PathBuf};

use plimsoll_core::entry::Entry;
use plimsoll_core::event::{Event, EventKind, Reply, SessionId, Status};
use plimsoll_core::hook_run::HookRun;
use plimsoll_core::reading::Scope;
use plimsoll_core::settings::{ClientSetting, ClientSettings};
use plimsoll_core::weight::Weight;
use plimsoll_extract::work::{Record, Shown};

use crate::install::Installer;

pub mod claude_code;
mod ends;
mod image;
pub mod install;
mod json;
mod jsonc;
mod sample;

pub use sample::{Sample, Step};

/// What plimsoll needs to know of an agent.
pub trait Adapter: Sync {
    /// The agent's name, as users write it.
    fn name(&self) -> &'static str;

    /// The agent's name in a sentence.
    fn product(&self) -> &'static str;

    /// What a hook's payload says; nothing where we have no use for it.
    fn event(&self, payload: &[u8]) -> Result<Option<Event>, BadPayload>;

    /// What to print for the agent to understand `reply`.
    fn reply(&self, event: &EventKind, reply: &Reply) -> Output;

    /// What the client tells its status line.
    fn status(&self, payload: &[u8]) -> Result<Status, BadPayload>;

    /// What a line of a transcript is to the conversation of `scope`; nothing if it is no part of
    /// it.
    fn entry<'a>(&self, line: &'a [u8], scope: Scope) -> Option<Entry<'a>>;

    /// What a line of a transcript tells of the work of `scope`; nothing if it tells none.
    fn record<'a>(&self, line: &'a [u8], scope: Scope) -> Option<Record<'a>> {
        self.skim(line, scope, &|_| false)
    }

    /// The same, but of a call that `has_only_to_end` nothing may be told but that it has ended.
    fn skim<'a>(
        &self,
        line: &'a [u8],
        scope: Scope,
        has_only_to_end: &dyn Fn(&str) -> bool,
    ) -> Option<Record<'a>>;

    /// What a line of a transcript put before the model of `scope`, besides the model's own words;
    /// nothing if it put nothing there.
    fn shown<'a>(&self, line: &'a [u8], scope: Scope) -> Option<Shown<'a>>;

    /// What a line of a transcript adds to the window.
    fn weigh(&self, line: &[u8]) -> Weight;

    /// What a line beside the conversation tells of the request whose answer follows it.
    fn request(&self, line: &[u8]) -> Request;

    /// The hook runs that a line of a transcript tells of, whoever's hooks they were.
    fn hook_runs(&self, line: &[u8]) -> Vec<HookRun>;

    /// What stands in every line that tells of a compaction, and in few others.
    fn compaction_mark(&self) -> &'static [u8];

    /// The folder the transcripts lie in.
    fn transcripts(&self, home: &Home<'_>) -> PathBuf;

    /// Whose window a transcript is of, by its path: a session's, or that of one of its subagents.
    fn owner(&self, transcript: &Path) -> Option<Owner>;

    /// The folder of a transcript's subagents.
    fn subagents(&self, transcript: &Path) -> PathBuf;

    /// The client's settings files that matter in `project`, strongest first.
    fn settings_files(&self, home: &Home<'_>, project: &Path) -> Vec<PathBuf>;

    /// What the client is set to do with its windows, by the texts of its settings files (strongest
    /// first).
    fn client_settings(&self, files: &[&str]) -> ClientSettings;

    /// The same with what the client's environment says, which comes before any file.
    fn client_environment(
        &self,
        settings: ClientSettings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> ClientSettings;

    /// The variables that [`Adapter::client_environment`] asks for.
    fn client_variables(&self) -> &'static [&'static str];

    /// What the user calls a setting of the client.
    fn setting_name(&self, setting: ClientSetting) -> &'static str;

    /// A payload of an everyday hook call, about which there is nothing to say.
    fn everyday_payload(&self, session: &SessionId, transcript: &Path) -> Vec<u8>;

    /// What the agent's transcripts do not tell of the hooks that ran.
    fn unrecorded_hook_runs(&self) -> &'static str;

    /// What hooks of plugins are recorded with in place of the plugin's own folder.
    fn plugin_variable(&self) -> &'static str;

    /// The folder that a line of a transcript says the agent works in.
    fn folder_of(&self, line: &[u8]) -> Option<String>;

    /// The environment variable that names the folder the agent was started in.
    fn project_variable(&self) -> &'static str;

    /// The environment variable that names the session a command runs in.
    fn session_variable(&self) -> &'static str;

    /// The environment variable that says how the client was started.
    fn entry_point_variable(&self) -> &'static str;

    /// How the client was started that wrote a line of a transcript, if the line says so.
    fn entry_point_of(&self, line: &[u8]) -> Option<String>;

    /// Returns whether a client with this entry point runs without a person. An unknown entry point
    /// counts as interactive.
    fn is_headless(&self, entry_point: &str) -> bool;

    /// The environment variable that moves the agent's own folder.
    fn folder_variable(&self) -> &'static str;

    /// The folders in which the user's own commands lie, each command a file.
    fn command_folders(&self, home: &Home<'_>, project: &Path) -> Vec<PathBuf>;

    /// The flag with which the client keeps no transcript.
    fn unrecorded_flag(&self) -> &'static str;

    /// A command of the client's own that makes room in the window.
    fn room_command(&self) -> &'static str;

    /// A command of the client's own that begins an empty conversation.
    fn fresh_command(&self) -> &'static str;

    /// The folder in which the client notes the sessions that run, each in a file.
    fn running_folder(&self, home: &Home<'_>) -> PathBuf;

    /// What such a file says.
    fn running(&self, text: &str) -> Option<Running>;

    /// The folder in a project that checkpoints are kept in.
    fn checkpoint_folder(&self) -> &'static str;

    /// The file that lists the checkpoints of all projects.
    fn checkpoint_index(&self, home: &Home<'_>) -> PathBuf;

    /// A session that was recorded from the agent.
    fn sample(&self) -> Sample;

    /// The command that starts this agent without anybody at the keyboard.
    fn headless_command(&self) -> &'static [&'static str];

    /// How a command line starts this agent without anybody at the keyboard, or why it cannot be
    /// conducted; nothing if it starts something else.
    fn launch(&self, command: &[String]) -> Option<Result<Launch, NotConducted>>;

    /// Such a command line for a session of that name, with a prompt of ours if one is given.
    fn started(&self, command: &[String], session: &SessionId, prompt: Option<&str>)
    -> Vec<String>;

    /// How plimsoll gets into the agent's own files and out of them again.
    fn installer(&self) -> &dyn Installer;
}

/// A command line that a conductor can start again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What the agent prints tells of its work while it goes on.
    pub streams: bool,
    /// It reads what it is asked on its stdin, where that stands nowhere else.
    pub reads_stdin: bool,
}

/// Why a command line cannot be conducted.
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

/// Whose window a transcript is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The session.
    pub session: SessionId,
    /// Its subagent, if it is of one.
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

/// The agents we know.
pub const ALL: [&dyn Adapter; 1] = [&claude_code::ClaudeCode];

/// The agent that is meant where none is named.
pub const DEFAULT: &str = "claude-code";

/// The adapter of the agent called `name`.
pub fn find(name: &str) -> Option<&'static dyn Adapter> {
    ALL.into_iter().find(|adapter| adapter.name() == name)
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
