//! Estimates tasks by their description, their files and their kind.

use std::collections::HashMap;

use plimsoll_core::Tokens;
use plimsoll_core::plan::{Kind, sum};

use super::Task;

/// Assumed size of a file that cannot be measured.
pub const UNKNOWN_FILE_TOKENS: Tokens = 2_000;
/// Assumed number of files if a task names none.
const DEFAULT_FILE_COUNT: u64 = 3;
/// Characters of a description per token.
const CHARS_PER_TOKEN: u64 = 4;

#[derive(Clone, Debug, Default)]
pub struct Estimator {
    /// Sizes of the project's files, keyed by the name as written in the tasks.
    pub file_tokens: HashMap<String, Tokens>,
    /// Corrections learned from past work.
    pub factors: Factors,
}

/// Correction factor for each kind of task, in thousandths: 1,000 changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors([u64; Kind::ALL.len()]);

impl Default for Factors {
    fn default() -> Self {
        Self([1_000; Kind::ALL.len()])
    }
}

impl Factors {
    /// Returns the factor of a kind, in thousandths.
    pub fn of(&self, kind: Kind) -> u64 {
        self.0[kind as usize]
    }

    /// Replaces the factor of a kind.
    #[must_use]
    pub fn with(mut self, kind: Kind, thousandths: u64) -> Self {
        self.0[kind as usize] = thousandths;
        self
    }
}

impl Estimator {
    /// Estimates a task: the user's figure, else the formula, but at least the sum of its subtasks.
    pub fn estimate(&self, task: &Task) -> Tokens {
        self.estimate_subtask(task, &[])
    }

    /// Estimates a task that is planned separately from its parent tasks (`above`, innermost
    /// first). The prompt includes their descriptions. Their files count if the task does not say
    /// what it touches.
    pub fn estimate_subtask(&self, task: &Task, above: &[&Task]) -> Tokens {
        let to_do = task.subtasks.iter().filter(|subtask| !subtask.done);
        let parts = || sum(to_do.map(|subtask| self.estimate(subtask)));
        let files = || self.files_cost(task, above);
        task.tokens.unwrap_or_else(|| self.formula(task, above, files()).max(parts()))
    }

    /// Estimates a part of a task whose files cost `cost` out of `all` for the whole task.
    pub(super) fn estimate_part(
        &self,
        task: &Task,
        above: &[&Task],
        cost: Tokens,
        all: Tokens,
    ) -> Tokens {
        match task.tokens {
            Some(tokens) => share(tokens, cost, all),
            None => self.formula(task, above, cost),
        }
    }

    fn files_cost(&self, task: &Task, above: &[&Task]) -> Tokens {
        match files_to_work_on(task, above).is_empty() {
            true => UNKNOWN_FILE_TOKENS
                .saturating_mul(task.estimated_files.unwrap_or(DEFAULT_FILE_COUNT)),
            false => sum(self.file_costs(task, above)),
        }
    }

    /// Computes `int((words + files) × multiplier)` and applies the learned factor.
    fn formula(&self, task: &Task, above: &[&Task], files: Tokens) -> Tokens {
        let above = above.iter().map(|above| above.description.as_str());
        let words = text_tokens(std::iter::once(task.description.as_str()).chain(above));
        let kind = Kind::of(&task.description);
        let tokens = (words.saturating_add(files) as f64 * kind.multiplier()) as Tokens;
        match self.factors.of(kind) {
            1_000 => tokens,
            factor => (u128::from(tokens) * u128::from(factor) / 1_000) as Tokens,
        }
    }

    /// Returns the formula's figure before the learned factor gave `tokens`. `None` if no factor or
    /// a figure of the user applies.
    pub(super) fn uncorrected(&self, task: &Task, tokens: Tokens) -> Option<Tokens> {
        let factor = self.factors.of(Kind::of(&task.description)).max(1);
        let alone = u128::from(tokens) * 1_000 / u128::from(factor);
        let is_other = factor != 1_000 && task.tokens.is_none();
        is_other.then(|| Tokens::try_from(alone).unwrap_or(Tokens::MAX))
    }

    /// Returns the cost of each file that a task works on. The cost of files that the task touches
    /// without naming them is distributed evenly.
    pub(super) fn file_costs(&self, task: &Task, above: &[&Task]) -> Vec<Tokens> {
        let files = files_to_work_on(task, above);
        let named = files.len() as u64;
        let unnamed = task.estimated_files.unwrap_or(0).saturating_sub(named);
        let extra = unnamed.saturating_mul(UNKNOWN_FILE_TOKENS).div_ceil(named.max(1));
        files.iter().map(|file| self.cost_of_file(file).saturating_add(extra)).collect()
    }

    fn cost_of_file(&self, file: &str) -> Tokens {
        self.file_tokens.get(file).copied().unwrap_or(UNKNOWN_FILE_TOKENS)
    }
}

/// Returns the files that a task works on: its own, else those of the innermost parent task that
/// names some. A task that gives only a number of files works on none.
pub fn files_to_work_on<'t>(task: &'t Task, above: &[&'t Task]) -> &'t [String] {
    inherited_from(task, above).map_or(&task.files, |owner| &owner.files)
}

/// Returns the parent task whose files a task works on; `None` if it works on its own.
pub(super) fn inherited_from<'t>(task: &Task, above: &[&'t Task]) -> Option<&'t Task> {
    let says_itself = !task.files.is_empty() || task.estimated_files.is_some();
    let mut above = above.iter().copied().filter(|_| !says_itself);
    above.find(|above| !above.files.is_empty())
}

/// Returns the tokens of these texts.
pub(super) fn text_tokens<'t>(texts: impl IntoIterator<Item = &'t str>) -> Tokens {
    let characters: usize = texts.into_iter().map(|text| text.chars().count()).sum();
    characters as Tokens / CHARS_PER_TOKEN
}

/// Returns the fraction `part / whole` of `tokens`, rounded up.
pub(super) fn share(tokens: Tokens, part: Tokens, whole: Tokens) -> Tokens {
    let share = u128::from(tokens) * u128::from(part);
    share.div_ceil(u128::from(whole.max(1))) as Tokens
}
