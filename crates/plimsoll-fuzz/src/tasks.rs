//! Task files: each task is planned once, after its dependencies, and the plan is deterministic.

use std::collections::{HashMap, HashSet};

use plimsoll_core::plan::{Piece, Plan, load};
use plimsoll_runner::batch::parse::{Format, parse};
use plimsoll_runner::batch::{
    CoChanges, PlanWithBound, PlanningTerms, Task, Workflow, plan, prompt, repack,
};

pub(crate) fn run(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let exists = |name: &str| name.ends_with(".rs");
    let _ = Format::of("tasks", text);
    for format in [Format::Data, Format::Markdown] {
        let Ok(tasks) = parse(text, format, &exists) else { continue };
        let available = u64::from(*choice) * 500;
        let terms = PlanningTerms { available, ..PlanningTerms::default() };
        let planned = plan(&tasks, &terms);
        assert_eq!(planned, plan(&tasks, &terms), "the same tasks give the same plan");
        if let Ok(PlanWithBound { plan, bound }) = planned {
            assert!(plan.batches.len() >= bound);
            check_plan(&plan);
            check_all_planned(&tasks, &plan);
            check_rendering(&plan);
            // Replan after the first batch is done, with the remaining pieces twice as large.
            let (kept, rest) = plan.batches.split_at(plan.batches.len().min(1));
            let twice =
                |piece: &Piece| Piece { tokens: piece.tokens.saturating_mul(2), ..piece.clone() };
            let rest = rest.iter().flatten().map(twice).collect();
            check_plan(&repack(kept, rest, available, &|_| CoChanges::default()).unwrap().plan);
        }
    }
}

/// Checks that no batch is too full, except for a single piece that is too large, and that
/// dependencies come in earlier batches.
fn check_plan(plan: &Plan) {
    for batch in &plan.batches {
        let is_warned = matches!(&batch[..], [piece] if piece.warning.is_some());
        assert!(load(batch) <= plan.available || is_warned, "{batch:?}");
    }
    let places: HashMap<&str, usize> =
        (0..).zip(&plan.batches).flat_map(|(at, batch)| ids(batch, at)).collect();
    assert_eq!(places.len(), plan.pieces().count(), "no name is given twice");
    for piece in plan.pieces() {
        for before in &piece.after {
            assert!(places[before.as_str()] < places[piece.id.as_str()], "{piece:?}");
        }
    }
}

fn ids(batch: &[Piece], at: usize) -> impl Iterator<Item = (&str, usize)> {
    batch.iter().map(move |piece| (piece.id.as_str(), at))
}

/// Checks that each open task is planned, either itself or through its open subtasks.
fn check_all_planned(tasks: &[Task], plan: &Plan) {
    let planned: HashSet<&str> = plan
        .pieces()
        .flat_map(|piece| [Some(piece.id.as_str()), piece.of.as_deref()])
        .flatten()
        .collect();
    for task in tasks.iter().filter(|task| !task.done) {
        let parts = task.subtasks.iter().filter(|part| !part.done).count();
        assert!(planned.contains(task.id.as_str()) || parts > 0, "`{}` is not planned", task.id);
        if !planned.contains(task.id.as_str()) {
            check_all_planned(&task.subtasks, plan);
        }
    }
}

/// Renders a plan as a workflow and as prompts, and checks that it survives serialization.
fn check_rendering(plan: &Plan) {
    let _ = Workflow::of(plan).mermaid();
    let pieces: Vec<&Piece> = plan.pieces().collect();
    let _ = prompt(&pieces, &[]);
    let kept = serde_json::to_vec(plan).unwrap();
    assert_eq!(serde_json::from_slice::<Plan>(&kept).unwrap(), *plan);
}
