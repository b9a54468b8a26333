//! What is split where, and what cannot be planned.

use super::super::*;

fn task(id: &str, description: &str) -> Task {
    Task { id: id.to_owned(), description: description.to_owned(), ..Task::default() }
}

fn taking(id: &str, tokens: Tokens, after: &[&str]) -> Task {
    let after = after.iter().map(|id| (*id).to_owned()).collect();
    Task { tokens: Some(tokens), after, ..task(id, id) }
}

fn about(id: &str, files: &[&str]) -> Task {
    Task { files: files.iter().map(|file| (*file).to_owned()).collect(), ..task(id, "look") }
}

fn of(available: Tokens) -> Terms {
    Terms { available, ..Terms::default() }
}

/// The ids of each batch.
#[track_caller]
fn batches(tasks: &[Task], terms: &Terms) -> Vec<Vec<String>> {
    let plan = plan(tasks, terms).unwrap().plan;
    plan.batches
        .into_iter()
        .map(|batch| batch.into_iter().map(|piece| piece.id).collect())
        .collect()
}

#[track_caller]
fn problem(tasks: &[Task]) -> String {
    plan(tasks, &of(1_000)).unwrap_err().to_string()
}

#[test]
fn independent_tasks_share_a_batch_and_keep_their_order_where_that_costs_nothing() {
    let tasks = ["a", "b", "c", "d"].map(|id| taking(id, 400, &[]));
    assert_eq!(batches(&tasks, &of(1_000)), [["a", "b"], ["c", "d"]]);
    let tasks = [
        taking("a", 600, &[]),
        taking("b", 700, &[]),
        taking("c", 400, &[]),
        taking("d", 300, &[]),
    ];
    assert_eq!(batches(&tasks, &of(1_000)), [["a", "c"], ["b", "d"]]);
}

#[test]
fn what_comes_after_a_split_task_comes_after_all_its_parts() {
    let mut large = taking("large", 1_500, &["first"]);
    large.subtasks = vec![taking("x", 800, &[]), taking("y", 700, &["x"])];
    let tasks = [taking("last", 100, &["large"]), large, taking("first", 100, &[])];
    assert_eq!(batches(&tasks, &of(1_000)), [["first"], ["x"], ["y"], ["last"]]);
    let plan = plan(&tasks, &of(1_000)).unwrap().plan;
    let last = plan.pieces().last().unwrap();
    assert_eq!(last.after, ["x", "y"]);
}

#[test]
fn a_task_that_fits_tells_its_subtasks_and_files() {
    let mut parent = about("p", &["a.rs"]);
    parent.subtasks =
        vec![about("q", &["b.rs", "a.rs"]), Task { done: true, ..about("r", &["c.rs"]) }];
    let plan = plan(&[parent], &of(50_000)).unwrap().plan;
    let piece = plan.pieces().next().unwrap();
    assert_eq!(
        (piece.description.as_str(), &piece.files[..]),
        ("look\n- look", &["a.rs".to_owned(), "b.rs".to_owned()][..])
    );
}

#[test]
fn a_task_that_fits_is_taken_apart_where_its_subtasks_cannot_be_in_one_batch() {
    let mut first = taking("a", 100, &[]);
    first.subtasks = vec![taking("a1", 50, &[]), taking("a2", 50, &["b"])];
    let tasks = [first, taking("b", 100, &["a1"])];
    assert_eq!(batches(&tasks, &of(1_000)), [["a1"], ["b"], ["a2"]]);
    let whole = [Task { whole: true, ..tasks[0].clone() }, tasks[1].clone()];
    assert_eq!(problem(&whole), "these tasks wait for one another: `a` before `b` before `a`");
}

#[test]
fn done_tasks_are_left_out_and_nobody_waits_for_them() {
    let tasks = [Task { done: true, ..taking("a", 100, &[]) }, taking("b", 100, &["a"])];
    assert_eq!(batches(&tasks, &of(1_000)), [["b"]]);
}

#[test]
fn what_must_stay_whole_is_warned_of_and_what_is_known_better_is_believed() {
    let whole = Task { whole: true, ..about("w", &["a.rs", "b.rs", "c.rs"]) };
    let plan = plan(&[whole, taking("t", 7, &[])], &of(3_000)).unwrap().plan;
    let told: Vec<_> = plan
        .pieces()
        .map(|piece| (piece.id.as_str(), piece.tokens, piece.warning.as_deref()))
        .collect();
    assert_eq!(told, [("w", 6_001, Some(TOO_LARGE)), ("t", 7, None)]);
}

