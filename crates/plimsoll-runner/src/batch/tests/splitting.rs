//! Where tasks are split, and which tasks cannot be planned.

use plimsoll_core::plan::Kind;

use super::super::*;

fn task(id: &str, description: &str) -> Task {
    Task { id: id.to_owned(), description: description.to_owned(), ..Task::default() }
}

fn task_of_size(id: &str, tokens: Tokens, after: &[&str]) -> Task {
    let after = after.iter().map(|id| (*id).to_owned()).collect();
    Task { tokens: Some(tokens), after, ..task(id, id) }
}

fn task_with_files(id: &str, files: &[&str]) -> Task {
    Task { files: files.iter().map(|file| (*file).to_owned()).collect(), ..task(id, "look") }
}

fn terms_for(available: Tokens) -> PlanningTerms {
    PlanningTerms { available, ..PlanningTerms::default() }
}

/// Returns the piece ids of each batch.
#[track_caller]
fn batches(tasks: &[Task], terms: &PlanningTerms) -> Vec<Vec<String>> {
    let plan = plan(tasks, terms).unwrap().plan;
    plan.batches
        .into_iter()
        .map(|batch| batch.into_iter().map(|piece| piece.id).collect())
        .collect()
}

#[track_caller]
fn problem(tasks: &[Task]) -> String {
    plan(tasks, &terms_for(1_000)).unwrap_err().to_string()
}

#[test]
fn independent_tasks_share_a_batch_and_keep_their_order_where_that_costs_nothing() {
    let tasks = ["a", "b", "c", "d"].map(|id| task_of_size(id, 400, &[]));
    assert_eq!(batches(&tasks, &terms_for(1_000)), [["a", "b"], ["c", "d"]]);
    let tasks = [
        task_of_size("a", 600, &[]),
        task_of_size("b", 700, &[]),
        task_of_size("c", 400, &[]),
        task_of_size("d", 300, &[]),
    ];
    assert_eq!(batches(&tasks, &terms_for(1_000)), [["a", "c"], ["b", "d"]]);
}

#[test]
fn a_dependent_of_a_split_task_comes_after_all_its_parts() {
    let mut large = task_of_size("large", 1_500, &["first"]);
    large.subtasks = vec![task_of_size("x", 800, &[]), task_of_size("y", 700, &["x"])];
    let tasks = [task_of_size("last", 100, &["large"]), large, task_of_size("first", 100, &[])];
    assert_eq!(batches(&tasks, &terms_for(1_000)), [["first"], ["x"], ["y"], ["last"]]);
    let plan = plan(&tasks, &terms_for(1_000)).unwrap().plan;
    let last = plan.pieces().last().unwrap();
    assert_eq!(last.after, ["x", "y"]);
}

#[test]
fn a_whole_task_lists_its_subtasks_and_files() {
    let mut parent = task_with_files("p", &["a.rs"]);
    parent.subtasks = vec![
        task_with_files("q", &["b.rs", "a.rs"]),
        Task { done: true, ..task_with_files("r", &["c.rs"]) },
    ];
    let plan = plan(&[parent], &terms_for(50_000)).unwrap().plan;
    let piece = plan.pieces().next().unwrap();
    assert_eq!(
        (piece.description.as_str(), &piece.files[..]),
        ("look\n- look", &["a.rs".to_owned(), "b.rs".to_owned()][..])
    );
}

#[test]
fn a_task_that_fits_is_split_if_its_subtasks_cannot_share_a_batch() {
    let mut first = task_of_size("a", 100, &[]);
    first.subtasks = vec![task_of_size("a1", 50, &[]), task_of_size("a2", 50, &["b"])];
    let tasks = [first, task_of_size("b", 100, &["a1"])];
    assert_eq!(batches(&tasks, &terms_for(1_000)), [["a1"], ["b"], ["a2"]]);
    let whole = [Task { whole: true, ..tasks[0].clone() }, tasks[1].clone()];
    assert_eq!(problem(&whole), "these tasks wait for one another: `a` before `b` before `a`");
}

#[test]
fn done_tasks_are_not_planned_and_block_nothing() {
    let tasks =
        [Task { done: true, ..task_of_size("a", 100, &[]) }, task_of_size("b", 100, &["a"])];
    assert_eq!(batches(&tasks, &terms_for(1_000)), [["b"]]);
}

