//! A leg: one session of a job.

use serde::{Deserialize, Serialize};

use crate::Tokens;
use crate::event::SessionId;

/// A session that is about to be started. Written before the start, so that a conductor that is
/// killed right after it leaves no session that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegBegun {
    /// The job.
    pub job: u32,
    /// The leg's number in the job, from 1 on.
    pub leg: u32,
    /// How many times the job has been tried, from 1 on.
    pub attempt: u32,
    /// The session, where the agent takes its name from us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The checkpoint that it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<String>,
}

/// How a leg ended, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegEnd {
    /// The job.
    pub job: u32,
    /// The leg.
    pub leg: u32,
    /// How it ended.
    #[serde(flatten)]
    pub how: Ending,
    /// What the window held at the first response; nothing where nobody could measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Tokens>,
    /// What it held at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Tokens>,
    /// How large it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Tokens>,
    /// How many times the model answered.
    #[serde(default)]
    pub responses: u32,
    /// The checkpoint that was sealed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// What it left behind.
    #[serde(default)]
    pub fingerprint: Fingerprint,
}

/// How a leg ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ending {
    /// Our hook stopped it at the restart line.
    Stopped,
    /// It ended by itself, or its conductor saw that it was killed.
    Exited {
        /// With this exit code, which tells of a signal as a shell does: see [`killed_by`].
        code: i32,
    },
    /// It was killed, or is gone without a trace, while nobody conducted it.
    Lost,
    /// The conductor ended it: a limit was reached, or somebody ended the run.
    Halted,
}

impl Ending {
    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Exited { .. } => "exited",
            Self::Lost => "lost",
            Self::Halted => "halted",
        }
    }
}

/// The signal that killed or crashed a process of that exit code; nothing if it ended by itself.
pub fn killed_by(code: i32) -> Option<i32> {
    /// ILL, ABRT, BUS, FPE, KILL and SEGV: agents end by themselves when they get another one.
    const DEATHS: [i32; 6] = [4, 6, 7, 8, 9, 11];
    DEATHS.into_iter().find(|signal| code == 128 + signal)
}

/// How an agent ended, in words.
pub fn how_ended(code: i32) -> String {
    match killed_by(code) {
        Some(signal) => format!("was killed by signal {signal}"),
        None => format!("ended with exit code {code}"),
    }
}

/// What a leg left behind: two that are the same have done the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// A hash of the changed files with their contents, and of the errors that are open. Empty where
    /// there is neither.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// Some of these files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Some of these errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}
