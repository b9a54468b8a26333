//! One task over many sessions of the real client.

mod killed;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use plimsoll_testbed::{Client, ModelAnswer, ModelRequest, Script};
use serde_json::{Value, json};

use crate::bed::{Bed, PLAIN, PLIMSOLL, bash, path, step};

pub(super) const TASK: &str = "Caulk every frame of the hull. Never touch the ballast.";

/// A client with our hooks.
pub(super) fn bed(client: &Client, script: Script) -> Bed {
    let bed = Bed::bare(client, script);
    let program = client.program().to_str().unwrap().to_owned();
    bed.plimsoll(&["init", "--yes", "--client", &program]);
    bed
}

/// `plimsoll run` in the project, with these limits, and with these options for the agent.
pub(super) fn conductor(bed: &Bed, limits: &[&str], options: &[&str]) -> Command {
    let mut command = command(bed, limits);
    command.arg("--").arg(bed.sandbox.program()).args(["-p", TASK, "--model", PLAIN]);
    command.arg("--dangerously-skip-permissions").args(options);
    command
}

/// `plimsoll run` with these arguments.
pub(super) fn command(bed: &Bed, arguments: &[&str]) -> Command {
    let mut command = Command::new(PLIMSOLL);
    command.arg("run").args(arguments).current_dir(bed.sandbox.project());
    command.env_clear().envs(bed.sandbox.environment()).env("PATH", path());
    command.stdin(Stdio::null());
    command
}

fn run(bed: &Bed, limits: &[&str]) -> Output {
    conductor(bed, limits, &[]).output().unwrap()
}

pub(super) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A model that goes through `turn` in every session anew: the session's number and the turn's, both
/// from 1 on, to an answer.
fn sessions(turn: impl Fn(usize, usize) -> ModelAnswer + Send + 'static) -> Script {
    let mut known: HashMap<String, (usize, usize)> = HashMap::new();
    Script::new().rule(move |request| {
        if !request.is_main_turn() {
            return None;
        }
        let number = known.len() + 1;
        let at = known.entry(request.session_id.clone().unwrap()).or_insert((number, 0));
        at.1 += 1;
        Some(turn(at.0, at.1))
    })
}

/// A file that is written while the window holds so much.
fn writes(name: &str, prompt_tokens: u64) -> ModelAnswer {
    let input = json!({"file_path": name, "content": format!("fn caulk_{}() {{}}\n", name.len())});
    ModelAnswer::tool("Write", input).prompt_tokens(prompt_tokens)
}

/// Works in `full` sessions until each is stopped, then ends in the next.
fn until_full(full: usize) -> Script {
    sessions(move |session, turn| match turn {
        _ if session > full => ModelAnswer::text("Every frame is sound.").prompt_tokens(31_000),
        1 => writes(&format!("frame-{session}.rs"), 30_000),
        2..5 => step(40_000),
        _ => step(175_000),
    })
}

/// The sessions of the run, in the order in which they asked the model, each with its requests.
pub(super) fn asked(bed: &Bed) -> Vec<Vec<ModelRequest>> {
    let mut sessions: Vec<Vec<ModelRequest>> = Vec::new();
    for request in bed.server.main_turns() {
        let known = sessions.iter_mut().find(|known| known[0].session_id == request.session_id);
        match known {
            Some(known) => known.push(request),
            None => sessions.push(vec![request]),
        }
    }
    sessions
}

/// The journal of the one run; empty as long as there is none.
pub(super) fn journal(bed: &Bed) -> Vec<Value> {
    let entries = fs::read_dir(bed.data().join("runs")).into_iter().flatten().flatten();
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
    let journals: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_journal).collect();
    assert!(journals.len() < 2, "{journals:?}");
    let Some(journal) = journals.first() else { return Vec::new() };
    let text = fs::read_to_string(journal).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(super) fn lines<'j>(journal: &'j [Value], what: &str) -> Vec<&'j Value> {
    journal.iter().filter(|line| line["what"] == what).collect()
}

/// The text of a checkpoint, if it has not had its time.
pub(super) fn checkpoint(project: &Path, id: &str) -> Option<String> {
    fs::read_to_string(project.join(format!(".claude/checkpoints/{id}.md"))).ok()
}

#[test]
fn what_was_known_at_the_start_is_known_after_five_restarts() {
    for client in [Client::current(), Client::old()] {
        let bed = bed(&client, until_full(5));
        let ran = run(&bed, &[]);
        assert_eq!(ran.status.code(), Some(0), "{}: {}", client.version(), stderr(&ran));
        assert_eq!(stdout(&ran), "Every frame is sound.\n", "{}", stderr(&ran));

        let sessions = asked(&bed);
        assert_eq!(sessions.len(), 6, "{}", stderr(&ran));
        let last = sessions[5].last().unwrap().all_text();
        assert!(last.contains("## Resuming from Checkpoint"), "{last}");
        assert!(last.contains("This session goes on with that unfinished work"), "{last}");
        // Only the first session was ever told of the first frame, and nobody but the user of the rest.
        assert!(last.contains("frame-1.rs"), "the map of the first session: {last}");
        assert!(last.contains("- Never touch the ballast."), "the directive: {last}");

        let journal = journal(&bed);
        let ends = lines(&journal, "leg_ended");
        let how: Vec<&Value> = ends.iter().map(|end| &end["how"]).collect();
        assert_eq!(how, ["stopped", "stopped", "stopped", "stopped", "stopped", "exited"]);
        assert_eq!(ends[0]["first"], 30_000);
        assert!(ends[0]["used"].as_u64().unwrap() >= 175_000, "{}", ends[0]);
        assert_eq!(lines(&journal, "ended")[0]["outcome"], "done");
        // Each session was given what the one before had sealed, and nobody had to be asked.
        for (before, after) in ends.iter().zip(&lines(&journal, "leg_begun")[1..]) {
            assert_eq!(before["checkpoint"], after["restore"]);
        }
    }
}

