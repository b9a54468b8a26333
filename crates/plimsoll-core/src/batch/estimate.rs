//! What a task takes: its words, its files and the keyword it goes by.

use std::collections::HashMap;

use super::{Kind, Task};
use crate::Tokens;

/// A file of which nothing is known.
pub const UNKNOWN_FILE: Tokens = 2_000;
/// How many files a task touches that names none.
const USUAL_FILES: u64 = 3;
/// Characters of a description that make a token.
const CHARS_PER_TOKEN: u64 = 4;

/// Estimates tasks.
#[derive(Clone, Debug, Default)]
pub struct Estimator {
    /// What the files of the project weigh, by the names that tasks call them.
    pub weights: HashMap<String, Tokens>,
    /// What experience makes of the formula.
    pub factors: Factors,
}

/// What experience makes of the formula for each kind of task, in thousandths: 1,000 leaves it as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors([u64; Kind::ALL.len()]);

impl Default for Factors {
    fn default() -> Self {
        Self([1_000; Kind::ALL.len()])
    }
}

impl Factors {
    /// The factor of a kind, in thousandths.
    pub fn of(&self, kind: Kind) -> u64 {
        self.0[kind as usize]
    }

    /// The same with another factor for a kind.
    #[must_use]
    pub fn with(mut self, kind: Kind, thousandths: u64) -> Self {
        self.0[kind as usize] = thousandths;
        self
    }
}

impl Estimator {
    /// What a task takes: what the user says, else the formula, but no less than its subtasks together.
    pub fn estimate(&self, task: &Task) -> Tokens {
        let to_do = task.subtasks.iter().filter(|subtask| !subtask.done);
        let parts = || sum(to_do.map(|subtask| self.estimate(subtask)));
        task.tokens.unwrap_or_else(|| self.by_formula(task).max(parts()))
    }

    /// What a part of a task takes whose files cost `cost` of the `all` that the task's cost.
    pub(super) fn estimate_part(&self, task: &Task, cost: Tokens, all: Tokens) -> Tokens {
        match task.tokens {
            Some(tokens) => share(tokens, cost, all),
            None => self.formula(&task.description, cost),
        }
    }

    /// `int((words + files) × multiplier)`, then what experience makes of it.
    fn by_formula(&self, task: &Task) -> Tokens {
        let files = match task.files.is_empty() {
            true => UNKNOWN_FILE.saturating_mul(task.estimated_files.unwrap_or(USUAL_FILES)),
            false => sum(self.file_costs(task)),
        };
        self.formula(&task.description, files)
    }

    fn formula(&self, description: &str, files: Tokens) -> Tokens {
        let words = description.chars().count() as Tokens / CHARS_PER_TOKEN;
        let kind = Kind::of(description);
        let tokens = (words.saturating_add(files) as f64 * kind.multiplier()) as Tokens;
        match self.factors.of(kind) {
            1_000 => tokens,
            factor => (u128::from(tokens) * u128::from(factor) / 1_000) as Tokens,
        }
    }

    /// What the formula alone gives where experience makes `tokens` of it.
    pub(super) fn formula_alone(&self, task: &Task, tokens: Tokens) -> Option<Tokens> {
        let factor = self.factors.of(Kind::of(&task.description)).max(1);
        let alone = u128::from(tokens) * 1_000 / u128::from(factor);
        let is_other = factor != 1_000 && task.tokens.is_none();
        is_other.then(|| Tokens::try_from(alone).unwrap_or(Tokens::MAX))
    }

    /// What each file that a task names costs. Files that it may touch beside them are shared out.
    pub(super) fn file_costs(&self, task: &Task) -> Vec<Tokens> {
        let named = task.files.len() as u64;
        let unnamed = task.estimated_files.unwrap_or(0).saturating_sub(named);
        let extra = unnamed.saturating_mul(UNKNOWN_FILE).div_ceil(named.max(1));
        let weight = |file| self.weights.get(file).copied().unwrap_or(UNKNOWN_FILE);
        task.files.iter().map(|file| weight(file.as_str()).saturating_add(extra)).collect()
    }
}

/// These together.
pub(super) fn sum(tokens: impl IntoIterator<Item = Tokens>) -> Tokens {
    tokens.into_iter().fold(0, Tokens::saturating_add)
}

/// As much of `tokens` as `part` is of `whole`, and not less.
fn share(tokens: Tokens, part: Tokens, whole: Tokens) -> Tokens {
    let share = u128::from(tokens) * u128::from(part);
    share.div_ceil(u128::from(whole.max(1))) as Tokens
}
