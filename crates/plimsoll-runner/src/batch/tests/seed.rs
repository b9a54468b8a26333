//! The formulas and output shapes of the seed (the tool that plimsoll replaces), value for value.
//! The figures come from the seed's own code.

use plimsoll_core::plan::Kind;

use super::super::*;

const ESTIMATES: &[(&str, Option<u64>, Tokens)] = &[
    ("🚀 add rockets", Some(1), 2403),
    ("Überarbeite die Datei – größer", Some(5), 10007),
    ("Add and refactor and implement", Some(1), 4014),
    (
        "Refactor of module fix fix größe of fix implement naïve module naïve ADD Refactor refactor module Refactor the update of implement parser naïve",
        Some(2),
        8070,
    ),
    ("abc", None, 6000),
    ("İmplement fİx", None, 6003),
    ("fix", Some(5), 10000),
    ("Implement user authentication with OAuth2", Some(5), 15015),
    ("prefix the suffixes", Some(7), 14004),
    ("reader of parser tests", Some(3), 6005),
    ("İmplement fİx", Some(0), 3),
    (
        "the größe naïve refactor add Fix sessions Refactor tests add all implement module sessions ADD ADD",
        Some(13),
        52048,
    ),
    (
        "größe all parser reader all refactor fix größe fix add ADD implement ADD refactor naïve naïve",
        Some(3),
        12046,
    ),
    ("abc", Some(1), 2000),
    ("add update tests", Some(9), 21604),
    ("abc", Some(5), 10000),
    (
        "all the größe Refactor refactor größe implement refactor refactor all sessions parser all of reader",
        Some(101),
        404048,
    ),
    (
        "of add naïve add implement all Fix all add all all refactor reader fix refactor implement add Refactor update ADD module sessions implement refactor",
        Some(999),
        3996074,
    ),
    (
        "update Refactor reader of of ADD refactor the refactor of module ADD naïve add Fix Refactor ADD tests update tests refactor tests tests ADD update parser refactor naïve größe",
        Some(11),
        44086,
    ),
    (
        "Fix größe implement größe update implement naïve add reader größe Fix all tests parser Refactor Fix refactor ADD sessions sessions parser fix implement Fix module add naïve of implement sessions",
        Some(2),
        8096,
    ),
    (
        "größe Fix the implement fix ADD all naïve reader naïve implement module the the größe module refactor größe Refactor tests sessions",
        Some(11),
        44064,
    ),
    (
        "reader of größe refactor module fix all sessions fix all fix of größe fix größe reader parser reader module of ADD fix",
        Some(101),
        404058,
    ),
    ("abcd", Some(5), 10001),
    ("İmplement fİx", Some(5), 10003),
    ("fix reader Fix fix parser naïve update add Refactor add größe", Some(2), 8030),
    ("日本語の文書をfixする", Some(0), 3),
    ("İmplement fİx", Some(7), 14003),
    ("of Fix tests naïve naïve größe", Some(9), 18007),
    ("日本語の文書をfixする", Some(5), 10003),
    (
        "fix all module größe ADD parser parser fix fix add all größe Refactor add all",
        Some(9),
        36038,
    ),
    (
        "add ADD implement fix sessions update Refactor implement all parser implement",
        Some(1),
        4038,
    ),
    ("Update docs", Some(7), 14002),
    ("Update docs", Some(0), 2),
    (
        "add Fix parser parser refactor größe parser naïve all reader tests größe sessions Fix add implement Refactor",
        Some(101),
        404054,
    ),
    ("parser reader tests parser add ADD Refactor implement add refactor", Some(1), 4032),
    ("abc", Some(7), 14000),
    ("日本語の文書をfixする", Some(7), 14003),
    ("日本語の文書をfixする", None, 6003),
    ("REFACTOR the Parser", Some(7), 28008),
    (
        "reader ADD ADD of fix the module ADD sessions größe add Fix sessions größe Fix Refactor ADD reader add fix the add reader reader",
        None,
        12064,
    ),
    ("🚀 add rockets", None, 7203),
    ("Implement user authentication with OAuth2", Some(7), 21015),
    ("Implement user authentication with OAuth2", None, 9015),
    ("add refactor add module add of", Some(11), 44014),
    ("Update docs", Some(1), 2002),
    ("implement naïve parser Refactor the refactor tests ADD", Some(1), 4026),
    ("address the padding", None, 7204),
    (
        "update sessions implement reader parser größe implement update all module sessions refactor fix module tests all",
        Some(123456),
        493824056,
    ),
    (
        "add naïve Fix add sessions update naïve sessions the update parser Refactor update sessions fix implement parser of sessions Fix tests module module Refactor naïve reader the reader",
        Some(1),
        4090,
    ),
    ("Implement user authentication with OAuth2", Some(0), 15),
    ("Implement\nover\nlines", Some(7), 21007),
    ("abcd", Some(7), 14001),
    ("Implement\nover\nlines", Some(5), 15007),
    (
        "Refactor refactor tests sessions module module refactor ADD tests all naïve all fix update reader update fix größe größe implement the größe add Fix",
        Some(9),
        36074,
    ),
    ("prefix the suffixes", Some(0), 4),
    (
        "naïve all of tests module naïve fix update all Fix the tests add of Fix implement fix sessions tests",
        Some(11),
        33037,
    ),
    ("sessions sessions add refactor refactor", Some(1), 4018),
    ("all add ADD", Some(11), 26402),
    (
        "parser größe module all sessions of all reader all größe sessions parser module add Fix update ADD",
        Some(101),
        242428,
    ),
    (
        "all Fix all add sessions add all all refactor module the refactor add the add of update sessions implement tests all all",
        Some(999),
        3996060,
    ),
    ("REFACTOR the Parser", Some(1), 4008),
    ("abcd", Some(0), 1),
    ("address the padding", Some(0), 4),
    ("Update docs", None, 6002),
    ("Implement user authentication with OAuth2", Some(5), 15015),
    ("Implement user authentication with OAuth2", None, 9015),
];