#[test]
fn files_count_with_their_weight_and_a_large_one_is_warned_of() {
    let weights = [("big.rs".to_owned(), 9_000), ("small.rs".to_owned(), 10)].into();
    let estimator = Estimator { weights, ..Estimator::default() };
    let terms = Terms { available: 5_000, estimator, ..Terms::default() };
    let plan = plan(&[about("t", &["small.rs", "big.rs", "new.rs"])], &terms).unwrap().plan;
    let told: Vec<_> = plan
        .pieces()
        .map(|piece| (&piece.files[..], piece.tokens, piece.warning.as_deref()))
        .collect();
    let [small, big, new] = ["small.rs", "big.rs", "new.rs"].map(str::to_owned);
    let warning = "Task may exceed context budget: `big.rs` alone is too large for it";
    assert_eq!(told, [(&[small, new][..], 2_011, None), (&[big][..], 9_001, Some(warning))]);
}

#[test]
fn experience_changes_the_estimate_of_its_kind_only() {
    let factors = Factors::default().with(Kind::Fix, 1_500);
    let estimator = Estimator { factors, ..Estimator::default() };
    let estimate = |words: &str| estimator.estimate(&task("t", words));
    assert_eq!((estimate("fix it"), estimate("look at")), (9_001, 6_001));
}

#[test]
fn files_that_belong_together_stay_together() {
    let files = [
        "web/page.ts",
        "core/src/b.rs",
        "core/src/a.rs",
        "core/tests/a.rs",
        "web/page.test.ts",
        "core/src/b/part.rs",
    ];
    let parts = |terms: &Terms| -> Vec<Vec<String>> {
        plan(&[about("t", &files)], terms)
            .unwrap()
            .plan
            .pieces()
            .map(|piece| piece.files.clone())
            .collect()
    };
    let expected = [
        ["web/page.ts", "web/page.test.ts"],
        ["core/src/b.rs", "core/src/b/part.rs"],
        ["core/src/a.rs", "core/tests/a.rs"],
    ];
    assert_eq!(parts(&of(4_500)), expected);
    let mut together = Together::default();
    for _ in 0..5 {
        together.count(&["web/page.ts", "core/src/a.rs"].map(str::to_owned));
    }
    let changed = parts(&Terms { together, ..of(4_500) });
    assert!(
        changed.contains(&vec!["web/page.ts".to_owned(), "core/src/a.rs".to_owned()]),
        "{changed:?}"
    );
}

#[test]
fn a_part_never_takes_the_name_of_a_task() {
    let tasks = [about("t", &["a.rs", "b.rs"]), taking("t.1", 1_900, &[])];
    let plan = plan(&tasks, &of(2_001)).unwrap().plan;
    let mut ids: Vec<&str> = plan.pieces().map(|piece| piece.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["t.1", "t.2", "t.3"]);
}

#[test]
fn impossible_tasks_are_named() {
    let named = |line, task: Task| Task { line: Some(line), ..task };
    assert_eq!(
        problem(&[
            named(1, taking("a", 1, &["c"])),
            taking("b", 1, &["a"]),
            taking("c", 1, &["b"])
        ]),
        "line 1: these tasks wait for one another: `a` before `b` before `c` before `a`"
    );
    assert_eq!(problem(&[taking("a", 1, &["a"])]), "`a` waits for itself");
    let mut parent = taking("p", 1, &[]);
    parent.subtasks = vec![named(4, taking("q", 1, &["p"]))];
    assert_eq!(problem(&[parent]), "line 4: `q` waits for itself");
    assert_eq!(
        problem(&[taking("a", 1, &[]), named(3, taking("a", 1, &[]))]),
        "line 3: there are two tasks called `a`"
    );
    assert_eq!(
        problem(&[named(2, taking("a", 1, &["z"]))]),
        "line 2: `a` is after `z`, which no task is called"
    );
    assert_eq!(problem(&[task("a", " \n")]), "`a` does not say what is to be done");
}

#[test]
fn figures_beyond_reason_do_no_harm() {
    let tasks = [
        Task { estimated_files: Some(u64::MAX), ..task("a", "refactor") },
        taking("b", u64::MAX, &[]),
        taking("c", u64::MAX, &["b"]),
    ];
    assert_eq!(batches(&tasks, &of(0)).len(), 3);
    assert_eq!(batches(&tasks, &of(u64::MAX)).len(), 3);
}

#[test]
fn pieces_that_are_left_are_packed_anew() {
    let tasks = ["a", "b", "c"].map(|id| taking(id, 300, if id == "c" { &["a"] } else { &[] }));
    let plan = plan(&tasks, &of(1_000)).unwrap().plan;
    let left: Vec<Piece> = plan.pieces().filter(|piece| piece.id != "a").cloned().collect();
    let twice = left.iter().map(|piece| Piece { tokens: piece.tokens * 2, ..piece.clone() });
    let again = repack(twice.collect(), 1_000).unwrap().plan;
    assert_eq!(again.batches.len(), 2);
    assert!(again.pieces().all(|piece| piece.after.is_empty() && piece.warning.is_none()));
    let tight = repack(left, 200).unwrap().plan;
    assert!(tight.pieces().all(|piece| piece.warning.as_deref() == Some(TOO_LARGE)));
}
