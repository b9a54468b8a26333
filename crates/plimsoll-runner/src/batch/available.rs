//! What a session has room for.

use plimsoll_core::Tokens;

use super::UNKNOWN_BUDGET;

/// What a session may hold, and what of that is spoken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// What it may hold in all.
    pub budget: Tokens,
    /// What it holds already.
    pub reading: Tokens,
    /// What lies above the restart line: work that is planned to fit must not be stopped by it.
    pub reserve: Tokens,
}

impl Room {
    /// The room in a session that holds `reading` tokens, and is over its restart line at `restart`.
    pub fn new(budget: Tokens, reading: Tokens, restart: Tokens) -> Self {
        Self { budget, reading, reserve: budget.saturating_sub(restart) }
    }

    /// The room in a session of whose window only the `usage` is known, from 0 to 1.
    pub fn of_usage(usage: f64) -> Self {
        let left = (UNKNOWN_BUDGET as f64 * (1.0 - usage)) as Tokens;
        let reading = UNKNOWN_BUDGET.saturating_sub(left);
        Self { budget: UNKNOWN_BUDGET, reading, reserve: 0 }
    }

    /// What is left.
    pub fn available(&self) -> Tokens {
        self.budget.saturating_sub(self.reading).saturating_sub(self.reserve)
    }
}
