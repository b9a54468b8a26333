//! Settings for planning work and carrying out plans.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::config::BatchConfig;
use crate::Tokens;
use crate::run::Limits;

/// Settings for planning work and carrying out plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchSettings {
    /// Maximum tokens of a session; `None` for the model's window.
    pub budget: Option<Tokens>,
    /// The agent's command and its arguments; empty for the agent's default command.
    pub command: Vec<String>,
    /// The unit of work for which a new session starts.
    pub session: SessionPer,
    /// Number of sessions that run at once.
    pub at_once: u64,
    /// Number of retries of a failed job.
    pub retries: u64,
    /// Number of failed jobs that ends a run.
    pub max_failures: u64,
    pub max_sessions: Option<u64>,
    /// Sum of the tokens in the windows of all sessions at their ends.
    pub max_tokens: Option<Tokens>,
    pub max_minutes: Option<u64>,
}

/// The unit of work for which a new session starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionPer {
    #[default]
    Batch,
    /// A task, or each part of a task that was split.
    Task,
}

impl SessionPer {
    /// The values as written in a config.
    pub const WORDS: [&str; 2] = ["batch", "task"];

    /// Returns the value as written in a config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Task => "task",
        }
    }
}

impl Default for BatchSettings {
    fn default() -> Self {
        Self {
            budget: None,
            command: Vec::new(),
            session: SessionPer::default(),
            at_once: 1,
            retries: 2,
            max_failures: 1,
            max_sessions: None,
            max_tokens: None,
            max_minutes: None,
        }
    }
}

impl BatchSettings {
    /// Overrides these settings with those in a config.
    pub(super) fn take(&mut self, config: &BatchConfig) {
        self.budget = config.budget.map(NonZero::get).or(self.budget);
        if let Some(command) = &config.command {
            self.command.clone_from(command);
        }
        self.session = config.session.unwrap_or(self.session);
        self.at_once = config.at_once.map_or(self.at_once, NonZero::get);
        self.retries = config.retries.unwrap_or(self.retries);
        self.max_failures = config.max_failures.map_or(self.max_failures, NonZero::get);
        self.max_sessions = config.max_sessions.map(NonZero::get).or(self.max_sessions);
        self.max_tokens = config.max_tokens.map(NonZero::get).or(self.max_tokens);
        self.max_minutes = config.max_minutes.map(NonZero::get).or(self.max_minutes);
    }

    /// Returns a warning if one setting makes another ineffective.
    pub fn contradiction(&self) -> Option<&'static str> {
        (self.at_once > 1 && self.session == SessionPer::Batch).then_some(
            "`batch.at_once` does nothing while `batch.session` is `batch`: batches run one after the \
             other; with `batch.session: task` the tasks of a batch run at once",
        )
    }

    /// Returns the limits of a run of a plan.
    pub fn limits(&self) -> Limits {
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Limits {
            sessions: self.max_sessions.map(number),
            tokens: self.max_tokens,
            seconds: self.max_minutes.map(|minutes| minutes.saturating_mul(60)),
            failures: Some(number(self.max_failures)),
        }
    }
}
