//! The agent of a run: its command and what it can do.

use std::path::Path;

use plimsoll_agents::{Agent, Launch};
use plimsoll_core::event::SessionId;
use plimsoll_engine::install::{is_executable, on_path};
use plimsoll_engine::world::World;

/// Placeholder for the prompt in a command.
const PROMPT_PLACEHOLDER: &str = "{prompt}";
/// Maximum length of a command-line argument, in bytes: Linux allows 128 KiB including the final
/// zero.
pub const MAX_ARGUMENT_BYTES: usize = (128 << 10) - 1;
/// Bytes that a checkpoint may add to a prompt.
const MAX_CHECKPOINT_BYTES: usize = 16 << 10;

/// An agent that can be started for one session after another.
#[derive(Clone)]
pub struct AgentCommand {
    command: Vec<String>,
    known: Option<(&'static dyn Agent, Launch)>,
}

/// Why a run cannot use a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentCommandError {
    #[error("there is no program `{0}`")]
    Missing(String),
    #[error("`{0}` cannot be executed")]
    NotExecutable(String),
    /// The agent is known, but a run cannot use it with these options.
    #[error("{}{why}", option.map(|option| format!("`{option}`: ")).unwrap_or_default())]
    Unsupported {
        /// The conflicting option.
        option: Option<&'static str>,
        why: &'static str,
    },
    /// plimsoll can neither measure nor stop the sessions of an unknown agent.
    #[error("it is no agent that plimsoll knows, so none of its sessions can be stopped in time")]
    Unknown,
}

impl AgentCommand {
    /// Returns the agent of a single long task. It must be a known agent: sessions of others cannot
    /// be stopped before their windows are full.
    pub fn for_task(world: &World, command: Vec<String>) -> Result<Self, AgentCommandError> {
        let agent = Self::for_plan(world, command)?;
        if agent.known.is_some() { Ok(agent) } else { Err(AgentCommandError::Unknown) }
    }

    /// Returns the agent of a plan. An unknown agent is allowed: it gets its prompt in place of
    /// `{prompt}`, or on stdin.
    pub fn for_plan(world: &World, command: Vec<String>) -> Result<Self, AgentCommandError> {
        let program = command.first().cloned().unwrap_or_default();
        let is_there = match program.contains('/') {
            true => is_executable(Path::new(&program)),
            false => on_path(world, &program).next().is_some(),
        };
        if !is_there {
            let is_file = program.contains('/') && Path::new(&program).is_file();
            let unfit =
                if is_file { AgentCommandError::NotExecutable } else { AgentCommandError::Missing };
            return Err(unfit(program));
        }
        let known = plimsoll_agents::ALL
            .iter()
            .find_map(|agent| Some((*agent, agent.launcher()?.launch(&command)?)));
        match known {
            Some((agent, Ok(launch))) => Ok(Self { command, known: Some((agent, launch)) }),
            Some((_, Err(no))) => {
                Err(AgentCommandError::Unsupported { option: no.option, why: no.why })
            }
            None => Ok(Self { command, known: None }),
        }
    }

    /// Whether the agent reads this prompt on stdin. That is so if its command has no `{prompt}`,
    /// it accepts stdin, and it is unknown or the prompt is too long for an argument.
    pub(super) fn reads_on_stdin(&self, prompt: &str) -> bool {
        let may_read = self.known.is_none_or(|(_, launch)| launch.reads_stdin);
        let must_read = self.known.is_none() || prompt.len() > MAX_ARGUMENT_BYTES;
        must_read && may_read && !self.has_placeholder()
    }

    /// Whether the agent can be given this prompt. An unknown agent also needs room for a
    /// checkpoint, because no hook can restore one for it.
    pub fn accepts_prompt(&self, prompt: &str) -> bool {
        let checkpoint = if self.known.is_some() { 0 } else { MAX_CHECKPOINT_BYTES };
        let told = self.command_line(None, Some(prompt));
        let longest = told.iter().map(String::len).max().unwrap_or(0);
        let fits = longest.max(prompt.len()) + checkpoint <= MAX_ARGUMENT_BYTES;
        fits || self.reads_on_stdin(prompt)
    }

