//! Default limits of a run.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::config::RunConfig;
use crate::Tokens;
use crate::run::Limits;

/// The limits of a run that has none on its command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSettings {
    pub max_sessions: u64,
    /// Sum of the tokens in the windows of all sessions at their ends.
    pub max_tokens: Option<Tokens>,
    pub max_minutes: Option<u64>,
}

impl Default for RunSettings {
    fn default() -> Self {
        // A run is unattended, so it must end at some point.
        Self { max_sessions: 50, max_tokens: None, max_minutes: None }
    }
}

impl RunSettings {
    /// Overrides these settings with those in a config.
    pub(super) fn take(&mut self, config: &RunConfig) {
        self.max_sessions = config.max_sessions.map_or(self.max_sessions, NonZero::get);
        self.max_tokens = config.max_tokens.map(NonZero::get).or(self.max_tokens);
        self.max_minutes = config.max_minutes.map(NonZero::get).or(self.max_minutes);
    }

    pub fn limits(&self) -> Limits {
        Limits {
            sessions: Some(u32::try_from(self.max_sessions).unwrap_or(u32::MAX)),
            tokens: self.max_tokens,
            seconds: self.max_minutes.map(|minutes| minutes.saturating_mul(60)),
            failures: None,
        }
    }
}