fn task(description: &str, estimated_files: Option<u64>) -> Task {
    Task { description: description.to_owned(), estimated_files, ..Task::default() }
}

#[test]
fn tasks_are_estimated_by_the_formula() {
    for (description, files, tokens) in ESTIMATES {
        let task = task(description, *files);
        assert_eq!(Estimator::default().estimate(&task), *tokens, "{description:?} {files:?}");
    }
}

fn pieces(task: Task, available: Tokens) -> Vec<Piece> {
    let terms = PlanningTerms { available, ..PlanningTerms::default() };
    plan(&[task], &terms).unwrap().plan.batches.concat()
}

fn ids(pieces: &[Piece]) -> Vec<&str> {
    pieces.iter().map(|piece| piece.id.as_str()).collect()
}

#[test]
fn a_task_that_fits_stays_as_it_is() {
    let auth = Task {
        id: "auth".to_owned(),
        ..task("Implement user authentication with OAuth2", Some(5))
    };
    let [piece] = &pieces(auth.clone(), 15_015)[..] else { panic!() };
    assert_eq!((piece.id.as_str(), piece.tokens, piece.kind), ("auth", 15_015, Kind::Implement));
    assert_eq!(piece.warning, None);
    let [piece] = &pieces(auth, 15_014)[..] else { panic!() };
    assert_eq!(piece.warning.as_deref(), Some("Task may exceed context budget"));
}

#[test]
fn a_task_that_does_not_fit_is_split_by_its_subtasks_first_and_then_by_its_files() {
    let files = ["a/one.rs", "a/two.rs", "b/one.rs"].map(str::to_owned).to_vec();
    let subtask = |id: &str, files| Task { id: id.to_owned(), ..task("Fix it", Some(files)) };
    let large = Task {
        id: "large".to_owned(),
        files: files.clone(),
        subtasks: vec![subtask("first", 2), subtask("second", 2)],
        ..task("Refactor all of it", None)
    };
    assert_eq!(ids(&pieces(large.clone(), 50_000)), ["large"]);
    assert_eq!(ids(&pieces(large.clone(), 5_000)), ["first", "second"]);
    let by_files = pieces(Task { subtasks: Vec::new(), ..large }, 9_000);
    assert_eq!(ids(&by_files), ["large.1", "large.2"]);
    assert_eq!(by_files[0].files, files[..2], "what lies together stays together");
    assert!(by_files.iter().all(|piece| piece.of.as_deref() == Some("large")));
}

#[test]
fn a_workflow_has_the_seeds_shape() {
    let tasks: Vec<Task> =
        (1..=3).map(|id| Task { id: id.to_string(), ..task("Fix it", Some(5)) }).collect();
    let terms = PlanningTerms { available: 20_002, ..PlanningTerms::default() };
    let plan = plan(&tasks, &terms).unwrap().plan;
    let workflow = serde_json::to_value(Workflow::of(&plan)).unwrap();
    let fix = |id: &str| serde_json::json!({"id": id, "description": "Fix it", "tokens": 10_001, "kind": "fix"});
    let expected = serde_json::json!({
        "nodes": {
            "batch_0": {"type": "parallel", "tasks": [fix("1"), fix("2")]},
            "checkpoint_0": {"type": "single", "prompt": "Run /checkpoint to save progress"},
            "batch_1": {"type": "parallel", "tasks": [fix("3")]},
        },
        "edges": [
            {"from": "batch_0", "to": "checkpoint_0"},
            {"from": "checkpoint_0", "to": "batch_1"},
        ],
    });
    assert_eq!(workflow, expected);
    let text = serde_json::to_string(&Workflow::of(&plan)).unwrap();
    let at = |name: &str| text.find(&format!("\"{name}\":")).unwrap();
    assert!(at("batch_0") < at("checkpoint_0") && at("checkpoint_0") < at("batch_1"));
}

#[test]
fn an_unknown_window_has_the_seeds_budget() {
    let left =
        [0.0, 0.25, 0.333, 0.8, 1.0, 1.5].map(|usage| Room::of_unknown_window(usage).available());
    assert_eq!(left, [100_000, 75_000, 66_700, 19_999, 0, 0]);
}