    fn has_placeholder(&self) -> bool {
        self.command.iter().any(|word| word.contains(PROMPT_PLACEHOLDER))
    }

    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// Returns the name of a known agent, else the name of its program.
    pub fn name(&self) -> &str {
        let program = || self.command.first().and_then(|word| word.rsplit('/').next());
        self.agent().map(|agent| agent.id().as_str()).or_else(program).unwrap_or_default()
    }

    /// Returns how to talk to a known agent; `None` if the agent is unknown.
    pub fn agent(&self) -> Option<&'static dyn Agent> {
        self.known.map(|(agent, _)| agent)
    }

    /// Returns the agent whose folder holds the run's checkpoints: the default one for unknown agents.
    pub(super) fn checkpoint_agent(&self) -> &'static dyn Agent {
        self.agent().unwrap_or(plimsoll_agents::DEFAULT)
    }

    /// Whether the agent prints its progress while it works.
    pub fn streams_progress(&self) -> bool {
        self.known.is_some_and(|(_, launch)| launch.streams)
    }

    /// Builds the command line of a session. The prompt replaces `{prompt}`, else it goes where the
    /// agent expects it.
    pub(super) fn command_line(
        &self,
        session: Option<&SessionId>,
        prompt: Option<&str>,
    ) -> Vec<String> {
        let mut command = self.command.clone();
        let mut prompt = prompt.filter(|prompt| !self.reads_on_stdin(prompt));
        if let Some(text) = prompt.filter(|_| self.has_placeholder()) {
            command.iter_mut().for_each(|word| *word = word.replace(PROMPT_PLACEHOLDER, text));
            prompt = None;
        }
        let launcher = self.known.and_then(|(agent, _)| agent.launcher());
        match (launcher, session) {
            (Some(launcher), Some(session)) => launcher.started(&command, session, prompt),
            _ => command,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn agent(line: &str) -> Result<AgentCommand, AgentCommandError> {
        let world = World::new(Box::new(|name| match name {
            "HOME" => Some("/h".to_owned()),
            "PATH" => Some("/usr/bin:/bin".to_owned()),
            _ => None,
        }));
        AgentCommand::for_plan(&world.unwrap(), words(line))
    }

    #[test]
    fn an_unknown_command_gets_its_prompt_as_argument_or_on_stdin() {
        assert!(agent("sh -c true").unwrap().reads_on_stdin("a"));
        assert_eq!(
            agent("no-such-agent").err(),
            Some(AgentCommandError::Missing("no-such-agent".to_owned()))
        );
        let agent = agent("sh -c {prompt}").unwrap();
        assert!(!agent.reads_on_stdin("a"));
        assert_eq!(agent.command_line(None, Some("a {prompt}")), ["sh", "-c", "a {prompt}"]);
    }

    #[test]
    fn a_prompt_too_long_for_an_argument_goes_to_stdin_or_is_refused() {
        let (short, long) = ("a".repeat(100_000), "a".repeat(150_000));
        let told = |line: &str, prompt: &str| {
            let agent = agent(line).unwrap();
            (agent.accepts_prompt(prompt), agent.reads_on_stdin(prompt))
        };
        for line in ["sh -c true", "env claude -p"] {
            assert_eq!(told(line, &long), (true, true), "{line}");
        }
        assert_eq!(told("env claude -p", &short), (true, false));
        assert_eq!(told("sh -c {prompt}", &short), (true, false));
        for line in ["sh -c {prompt}", "env claude -p {prompt}"] {
            assert_eq!(told(line, &long), (false, false), "{line}");
        }
        assert!(!told("env claude -p --input-format stream-json", &long).0);
        assert!(!told("sh -c {prompt}{prompt}", &short).0);
    }
}
