//! How work is planned, where the user has a say in it.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::config::BatchConfig;
use crate::Tokens;

/// How work is planned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchSettings {
    /// What a session may hold; the model's window if nothing is said.
    pub budget: Option<Tokens>,
}

impl BatchSettings {
    /// Lays a config over these settings.
    pub(super) fn take(&mut self, config: &BatchConfig) {
        self.budget = config.budget.map(NonZero::get).or(self.budget);
    }
}
