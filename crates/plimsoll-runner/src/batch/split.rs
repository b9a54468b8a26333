//! Divides tasks into pieces that fit.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_core::Tokens;
use plimsoll_core::plan::{Above, Kind, Piece, sum};

use super::file_groups::{self, FileGroup};
use super::task_tree::{self, PlanError, TaskDivision, TaskNode, TaskTree};
use super::{PlanningTerms, Task, files_to_work_on};

/// Warning on a piece that does not fit and cannot be split.
pub const TOO_LARGE_WARNING: &str = "Task may exceed context budget";

/// Pieces, with the indexes of the pieces that come before each.
pub(super) struct OrderedPieces {
    pub(super) pieces: Vec<Piece>,
    pub(super) before: Vec<Vec<usize>>,
}

/// Divides tasks into pieces. A task that fits stays whole. Otherwise it is divided by its
/// subtasks, or by groups of its files. Pieces that still do not fit get a warning.
pub(super) fn split(tasks: &[Task], terms: &PlanningTerms) -> Result<OrderedPieces, PlanError> {
    let forest = TaskTree::new(tasks)?;
    task_tree::check_order(&forest)?;
    let mut splitter = Splitter::new(&forest, terms);
    loop {
        let cut = splitter.divide();
        let before = cut.dependencies(&forest);
        let Some(circle) = task_tree::find_cycle(&before) else {
            let pieces = splitter.pieces(&cut, &before);
            return Ok(OrderedPieces { pieces, before });
        };
        // A task in the cycle must come both before and after another task, so divide it.
        let can_part =
            |place: &usize| forest.has_children(*place) && !forest.nodes[*place].task.whole;
        let owners = circle.iter().map(|part| cut.owners[*part]).filter(can_part);
        let apart: Vec<usize> = owners.collect();
        if apart.is_empty() {
            return Err(task_tree::cycle_error(&forest, &cut, &circle));
        }
        splitter.divided.extend(apart);
    }
}

struct Splitter<'f, 't> {
    forest: &'f TaskTree<'t>,
    terms: &'f PlanningTerms,
    /// Estimate of each task.
    tokens: Vec<Tokens>,
    /// Tasks to divide although they fit.
    divided: BTreeSet<usize>,
    /// Groups of files, for tasks that are split by files.
    groups: BTreeMap<usize, Vec<FileGroup>>,
}

impl<'f, 't> Splitter<'f, 't> {
    fn new(forest: &'f TaskTree<'t>, terms: &'f PlanningTerms) -> Self {
        let estimate = |place: usize| {
            let task = forest.nodes[place].task;
            terms.estimator.estimate_subtask(task, &parent_tasks(forest, place))
        };
        let tokens = (0..forest.nodes.len()).map(estimate).collect();
        let (apart, groups) = (BTreeSet::new(), BTreeMap::new());
        let mut splitter = Self { forest, terms, tokens, divided: apart, groups };
        splitter.groups =
            (0..forest.nodes.len()).filter_map(|at| splitter.file_groups(at)).collect();
        splitter
    }

    fn fits(&self, place: usize) -> bool {
        self.tokens[place] <= self.terms.available
    }

    fn divide(&self) -> TaskDivision {
        let is_single = |place: usize| {
            let is_whole = self.forest.nodes[place].task.whole || !self.forest.has_children(place);
            is_whole || (self.fits(place) && !self.divided.contains(&place))
        };
        TaskDivision::new(self.forest, &is_single, &|place| {
            self.groups.get(&place).map_or(1, Vec::len)
        })
    }

    /// Returns the groups of a task's files; `None` if the task is not split by files.
    fn file_groups(&self, place: usize) -> Option<(usize, Vec<FileGroup>)> {
        let TaskNode { task, .. } = self.forest.nodes[place];
        if self.fits(place) || task.whole || self.forest.has_children(place) {
            return None;
        }
        let PlanningTerms { available, estimator, co_changes: together } = self.terms;
        let above = parent_tasks(self.forest, place);
        let costs = estimator.file_costs(task, &above);
        let all = sum(costs.iter().copied());
        let fits = |cost| estimator.estimate_part(task, &above, cost, all) <= *available;
        let groups =
            file_groups::group_files(files_to_work_on(task, &above), &costs, together, &fits);
        (groups.len() > 1).then_some((place, groups))
    }

    fn pieces(&self, cut: &TaskDivision, before: &[Vec<usize>]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(owner) = cut.owners.get(pieces.len()) {
            match self.groups.get(owner) {
                Some(groups) => pieces.extend(self.file_pieces(*owner, groups)),
                None => pieces.push(self.whole_task(*owner)),
            }
        }
        let ids: Vec<String> = pieces.iter().map(|piece| piece.id.clone()).collect();
        for (piece, before) in pieces.iter_mut().zip(before) {
            piece.after = before.iter().map(|part| ids[*part].clone()).collect();
        }
        pieces
    }

    /// Builds the piece of a task that is not split.
    fn whole_task(&self, place: usize) -> Piece {
        let TaskNode { task, parent, .. } = self.forest.nodes[place];
        let (parts, above) = (self.subtask_pieces(place), parent_tasks(self.forest, place));
        let is_single = task.whole || self.forest.has_children(place);
        let costs = (!is_single).then(|| self.terms.estimator.file_costs(task, &above));
        Piece {
            id: task.id.clone(),
            description: full_description(task),
            files: all_files(task),
            tokens: self.tokens[place],
            formula: self.terms.estimator.uncorrected(task, self.tokens[place]),
            given: task.tokens.is_some(),
            kind: Kind::of(&task.description),
            after: Vec::new(),
            of: parent.map(|parent| self.forest.nodes[parent].task.id.clone()),
            warning: (!self.fits(place)).then(|| too_large_warning_of_task(task, &above)),
            above: describe_parents(&above),
            costs: costs.filter(|costs| costs.len() > 1).unwrap_or_default(),
            parts,
        }
    }

