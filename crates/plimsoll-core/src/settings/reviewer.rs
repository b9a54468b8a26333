//! Who looks at the fleet beside the policy, where the user wants somebody to.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::config::ReviewerConfig;

/// A command of the user's that is shown the fleet now and then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewerSettings {
    /// The command and its arguments; none where nobody looks.
    pub command: Vec<String>,
    /// Whom it may call in; none where there is nobody.
    pub second_command: Vec<String>,
    /// How often it is shown the fleet.
    pub interval_seconds: u64,
    /// How often the commands are run in a day, at most.
    pub most_per_day: u64,
}

impl Default for ReviewerSettings {
    fn default() -> Self {
        let (command, second_command) = (Vec::new(), Vec::new());
        Self { command, second_command, interval_seconds: 300, most_per_day: 100 }
    }
}

impl ReviewerSettings {
    /// Lays a config over these settings.
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
