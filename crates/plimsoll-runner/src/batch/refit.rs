//! Fits pieces into the budget again after work took more than estimated.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_core::Tokens;
use plimsoll_core::plan::{Piece, sum};

use super::CoChanges;
use super::estimate::{share, text_tokens};
use super::file_groups::{self, FileGroup};
use super::split::too_large_warning;

/// Divides pieces that do not fit, as at first planning: by subtasks, else by files. Pieces that
/// cannot be divided get a warning.
pub(super) fn refit(
    kept: &[Vec<Piece>],
    pieces: Vec<Piece>,
    available: Tokens,
    together: &dyn Fn(&[String]) -> CoChanges,
) -> Vec<Piece> {
    let mut names = BTreeSet::new();
    kept.iter().flatten().chain(&pieces).for_each(|piece| add_names(piece, &mut names));
    let mut refit = Refitter {
        available,
        together,
        names,
        fitted: Vec::new(),
        parts_of_divided: BTreeMap::new(),
    };
    pieces.into_iter().for_each(|piece| drop(refit.fit(piece)));
    let Refitter { mut fitted, parts_of_divided: replaced, .. } = refit;
    for piece in &mut fitted {
        let now = |id: String| replaced.get(&id).cloned().unwrap_or_else(|| vec![id]);
        let after = std::mem::take(&mut piece.after).into_iter().flat_map(now);
        let mut seen = BTreeSet::new();
        piece.after = after.filter(|id| seen.insert(id.clone())).collect();
    }
    fitted
}

struct Refitter<'t> {
    available: Tokens,
    together: &'t dyn Fn(&[String]) -> CoChanges,
    /// Names that are in use.
    names: BTreeSet<String>,
    fitted: Vec<Piece>,
    /// Names of divided pieces, with the names of their parts.
    parts_of_divided: BTreeMap<String, Vec<String>>,
}

impl Refitter<'_> {
    /// Adds a piece, divided if necessary. Returns the names of the pieces that complete it.
    fn fit(&mut self, mut piece: Piece) -> Vec<String> {
        let id = piece.id.clone();
        let parts = match piece.tokens <= self.available {
            true => Vec::new(),
            false => self.divide(&mut piece),
        };
        if parts.is_empty() {
            let is_large = piece.tokens > self.available;
            let warning = piece.warning.take().unwrap_or_else(|| too_large_warning(&piece.files));
            piece.warning = is_large.then_some(warning);
            self.fitted.push(piece);
            return vec![id];
        }
        let ids: Vec<String> = parts.into_iter().flat_map(|part| self.fit(part)).collect();
        self.parts_of_divided.insert(id, ids.clone());
        ids
    }

    /// Divides a piece; empty if it cannot be divided.
    fn divide(&mut self, piece: &mut Piece) -> Vec<Piece> {
        if piece.parts.is_empty() {
            return self.divide_by_files(piece);
        }
        let mut parts = std::mem::take(&mut piece.parts);
        parts.iter_mut().for_each(|part| part.after.extend(piece.after.iter().cloned()));
        parts
    }

    fn divide_by_files(&mut self, piece: &Piece) -> Vec<Piece> {
        let files = files_to_work_on(piece);
        if piece.costs.len() != files.len() || files.len() < 2 {
            return Vec::new();
        }
        let above = piece.above.iter().map(|above| above.description.as_str());
        let texts = std::iter::once(piece.description.as_str()).chain(above);
        let words = if piece.given { 0 } else { text_tokens(texts) };
        let all = sum(piece.costs.iter().copied()).saturating_add(words);
        let of = |tokens, cost: Tokens| share(tokens, cost.saturating_add(words), all);
        let fits = |cost| of(piece.tokens, cost) <= self.available;
        let together = (self.together)(files);
        let groups = file_groups::group_files(files, &piece.costs, &together, &fits);
        if groups.len() < 2 {
            return Vec::new();
        }
        let names = self.free_names(&piece.id, groups.len());
        let part = |(id, group): (String, &FileGroup)| Piece {
            id,
            files: group.files.iter().map(|at| files[*at].clone()).collect(),
            tokens: of(piece.tokens, group.cost),
            formula: piece.formula.map(|formula| of(formula, group.cost)),
            of: Some(task_of(piece).to_owned()),
            costs: group.costs(&piece.costs),
            warning: None,
            ..piece.clone()
        };
        names.into_iter().zip(&groups).map(part).collect()
    }

    /// Returns `count` unused names for parts of a piece.
    fn free_names(&mut self, id: &str, count: usize) -> Vec<String> {
        let all = (1..).map(|number| format!("{id}.{number}"));
        let names: Vec<String> =
            all.filter(|name| !self.names.contains(name)).take(count).collect();
        self.names.extend(names.iter().cloned());
        names
    }
}

fn add_names(piece: &Piece, names: &mut BTreeSet<String>) {
    names.insert(piece.id.clone());
    names.extend(piece.after.iter().chain(&piece.of).cloned());
    names.extend(piece.above.iter().map(|above| above.id.clone()));
    piece.parts.iter().for_each(|part| add_names(part, names));
}

/// Returns the files that a piece works on: its own, else those of the innermost parent task that
/// names some.
fn files_to_work_on(piece: &Piece) -> &[String] {
    let mut above = piece.above.iter().rev().map(|above| &above.files);
    let inherited = above.find(|files| piece.files.is_empty() && !files.is_empty());
    inherited.unwrap_or(&piece.files)
}

/// Returns the task to which parts of a piece belong. If the piece is itself a group of a task's
/// files, that is the same task.
fn task_of(piece: &Piece) -> &str {
    let is_subtask = piece.above.last().map(|above| &above.id) == piece.of.as_ref();
    piece.of.as_deref().filter(|_| !is_subtask).unwrap_or(&piece.id)
}
