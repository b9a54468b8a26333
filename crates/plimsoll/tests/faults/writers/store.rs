//! The store: transcripts that grow are taken in, each line once, whoever is killed.

use std::collections::BTreeMap;
use std::fs;

use plimsoll_testbed::generator::SplitMix64;
use rusqlite::Connection;

use super::{campaigns, succeeds};
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;
use crate::transcript::captured;

struct Store {
    /// What is yet to be appended to each transcript.
    rest: Vec<(String, Vec<String>)>,
}

/// Transcripts that tell of tools, of hooks and of a compaction.
const CAPTURED: [&str; 3] =
    ["tools.jsonl", "compact-auto-interactive.jsonl", "hook-context-every-event.jsonl"];

impl Store {
    fn new() -> (TestEnv, Self) {
        let env = TestEnv::new();
        let project = env.project();
        let lines = |name: &str| {
            let text = captured(name).replace("/home/dev/project", project.to_str().unwrap());
            text.split_inclusive('\n').rev().map(str::to_owned).collect()
        };
        let rest =
            CAPTURED.iter().enumerate().map(|(at, name)| (format!("ship-{at}"), lines(name)));
        let store = Self { rest: rest.collect() };
        (env, store)
    }

    /// Some more lines, sometimes half of one.
    fn grow(&mut self, env: &TestEnv, random: &mut SplitMix64) {
        for (session, rest) in &mut self.rest {
            let mut text = fs::read_to_string(env.session(session).transcript).unwrap_or_default();
            for _ in 0..random.below(6) {
                text += &rest.pop().unwrap_or_default();
            }
            env.session(session).write(text);
        }
    }

    fn take_in(env: &TestEnv) {
        for arguments in ["status --all", "audit", "search hull", "rs sea"] {
            env.plimsoll(arguments);
        }
    }
}

impl Writer for Store {
    const NAME: &'static str = "store";
    const SHARE: usize = 100;

    fn next(&mut self, env: &TestEnv, random: &mut SplitMix64) -> Call {
        self.grow(env, random);
        match random.below(4) {
            0 => Call::hook(env, "ship-0", "SessionEnd"),
            1 => Call::new(env, &["audit"]),
            _ => Call::new(env, &["status", "--all"]),
        }
    }

    fn note(&mut self, _: &Ran, _: Harm) {}

    fn check(&mut self, _: &TestEnv) {}

    /// The store holds what one made anew from the same files would.
    fn finish(&mut self, env: &TestEnv) {
        // A session that was killed at its end left its traces to the next end, and the next checkpoint.
        env.session("ship-0").hook("SessionEnd");
        env.plimsoll("checkpoint create ship-0");
        succeeds(env, "status --all");
        Self::take_in(env);
        let grown = counts(env);
        for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
            let _ = fs::remove_file(env.data().join(name));
        }
        succeeds(env, "status --all");
        Self::take_in(env);
        assert_eq!(grown, counts(env), "what is there after faults, and what should be");
    }
}

/// How many rows each table has.
fn counts(env: &TestEnv) -> BTreeMap<String, i64> {
    let path = env.data().join("store.sqlite");
    let store = Connection::open(path).unwrap();
    let names =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%\\_%' ESCAPE '\\'";
    let mut names = store.prepare(names).unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let count = |name: String| {
        let sql = format!("SELECT count(*) FROM {name}");
        let rows = store.query_row(&sql, [], |row| row.get(0)).unwrap();
        (name, rows)
    };
    names.map(count).collect()
}

campaigns!(Store::new);