    /// Returns the subtasks of a task as pieces, each after the siblings that it depends on. Empty
    /// if the siblings depend on one another in a cycle.
    fn subtask_pieces(&self, place: usize) -> Vec<Piece> {
        let children: Vec<usize> = self.forest.children(place).collect();
        let child_of = |task: usize| {
            let at = children.partition_point(|child| *child <= task).checked_sub(1)?;
            (task < self.forest.nodes[place].end).then_some(at)
        };
        let before = |(at, child): (usize, &usize)| {
            let within = *child..self.forest.nodes[*child].end;
            let tasks = within.flat_map(|place| self.forest.dependencies(place));
            tasks.filter_map(child_of).filter(|before| *before != at).collect::<BTreeSet<usize>>()
        };
        let before: Vec<Vec<usize>> =
            children.iter().enumerate().map(before).map(Vec::from_iter).collect();
        if self.forest.nodes[place].task.whole || task_tree::find_cycle(&before).is_some() {
            return Vec::new();
        }
        let id = |at: usize| self.forest.nodes[children[at]].task.id.clone();
        let part = |(child, before): (&usize, Vec<usize>)| Piece {
            after: before.into_iter().map(id).collect(),
            ..self.whole_task(*child)
        };
        children.iter().zip(before).map(part).collect()
    }

    /// Builds the pieces of a task that is split by its files.
    fn file_pieces(&self, place: usize, groups: &[FileGroup]) -> Vec<Piece> {
        let task = self.forest.nodes[place].task;
        let above = parent_tasks(self.forest, place);
        let all = sum(groups.iter().map(|group| group.cost));
        let (all_files, costs) =
            (files_to_work_on(task, &above), self.terms.estimator.file_costs(task, &above));
        let names = (1..).map(|number| format!("{}.{number}", task.id));
        let free = names.filter(|name| !self.forest.is_known(name));
        let part = |(id, group): (String, &FileGroup)| {
            let tokens = self.terms.estimator.estimate_part(task, &above, group.cost, all);
            let files: Vec<String> = group.files.iter().map(|at| all_files[*at].clone()).collect();
            Piece {
                id,
                description: task.description.clone(),
                warning: (tokens > self.terms.available).then(|| too_large_warning(&files)),
                files,
                tokens,
                formula: self.terms.estimator.uncorrected(task, tokens),
                given: task.tokens.is_some(),
                kind: Kind::of(&task.description),
                after: Vec::new(),
                of: Some(task.id.clone()),
                above: describe_parents(&above),
                costs: group.costs(&costs),
                parts: Vec::new(),
            }
        };
        free.zip(groups).map(part).collect()
    }
}

/// Returns the parent tasks of a task, innermost first.
fn parent_tasks<'t>(forest: &TaskTree<'t>, place: usize) -> Vec<&'t Task> {
    forest.with_ancestors(place).skip(1).map(|place| forest.nodes[place].task).collect()
}

fn describe_parents(above: &[&Task]) -> Vec<Above> {
    let told = |task: &&Task| Above {
        id: task.id.clone(),
        description: task.description.clone(),
        files: task.files.clone(),
    };
    above.iter().rev().map(told).collect()
}

fn too_large_warning_of_task(task: &Task, above: &[&Task]) -> String {
    match super::estimate::inherited_from(task, above).filter(|_| task.tokens.is_none()) {
        Some(owner) => {
            format!("{TOO_LARGE_WARNING}: it names no files, so that those of `{}` count", owner.id)
        }
        None => too_large_warning(&task.files),
    }
}

/// Returns the warning for a piece with these files.
pub(super) fn too_large_warning(files: &[String]) -> String {
    match files {
        [file] => format!("{TOO_LARGE_WARNING}: `{file}` alone is too large for it"),
        _ => TOO_LARGE_WARNING.to_owned(),
    }
}

/// Returns the finished tasks, and the finished subtasks of unfinished tasks.
pub(super) fn finished_tasks(tasks: &[Task]) -> Vec<Piece> {
    let done = |task: &Task| match task.done {
        true => vec![Piece {
            id: task.id.clone(),
            description: task.description.clone(),
            kind: Kind::of(&task.description),
            ..Piece::default()
        }],
        false => self::finished_tasks(&task.subtasks),
    };
    tasks.iter().flat_map(done).collect()
}

/// Returns the description of a task with a list of its subtasks.
fn full_description(task: &Task) -> String {
    let mut text = task.description.clone();
    append_subtasks(task, "", &mut text);
    text
}

fn append_subtasks(task: &Task, indent: &str, text: &mut String) {
    for subtask in task.subtasks.iter().filter(|subtask| !subtask.done) {
        *text += &format!("\n{indent}- {}", subtask.description);
        append_subtasks(subtask, &format!("{indent}  "), text);
    }
}

/// Returns the files of a task and of its unfinished subtasks.
fn all_files(task: &Task) -> Vec<String> {
    let mut files = task.files.clone();
    let to_do = task.subtasks.iter().filter(|subtask| !subtask.done);
    for file in to_do.flat_map(self::all_files) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}
