//! How work is planned and carried out, where the user has a say in it.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::config::BatchConfig;
use crate::Tokens;
use crate::run::Limits;

/// How work is planned, and how plans are carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchSettings {
    /// What a session may hold; the model's window if nothing is said.
    pub budget: Option<Tokens>,
    /// The agent's command and its arguments; none where the agent's own is meant.
    pub command: Vec<String>,
    /// What a fresh session is begun for.
    pub session: SessionPer,
    /// How many sessions run at once.
    pub at_once: u64,
    /// How often a job that has failed is tried again.
    pub retries: u64,
    /// How many jobs may fail.
    pub max_failures: u64,
    /// How many sessions may be started.
    pub max_sessions: Option<u64>,
    /// How many tokens all sessions together may hold at their ends.
    pub max_tokens: Option<Tokens>,
    /// How many minutes it may take.
    pub max_minutes: Option<u64>,
}

/// What a fresh session is begun for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionPer {
    /// Every batch.
    #[default]
    Batch,
    /// Every task, or every part of one that was split.
    Task,
}

impl SessionPer {
    /// Both, as they are written.
    pub const WORDS: [&str; 2] = ["batch", "task"];

    /// This one, as it is written.
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
    /// Lays a config over these settings.
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

    /// What is to be said where one of them does nothing beside another.
    pub fn contradiction(&self) -> Option<&'static str> {
        (self.at_once > 1 && self.session == SessionPer::Batch).then_some(
            "`batch.at_once` does nothing while `batch.session` is `batch`: batches run one after the \
             other; with `batch.session: task` the tasks of a batch run at once",
        )
    }

    /// Where a run of a plan ends, whatever is done by then.
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
