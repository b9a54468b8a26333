//! The watcher beside the real client.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::bed::{Bed, PLIMSOLL, counting};

/// A watcher that runs in the client's home.
pub(crate) struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    pub(crate) fn start(bed: &Bed) -> Self {
        let mut command = Command::new(PLIMSOLL);
        command.args(["watch", "--json"]).env_clear().env("HOME", bed.sandbox.home());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut watching = Self { child, lines };
        // When it tells of this, it has looked around.
        let mark = bed.sandbox.home().join(".claude/projects/mark/mark.jsonl");
        fs::create_dir_all(mark.parent().unwrap()).unwrap();
        fs::write(mark, "{}\n").unwrap();
        watching.until(|told| told.iter().any(|notice| notice["change"] == "reading"));
        watching
    }

    /// All that is told up to what is wanted.
    pub(crate) fn until(&mut self, is_wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let mut told = Vec::new();
        while !is_wanted(&told) {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it has ended");
            told.push(serde_json::from_str(&line).unwrap());
        }
        told
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_session_and_its_subagent_are_told_from_their_start_to_their_end() {
    let bed = Bed::new(counting(60_000));
    let mut watching = Watching::start(&bed);

    let outcome = bed.prompt("go").run();

    let (session, transcript) = (outcome.session_id(), outcome.transcript());
    let used = bed.measure_tokens(&transcript.path);
    let is_main = |notice: &Value| notice["session"] == *session && notice["subagent"].is_null();
    let told = watching.until(|told| {
        let main = || told.iter().filter(|notice| is_main(notice));
        let mut inside = told.iter().filter(|notice| !notice["subagent"].is_null());
        main().any(|notice| notice["change"] == "ended")
            && main().any(|notice| notice["reading"]["used"] == used)
            && inside.any(|notice| notice["reading"]["used"].as_u64() > Some(61_000))
    });
    // The mark may be told of once more: it was seen empty first.
    let first = told.iter().find(|notice| notice["session"] != "mark").unwrap();
    assert!(is_main(first) && first["change"] == "started", "{told:?}");
    assert!(told.iter().all(|notice| notice["change"] != "died"), "{told:?}");
}
