//! The conductor's journal: a plan that is taken up again and again.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use plimsoll_testbed::generator::SplitMix64;
use serde_json::Value;

use super::campaigns;
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;
use crate::invariants::half_written;

/// Notes each task that it is told of when it begins with it, and when it is done.
const AGENT: &str = r#"#!/bin/sh
here=$(dirname "$0")
tasks=$(sed -n 's/^[0-9]*\. `\([^`]*\)`.*/\1/p')
for task in $tasks; do echo "$task" >> "$here/begun"; done
for task in $tasks; do echo "$task" >> "$here/ended"; done
"#;

/// Two batches, the second after the first.
const TASKS: &str = "\
- {id: keel, description: Fix the keel, tokens: 40}
- {id: mast, description: Fix the mast, tokens: 40}
- {id: sails, description: Add sails, tokens: 60, after: [mast]}
";

const BEGIN: [&str; 9] = [
    "batch",
    "run",
    "tasks.yaml",
    "--available",
    "100",
    "--agent-command",
    "my-agent",
    "--retries",
    "90",
];

#[derive(Default)]
struct Conductor {
    /// What was journaled as done before a conductor was started, and how much was begun by then.
    before: BTreeSet<String>,
    begun: usize,
}

impl Conductor {
    fn new() -> (TestEnv, Self) {
        let env = TestEnv::new();
        let agent = env.write("bin/my-agent", AGENT);
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        env.write("project/tasks.yaml", TASKS);
        let path = format!("{}:/usr/bin:/bin", env.path("bin").display());
        (env.with("PATH", &path).with("PLIMSOLL_TEST_PAUSE_MS", "5"), Self::default())
    }

    fn conduct(env: &TestEnv) -> Call {
        let is_begun = journal(env).iter().any(|line| line["what"] == "planned");
        match is_begun && !is_done(env) {
            true => Call::new(env, &["batch", "run", "--resume"]),
            false => Call::new(env, &BEGIN),
        }
    }
}

/// The newest journal.
fn newest(env: &TestEnv) -> Option<PathBuf> {
    let folder = fs::read_dir(env.data().join("runs")).into_iter().flatten().flatten();
    let journals = folder.map(|entry| entry.path());
    journals.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).max()
}

/// The lines of the newest journal.
fn journal(env: &TestEnv) -> Vec<Value> {
    let text = newest(env).map(|path| fs::read_to_string(path).unwrap()).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn is_done(env: &TestEnv) -> bool {
    journal(env).iter().any(|line| line["what"] == "ended" && line["outcome"] == "done")
}

fn noted(env: &TestEnv, name: &str) -> Vec<String> {
    let text = fs::read_to_string(env.path("bin").join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The tasks that are journaled as done.
fn done(journal: &[Value]) -> BTreeSet<String> {
    let done: Vec<&Value> =
        journal.iter().filter(|it| it["what"] == "job_done").map(|it| &it["job"]).collect();
    let begun = journal.iter().filter(|it| it["what"] == "job_begun");
    let pieces = begun.filter(|job| done.contains(&&job["job"])).flat_map(|job| {
        job["pieces"].as_array().unwrap().iter().map(|piece| piece.as_str().unwrap().to_owned())
    });
    pieces.collect()
}

impl Writer for Conductor {
    const NAME: &'static str = "conductor";
    const SHARE: usize = 20;
    const STEPS: usize = 5;

    fn next(&mut self, env: &TestEnv, _: &mut SplitMix64) -> Call {
        if is_done(env) {
            self.before.clear();
            let _ = fs::remove_dir_all(env.data().join("runs"));
        }
        self.before = done(&journal(env));
        self.begun = noted(env, "begun").len();
        Self::conduct(env)
    }

    fn note(&mut self, _: &Ran, _: Harm) {}

    /// Nothing is begun that is journaled as done, and every job that is done has its checkpoint.
    fn check(&mut self, env: &TestEnv) {
        for task in noted(env, "begun").iter().skip(self.begun) {
            assert!(!self.before.contains(task), "{task} was done: {:#?}", journal(env));
        }
        for line in journal(env).iter().filter(|line| line["what"] == "job_done") {
            let id = line["checkpoint"].as_str().unwrap();
            assert!(env.plimsoll(&format!("checkpoint show {id}")).status.success(), "{id}");
        }
    }

    fn finish(&mut self, env: &TestEnv) {
        for _ in 0..20 {
            if is_done(env) {
                break;
            }
            Self::conduct(env).run(env);
        }
        let journal = journal(env);
        assert!(is_done(env), "it is never done: {journal:#?}");
        assert_eq!(done(&journal).len(), 3);
        let ended: BTreeSet<String> = noted(env, "ended").into_iter().collect();
        assert!(ended.is_superset(&done(&journal)), "{ended:?}");
        let folder = newest(env).unwrap().with_extension("");
        assert_eq!(half_written(env, &folder), [""; 0].map(PathBuf::from));
    }
}

campaigns!(Conductor::new);
