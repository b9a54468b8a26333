//! Plans that are made anew, because a batch has taken far more than was estimated.

use std::fs;

use serde_json::Value;

use super::{lines, run};
use crate::env::TestEnv;
use crate::run::{machine, noted};

#[test]
fn a_batch_that_takes_far_more_than_estimated_makes_the_rest_be_planned_again() {
    let env = machine(0);
    let task = |id: &str, more: &str| format!("- {{id: {id}, description: Fix it, {more}}}\n");
    let left = "estimated_files: 1, after: a";
    let tasks = [task("a", "tokens: 3000"), task("b", left), task("c", left)].concat();
    env.write("project/tasks.yaml", tasks);
    let ran = run(&env, &["tasks.yaml", "--available", "8000"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert!(ran.stderr.contains("planned again: batch 1 took 1"), "{ran}");
    let plans = lines(&env, "planned");
    let batches = |plan: &Value| plan["plan"]["batches"].as_array().unwrap().len();
    assert_eq!((batches(&plans[0]), batches(&plans[1])), (2, 3));
    assert!(plans[1]["why"].as_str().unwrap().contains("was estimated at 3,000"), "{plans:?}");
    let pieces: Vec<String> =
        lines(&env, "job_begun").iter().map(|job| job["pieces"].to_string()).collect();
    assert_eq!(pieces, [r#"["a"]"#, r#"["b"]"#, r#"["c"]"#]);
}

/// A task that takes three times its estimate, and after it one of three files and one that is never
/// split.
fn dear() -> TestEnv {
    let env = machine(0);
    env.write(
        "project/tasks.yaml",
        format!(
            "- {{id: a, description: Fix it, tokens: 3000}}\n\
             - {{id: b, description: Fix {SECRET}, after: a, files: [x.rs, y.rs, z.rs]}}\n\
             - {{id: c, description: Fix it, estimated_files: 2, after: b, whole: true}}\n"
        ),
    );
    env
}

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
const WARNING: &str = "task `c`: Task may exceed context budget";

fn begun(env: &TestEnv) -> Vec<String> {
    lines(env, "job_begun").iter().map(|job| job["pieces"].to_string()).collect()
}

#[test]
fn what_does_not_fit_any_more_is_split_and_what_cannot_be_is_warned_of() {
    let env = dear();
    let ran = run(&env, &["tasks.yaml", "--available", "8000"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    let planned = ran.stderr.find("planned again: batch 1 took").unwrap();
    assert!(ran.stderr.find(WARNING).is_some_and(|warned| warned > planned), "{ran}");
    assert!(ran.stderr.contains("5 of 5 tasks"), "{ran}");
    assert_eq!(begun(&env), [r#"["a"]"#, r#"["b.1"]"#, r#"["b.2"]"#, r#"["b.3"]"#, r#"["c"]"#]);
    for job in lines(&env, "job_begun").iter().filter(|job| job["pieces"][0] != "c") {
        assert!(job["tokens"].as_u64().unwrap() <= 8_000, "{job}");
    }
    let plans = lines(&env, "planned");
    let of_c = |plan: &Value| {
        let pieces = plan["plan"]["batches"].as_array().unwrap().iter();
        let mut pieces = pieces.flat_map(|batch| batch.as_array().unwrap());
        pieces.find(|piece| piece["id"] == "c").unwrap()["after"].clone()
    };
    assert_eq!(of_c(&plans[1]), serde_json::json!(["b.1", "b.2", "b.3"]));
    assert!(!plans[1].to_string().contains(SECRET));
    assert_eq!(noted(&env, "calls").matches(SECRET).count(), 3, "each part is told all of it");
}

#[test]
fn a_warning_of_the_plan_is_seen_in_the_status() {
    let env = dear();
    let ran = run(&env, &["tasks.yaml", "--available", "8000", "--max-sessions", "1"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    let run = lines(&env, "planned").len();
    assert_eq!(run, 2);
    let listed: Value = serde_json::from_str(&env.plimsoll("batch status --json").stdout).unwrap();
    let id = listed[0]["run"].as_str().unwrap();
    let shown = env.plimsoll(&format!("batch status {id}")).stdout;
    assert!(shown.contains("planned again: batch 1 took 1"), "{shown}");
    assert!(shown.contains("estimated in proportion: 5 tasks in 5 batches\n"), "{shown}");
    assert!(shown.contains("  tasks.yaml, 5 tasks in 5 batches\n"), "{shown}");
    let hint = format!("to go on: plimsoll batch run --resume {id} --max-sessions 2\n");
    assert!(shown.contains(&hint), "{shown}");
    assert!(shown.contains(WARNING), "{shown}");
}

#[test]
fn a_plan_that_a_killed_conductor_did_not_write_down_is_made_by_the_next() {
    let env = dear();
    run(&env, &["tasks.yaml", "--available", "8000", "--max-sessions", "1"]);
    let planned = lines(&env, "planned").pop().unwrap();
    // As if the conductor had been killed right after the batch was done.
    let mut paths = fs::read_dir(env.data().join("runs")).unwrap().flatten().map(|it| it.path());
    let path = paths.find(|path| path.extension().is_some()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let end = text.lines().position(|line| line.contains("job_done")).unwrap();
    let kept: String = text.lines().take(end + 1).map(|line| format!("{line}\n")).collect();
    fs::write(&path, kept).unwrap();
    let ran = run(&env, &["--resume", "--max-sessions", "9"]);
    assert_eq!(ran.status.code(), Some(0), "{ran}");
    assert!(ran.stderr.contains(WARNING), "{ran}");
    let again = lines(&env, "planned").pop().unwrap();
    assert_eq!((&again["plan"], &again["why"]), (&planned["plan"], &planned["why"]));
    assert_eq!(begun(&env).len(), 5);
}
