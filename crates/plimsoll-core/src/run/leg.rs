//! The sessions of a job.

use serde::{Deserialize, Serialize};

use crate::Tokens;
use crate::event::SessionId;

/// A session that is about to start. The journal records it before the start, so that no session is
/// unknown if the runner is killed right afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegBegun {
    pub job: u32,
    /// The number of the session in the job, from 1.
    pub leg: u32,
    /// The number of the attempt at the job, from 1.
    pub attempt: u32,
    /// The session id, if the agent lets us choose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The checkpoint that the session starts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<String>,
}

/// How a session ended, and its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegEnd {
    pub job: u32,
    pub leg: u32,
    #[serde(flatten)]
    pub how: Ending,
    /// Tokens in the window at the first response; `None` if they could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Tokens>,
    /// Tokens in the window at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Tokens>,
    /// The window's size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Tokens>,
    /// The number of model responses.
    #[serde(default)]
    pub responses: u32,
    /// The checkpoint that was made from the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    #[serde(default)]
    pub fingerprint: Fingerprint,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ending {
    /// Our hook stopped it at the restart threshold.
    Stopped,
    /// It exited on its own, or the runner saw that it was killed.
    Exited {
        /// The exit code. It encodes signals as a shell does: see [`killed_by`].
        code: i32,
    },
    /// It was killed or disappeared while no runner was active.
    Lost,
    /// The runner ended it, because of a limit or because the user ended the run.
    Halted,
}

impl Ending {
    pub fn label(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Exited { .. } => "exited",
            Self::Lost => "lost",
            Self::Halted => "halted",
        }
    }
}

/// Returns the signal that killed or crashed a process; `None` if it exited on its own.
pub fn killed_by(code: i32) -> Option<i32> {
    /// ILL, ABRT, BUS, FPE, KILL and SEGV. Agents handle other signals and exit on their own.
    const DEATHS: [i32; 6] = [4, 6, 7, 8, 9, 11];
    DEATHS.into_iter().find(|signal| code == 128 + signal)
}

/// Describes an exit code in words.
pub fn how_ended(code: i32) -> String {
    match killed_by(code) {
        Some(signal) => format!("was killed by signal {signal}"),
        None => format!("ended with exit code {code}"),
    }
}

/// The state that a session left. Two sessions with equal fingerprints have done the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Hash of the changed files with their contents and of the open errors. Empty if there are
    /// none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// Some of the changed files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Some of the open errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}
