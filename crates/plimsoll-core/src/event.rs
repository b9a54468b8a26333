//! Hook events and replies in a form common to all agents.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::Tokens;
use crate::breakpoint::Breakpoint;

/// A session: the id that its agent gave it, followed by `@agent` for every agent but the default one.
///
/// So the sessions of two agents never share a spool, an inbox or a row, even if the agents gave them the
/// same id, and the files that release 0.1 wrote keep their names. Only letters, digits, `-` and `_` occur
/// besides the `@`, so that an id can name a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Parses a session as [`SessionId::as_str`] writes it.
    pub fn new(text: &str) -> Option<Self> {
        let is_valid = match text.split_once('@') {
            Some((own, agent)) => is_own_id(own) && is_own_id(agent),
            None => is_own_id(text),
        };
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Wraps the id of a subagent, or of a session of the default agent; `None` if it is no valid file name.
    pub fn own(id: &str) -> Option<Self> {
        is_own_id(id).then(|| Self(id.to_owned()))
    }

    /// Wraps the id of a session of another agent; `None` if it is no valid file name.
    pub fn of_agent(agent: &AgentId, id: &str) -> Option<Self> {
        is_own_id(id).then(|| Self(format!("{id}@{agent}")))
    }

    /// Returns the session as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id that the agent itself uses.
    pub fn own_id(&self) -> &str {
        self.0.split('@').next().unwrap_or_default()
    }

    /// Returns the agent's id; `None` for the default agent.
    pub fn agent(&self) -> Option<&str> {
        self.0.split_once('@').map(|(_, agent)| agent)
    }
}

fn is_own_id(text: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'A'..=b'Z' | b'_');
    (1..=128).contains(&text.len()) && text.bytes().all(is_plain)
}

impl TryFrom<String> for SessionId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or("a session id has letters, digits, `-` and `_` only")
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// An agent's id, as users write it (`--agent`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AgentId(SmolStr);

impl AgentId {
    /// Wraps an id that is known at compile time.
    pub const fn new_static(id: &'static str) -> Self {
        Self(SmolStr::new_static(id))
    }

    /// Wraps an id that was read from outside, whether or not this release knows the agent.
    pub fn new(id: &str) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for AgentId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A subagent of a session. It has a window of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subagent {
    /// Usable as a file name, like a session's id.
    pub id: SessionId,
    /// The subagent type.
    pub kind: String,
}

/// One call of our hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub session: SessionId,
    /// The subagent that the event came from, if any.
    pub subagent: Option<Subagent>,
    /// The transcript of the window that the event concerns: the subagent's own, if it came from
    /// one. `None` if the payload does not name it.
    pub transcript: Option<PathBuf>,
    /// Usage of the window; `None` if the agent does not report it with the event.
    pub usage: Option<ReportedUsage>,
    /// The agent's current working directory.
    pub cwd: PathBuf,
    pub kind: EventKind,
    /// Set if the finished tool call was a commit or a test run.
    pub breakpoint: Option<Breakpoint>,
}

/// Usage of a window, as an agent reports it with an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedUsage {
    /// Tokens in the window.
    pub used: Option<Tokens>,
    pub window: Option<Tokens>,
    pub model: Option<String>,
}

/// Effects that the agent supports at an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepts {
    /// The agent passes text to the model.
    pub to_model: bool,
    /// The agent shows text to the user.
    pub to_user: bool,
    /// The agent lets a hook refuse the call.
    pub refusal: bool,
    /// The agent lets a hook end the session.
    pub stop: bool,
}

/// The kind of a hook event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The user, or a program in the user's place, sent a prompt.
    Prompted,
    /// The agent is about to load a subagent or a skill.
    Loading(Load),
    /// A tool call succeeded.
    ToolFinished,
    /// A tool call failed.
    ToolFailed,
    /// The agent is about to compact the conversation.
    Compacting {
        /// `false` if the agent announces a compaction that may not follow.
        certain: bool,
    },
    /// The session begins.
    Started,
    /// The session continues after a pause, possibly with a new id.
    Resumed,
    /// The agent has compacted the conversation.
    Compacted,
    /// The client reports the summary that replaced the conversation.
    Summarised(String),
    /// A new conversation replaces the previous one.
    Cleared,
    /// The agent waits for the next prompt.
    Stopped,
    /// The session is over.
    Ended,
    /// Any event without a use for us.
    Other,
}

/// A subagent or skill that the agent is about to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// A subagent type.
    Agent(String),
    /// A skill's name, without the prefix of a plugin.
    Skill(String),
}

impl Load {
    pub fn name(&self) -> &str {
        match self {
            Self::Agent(name) | Self::Skill(name) => name,
        }
    }
}

/// The data that the client passes to its status line after each response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub session: SessionId,
    /// The directory in which the agent was started.
    pub project: PathBuf,
    pub model: String,
    /// The model was requested with a long-context mark.
    pub long_context: bool,
    pub version: Option<String>,
    pub window: Tokens,
    /// Tokens in the window; `None` before the first response and right after a compaction.
    pub used: Option<Tokens>,
}

/// Our answer to a hook event, in a form common to all agents. An empty reply lets the agent
/// continue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub to_user: Option<String>,
    pub to_model: Option<String>,
    /// Refuses the call, with this reason.
    pub refusal: Option<String>,
    /// Ends the session, with this reason.
    pub stop: Option<String>,
}

impl Reply {
    /// Returns a text for the model, if there is any.
    pub fn to_model(text: String) -> Self {
        Self { to_model: Some(text).filter(|text| !text.is_empty()), ..Self::default() }
    }

    /// Returns this reply, with what it lacks from another one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            to_user: self.to_user.or(other.to_user),
            to_model: self.to_model.or(other.to_model),
            refusal: self.refusal.or(other.refusal),
            stop: self.stop.or(other.stop),
        }
    }

    /// Returns this reply with another paragraph for the model.
    #[must_use]
    pub fn and_to_model(self, text: Option<String>) -> Self {
        let to_model = match (self.to_model, text) {
            (Some(one), Some(other)) => Some(format!("{one}\n\n{other}")),
            (one, other) => one.or(other),
        };
        Self { to_model, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_sessions() {
        assert!(SessionId::new("024b703c-0f25-4d1f-98da-bbc0541a4bcf").is_some());
        for bad in ["", "..", "a/b", "a\0b", "über", "@b", "a@", "a@b@c", &"x".repeat(129)] {
            assert_eq!(SessionId::new(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_session_of_another_agent_names_it() {
        let session = SessionId::of_agent(&AgentId::new("paper"), "s-1").unwrap();
        assert_eq!(session.as_str(), "s-1@paper");
        assert_eq!((session.own_id(), session.agent()), ("s-1", Some("paper")));
        assert_eq!(SessionId::new(session.as_str()), Some(session));
        assert_eq!(SessionId::own("s-1@paper"), None, "an agent cannot name another one's session");
    }
}