#[test]
fn whole_tasks_get_a_warning_and_user_figures_are_used() {
    let whole = Task { whole: true, ..task_with_files("w", &["a.rs", "b.rs", "c.rs"]) };
    let plan = plan(&[whole, task_of_size("t", 7, &[])], &terms_for(3_000)).unwrap().plan;
    let told: Vec<_> = plan
        .pieces()
        .map(|piece| (piece.id.as_str(), piece.tokens, piece.warning.as_deref()))
        .collect();
    assert_eq!(told, [("w", 6_001, Some(TOO_LARGE_WARNING)), ("t", 7, None)]);
}

#[test]
fn files_count_by_size_and_a_large_one_gets_a_warning() {
    let weights = [("big.rs".to_owned(), 9_000), ("small.rs".to_owned(), 10)].into();
    let estimator = Estimator { file_tokens: weights, ..Estimator::default() };
    let terms = PlanningTerms { available: 5_000, estimator, ..PlanningTerms::default() };
    let plan =
        plan(&[task_with_files("t", &["small.rs", "big.rs", "new.rs"])], &terms).unwrap().plan;
    let told: Vec<_> = plan
        .pieces()
        .map(|piece| (&piece.files[..], piece.tokens, piece.warning.as_deref()))
        .collect();
    let [small, big, new] = ["small.rs", "big.rs", "new.rs"].map(str::to_owned);
    let warning = "Task may exceed context budget: `big.rs` alone is too large for it";
    assert_eq!(told, [(&[small, new][..], 2_011, None), (&[big][..], 9_001, Some(warning))]);
}

#[test]
fn a_factor_changes_only_its_kind() {
    let factors = Factors::default().with(Kind::Fix, 1_500);
    let estimator = Estimator { factors, ..Estimator::default() };
    let estimate = |words: &str| estimator.estimate(&task("t", words));
    assert_eq!((estimate("fix it"), estimate("look at")), (9_001, 6_001));
}

