//! Saves: the journal that `ss` and the hooks append to.

use std::collections::BTreeSet;

use plimsoll_testbed::generator::SplitMix64;

use super::campaigns;
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;
use crate::invariants::json;

#[derive(Default)]
struct Saves {
    asked: usize,
    /// The tasks that were reported as saved.
    reported: BTreeSet<String>,
}

impl Saves {
    fn new() -> (TestEnv, Self) {
        (TestEnv::new(), Self::default())
    }
}

/// The tasks of all saves of an environment.
#[track_caller]
pub(super) fn tasks(env: &TestEnv, environment: &str) -> Vec<String> {
    let saves = json(&env.plimsoll(&format!("rs {environment} --limit 1000 --all --json")));
    saves.iter().map(|save| save["task"].as_str().unwrap().to_owned()).collect()
}

impl Writer for Saves {
    const NAME: &'static str = "saves";
    const SHARE: usize = 120;

    fn next(&mut self, env: &TestEnv, random: &mut SplitMix64) -> Call {
        self.asked += 1;
        let task = format!("task-{}-{}", self.asked, "x".repeat(random.below(9_000)));
        Call::new(env, &["ss", "sea", "--task", &task])
    }

    fn note(&mut self, ran: &Ran, _: Harm) {
        let task = ran.stdout.strip_prefix("Saved `").and_then(|rest| rest.split_once('`'));
        self.reported.extend(task.map(|(task, _)| task.to_owned()));
    }

    fn check(&mut self, env: &TestEnv) {
        let tasks = tasks(env, "sea");
        for task in &self.reported {
            let times = tasks.iter().filter(|it| *it == task).count();
            assert_eq!(times, 1, "of {task}, which was reported, there are {times}");
        }
    }

    fn finish(&mut self, env: &TestEnv) {
        let ran = Call::new(env, &["ss", "sea", "--task", "the-last"]).run(env);
        assert!(ran.status.success(), "{ran}");
        self.note(&ran, Harm::Kills);
        self.check(env);
    }
}

campaigns!(Saves::new);
