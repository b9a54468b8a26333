//! Three sessions of the real client in one project, a watcher beside them, and a line they all cross.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::thread;

use plimsoll_testbed::{ModelAnswer, ModelRequest, Outcome, Script};
use serde_json::{Value, json};

use crate::bed::{Bed, bash, step};
use crate::watching::Watching;

const SHIPS: [&str; 3] = ["SHIP-ALFA", "SHIP-BRAVO", "SHIP-CHARLIE"];

/// The sessions write a file, cross the checkpoint line in the third call, and end after `last`.
fn ships(last: &str) -> Script {
    SHIPS.into_iter().fold(Script::new(), |script, ship| {
        let input = json!({"file_path": format!("{ship}.rs"), "content": "fn load_line() {}\n"});
        let answers = [
            ModelAnswer::tool("Write", input).prompt_tokens(50_000),
            step(100_000),
            step(125_000),
            bash(last).prompt_tokens(126_000),
            ModelAnswer::text("all done").prompt_tokens(127_000),
        ];
        script.when(move |request| is_of(request, ship), answers)
    })
}

fn is_of(request: &ModelRequest, ship: &str) -> bool {
    request.is_main_turn() && request.first_text().contains(ship)
}

/// Lets all three run at once.
fn sail(bed: &Bed) -> Vec<Outcome> {
    thread::scope(|scope| {
        let run = |ship| scope.spawn(move || bed.prompt(&format!("Write {ship}.rs")).run());
        let threads = SHIPS.map(run);
        threads.map(|thread| thread.join().unwrap()).into()
    })
}

/// What the watcher has asked for by the time all are over: sessions and reasons.
fn asked(watching: &mut Watching, outcomes: &[Outcome]) -> Vec<(String, String)> {
    let told = watching.until(|told| {
        let is_over = |outcome: &Outcome| {
            let session = outcome.session_id();
            told.iter().any(|it| it["session"] == *session && it["change"] == "ended")
        };
        outcomes.iter().all(is_over)
    });
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let asked = told.iter().filter(|notice| notice["change"] == "asked");
    asked.map(|notice| (text(&notice["session"]), text(&notice["reason"]))).collect()
}

/// The checkpoints of the project, each whole and sealed, and all in the index: of whom they are, and
/// what for.
fn checkpoints(bed: &Bed) -> Vec<(String, String)> {
    let listed: Value =
        serde_json::from_str(&bed.plimsoll(&["checkpoint", "list", "--json"])).unwrap();
    let listed = listed.as_array().unwrap();
    bed.plimsoll(&["checkpoint", "verify", "--all"]);
    let index = bed.sandbox.home().join(".claude/clc/checkpoints/index.json");
    let index: Value = serde_json::from_str(&fs::read_to_string(index).unwrap()).unwrap();
    let ids = |list: &[Value]| -> BTreeSet<String> {
        list.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(index["checkpoints"].as_array().unwrap()), ids(listed));
    let iterations: BTreeSet<u64> =
        listed.iter().map(|it| it["iteration"].as_u64().unwrap()).collect();
    assert_eq!(iterations.len(), listed.len(), "no number was given twice");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    listed.iter().map(|it| (text(&it["session_id"]), text(&it["trigger"]))).collect()
}

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}

fn one_each(outcomes: &[Outcome], what: &str) -> Vec<(String, String)> {
    sorted(outcomes.iter().map(|outcome| (outcome.session_id(), what.to_owned())))
}

/// One checkpoint of each session while it worked, and one when it ended.
fn with_the_end(outcomes: &[Outcome], what: &str) -> Vec<(String, String)> {
    sorted([one_each(outcomes, what), one_each(outcomes, "auto")].concat())
}

fn inboxes(bed: &Bed) -> Vec<PathBuf> {
    let inboxes = fs::read_dir(bed.data().join("board/inbox")).into_iter().flatten().flatten();
    inboxes.map(|inbox| inbox.path()).collect()
}

#[test]
fn where_the_watcher_decides_each_session_is_asked_once_and_seals_within_two_calls() {
    // The call after the one that crosses the line lasts until the watcher has asked.
    let until_asked = "for i in $(seq 4000); do \
        grep -qs '\"what\":\"asked\"' $HOME/.local/share/plimsoll/spool/$CLAUDE_CODE_SESSION_ID.jsonl && break; \
        sleep 0.02; done";
    let bed = Bed::new(ships(until_asked));
    let config = bed.sandbox.home().join(".config/plimsoll/config.yaml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, "checkpoint: {on_line: watcher}\nboard: {coordination_file: true}\n")
        .unwrap();
    let mut watching = Watching::start(&bed);

    let outcomes = sail(&bed);

    assert!(outcomes.iter().all(|outcome| outcome.text() == "all done"));
    let asked = asked(&mut watching, &outcomes);
    assert_eq!(sorted(asked), one_each(&outcomes, "context_60_percent"));
    assert_eq!(sorted(checkpoints(&bed)), with_the_end(&outcomes, "watcher"));
    for ship in SHIPS {
        let turns = bed.server.main_turns();
        let last = turns.iter().rfind(|request| is_of(request, ship)).unwrap();
        let told = last.all_text().matches("as plimsoll's watcher asked").count();
        assert_eq!(told, 1, "{ship} was told after the second call at the latest, and once");
    }
    assert_eq!(inboxes(&bed), Vec::<PathBuf>::new());
    let shown = bed.sandbox.project().join(".coordination/blackboard.json");
    let shown: Value = serde_json::from_str(&fs::read_to_string(shown).unwrap()).unwrap();
    assert_eq!(shown["messages"], json!([]));
}

#[test]
fn by_default_the_hooks_are_first_and_nobody_is_asked() {
    // Longer than the hooks have before the watcher asks.
    let past_the_grace = "for i in $(seq 240); do sleep 0.05; done";
    let bed = Bed::new(ships(past_the_grace));
    let mut watching = Watching::start(&bed);

    let outcomes = sail(&bed);

    assert!(outcomes.iter().all(|outcome| outcome.text() == "all done"));
    assert_eq!(asked(&mut watching, &outcomes), []);
    assert_eq!(sorted(checkpoints(&bed)), with_the_end(&outcomes, "auto"));
    assert_eq!(inboxes(&bed), Vec::<PathBuf>::new());
}

#[test]
fn a_message_of_a_person_reaches_the_model_at_its_next_call() {
    let script = Script::new().main([
        step(30_000),
        bash("plimsoll board post --to $CLAUDE_CODE_SESSION_ID 'pull first'; plimsoll board claim src")
            .prompt_tokens(31_000),
        step(32_000),
        ModelAnswer::text("all done").prompt_tokens(33_000),
    ]);
    let bed = Bed::new(script);
    let outcome = bed.prompt("go").env("PATH", crate::bed::path()).run();
    assert_eq!(outcome.text(), "all done");
    let heard: Vec<usize> = bed
        .server
        .main_turns()
        .iter()
        .map(|request| request.all_text().matches(": pull first").count())
        .collect();
    assert_eq!(heard, [0, 0, 1, 1], "right after the call in which it was posted, once");
    let listed: Value = serde_json::from_str(&bed.plimsoll(&["board", "list", "--json"])).unwrap();
    assert_eq!(listed["messages"], json!([]));
    assert_eq!(listed["claims"][0]["holder"], json!(outcome.session_id()));
}
