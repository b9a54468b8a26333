//! Runs: work that goes on over as many sessions as it takes.
//!
//! A run is told in an append-only file, its journal, of which each line is a [`Line`]. Whoever wants
//! to know how a run stands folds the lines ([`Run`]); whoever conducts it asks the fold what is left
//! to do, whether a limit is reached ([`Limits`]), and whether it goes round in circles ([`Breaker`]).
//! Starting agents is the runner's business, writing the file the engine's.

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

/// The name of a run: a UUID, so that it can name a file and tells when the run began.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// `text`, if it is the name of a run.
    pub fn new(text: &str) -> Option<Self> {
        let fits = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        };
        (text.len() == 36 && text.bytes().enumerate().all(fits)).then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What people call it by.
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

/// One line of a run's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// When.
    pub at: Millis,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What happens in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// The run begins: the first line, and never again.
    Begun(Begun),
    /// A process conducts the run from now on: at its beginning, and whenever it is resumed.
    Conducted {
        /// Which.
        by: Process,
        /// The limits from now on, where they are others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limits: Option<Limits>,
        /// How its plan is carried out from now on, where that is another way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pace: Option<Pace>,
    },
    /// The plan of the run from now on, the whole of it: what is done, and what is left.
    Planned {
        /// The plan.
        plan: Plan,
        /// Why it took the place of the one before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A job begins.
    JobBegun(JobBegun),
    /// A session is about to be started for a job.
    LegBegun(LegBegun),
    /// Its process runs.
    LegStarted {
        /// The job.
        job: u32,
        /// The leg.
        leg: u32,
        /// The process.
        process: Process,
    },
    /// The session of a leg has ended.
    LegEnded(LegEnd),
    /// A job is done, and will never be done again.
    JobDone {
        /// The job.
        job: u32,
        /// The checkpoint that was verified before this was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkpoint: Option<String>,
    },
    /// A job has failed for good.
    JobFailed {
        /// The job.
        job: u32,
        /// Why.
        why: String,
    },
    /// The run has ended, or rests until somebody resumes it.
    Ended(Outcome),
}

/// What a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// What sort of work it is.
    pub sort: Sort,
    /// The project it works in.
    pub project: String,
    /// What it is about, in a line.
    pub title: String,
    /// The agent's command, word by word.
    pub command: Vec<String>,
    /// Where it ends, whatever is done by then.
    #[serde(default)]
    pub limits: Limits,
    /// How its plan is carried out, if it has one; an earlier release did not write that down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
}

/// How a plan is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// What a fresh session is begun for.
    pub session: SessionPer,
    /// How many sessions of a batch run at once.
    pub at_once: u32,
    /// How often a job that fails is tried again.
    pub retries: u32,
}

/// What sort of work a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// One long task.
    Task,
    /// The batches of a plan.
    Plan,
}

impl Sort {
    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Plan => "plan",
        }
    }
}

/// A process, told from a later one that got its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it was started, as its system counts.
    pub started: u64,
}

/// What one prompt asks of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobBegun {
    /// Its number in the run, from 1 on.
    pub job: u32,
    /// What it is about, in a line.
    pub title: String,
    /// The batch of the plan it carries out, from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// The pieces of the plan it carries out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<String>,
    /// What it was estimated to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// How a run ended, or why it rests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The work is done.
    Done,
    /// An agent gave up, and the run with it.
    Failed {
        /// The exit code.
        code: i32,
    },
    /// A limit was reached.
    Limited {
        /// Which.
        limit: Limit,
    },
    /// It went round in circles.
    Broken {
        /// What repeats.
        repeats: Repeats,
    },
    /// Somebody ended it.
    Interrupted {
        /// The signal.
        signal: i32,
    },
}

impl Outcome {
    /// Its name.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed { .. } => "failed",
            Self::Limited { .. } => "limited",
            Self::Broken { .. } => "broken",
            Self::Interrupted { .. } => "interrupted",
        }
    }

    /// Whether there is something left to do.
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
