//! Properties of every plan, for generated tasks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use plimsoll_core::plan::load;
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::*;

/// A task without a name, and the earlier tasks that it may come after.
#[derive(Clone, Debug)]
struct TaskSeed {
    task: Task,
    after: Vec<Index>,
    parts: Vec<TaskSeed>,
}

fn leaf() -> impl Strategy<Value = TaskSeed> {
    let words = prop::sample::select(
        &[
            "Refactor the parser",
            "implement",
            "Fix the lexer and add a test",
            "update the docs",
            "look",
        ][..],
    );
    let file = ("[ab]/[a-d]{1,2}\\.rs").prop_map(String::from);
    (
        words,
        prop::collection::vec(file, 0..6),
        prop::option::of(0..12_u64),
        prop::option::weighted(0.2, 0..40_000_u64),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
        prop::collection::vec(any::<Index>(), 0..3),
    )
        .prop_map(|(words, files, estimated_files, tokens, whole, done, after)| {
            let files: BTreeSet<String> = files.into_iter().collect();
            let task = Task {
                description: words.to_owned(),
                files: files.into_iter().collect(),
                estimated_files,
                tokens,
                whole,
                done,
                ..Task::default()
            };
            TaskSeed { task, after, parts: Vec::new() }
        })
}

fn seed() -> impl Strategy<Value = TaskSeed> {
    leaf().prop_recursive(3, 24, 4, |part| {
        (leaf(), prop::collection::vec(part, 0..4))
            .prop_map(|(seed, parts)| TaskSeed { parts, ..seed })
    })
}

/// Generates tasks that depend on earlier ones only, so that there are no cycles.
fn tasks() -> impl Strategy<Value = Vec<Task>> {
    prop::collection::vec(seed(), 1..14).prop_map(|seeds| {
        let mut earlier = Vec::new();
        seeds
            .into_iter()
            .enumerate()
            .map(|(at, seed)| build_task(seed, at.to_string(), &mut earlier))
            .collect()
    })
}

fn build_task(seed: TaskSeed, id: String, earlier: &mut Vec<String>) -> Task {
    let after = match earlier.is_empty() {
        true => Vec::new(),
        false => seed.after.iter().map(|at| at.get(earlier).clone()).collect(),
    };
    // A task must not come after its own ancestor.
    let parts = seed.parts.into_iter().enumerate();
    let subtasks =
        parts.map(|(at, part)| build_task(part, format!("{id}-{at}"), earlier)).collect();
    earlier.push(id.clone());
    Task { id, after, subtasks, ..seed.task }
}

fn terms() -> impl Strategy<Value = PlanningTerms> {
    let weights = prop::collection::hash_map("[ab]/[a-d]{1,2}\\.rs", 1..30_000_u64, 0..12);
    (0..60_000_u64, weights).prop_map(|(available, weights)| {
        let estimator =
            Estimator { file_tokens: weights.into_iter().collect(), ..Estimator::default() };
        PlanningTerms { available, estimator, co_changes: CoChanges::default() }
    })
}

/// Collects the unfinished tasks, each with its own id and those of its ancestors, innermost first.
fn collect_open_tasks<'t>(
    tasks: &'t [Task],
    above: &[&'t str],
    all: &mut Vec<(&'t Task, Vec<&'t str>)>,
) {
    for task in tasks.iter().filter(|task| !task.done) {
        let line = [&[task.id.as_str()], above].concat();
        all.push((task, line.clone()));
        collect_open_tasks(&task.subtasks, &line, all);
    }
}

/// Returns the pieces that complete a task: its own, those of its parts, or that of an ancestor.
fn pieces_of_task<'p>(
    plan: &'p Plan,
    line: &[&str],
    all: &[(&Task, Vec<&str>)],
) -> Vec<(usize, &'p Piece)> {
    let pieces = || {
        plan.batches
            .iter()
            .enumerate()
            .flat_map(|(at, batch)| batch.iter().map(move |piece| (at, piece)))
    };
    let is_of = |piece: &Piece, id: &str| {
        piece.id == id
            || (piece.of.as_deref() == Some(id) && !all.iter().any(|(task, _)| task.id == piece.id))
    };
    let below: Vec<&str> = all
        .iter()
        .filter(|(_, own)| own.contains(&line[0]))
        .map(|(task, _)| task.id.as_str())
        .collect();
    let own: Vec<_> =
        pieces().filter(|(_, piece)| below.iter().any(|id| is_of(piece, id))).collect();
    match own.is_empty() {
        true => pieces().filter(|(_, piece)| line[1..].iter().any(|id| piece.id == **id)).collect(),
        false => own,
    }
}

