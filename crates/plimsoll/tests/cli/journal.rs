//! Runs, as a conductor writes them down.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::env::TestEnv;

/// The journal of a run, a second between two lines.
pub(crate) struct Journal {
    pub(crate) id: String,
    path: PathBuf,
    at: i64,
}

impl Journal {
    /// A run of a plan of three pieces in two batches, conducted by this process, or by one that is gone.
    pub(crate) fn begin(env: &TestEnv, number: u8, title: &str, is_alive: bool) -> Self {
        let id = format!("019a8f00-0000-7000-8000-0123456789{number:02x}");
        let path = env.data().join(format!("runs/{id}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let at = 1_763_000_000_000 + i64::from(number) * 1_000_000;
        let mut journal = Self { id, path, at };
        let project = env.project();
        journal.says(json!({"what": "begun", "sort": "plan", "project": project, "title": title,
            "command": ["agent", "-p"]}));
        let by = if is_alive { this_process() } else { json!({"pid": 1, "started": 1}) };
        journal.says(json!({"what": "conducted", "by": by}));
        let piece = |id, description, kind, tokens| {
            json!({"id": id, "description": description, "kind": kind, "tokens": tokens,
                "formula": tokens})
        };
        let (one, two) =
            (piece("1", "Fix the keel", "fix", 6_000), piece("2", "Add a mast", "add", 7_200));
        let three = piece("3", "Refactor the hold", "refactor", 12_000);
        let plan = json!({"available": 100_000, "batches": [[one, two], [three]]});
        journal.says(json!({"what": "planned", "plan": plan}));
        journal
    }

    /// Adds a line.
    pub(crate) fn says(&mut self, mut line: Value) {
        self.at += 1_000;
        line["at"] = self.at.into();
        let mut file = File::options().append(true).create(true).open(&self.path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// A job begins, and its first session.
    pub(crate) fn begins(&mut self, job: u32, title: &str, pieces: &[&str], session: &str) {
        self.says(json!({"what": "job_begun", "job": job, "title": title, "batch": job,
            "pieces": pieces, "tokens": 13_200}));
        self.leg(job, 1, session);
    }

    pub(crate) fn leg(&mut self, job: u32, leg: u32, session: &str) {
        self.says(json!({"what": "leg_begun", "job": job, "leg": leg, "attempt": 1,
            "session": session}));
    }

    /// A session ends, full or by itself.
    pub(crate) fn ends(&mut self, job: u32, leg: u32, used: u64, is_full: bool) {
        let mut line = json!({"what": "leg_ended", "job": job, "leg": leg, "first": 10_000,
            "used": used, "window": 200_000, "responses": 12,
            "checkpoint": "2026-11-15-060000-5f2c81aa"});
        match is_full {
            true => line["how"] = "stopped".into(),
            false => (line["how"], line["code"]) = ("exited".into(), 0.into()),
        }
        self.says(line);
    }

    pub(crate) fn done(&mut self, job: u32) {
        self.says(
            json!({"what": "job_done", "job": job, "checkpoint": "2026-11-15-060000-5f2c81aa"}),
        );
    }
}

/// This process, told from a later one that gets its number.
fn this_process() -> Value {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap();
    json!({"pid": std::process::id(), "started": started.parse::<u64>().unwrap()})
}

/// A run whose first batch took two sessions and is done, and whose second is at work.
pub(crate) fn half_done(env: &TestEnv, number: u8, is_alive: bool) -> Journal {
    let mut journal = Journal::begin(env, number, "Careen the hull", is_alive);
    journal.begins(1, "Keel and mast", &["1", "2"], "aaaaaaaa-1");
    journal.ends(1, 1, 170_000, true);
    journal.leg(1, 2, "bbbbbbbb-2");
    journal.ends(1, 2, 40_000, false);
    journal.done(1);
    journal.begins(2, "The hold", &["3"], "cccccccc-3");
    journal
}
