//! Runs whose conductors and agents are killed at any moment.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use plimsoll_testbed::generator::SplitMix64;
use plimsoll_testbed::{Client, ModelAnswer, ModelRequest, Script};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{asked, bed, checkpoint, command, conductor, journal, lines, stdout};
use crate::bed::{Bed, step};

/// How many frames the task has at least; there is one for each kill.
const FRAMES: u32 = 5;

/// Goes on with the frame behind the last one that it is told of, and fills its window with each.
fn frame_by_frame(frames: u32) -> Script {
    let mut turns: HashMap<String, u32> = HashMap::new();
    Script::new().rule(move |request: &ModelRequest| {
        if !request.is_main_turn() {
            return None;
        }
        let turn = turns.entry(request.session_id.clone().unwrap()).or_insert(0);
        *turn += 1;
        let last = told(&request.all_text(), frames);
        Some(match *turn {
            _ if last >= frames => ModelAnswer::text("Every frame is sound.").prompt_tokens(40_000),
            1 => caulk(last + 1),
            2..5 => step(40_000),
            _ => step(175_000),
        })
    })
}

/// The last frame that a text tells of.
fn told(text: &str, frames: u32) -> u32 {
    (1..=frames).rev().find(|frame| text.contains(&file(*frame))).unwrap_or(0)
}

fn file(frame: u32) -> String {
    format!("frame-{frame}.rs")
}

/// Writes a frame, and notes in a ledger that it was done.
fn caulk(frame: u32) -> ModelAnswer {
    let name = file(frame);
    let command = format!("echo $CLAUDE_CODE_SESSION_ID {frame} >> ledger");
    ModelAnswer::tool("Write", json!({"file_path": name, "content": format!("// {frame}\n")}))
        .then_tool("Bash", json!({"command": command, "description": "note it"}))
        .prompt_tokens(30_000)
}

/// Which session has done which frame, in their order.
fn ledger(project: &Path) -> Vec<(String, u32)> {
    let text = fs::read_to_string(project.join("ledger")).unwrap_or_default();
    let entry = |line: &str| {
        let (session, frame) = line.split_once(' ')?;
        Some((session.to_owned(), frame.parse().ok()?))
    };
    text.lines().filter_map(entry).collect()
}

/// Starts the run, or goes on with it.
fn start(bed: &Bed) -> Child {
    let is_begun = !journal(bed).is_empty();
    let mut command = match is_begun {
        true => command(bed, &["--resume"]),
        false => conductor(bed, &["--max-sessions", "1000"], &[]),
    };
    command.stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

/// Kills the conductor, an agent, or both.
fn kill(bed: &Bed, conductor: &mut Child, random: &mut SplitMix64) {
    let whom = random.below(3);
    if whom != 0 {
        for pid in agents(bed) {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    if whom != 1 {
        conductor.kill().unwrap();
    }
}

/// The processes of the agents that the journal tells of, and what those have started.
fn agents(bed: &Bed) -> Vec<Pid> {
    let session = |line: &&Value| line["what"] == "leg_begun";
    let journal = journal(bed);
    let Some(last) = journal.iter().rfind(session) else { return Vec::new() };
    let mark = format!("PLIMSOLL_RUN_SESSION={}", last["session"].as_str().unwrap());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_meant = |process: &Path| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    processes
        .filter(|process| is_meant(&process.path()))
        .filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Nobody has done a frame that a checkpoint told of which was journaled before.
fn check(bed: &Bed, frames: u32) {
    let (project, journal) = (bed.sandbox.project(), journal(bed));
    let ledger = ledger(&project);
    let mut sealed = String::new();
    for line in &journal {
        match line["what"].as_str().unwrap() {
            "leg_begun" => {
                let session = line["session"].as_str().unwrap();
                let done = ledger.iter().filter(|(by, _)| by == session).map(|(_, frame)| *frame);
                for frame in done {
                    assert!(!sealed.contains(&file(frame)), "{frame} was done: {journal:#?}");
                }
            }
            "leg_ended" => {
                let id = line["checkpoint"].as_str();
                sealed += &id.and_then(|id| checkpoint(&project, id)).unwrap_or_default();
            }
            _ => {}
        }
    }
    // Nor was anybody told less than the one before.
    let known: Vec<u32> =
        asked(bed).iter().map(|session| told(&session[0].all_text(), frames)).collect();
    assert!(known.is_sorted(), "{known:?}");
    assert_eq!(lines(&journal, "job_done").len(), 1);
    assert!((1..=frames).all(|frame| project.join(file(frame)).exists()));
}

#[test]
fn a_run_that_is_killed_again_and_again_is_done_at_last_and_nothing_twice() {
    let kills = std::env::var("PLIMSOLL_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let (mut kills, mut random): (u32, _) = (kills.unwrap_or(6), SplitMix64::new(20_261_116));
    let frames = kills.max(FRAMES);
    let bed = bed(&Client::current(), frame_by_frame(frames));
    let mut said = String::new();
    // Each start may rest because nothing new was done; none may hang.
    for _ in 0..kills + 40 {
        let mut running = start(&bed);
        if kills > 0 {
            kills -= 1;
            thread::sleep(Duration::from_millis(200 + random.below(4_000) as u64));
            kill(&bed, &mut running, &mut random);
        }
        let ended = running.wait_with_output().unwrap();
        if ended.status.success() {
            said = stdout(&ended);
            break;
        }
    }
    assert_eq!(said, "Every frame is sound.\n", "{:#?}", journal(&bed));
    check(&bed, frames);
    let again = command(&bed, &["--resume"]).output().unwrap();
    assert_eq!(again.status.code(), Some(1), "what is done is not begun again");
    assert!(asked(&bed).len() >= frames as usize);
}
