//! What a task takes: its words, its files and the keyword it goes by.

use std::collections::HashMap;

use plimsoll_core::Tokens;
use plimsoll_core::plan::{Kind, sum};

use super::Task;

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
        self.estimate_in(task, &[])
    }

    /// What a task takes that is planned apart from those it is a subtask of, the innermost first. Their
    /// words are told with it; their files count where it does not say itself what it touches.
    pub fn estimate_in(&self, task: &Task, above: &[&Task]) -> Tokens {
        let to_do = task.subtasks.iter().filter(|subtask| !subtask.done);
        let parts = || sum(to_do.map(|subtask| self.estimate(subtask)));
        let files = || self.files_in(task, above);
        task.tokens.unwrap_or_else(|| self.formula(task, above, files()).max(parts()))
    }

    /// What a part of a task takes whose files cost `cost` of the `all` that the task's cost.
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

    fn files_in(&self, task: &Task, above: &[&Task]) -> Tokens {
        match works_on(task, above).is_empty() {
            true => UNKNOWN_FILE.saturating_mul(task.estimated_files.unwrap_or(USUAL_FILES)),
            false => sum(self.file_costs(task, above)),
        }
    }

    /// `int((words + files) × multiplier)`, then what experience makes of it.
    fn formula(&self, task: &Task, above: &[&Task], files: Tokens) -> Tokens {
        let above = above.iter().map(|above| above.description.as_str());
        let words = words(std::iter::once(task.description.as_str()).chain(above));
        let kind = Kind::of(&task.description);
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

    /// What each file that a task works on costs. Files that it may touch beside them are shared out.
    pub(super) fn file_costs(&self, task: &Task, above: &[&Task]) -> Vec<Tokens> {
        let files = works_on(task, above);
        let named = files.len() as u64;
        let unnamed = task.estimated_files.unwrap_or(0).saturating_sub(named);
        let extra = unnamed.saturating_mul(UNKNOWN_FILE).div_ceil(named.max(1));
        files.iter().map(|file| self.weight(file).saturating_add(extra)).collect()
    }

    fn weight(&self, file: &str) -> Tokens {
        self.weights.get(file).copied().unwrap_or(UNKNOWN_FILE)
    }
}

/// The files that a task works on: those it names, else, unless it says how many it touches, those of the
/// innermost task that it is a subtask of and that names some.
pub fn works_on<'t>(task: &'t Task, above: &[&'t Task]) -> &'t [String] {
    files_from(task, above).map_or(&task.files, |owner| &owner.files)
}

/// Whose files a task works on, if they are not its own.
pub(super) fn files_from<'t>(task: &Task, above: &[&'t Task]) -> Option<&'t Task> {
    let says_itself = !task.files.is_empty() || task.estimated_files.is_some();
    let mut above = above.iter().copied().filter(|_| !says_itself);
    above.find(|above| !above.files.is_empty())
}

/// What reading these texts takes.
pub(super) fn words<'t>(texts: impl IntoIterator<Item = &'t str>) -> Tokens {
    let characters: usize = texts.into_iter().map(|text| text.chars().count()).sum();
    characters as Tokens / CHARS_PER_TOKEN
}

/// As much of `tokens` as `part` is of `whole`, and not less.
pub(super) fn share(tokens: Tokens, part: Tokens, whole: Tokens) -> Tokens {
    let share = u128::from(tokens) * u128::from(part);
    share.div_ceil(u128::from(whole.max(1))) as Tokens
}
