//! The tape: hook calls and transcript records in chronological order.
//!
//! Records that are not part of the conversation (the client's own texts, prompts, tools and
//! skills) are left out, and paths are rewritten to those of a user called `dev`. Nothing else
//! changes.

use std::collections::HashMap;
use std::fs;

use plimsoll_testbed::{ClientTranscript, Sandbox};
use serde_json::Value;

/// Merges the transcript with the hook calls. Each line of `notes` has the transcript size at the
/// time of the call and the payload.
pub(crate) fn merge(notes: &str, sandbox: &Sandbox) -> String {
    let calls: Vec<(usize, &str)> = notes.lines().map(parse_call).collect();
    let session = json(calls[0].1)["session_id"].as_str().expect("a session").to_owned();
    let transcript = ClientTranscript::find(&sandbox.home(), &session).path;
    let text = fs::read_to_string(transcript).expect("the transcript should be readable");

    let mut tape = Tape::default();
    let mut calls = calls.into_iter().peekable();
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        while let Some((_, payload)) = calls.next_if(|(size, _)| *size < end) {
            tape.push("hook", payload);
        }
        tape.add_record(line.trim_end());
    }
    calls.for_each(|(_, payload)| tape.push("hook", payload));
    with_generic_paths(&tape.text, sandbox)
}

fn parse_call(note: &str) -> (usize, &str) {
    let (size, payload) = note.split_once('\t').expect("a size and a payload");
    (size.trim().parse().expect("a size"), payload)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("what the client writes should be JSON")
}

#[derive(Default)]
struct Tape {
    text: String,
    /// Maps each omitted record to its parent, both as JSON text.
    omitted_parents: HashMap<String, String>,
}

impl Tape {
    /// Adds a record, or omits it and links its children to its parent.
    fn add_record(&mut self, line: &str) {
        let record = json(line);
        let parent = record["parentUuid"].to_string();
        let joined = self.omitted_parents.get(&parent).unwrap_or(&parent).clone();
        if matches!(record["type"].as_str(), Some("user" | "assistant" | "system")) {
            let link = |parent: &str| format!(r#""parentUuid":{parent}"#);
            self.push("record", &line.replacen(&link(&parent), &link(&joined), 1));
        } else if record["uuid"].is_string() {
            self.omitted_parents.insert(record["uuid"].to_string(), joined);
        }
    }

    fn push(&mut self, what: &str, json: &str) {
        self.text += &format!("{{\"{what}\":{json}}}\n");
    }
}

/// Rewrites the paths to those of a user called `dev`.
fn with_generic_paths(tape: &str, sandbox: &Sandbox) -> String {
    let (home, project) = (sandbox.home(), sandbox.project());
    let root = home.parent().expect("a home lies in a sandbox").display().to_string();
    let slug = root.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    tape.replace(&format!("{}/", home.display()), "/home/dev/")
        .replace(&project.display().to_string(), "/home/dev/project")
        .replace(&root, "/home/dev")
        .replace(&slug, "-home-dev")
}
