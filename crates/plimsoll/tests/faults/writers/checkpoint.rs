//! Checkpoints: made by the command, at a compaction and where a line is crossed.

use std::collections::BTreeSet;

use plimsoll_testbed::generator::SplitMix64;
use serde_json::Value;

use super::{campaigns, worked};
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;
use crate::invariants::{checkpoints, indexed};

#[derive(Default)]
struct Checkpoints {
    sessions: usize,
    /// The names of files that were reported as sealed.
    reported: BTreeSet<String>,
}

impl Checkpoints {
    fn new() -> (TestEnv, Self) {
        (TestEnv::new(), Self::default())
    }

    fn check_reported(&self, listed: &[Value]) {
        let ids: BTreeSet<&str> = listed.iter().filter_map(|it| it["id"].as_str()).collect();
        for id in &self.reported {
            assert!(ids.contains(&**id), "{id} was reported and is lost: {ids:?}");
        }
        let iterations: BTreeSet<_> = listed.iter().map(|it| it["iteration"].as_u64()).collect();
        assert_eq!(iterations.len(), listed.len(), "an iteration was given away twice");
    }
}

impl Writer for Checkpoints {
    const NAME: &'static str = "checkpoint";
    const SHARE: usize = 180;

    fn next(&mut self, env: &TestEnv, random: &mut SplitMix64) -> Call {
        self.sessions += 1;
        let session = format!("{:08}-work", self.sessions);
        worked(env, &session, 610_000);
        match random.below(4) {
            0 => Call::hook(env, &session, "PreCompact"),
            1 => Call::hook(env, &session, "PostToolUse"),
            _ => Call::new(env, &["checkpoint", "create", &session]),
        }
    }

    fn note(&mut self, ran: &Ran, _: Harm) {
        // Who is killed while speaking has said nothing.
        let path = ran.stdout.strip_suffix(".md\n").and_then(|path| path.rsplit('/').next());
        self.reported.extend(path.map(str::to_owned));
    }

    fn check(&mut self, env: &TestEnv) {
        self.check_reported(&checkpoints(env));
    }

    fn finish(&mut self, env: &TestEnv) {
        // What calls of a session left half written goes with its end.
        for session in 1..=self.sessions {
            env.session(&format!("{session:08}-work")).hook("SessionEnd");
        }
        worked(env, "the-last", 610_000);
        let ran = Call::new(env, &["checkpoint", "create", "the-last"]).run(env);
        assert!(ran.status.success(), "{ran}");
        self.note(&ran, Harm::Kills);
        assert!(env.plimsoll("checkpoint verify --all").status.success());
        let listed = checkpoints(env);
        self.check_reported(&listed);
        assert_eq!(indexed(env).len(), listed.len(), "what is there is in the index");
    }
}

campaigns!(Checkpoints::new);
