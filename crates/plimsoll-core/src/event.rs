//! What an agent tells us through a hook, in our words.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Tokens;
use crate::breakpoint::Breakpoint;

/// The name of a session; only letters, digits, `-` and `_`, so that it can name a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// `text`, if it is fit to be a name.
    pub fn new(text: &str) -> Option<Self> {
        let fit = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'A'..=b'Z' | b'_');
        ((1..=128).contains(&text.len()) && text.bytes().all(fit)).then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or("the name of a session has letters, digits, `-` and `_` only")
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

/// A subagent of a session, with a window of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subagent {
    /// Its name; fit for a file name like a session's.
    pub id: SessionId,
    /// What kind of agent it is.
    pub kind: String,
}

/// One call of our hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The session it concerns.
    pub session: SessionId,
    /// The subagent it came from, if it did.
    pub subagent: Option<Subagent>,
    /// The transcript of the window it concerns: the subagent's own, if it came from one.
    pub transcript: PathBuf,
    /// The folder the agent works in right now.
    pub cwd: PathBuf,
    /// What happened.
    pub kind: EventKind,
    /// The tool that has finished was a commit or a run of tests.
    pub breakpoint: Option<Breakpoint>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The user, or a machine in their place, sent a prompt.
    Prompted,
    /// The agent is about to load an agent or a skill.
    Loading(Load),
    /// A tool has finished.
    ToolFinished,
    /// A tool has failed.
    ToolFailed,
    /// The conversation is about to be compacted.
    Compacting,
    /// The session begins.
    Started,
    /// The session goes on after a pause, maybe under another name.
    Resumed,
    /// The conversation was compacted.
    Compacted,
    /// The client tells the summary that took the conversation's place.
    Summarised(String),
    /// A fresh conversation takes the place of the one before.
    Cleared,
    /// The agent has nothing more to do for now.
    Stopped,
    /// The session is over.
    Ended,
    /// Anything we have no use for.
    Other,
}

/// What the agent is about to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// A subagent of this type.
    Agent(String),
    /// A skill of this name, without any plugin's prefix.
    Skill(String),
}

impl Load {
    /// Its name, for people.
    pub fn name(&self) -> &str {
        match self {
            Self::Agent(name) | Self::Skill(name) => name,
        }
    }
}

/// What the client tells its status line after each response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The session.
    pub session: SessionId,
    /// The folder the agent was started in.
    pub project: PathBuf,
    /// The model that answers.
    pub model: String,
    /// The model was asked for with a long-context mark.
    pub long_context: bool,
    /// The client's version.
    pub version: Option<String>,
    /// The window, as the client knows it.
    pub window: Tokens,
    /// What the window holds; nothing before the first response and right after a compaction.
    pub used: Option<Tokens>,
}

/// What we answer, in nobody's dialect. An empty reply lets the agent go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Words for the user.
    pub to_user: Option<String>,
    /// A verdict for the model.
    pub to_model: Option<String>,
    /// The call is refused, for this reason.
    pub refusal: Option<String>,
    /// The agent is to end here, for this reason.
    pub stop: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_sessions() {
        assert!(SessionId::new("024b703c-0f25-4d1f-98da-bbc0541a4bcf").is_some());
        for bad in ["", "..", "a/b", "a\0b", "über", &"x".repeat(129)] {
            assert_eq!(SessionId::new(bad), None, "{bad:?}");
        }
    }
}
