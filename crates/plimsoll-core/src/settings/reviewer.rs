//! Settings of the reviewer, a command that checks all sessions in addition to the policy.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::config::ReviewerConfig;

/// A user's command that regularly receives the state of all sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewerSettings {
    /// The command and its arguments; empty for no reviewer.
    pub command: Vec<String>,
    /// The command to which the first one can escalate; empty for none.
    pub second_command: Vec<String>,
    pub interval_seconds: u64,
    /// Maximum number of times that the commands run per day.
    pub most_per_day: u64,
}

impl Default for ReviewerSettings {
    fn default() -> Self {
        let (command, second_command) = (Vec::new(), Vec::new());
        Self { command, second_command, interval_seconds: 300, most_per_day: 100 }
    }
}

impl ReviewerSettings {
    /// Overrides these settings with those in a config.
    pub(super) fn take(&mut self, config: &ReviewerConfig) {
        if let Some(command) = &config.command {
            self.command.clone_from(command);
        }
        if let Some(command) = &config.second_command {
            self.second_command.clone_from(command);
        }
        self.interval_seconds = config.interval_seconds.map_or(self.interval_seconds, NonZero::get);
        self.most_per_day = config.most_per_day.map_or(self.most_per_day, NonZero::get);
    }
}
