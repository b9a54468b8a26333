//! Runs: work that continues over as many sessions as it needs.
//!
//! A run is recorded in a journal, an append-only file in which each line is a [`Line`]. [`Run`] is
//! the state that results from folding the journal. It shows the runner which work is left, whether
//! a limit is reached ([`Limits`]), and whether the run makes progress ([`Breaker`]).
//! `plimsoll-runner` starts the agents, `plimsoll-engine` writes the file.

mod breaker;
mod leg;
mod limits;
mod nodes;
mod state;
mod told;

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::settings::SessionPer;
use crate::{Millis, Tokens, name};

pub use breaker::{Breaker, Repeats};
pub use leg::{Ending, Fingerprint, LegBegun, LegEnd, how_ended, killed_by};
pub use limits::{Limit, Limits, Spent};
pub use nodes::Waiting;
pub use state::{Job, JobState, Leg, Run};
pub use told::{PieceTold, Progress, Standing};

/// The id of a run: a version 7 UUID. It can name a file and contains the time when the run began.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// Parses the id of a run; `None` if it is not a lowercase UUID.
    pub fn new(text: &str) -> Option<Self> {
        let fits = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        };
        (text.len() == 36 && text.bytes().enumerate().all(fits)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the short name that users see.
    pub fn short(&self) -> &str {
        name::short(&self.0)
    }
}

impl TryFrom<String> for RunId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or("the name of a run is a UUID in small letters")
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One record of a run's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub at: Millis,
    #[serde(flatten)]
    pub what: What,
}

/// An event in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// The run begins. Always the first record, and never repeated.
    Begun(Begun),
    /// A process starts to execute the run: at its beginning, and whenever it is resumed.
    Conducted {
        by: Process,
        /// The limits from now on, if they change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limits: Option<Limits>,
        /// The pace from now on, if it changes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pace: Option<Pace>,
    },
    /// The run's plan from now on: all of it, including completed work.
    Planned {
        plan: Plan,
        /// Why it replaced the previous plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    JobBegun(JobBegun),
    /// A session of a job is about to start.
    LegBegun(LegBegun),
    /// The process of a session is running.
    LegStarted {
        job: u32,
        leg: u32,
        process: Process,
    },
    LegEnded(LegEnd),
    /// A job is done and will never run again.
    JobDone {
        job: u32,
        /// The checkpoint, which was verified before this record was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkpoint: Option<String>,
    },
    /// A job has failed for good.
    JobFailed {
        job: u32,
        why: String,
    },
    /// The run has ended, or is paused until the user resumes it.
    Ended(Outcome),
}

/// The description of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    pub sort: Sort,
    pub project: String,
    /// A one-line description.
    pub title: String,
    /// The agent's command, word by word.
    pub command: Vec<String>,
    #[serde(default)]
    pub limits: Limits,
    /// `None` if the run has no plan, or an earlier release wrote the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
}

/// How a plan is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// The unit of work for which a new session starts.
    pub session: SessionPer,
    /// The number of sessions of a batch that run at once.
    pub at_once: u32,
    /// The number of retries of a failed job.
    pub retries: u32,
}

/// The kind of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// One long task.
    Task,
    /// The batches of a plan.
    Plan,
}

impl Sort {
    pub fn label(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Plan => "plan",
        }
    }
}

/// A process. The start time distinguishes it from a later process with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// The start time in the unit of the operating system.
    pub started: u64,
}

/// The work that one prompt asks of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobBegun {
    /// The number of the job in the run, from 1.
    pub job: u32,
    /// A one-line description.
    pub title: String,
    /// The batch of the plan that it carries out, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// The ids of the pieces that it carries out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<String>,
    /// The estimated tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// How a run ended, or why it is paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    Done,
    /// An agent failed, and the run with it.
    Failed {
        code: i32,
    },
    Limited {
        limit: Limit,
    },
    /// The circuit breaker ended it: the run made no progress.
    Broken {
        repeats: Repeats,
    },
    /// A signal ended it.
    Interrupted {
        signal: i32,
    },
}

impl Outcome {
    pub fn label(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed { .. } => "failed",
            Self::Limited { .. } => "limited",
            Self::Broken { .. } => "broken",
            Self::Interrupted { .. } => "interrupted",
        }
    }

    /// Returns whether there is work left.
    pub fn is_resumable(&self) -> bool {
        *self != Self::Done
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Failed { code } => write!(f, "the agent {}", how_ended(*code)),
            Self::Limited { limit } => write!(f, "{limit}"),
            Self::Broken { repeats } => write!(f, "{repeats}"),
            Self::Interrupted { signal } => write!(f, "interrupted by signal {signal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uuids_are_runs() {
        let id = RunId::new("019a8f00-0000-7000-8000-0123456789ab").unwrap();
        assert_eq!(id.short(), "456789ab");
        for bad in ["", "x", "019A8F00-0000-7000-8000-0123456789AB", "../../../../../../../../etc"]
        {
            assert_eq!(RunId::new(bad), None, "{bad}");
        }
    }

    #[track_caller]
    fn check(what: What, json: &str) {
        let line = Line { at: 7, what };
        assert_eq!(serde_json::to_string(&line).unwrap(), json);
        assert_eq!(serde_json::from_str::<Line>(json).unwrap(), line);
    }

    #[test]
    fn lines_are_flat_json() {
        let by = Process { pid: 12, started: 34 };
        check(
            What::Conducted { by, limits: None, pace: None },
            r#"{"at":7,"what":"conducted","by":{"pid":12,"started":34}}"#,
        );
        check(
            What::JobDone { job: 1, checkpoint: Some("c".to_owned()) },
            r#"{"at":7,"what":"job_done","job":1,"checkpoint":"c"}"#,
        );
        check(
            What::Ended(Outcome::Limited { limit: Limit::Sessions(9) }),
            r#"{"at":7,"what":"ended","outcome":"limited","limit":{"sessions":9}}"#,
        );
        check(What::Ended(Outcome::Done), r#"{"at":7,"what":"ended","outcome":"done"}"#);
    }
}