#[test]
fn related_files_stay_together() {
    let files = [
        "web/page.ts",
        "core/src/b.rs",
        "core/src/a.rs",
        "core/tests/a.rs",
        "web/page.test.ts",
        "core/src/b/part.rs",
    ];
    let parts = |terms: &PlanningTerms| -> Vec<Vec<String>> {
        plan(&[task_with_files("t", &files)], terms)
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
    assert_eq!(parts(&terms_for(4_500)), expected);
    let mut together = CoChanges::default();
    for _ in 0..5 {
        together.add_commit(&["web/page.ts", "core/src/a.rs"].map(str::to_owned));
    }
    let changed = parts(&PlanningTerms { co_changes: together, ..terms_for(4_500) });
    assert!(
        changed.contains(&vec!["web/page.ts".to_owned(), "core/src/a.rs".to_owned()]),
        "{changed:?}"
    );
}

#[test]
fn a_part_never_takes_the_name_of_a_task() {
    let tasks = [task_with_files("t", &["a.rs", "b.rs"]), task_of_size("t.1", 1_900, &[])];
    let plan = plan(&tasks, &terms_for(2_001)).unwrap().plan;
    let mut ids: Vec<&str> = plan.pieces().map(|piece| piece.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["t.1", "t.2", "t.3"]);
}

#[test]
fn invalid_tasks_are_reported() {
    let named = |line, task: Task| Task { line: Some(line), ..task };
    assert_eq!(
        problem(&[
            named(1, task_of_size("a", 1, &["c"])),
            task_of_size("b", 1, &["a"]),
            task_of_size("c", 1, &["b"])
        ]),
        "line 1: these tasks wait for one another: `a` before `b` before `c` before `a`"
    );
    assert_eq!(problem(&[task_of_size("a", 1, &["a"])]), "`a` waits for itself");
    let mut parent = task_of_size("p", 1, &[]);
    parent.subtasks = vec![named(4, task_of_size("q", 1, &["p"]))];
    assert_eq!(problem(&[parent]), "line 4: `q` is after `p`, which it is a part of");
    let mut parent = task_of_size("p", 1, &["q"]);
    parent.subtasks = vec![task_of_size("q", 1, &[])];
    assert_eq!(problem(&[parent]), "`p` is after `q`, which is a part of it");
    assert_eq!(
        problem(&[task_of_size("a", 1, &[]), named(3, task_of_size("a", 1, &[]))]),
        "line 3: there are two tasks called `a`"
    );
    assert_eq!(
        problem(&[named(2, task_of_size("a", 1, &["z"]))]),
        "line 2: `a` is after `z`, which no task is called"
    );
    assert_eq!(problem(&[task("a", " \n")]), "`a` does not say what is to be done");
}

#[test]
fn extreme_figures_do_not_overflow() {
    let tasks = [
        Task { estimated_files: Some(u64::MAX), ..task("a", "refactor") },
        task_of_size("b", u64::MAX, &[]),
        task_of_size("c", u64::MAX, &["b"]),
    ];
    assert_eq!(batches(&tasks, &terms_for(0)).len(), 3);
    assert_eq!(batches(&tasks, &terms_for(u64::MAX)).len(), 3);
}

/// Replans these pieces after multiplying their estimates by `times`.
#[track_caller]
fn replan(kept: &[Vec<Piece>], pieces: &[Piece], times: Tokens, available: Tokens) -> Plan {
    fn grown(piece: &Piece, times: Tokens) -> Piece {
        let parts = piece.parts.iter().map(|part| grown(part, times)).collect();
        Piece { tokens: piece.tokens * times, parts, ..piece.clone() }
    }
    let grown = pieces.iter().map(|piece| grown(piece, times)).collect();
    let planned = repack(kept, grown, available, &|_| CoChanges::default()).unwrap();
    planned.plan
}

#[test]
fn remaining_pieces_are_packed_again() {
    let tasks =
        ["a", "b", "c"].map(|id| task_of_size(id, 300, if id == "c" { &["a"] } else { &[] }));
    let plan = plan(&tasks, &terms_for(1_000)).unwrap().plan;
    let (kept, left): (Vec<Piece>, Vec<Piece>) =
        plan.pieces().cloned().partition(|piece| piece.id == "a");
    let twice = replan(&[kept], &left, 2, 1_000);
    assert_eq!(twice.batches.len(), 3, "what is kept comes first");
    assert!(twice.pieces().all(|piece| piece.warning.is_none()));
    assert_eq!(twice.pieces().last().unwrap().after, ["a"], "it may have failed");
    let tight = replan(&[], &left, 1, 200);
    assert!(tight.pieces().all(|piece| piece.warning.as_deref() == Some(TOO_LARGE_WARNING)));
}

#[test]
fn a_piece_that_no_longer_fits_is_split_by_files() {
    let tasks = [task_with_files("t", &["a.rs", "b.rs", "c.rs"]), task_of_size("u", 10, &["t"])];
    let plan = plan(&tasks, &terms_for(10_000)).unwrap().plan;
    let pieces: Vec<Piece> = plan.pieces().cloned().collect();
    let done = Piece { id: "t.1".to_owned(), ..Piece::default() };
    let again = replan(&[vec![done]], &pieces, 2, 10_000);
    let told: Vec<_> =
        again.pieces().map(|piece| (piece.id.as_str(), piece.files.len(), piece.tokens)).collect();
    assert_eq!(told, [("t.1", 0, 0), ("t.2", 2, 8_002), ("t.3", 1, 4_002), ("u", 0, 20)]);
    assert_eq!(again.pieces().last().unwrap().after, ["t.2", "t.3"]);
    let parts = again.batches.concat();
    assert!(parts[1..3].iter().all(|piece| piece.of.as_deref() == Some("t")));
    let smaller = self::replan(&again.batches[..1], &parts[1..], 2, 9_000);
    let ids: Vec<&str> = smaller.pieces().map(|piece| piece.id.as_str()).collect();
    assert_eq!(ids, ["t.1", "t.2.1", "t.2.2", "t.3", "u"]);
    assert!(smaller.batches[1].iter().all(|piece| piece.of.as_deref() == Some("t")));
}

#[test]
fn a_piece_that_no_longer_fits_is_split_by_subtasks() {
    let mut parent = task_of_size("p", 900, &["first"]);
    parent.subtasks = vec![task_of_size("x", 400, &["y"]), task_of_size("y", 300, &[])];
    let tasks = [task_of_size("first", 10, &[]), parent, task_of_size("last", 10, &["p"])];
    let plan = plan(&tasks, &terms_for(1_000)).unwrap().plan;
    let ids = |plan: &Plan| -> Vec<String> { plan.pieces().map(|it| it.id.clone()).collect() };
    assert_eq!(ids(&plan), ["first", "p", "last"]);
    let again = replan(&plan.batches[..1], &plan.batches[1..].concat(), 2, 1_000);
    assert_eq!(ids(&again), ["first", "y", "x", "last"]);
    let x = again.pieces().find(|piece| piece.id == "x").unwrap();
    assert_eq!(
        (&x.after[..], x.of.as_deref()),
        (&["y".to_owned(), "first".to_owned()][..], Some("p"))
    );
    assert_eq!(x.above[0].description, "p");
    assert_eq!(again.pieces().last().unwrap().after, ["x", "y"]);
}

#[test]
fn a_separate_subtask_includes_its_parent_tasks() {
    let mut hull = task_with_files("hull", &["a.rs", "b.rs"]);
    let mut ribs = task("ribs", "Mend the ribs");
    ribs.subtasks = vec![task_with_files("rib", &["c.rs", "d.rs", "e.rs"]), task("beam", "look")];
    hull.subtasks = vec![ribs, Task { estimated_files: Some(1), ..task("keel", "look") }];
    let plan = plan(&[hull], &terms_for(4_050)).unwrap().plan;
    let mut told: Vec<_> = plan
        .pieces()
        .map(|piece| {
            let above: Vec<&str> = piece.above.iter().map(|above| above.id.as_str()).collect();
            (piece.id.as_str(), piece.files.len(), above.join(" "), piece.tokens)
        })
        .collect();
    let both = || "hull ribs".to_owned();
    let expected = [
        ("rib.1", 2, both(), 4_005),
        ("rib.2", 1, both(), 2_005),
        // The piece names no files and `ribs` adds none, so those of `hull` count.
        ("beam", 0, both(), 4_005),
        ("keel", 0, "hull".to_owned(), 2_002),
    ];
    told.sort_by_key(|(id, ..)| expected.iter().position(|(known, ..)| known == id));
    assert_eq!(told, expected);
    assert!(plan.pieces().all(|piece| piece.above[0].files == ["a.rs", "b.rs"]));
}

#[test]
fn a_subtask_without_files_is_split_by_those_of_its_parent() {
    let mut hull = task_with_files("hull", &["a.rs", "b.rs"]);
    hull.subtasks = vec![task("keel", "look"), task_of_size("mast", 100, &[])];
    let plan = plan(&[hull.clone()], &terms_for(3_000)).unwrap().plan;
    let told: Vec<_> = plan.pieces().map(|piece| (piece.id.as_str(), &piece.files[..])).collect();
    let [a, b] = ["a.rs", "b.rs"].map(str::to_owned);
    assert_eq!(told, [("keel.1", &[a][..]), ("mast", &[]), ("keel.2", &[b])]);
    assert!(plan.pieces().all(|piece| piece.warning.is_none() && piece.above[0].id == "hull"));
    // The result is the same if the piece turns out not to fit only later.
    let whole = self::plan(&[hull], &terms_for(4_004)).unwrap().plan;
    let pieces: Vec<Piece> = whole.pieces().cloned().collect();
    assert_eq!(pieces[0].id, "keel");
    let later = replan(&[], &pieces[..1], 2, 4_004);
    let told: Vec<_> = later.pieces().map(|piece| (piece.id.as_str(), piece.files.len())).collect();
    assert_eq!(told, [("keel.1", 1), ("keel.2", 1)]);
}

#[test]
fn the_warning_names_the_parent_whose_files_make_a_subtask_too_large() {
    let mut hull = task_with_files("hull", &["a.rs"]);
    hull.subtasks = vec![task("keel", "look"), task_of_size("mast", 100, &[])];
    let plan = plan(&[hull], &terms_for(1_500)).unwrap().plan;
    let warnings: Vec<_> = plan.pieces().map(|piece| piece.warning.as_deref()).collect();
    let told = "Task may exceed context budget: it names no files, so that those of `hull` count";
    assert_eq!(warnings, [Some(told), None]);
}