/// How many sessions a run of four hours takes: of 82 real sessions one in ten added more than 513,000
/// tokens in an hour of work, and a window of 200,000 has room for 140,000 before it is stopped.
const FOUR_HOURS: usize = 15;

#[test]
fn four_hours_of_work_need_nobody() {
    let calls = std::env::var("PLIMSOLL_TEST_CALLS").ok().and_then(|text| text.parse().ok());
    let calls: usize = calls.unwrap_or(6);
    let work = move |session: usize, turn: usize| match turn {
        _ if session > FOUR_HOURS => {
            ModelAnswer::text("Every frame is sound.").prompt_tokens(31_000)
        }
        turn if turn < calls => {
            let used = 30_000 + 130_000 * (turn as u64 - 1) / calls as u64;
            writes(&format!("frame-{session}-{turn}.rs"), used)
        }
        _ => step(175_000),
    };
    let bed = bed(&Client::current(), sessions(work));
    let ran = run(&bed, &[]);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    assert_eq!(stdout(&ran), "Every frame is sound.\n");
    let journal = journal(&bed);
    let ends = lines(&journal, "leg_ended");
    assert_eq!(ends.len(), FOUR_HOURS + 1);
    let grown = |end: &&&Value| Some(end["used"].as_u64()? - end["first"].as_u64()?);
    let added: u64 = ends.iter().filter_map(|end| grown(&end)).sum();
    assert!(added >= 4 * 513_000, "{added}");
    let last = asked(&bed)[FOUR_HOURS][0].all_text();
    assert!(last.contains("- Never touch the ballast."), "{last}");
    assert!(last.contains(&format!("frame-{FOUR_HOURS}-1.rs")), "what was done last: {last}");
}

#[test]
fn sessions_that_do_the_same_again_and_again_end_the_run() {
    let circle = |_: usize, turn: usize| match turn {
        1 => bash("rm -f frame.rs").prompt_tokens(30_000),
        2 => writes("frame.rs", 30_000),
        3..6 => step(40_000),
        _ => step(175_000),
    };
    let bed = bed(&Client::current(), sessions(circle));
    let ran = run(&bed, &[]);
    assert_eq!((ran.status.code(), stdout(&ran)), (Some(1), String::new()));
    let told = stderr(&ran);
    assert!(told.contains("error: the task is not done after 4 sessions"), "{told}");
    let why = "3 sessions in a row did nothing new; the same files: frame.rs";
    assert!(told.contains(why), "{told}");
    assert!(told.contains("plimsoll run --resume"), "{told}");
}

#[test]
fn sessions_that_are_full_at_once_end_the_run() {
    let bed = bed(&Client::current(), sessions(|_, _| step(180_000)));
    let ran = run(&bed, &[]);
    assert_eq!(ran.status.code(), Some(1));
    let told = stderr(&ran);
    assert!(told.contains("3 sessions in a row were full within 3 responses"), "{told}");
}

#[test]
fn a_run_ends_as_its_agent_does() {
    let script = sessions(|session, turn| match (session, turn) {
        (1, 1) => writes("frame-1.rs", 30_000),
        (1, _) => step(175_000),
        _ => ModelAnswer::error(400, "invalid_request_error", "the tide is out"),
    });
    let bed = bed(&Client::current(), script);
    let ran = run(&bed, &[]);
    assert_eq!(ran.status.code(), Some(1), "{}", stderr(&ran));
    assert!(stdout(&ran).contains("the tide is out"), "{}", stdout(&ran));
    assert_eq!(asked(&bed).len(), 2);
}

#[test]
fn a_result_in_json_is_that_of_the_last_session_alone() {
    let bed = bed(&Client::current(), until_full(1));
    let ran = conductor(&bed, &[], &["--output-format", "json"]).output().unwrap();
    let result: Value = serde_json::from_str(&stdout(&ran)).unwrap();
    assert_eq!(result["result"], "Every frame is sound.");
    let journal = journal(&bed);
    assert_eq!(result["session_id"], lines(&journal, "leg_begun")[1]["session"]);
}

#[test]
fn a_stream_is_passed_on_as_it_comes() {
    let bed = bed(&Client::current(), until_full(1));
    let options = ["--output-format", "stream-json", "--verbose"];
    let ran = conductor(&bed, &[], &options).output().unwrap();
    let stream = stdout(&ran);
    let messages: Vec<Value> =
        stream.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let results: Vec<&Value> = messages.iter().filter(|it| it["type"] == "result").collect();
    assert_eq!(results.len(), 2, "one of each session");
    assert_eq!(results[1]["result"], "Every frame is sound.");
}

#[test]
fn a_session_that_the_agent_begins_itself_is_nobodys() {
    let nested = |program: &Path| {
        let command = format!("{} -p 'count' --model {PLAIN} < /dev/null", program.display());
        ModelAnswer::tool("Bash", json!({"command": command, "description": "another agent"}))
    };
    let program = Client::current().program().to_owned();
    let script = sessions(move |session, turn| match (session, turn) {
        (1, 1) => nested(&program).prompt_tokens(30_000),
        (1, _) => ModelAnswer::text("Every frame is sound.").prompt_tokens(40_000),
        (_, 1) => step(180_000),
        _ => ModelAnswer::text("counted").prompt_tokens(181_000),
    });
    let bed = bed(&Client::current(), script);
    let ran = run(&bed, &[]);
    assert_eq!(stdout(&ran), "Every frame is sound.\n", "{}", stderr(&ran));
    assert_eq!(asked(&bed)[1].len(), 2, "nobody would go on with it, so it was not stopped");
}