/// Returns a piece with all estimates multiplied, including those of its parts.
fn scaled(piece: &Piece, times: Tokens) -> Piece {
    let parts = piece.parts.iter().map(|part| scaled(part, times)).collect();
    Piece { tokens: piece.tokens * times, parts, ..piece.clone() }
}

/// Returns the pieces that replace a piece after replanning: itself, groups of its files, or its
/// subtasks.
fn replacements<'p>(plan: &'p Plan, before: &Piece) -> Vec<(usize, &'p Piece)> {
    let is_of = |piece: &Piece| {
        let is_subtask = piece.above.iter().any(|above| above.id == before.id);
        piece.id == before.id || piece.id.starts_with(&format!("{}.", before.id)) || is_subtask
    };
    let batches = plan.batches.iter().enumerate();
    let pieces = batches.flat_map(|(at, batch)| batch.iter().map(move |piece| (at, piece)));
    pieces.filter(|(_, piece)| is_of(piece)).collect()
}

/// Returns the innermost parts of a piece.
fn leaves(piece: &Piece) -> Vec<&Piece> {
    match piece.parts.is_empty() {
        true => vec![piece],
        false => piece.parts.iter().flat_map(leaves).collect(),
    }
}

/// Replans with `kept` batches unchanged and all other estimates multiplied by `times`.
fn replan(plan: &Plan, kept: usize, times: Tokens) -> Plan {
    let (kept, rest) = plan.batches.split_at(kept);
    let rest = rest.iter().flatten().map(|piece| scaled(piece, times)).collect();
    repack(kept, rest, plan.available, &|_| CoChanges::default()).unwrap().plan
}

