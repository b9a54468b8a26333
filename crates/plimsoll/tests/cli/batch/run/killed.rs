//! Plans whose conductors and agents are killed at any moment.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use plimsoll_testbed::generator::SplitMix64;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{TASKS, begin, harbour, noted};
use crate::env::TestEnv;
use crate::run::journals;

/// Batches of two tasks, each batch after the one before.
fn tasks(batches: u32) -> String {
    let task = |number: u32| {
        let first = (number - number % 2).checked_sub(2);
        let after = first.map(|first| format!(", after: [t{first}, t{}]", first + 1));
        let after = after.unwrap_or_default();
        format!("- {{id: t{number}, description: Fix it, tokens: 50{after}}}\n")
    };
    (0..batches * 2).map(task).collect()
}

/// Starts the run, or goes on with it.
fn start(env: &TestEnv) -> Child {
    let is_begun = !lines(env, "planned").is_empty();
    let begin = ["batch", "run", "tasks.yaml", "--available", "100", "--agent-command", "my-agent"];
    let more = ["--at-once", "2", "--retries", "9"];
    let mut command = match is_begun {
        true => env.command(&["batch", "run", "--resume", "--at-once", "2"]),
        false => env.command(&[&begin[..], &more].concat()),
    };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).spawn().unwrap()
}

/// Kills agents again and again, and at last the conductor, unless there are no kills left or it is
/// done before.
fn kill(env: &TestEnv, conductor: &mut Child, kills: &mut u32, random: &mut SplitMix64) {
    while *kills > 0 && conductor.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(random.below(400) as u64));
        *kills -= 1;
        let whom = random.below(3);
        if whom != 0 {
            for pid in agents(env) {
                // It may have ended by itself.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if whom != 1 {
            return conductor.kill().unwrap();
        }
    }
}

/// All processes that a run has started.
fn agents(env: &TestEnv) -> Vec<Pid> {
    let mark = env.data().join("runs").display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_meant = |entry: &fs::DirEntry| {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).into_owned();
        command.contains(&mark) || command.contains(env.path("bin/my-agent").to_str().unwrap())
    };
    processes
        .filter(is_meant)
        .filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// The journal of the run. One that was killed before it had a plan is none.
fn journal(env: &TestEnv) -> Vec<Value> {
    let has_plan = |journal: &Vec<Value>| journal.iter().any(|line| line["what"] == "planned");
    journals(env).into_iter().find(has_plan).unwrap_or_default()
}

fn lines(env: &TestEnv, what: &str) -> Vec<Value> {
    journal(env).into_iter().filter(|line| line["what"] == what).collect()
}

/// The tasks that are journaled as done.
fn done(env: &TestEnv) -> BTreeSet<String> {
    let done: Vec<Value> = lines(env, "job_done").iter().map(|line| line["job"].clone()).collect();
    let begun = lines(env, "job_begun").into_iter().filter(|job| done.contains(&job["job"]));
    let pieces = begun.flat_map(|job| job["pieces"].as_array().unwrap().clone());
    pieces.map(|piece| piece.as_str().unwrap().to_owned()).collect()
}

/// Nothing was begun after it was journaled as done, and every job that is done has its checkpoint.
fn check(env: &TestEnv) {
    let mut closed = BTreeSet::new();
    for line in journal(env) {
        let job = line["job"].as_u64();
        match line["what"].as_str().unwrap() {
            "leg_begun" => assert!(!closed.contains(&job), "{line}"),
            "job_done" => {
                let id = line["checkpoint"].as_str().unwrap();
                assert!(env.plimsoll(&format!("checkpoint show {id}")).status.success(), "{id}");
                assert!(closed.insert(job), "{line}");
            }
            _ => {}
        }
    }
}

#[test]
fn a_plan_that_is_killed_again_and_again_is_done_at_last_and_nothing_twice() {
    let kills = std::env::var("PLIMSOLL_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let (mut kills, mut random): (u32, _) = (kills.unwrap_or(12), SplitMix64::new(20_261_117));
    let batches = 4 + kills / 2;
    let env = harbour(&tasks(batches));
    env.write("bin/slow", "");
    for conductors in 1.. {
        let before = done(&env);
        let begun = noted(&env, "begun").lines().count();
        let mut conductor = start(&env);
        kill(&env, &mut conductor, &mut kills, &mut random);
        let status = conductor.wait().unwrap();
        for task in noted(&env, "begun").lines().skip(begun) {
            assert!(!before.contains(task), "{task} was done: {:#?}", journal(&env));
        }
        if status.success() {
            break;
        }
        assert!(conductors < 1_000, "it never ends: {:#?}", journal(&env));
    }
    check(&env);
    assert_eq!(done(&env).len(), batches as usize * 2);
    let ended: BTreeSet<String> = noted(&env, "ended").lines().map(str::to_owned).collect();
    assert_eq!(ended, done(&env));
}

#[test]
fn an_agent_that_is_killed_is_tried_again_as_often_as_may_be() {
    let env = harbour(TASKS);
    env.write("bin/killed", "");
    let ran = begin(&env, &["--retries", "4"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(
        ran.stderr.contains("batch 1 (2 tasks) was killed by signal 9 (Killed); tried"),
        "{ran}"
    );
    assert!(ran.stderr.contains("caused by: the agent was killed by signal 9\n"), "{ran}");
    let attempts: Vec<Value> =
        lines(&env, "leg_begun").iter().map(|leg| leg["attempt"].clone()).collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5]);
    let told = env.plimsoll("batch status").stdout;
    assert!(told.contains("5 sessions, 4 retries"), "{told}");
}
