//! A plan, carried out by the real client.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};

use plimsoll_testbed::{Client, ModelAnswer, ModelRequest, Script};
use serde_json::{Value, json};

use crate::bed::{Bed, PLAIN, PLIMSOLL, path};
use crate::run::{asked, bed, checkpoint, journal, lines, stderr};

const FILES: usize = 10;
/// What a batch may hold.
const AVAILABLE: u64 = 9_000;

fn name(number: usize) -> String {
    format!("src/frame_{number}.rs")
}

/// A hull of ten files, and one task for all of them.
fn lay_down(bed: &Bed) {
    let project = bed.sandbox.project();
    fs::create_dir_all(project.join("src")).unwrap();
    let mut tasks =
        "- id: hull\n  description: Refactor the ribs of the hull\n  files:\n".to_owned();
    for number in 0..FILES {
        let beams: String =
            (0..120).map(|beam| format!("    // beam {beam} of the hull\n")).collect();
        let text = format!("pub fn rib_{number}() {{\n{beams}}}\n");
        fs::write(project.join(name(number)), text).unwrap();
        tasks += &format!("    - {}\n", name(number));
    }
    fs::write(project.join("tasks.yaml"), tasks).unwrap();
}

/// The files that a session is asked for.
fn asked_for(request: &ModelRequest) -> Vec<String> {
    let text = request.all_text();
    let line = text.split("\n   Files: ").nth(1).and_then(|rest| rest.lines().next());
    let files = line.unwrap_or_default().split(", ");
    files.map(|file| file.trim_matches('`').to_owned()).collect()
}

/// Reads each file that it is asked for, renames the rib in it, and ends.
fn refactorer() -> Script {
    let mut turns: HashMap<String, usize> = HashMap::new();
    Script::new().rule(move |request| {
        if !request.is_main_turn() {
            return None;
        }
        let turn = turns.entry(request.session_id.clone().unwrap()).or_insert(0);
        let (files, at) = (asked_for(request), *turn);
        *turn += 1;
        let answer = match files.get(at / 2) {
            None => ModelAnswer::text("Every rib is a frame."),
            Some(file) if at % 2 == 0 => ModelAnswer::tool("Read", json!({ "file_path": file })),
            Some(file) => {
                let edit = json!({"file_path": file, "old_string": "pub fn rib_", "new_string": "pub fn frame_"});
                ModelAnswer::tool("Edit", edit)
            }
        };
        Some(answer.prompt_tokens(30_000 + 700 * at as u64))
    })
}

fn batch_run(bed: &Bed, arguments: &[&str]) -> Command {
    let mut command = Command::new(PLIMSOLL);
    command.args(["batch", "run"]).args(arguments).current_dir(bed.sandbox.project());
    command.env_clear().envs(bed.sandbox.environment()).env("PATH", path());
    command.stdin(Stdio::null());
    command
}

#[test]
fn ten_files_are_refactored_in_batches_that_fit_with_checkpoints_between() {
    for client in [Client::current(), Client::old()] {
        let bed = bed(&client, refactorer());
        lay_down(&bed);
        let project = bed.sandbox.project();
        let agent = format!(
            "{} -p --model {PLAIN} --dangerously-skip-permissions",
            bed.sandbox.program().display()
        );
        let available = AVAILABLE.to_string();
        let arguments = ["tasks.yaml", "--available", &available, "--agent-command", &agent];
        let ran = batch_run(&bed, &arguments).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}: {}", client.version(), stderr(&ran));

        let journal = journal(&bed);
        let (begun, done) = (lines(&journal, "job_begun"), lines(&journal, "job_done"));
        assert!(begun.len() >= 3 && begun.len() == done.len(), "{journal:#?}");
        for (job, end) in begun.iter().zip(lines(&journal, "leg_ended")) {
            assert!(job["tokens"].as_u64().unwrap() <= AVAILABLE, "{job}");
            let held = |name: &str| end[name].as_u64().unwrap();
            assert!(held("used") - held("first") <= AVAILABLE, "{end}");
        }

        let sessions = asked(&bed);
        assert_eq!(sessions.len(), begun.len(), "each batch has one session");
        let mut files: Vec<String> = sessions.iter().flat_map(|all| asked_for(&all[0])).collect();
        for (next, before) in sessions[1..].iter().zip(&done) {
            given(&next[0], before, &project);
        }
        files.sort_unstable();
        let mut expected: Vec<String> = (0..FILES).map(name).collect();
        expected.sort_unstable();
        assert_eq!(files, expected, "each file is in one batch");
        for number in 0..FILES {
            let text = fs::read_to_string(project.join(name(number))).unwrap();
            assert!(text.starts_with(&format!("pub fn frame_{number}()")), "{text}");
        }
    }
}

#[test]
fn what_is_longer_than_a_word_may_be_reaches_the_client_on_its_stdin() {
    for client in [Client::current(), Client::old()] {
        let bed = bed(&client, refactorer());
        let long = "caulk every seam ".repeat(10_000);
        let task = format!("- {{description: {long}until it floats, tokens: 90}}\n");
        fs::write(bed.sandbox.project().join("tasks.yaml"), task).unwrap();
        let agent = format!("{} -p --model {PLAIN}", bed.sandbox.program().display());
        let arguments = ["tasks.yaml", "--available", "9000", "--agent-command", &agent];
        let ran = batch_run(&bed, &arguments).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}: {}", client.version(), stderr(&ran));
        let heard = asked(&bed)[0][0].all_text();
        assert!(heard.contains(&format!("{long}until it floats")), "{}", heard.len());
        assert!(heard.contains("end with one sentence for each"), "{}", client.version());
    }
}

/// A session was given the checkpoint of the batch before, which tells what was changed.
fn given(first: &ModelRequest, before: &Value, project: &std::path::Path) {
    let id = before["checkpoint"].as_str().unwrap();
    let (heard, told) = (first.all_text(), checkpoint(project, id).unwrap());
    assert!(heard.contains(&format!("From checkpoint {id}")), "{heard}");
    assert!(heard.contains("That work is done. This session comes after it"), "{heard}");
    let changed = (0..FILES).map(name).find(|file| told.contains(&format!("[{file}")));
    assert!(heard.contains(&changed.unwrap()), "{heard}");
    assert!(told.contains("trigger: batch\n"), "{told}");
}
