//! The tree of tasks and subtasks, and its validation.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use super::{Task, pack};

/// Why there is no plan, as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// Line of the task file; `None` if unknown.
    pub line: Option<u64>,
    pub message: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for PlanError {}

impl PlanError {
    pub(super) fn of(task: &Task, message: String) -> Self {
        Self { line: task.line, message }
    }
}

/// All tasks that are not done, each before its subtasks.
pub(super) struct TaskTree<'t> {
    pub(super) nodes: Vec<TaskNode<'t>>,
    /// Index of each task in `nodes`; `None` if the task is done.
    index_by_id: HashMap<&'t str, Option<usize>>,
}

pub(super) struct TaskNode<'t> {
    pub(super) task: &'t Task,
    pub(super) parent: Option<usize>,
    /// Index after the last task of this subtree.
    pub(super) end: usize,
}

impl<'t> TaskTree<'t> {
    /// Builds the tree. Fails if a task has no description, a name occurs twice, or a dependency is
    /// unknown.
    pub(super) fn new(tasks: &'t [Task]) -> Result<Self, PlanError> {
        let mut forest = Self { nodes: Vec::new(), index_by_id: HashMap::new() };
        for task in tasks {
            forest.add(task, None, task.done)?;
        }
        forest.check_dependencies()?;
        Ok(forest)
    }

    fn add(&mut self, task: &'t Task, parent: Option<usize>, done: bool) -> Result<(), PlanError> {
        check_description(task)?;
        let place = (!done).then_some(self.nodes.len());
        if self.index_by_id.insert(&task.id, place).is_some() {
            return Err(PlanError::of(task, format!("there are two tasks called `{}`", task.id)));
        }
        if !done {
            self.nodes.push(TaskNode { task, parent, end: 0 });
        }
        for subtask in &task.subtasks {
            self.add(subtask, place, done || subtask.done)?;
        }
        if let Some(place) = place {
            self.nodes[place].end = self.nodes.len();
        }
        Ok(())
    }

    fn check_dependencies(&self) -> Result<(), PlanError> {
        for TaskNode { task, .. } in &self.nodes {
            if let Some(name) = task.after.iter().find(|name| !self.is_known(name)) {
                let what = format!("`{}` is after `{name}`, which no task is called", task.id);
                return Err(PlanError::of(task, what));
            }
        }
        Ok(())
    }

    /// Whether a task is called `name`, done or not.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.index_by_id.contains_key(name)
    }

    /// Whether a task has unfinished subtasks.
    pub(super) fn has_children(&self, place: usize) -> bool {
        self.nodes[place].end > place + 1
    }

    /// Returns the indexes of a task's unfinished direct subtasks.
    pub(super) fn children(&self, place: usize) -> impl Iterator<Item = usize> {
        let next = move |child: &usize| {
            let next = self.nodes[*child].end;
            (next < self.nodes[place].end).then_some(next)
        };
        std::iter::successors(self.has_children(place).then_some(place + 1), next)
    }

    /// Returns the unfinished tasks that a task names in its own `after`.
    pub(super) fn dependencies(&self, place: usize) -> impl Iterator<Item = usize> {
        let after = &self.nodes[place].task.after;
        after.iter().filter_map(|name| self.index_by_id.get(name.as_str()).copied().flatten())
    }

    /// Returns a task and all its ancestors, innermost first.
    pub(super) fn with_ancestors(&self, place: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(place), |place| self.nodes[*place].parent)
    }
}

fn check_description(task: &Task) -> Result<(), PlanError> {
    if task.description.trim().is_empty() {
        return Err(PlanError::of(task, format!("`{}` does not say what is to be done", task.id)));
    }
    Ok(())
}

/// How tasks are divided into parts, in the order of the tasks.
#[derive(Clone, Debug)]
pub(super) struct TaskDivision {
    /// The task that each part belongs to.
    pub(super) owners: Vec<usize>,
    /// The parts that complete each task. A task inside an undivided parent has the parent's parts.
    pub(super) parts: Vec<Range<usize>>,
}

impl TaskDivision {
    /// Divides each task with subtasks into those subtasks.
    pub(super) fn into_leaves(forest: &TaskTree<'_>) -> Self {
        Self::new(forest, &|place| !forest.has_children(place), &|_| 1)
    }

    /// Divides tasks: a `single` task becomes `many` parts, any other is divided into its subtasks.
    pub(super) fn new(
        forest: &TaskTree<'_>,
        single: &dyn Fn(usize) -> bool,
        many: &dyn Fn(usize) -> usize,
    ) -> Self {
        let count = forest.nodes.len();
        let mut cut = Self { owners: Vec::new(), parts: vec![0..0; count] };
        let (mut place, mut apart) = (0, Vec::new());
        while place < count {
            let first = cut.owners.len();
            if single(place) {
                let end = forest.nodes[place].end;
                cut.owners.extend(std::iter::repeat_n(place, many(place)));
                cut.parts[place..end].fill(first..cut.owners.len());
                place = end;
            } else {
                cut.parts[place] = first..first;
                apart.push(place);
                place += 1;
            }
        }
        for place in apart.into_iter().rev() {
            cut.parts[place].end = cut.parts[forest.nodes[place].end - 1].end;
        }
        cut
    }

