//! The room in a session.

use plimsoll_core::Tokens;

use super::UNKNOWN_BUDGET;

/// Budget of a session, and how much of it is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Total tokens that the session may contain.
    pub budget: Tokens,
    /// Tokens already in the window.
    pub used: Tokens,
    /// Tokens above the restart threshold. Planned work must end before that threshold stops it.
    pub reserve: Tokens,
}

impl Room {
    /// Returns the room in a session that contains `used` tokens and restarts at `restart`
    /// tokens.
    pub fn new(budget: Tokens, used: Tokens, restart: Tokens) -> Self {
        Self { budget, used, reserve: budget.saturating_sub(restart) }
    }

    /// Returns the room in a session of unknown window size; `usage` is its fill level from 0 to 1.
    pub fn of_unknown_window(usage: f64) -> Self {
        let left = (UNKNOWN_BUDGET as f64 * (1.0 - usage)) as Tokens;
        let used = UNKNOWN_BUDGET.saturating_sub(left);
        Self { budget: UNKNOWN_BUDGET, used, reserve: 0 }
    }

    /// Returns the tokens that are left for work.
    pub fn available(&self) -> Tokens {
        self.budget.saturating_sub(self.used).saturating_sub(self.reserve)
    }
}
