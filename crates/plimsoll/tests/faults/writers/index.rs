//! The index of checkpoints, written by whoever looks at all of them or removes old ones.

use std::fs;

use plimsoll_testbed::generator::SplitMix64;

use super::{campaigns, succeeds, worked};
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;
use crate::invariants::{checkpoints, indexed};

/// How many checkpoints there are.
const SEALED: usize = 4;

struct Index;

impl Index {
    fn new() -> (TestEnv, Self) {
        let env = TestEnv::new();
        worked(&env, "indexed", 610_000);
        (0..SEALED).for_each(|_| drop(succeeds(&env, "checkpoint create")));
        (env, Self)
    }
}

impl Writer for Index {
    const NAME: &'static str = "index";
    const SHARE: usize = 100;

    fn next(&mut self, env: &TestEnv, random: &mut SplitMix64) -> Call {
        // Somebody has lost it, or it has lost its first entry.
        let path = env.home().join(".claude/clc/checkpoints/index.json");
        match random.below(3) {
            0 => drop(fs::remove_file(path)),
            1 => drop(fs::write(path, r#"{"version":"1.0","checkpoints":[],"last_updated":""}"#)),
            _ => {}
        }
        Call::new(env, &["checkpoint", "verify", "--all"])
    }

    fn note(&mut self, _: &Ran, _: Harm) {}

    fn check(&mut self, env: &TestEnv) {
        assert_eq!(checkpoints(env).len(), SEALED);
    }

    fn finish(&mut self, env: &TestEnv) {
        succeeds(env, "checkpoint verify --all");
        assert_eq!(indexed(env).len(), SEALED);
    }
}

campaigns!(Index::new);