proptest! {
    #[test]
    fn replanned_pieces_fit_unless_they_cannot_be_split(
        tasks in tasks(), terms in terms(), times in 1..6_u64, kept in any::<Index>(),
    ) {
        let Ok(PlanWithBound { plan, .. }) = plan(&tasks, &terms) else { return Ok(()) };
        let kept = kept.index(plan.batches.len() + 1);
        let again = replan(&plan, kept, times);
        prop_assert_eq!(&again, &replan(&plan, kept, times), "it is always the same");
        prop_assert_eq!(&again.batches[..kept], &plan.batches[..kept]);
        for batch in &again.batches[kept..] {
            let is_warned = matches!(&batch[..], [piece] if piece.warning.is_some());
            prop_assert!(load(batch) <= plan.available || is_warned, "{batch:?}");
        }
        for piece in again.batches[kept..].iter().flatten() {
            prop_assert_eq!(piece.warning.is_some(), piece.tokens > plan.available);
            let is_split = !piece.parts.is_empty() || piece.costs.len() > 1;
            prop_assert!(piece.warning.is_none() || !is_split, "{piece:?}");
        }
    }

    #[test]
    fn replanning_keeps_every_piece_once_and_in_order(
        tasks in tasks(), terms in terms(), times in 1..6_u64, kept in any::<Index>(),
    ) {
        let Ok(PlanWithBound { plan, .. }) = plan(&tasks, &terms) else { return Ok(()) };
        let kept = kept.index(plan.batches.len() + 1);
        let again = replan(&plan, kept, times);
        let ids: BTreeSet<&str> = again.pieces().map(|piece| piece.id.as_str()).collect();
        prop_assert_eq!(ids.len(), again.pieces().count(), "no name is given twice");
        let by_id: HashMap<&str, &Piece> = plan.pieces().map(|piece| (piece.id.as_str(), piece)).collect();
        for piece in plan.pieces() {
            let now = replacements(&again, piece);
            for leaf in leaves(piece) {
                let mut files: Vec<&String> = replacements(&again, leaf).into_iter().flat_map(|(_, part)| &part.files).collect();
                files.sort_unstable();
                let is_within = leaf.above.iter().any(|above| ids.contains(above.id.as_str()));
                let mut own: Vec<&String> = leaf.files.iter().collect();
                own.sort_unstable();
                // A piece without files is split by the files of its parent task.
                let is_free = leaf.files.is_empty() && files.windows(2).all(|pair| pair[0] < pair[1]);
                prop_assert!(is_within || is_free || files == own, "{leaf:?} {now:?}");
            }
            prop_assert!(!now.is_empty());
            for before in &piece.after {
                for (earlier, other) in replacements(&again, by_id[before.as_str()]) {
                    prop_assert!(now.iter().all(|(later, _)| earlier < *later), "{other:?} {now:?}");
                }
            }
        }
    }

    #[test]
    fn a_batch_fits_or_is_one_piece_with_a_warning(tasks in tasks(), terms in terms()) {
        let Ok(PlanWithBound { plan, bound }) = plan(&tasks, &terms) else { return Ok(()) };
        for batch in &plan.batches {
            let fits = load(batch) <= plan.available;
            let is_warned = matches!(&batch[..], [piece] if piece.warning.is_some());
            prop_assert!(fits || is_warned, "{batch:?}");
        }
        for piece in plan.pieces() {
            prop_assert_eq!(piece.warning.is_some(), piece.tokens > plan.available);
        }
        prop_assert!(plan.batches.len() >= bound);
    }

    #[test]
    fn every_task_and_file_is_planned_exactly_once(tasks in tasks(), terms in terms()) {
        let Ok(PlanWithBound { plan, .. }) = plan(&tasks, &terms) else { return Ok(()) };
        let mut ids: Vec<&str> = plan.pieces().map(|piece| piece.id.as_str()).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        prop_assert_eq!(ids.len(), count, "no name is given twice");
        let mut all = Vec::new();
        collect_open_tasks(&tasks, &[], &mut all);
        for (task, line) in &all {
            let pieces = pieces_of_task(&plan, line, &all);
            prop_assert!(!pieces.is_empty(), "`{}` is not done", task.id);
            let leaves = task.subtasks.iter().all(|subtask| subtask.done);
            if leaves {
                prop_assert!(pieces.iter().all(|(_, piece)| piece.description.contains(&task.description)));
                let mut times: BTreeMap<&str, usize> = BTreeMap::new();
                pieces.iter().flat_map(|(_, piece)| &piece.files).for_each(|file| *times.entry(file).or_default() += 1);
                prop_assert!(task.files.iter().all(|file| times.get(file.as_str()) == Some(&1)));
            }
        }
    }

    #[test]
    fn dependents_are_in_a_later_batch(tasks in tasks(), terms in terms()) {
        let Ok(PlanWithBound { plan, .. }) = plan(&tasks, &terms) else { return Ok(()) };
        let mut all = Vec::new();
        collect_open_tasks(&tasks, &[], &mut all);
        let lines: HashMap<&str, &Vec<&str>> = all.iter().map(|(task, line)| (task.id.as_str(), line)).collect();
        for (task, line) in &all {
            for before in task.after.iter().filter_map(|id| lines.get(id.as_str())) {
                for (later, piece) in pieces_of_task(&plan, line, &all) {
                    for (earlier, other) in pieces_of_task(&plan, before, &all) {
                        prop_assert!(earlier < later || piece.id == other.id, "{piece:?} {other:?}");
                    }
                }
            }
        }
        let places: HashMap<&str, usize> = plan.batches.iter().enumerate().flat_map(|(at, batch)| batch.iter().map(move |piece| (piece.id.as_str(), at))).collect();
        for piece in plan.pieces() {
            for before in &piece.after {
                prop_assert!(places[before.as_str()] < places[piece.id.as_str()]);
            }
        }
    }

    #[test]
    fn the_same_tasks_give_the_same_plan(tasks in tasks(), terms in terms()) {
        prop_assert_eq!(plan(&tasks, &terms), plan(&tasks, &terms.clone()));
        if let Ok(PlanWithBound { plan, bound }) = plan(&tasks, &terms) {
            let pieces: Vec<Piece> = plan.pieces().cloned().collect();
            let again = repack(&[], pieces, plan.available, &|_| CoChanges::default()).unwrap();
            prop_assert!(again.plan.batches.len() >= bound);
            let text = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        }
    }
}