    /// Returns for each part the parts that come before it, except parts of the same task.
    pub(super) fn dependencies(&self, forest: &TaskTree<'_>) -> Vec<Vec<usize>> {
        let within = |owner: usize| self.parts[owner].clone();
        let others = |owner| {
            let before = self.task_dependencies(forest, owner).into_iter();
            before.filter(|part| !within(owner).contains(part)).collect()
        };
        self.for_each_part(others)
    }

    /// Like [`dependencies`](Self::dependencies), but includes parts of the same task.
    fn dependencies_with_own(&self, forest: &TaskTree<'_>) -> Vec<Vec<usize>> {
        self.for_each_part(|owner| self.task_dependencies(forest, owner))
    }

    fn for_each_part(&self, of_owner: impl Fn(usize) -> Vec<usize>) -> Vec<Vec<usize>> {
        let mut last: Option<(usize, Vec<usize>)> = None;
        let mut of = |owner: usize| match &last {
            Some((known, before)) if *known == owner => before.clone(),
            _ => last.insert((owner, of_owner(owner))).1.clone(),
        };
        self.owners.iter().map(|owner| of(*owner)).collect()
    }

    /// Returns the parts that come before a task. The dependencies of its ancestors and its
    /// descendants count, too.
    fn task_dependencies(&self, forest: &TaskTree<'_>, owner: usize) -> Vec<usize> {
        let below = owner + 1..forest.nodes[owner].end;
        let words = forest.with_ancestors(owner).chain(below);
        let tasks = words.flat_map(|place| forest.dependencies(place));
        let mut before: Vec<usize> = tasks.flat_map(|task| self.parts[task].clone()).collect();
        before.sort_unstable();
        before.dedup();
        before
    }
}

/// Rejects tasks that wait for one another in a cycle, however they are divided.
pub(super) fn check_order(forest: &TaskTree<'_>) -> Result<(), PlanError> {
    check_own_ancestors(forest)?;
    let leaves = TaskDivision::into_leaves(forest);
    match find_cycle(&leaves.dependencies_with_own(forest)) {
        Some(circle) => Err(cycle_error(forest, &leaves, &circle)),
        None => Ok(()),
    }
}

/// Rejects a task that comes after its own ancestor or descendant.
fn check_own_ancestors(forest: &TaskTree<'_>) -> Result<(), PlanError> {
    let is_part =
        |part: usize, of: usize| forest.with_ancestors(part).skip(1).any(|above| above == of);
    for (place, TaskNode { task, .. }) in forest.nodes.iter().enumerate() {
        for before in forest.dependencies(place) {
            let why = match () {
                () if is_part(place, before) => "which it is a part of",
                () if is_part(before, place) => "which is a part of it",
                () => continue,
            };
            let name = &forest.nodes[before].task.id;
            return Err(PlanError::of(task, format!("`{}` is after `{name}`, {why}", task.id)));
        }
    }
    Ok(())
}

/// Describes a cycle of parts for the user.
pub(super) fn cycle_error(
    forest: &TaskTree<'_>,
    cut: &TaskDivision,
    circle: &[usize],
) -> PlanError {
    let task = |part: &usize| forest.nodes[cut.owners[*part]].task;
    let first = circle.first().map(task);
    let names: Vec<String> =
        circle.iter().chain(circle.first()).map(|part| format!("`{}`", task(part).id)).collect();
    let what = match circle {
        [_] => format!("{} waits for itself", names[0]),
        _ => format!("these tasks wait for one another: {}", names.join(" before ")),
    };
    PlanError { line: first.and_then(|task| task.line), message: what }
}

/// Finds parts that wait for one another in a cycle. Each comes before the next, starting with the
/// one that is first in the list.
pub(super) fn find_cycle(before: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut stuck = vec![true; before.len()];
    pack::topological_order(before, &pack::dependents(before))
        .into_iter()
        .for_each(|part| stuck[part] = false);
    let mut at = stuck.iter().position(|stuck| *stuck)?;
    let (mut way, mut seen) = (Vec::new(), vec![None; before.len()]);
    while seen[at].is_none() {
        seen[at] = Some(way.len());
        way.push(at);
        at = *before[at].iter().find(|part| stuck[**part])?;
    }
    way.drain(..seen[at]?);
    way.reverse();
    let first = (0..way.len()).min_by_key(|at| way[*at])?;
    way.rotate_left(first);
    Some(way)
}
