//! Where a run ends that nobody has limited.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::config::RunConfig;
use crate::Tokens;
use crate::run::Limits;

/// The limits of a run that its command line says nothing of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSettings {
    /// How many sessions.
    pub max_sessions: u64,
    /// How many tokens the windows of all sessions may hold at their ends, added up.
    pub max_tokens: Option<Tokens>,
    /// How many minutes.
    pub max_minutes: Option<u64>,
}

impl Default for RunSettings {
    fn default() -> Self {
        // Nobody sits there to see that it never ends.
        Self { max_sessions: 50, max_tokens: None, max_minutes: None }
    }
}

impl RunSettings {
    /// Lays a config over these settings.
    pub(super) fn take(&mut self, config: &RunConfig) {
        self.max_sessions = config.max_sessions.map_or(self.max_sessions, NonZero::get);
        self.max_tokens = config.max_tokens.map(NonZero::get).or(self.max_tokens);
        self.max_minutes = config.max_minutes.map(NonZero::get).or(self.max_minutes);
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        Limits {
            sessions: Some(u32::try_from(self.max_sessions).unwrap_or(u32::MAX)),
            tokens: self.max_tokens,
            seconds: self.max_minutes.map(|minutes| minutes.saturating_mul(60)),
            failures: None,
        }
    }
}
