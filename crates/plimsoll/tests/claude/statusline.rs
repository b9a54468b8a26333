//! The status line on the real client's screen.

use std::time::Duration;

use plimsoll_testbed::{Client, ModelAnswer, ModelServer, Sandbox, Script};
use serde_json::json;

use crate::bed::PLIMSOLL;

/// No test passes or fails by less.
const PATIENCE: Duration = Duration::from_secs(180);

fn sandbox(client: &Client, script: Script) -> (ModelServer, Sandbox) {
    let server = ModelServer::start(script);
    let sandbox = Sandbox::new(client, &server);
    (server, sandbox)
}

fn status_line(sandbox: &Sandbox, arguments: &str) {
    let command = format!("{PLIMSOLL} statusline {arguments}");
    sandbox
        .write_user_settings(&json!({ "statusLine": { "type": "command", "command": command } }));
}

/// The model has a window of 200,000 tokens, and the client compacts it at 167,000.
const BEFORE: &str = "░░░░░░░░░░░░░░░░░░░░│░░░ … · …/200k · compacts at 167k";
const AFTER: &str = "███████████░░░░░░░░░│░░░ 42% · 84k/200k · 83k to compaction";

fn answer() -> Script {
    Script::new().main([ModelAnswer::text("noted").prompt_tokens(84_000)])
}

#[test]
fn it_shows_the_load_on_eighty_columns() {
    shown(&Client::current());
}

#[test]
fn it_shows_the_load_with_the_old_client_too() {
    shown(&Client::old());
}

fn shown(client: &Client) {
    let (_server, sandbox) = sandbox(client, answer());
    status_line(&sandbox, "");
    let terminal = sandbox.terminal(80, 24).model("claude-opus-4-6").start();
    terminal.wait_for(|screen| screen.contains(BEFORE), PATIENCE);
    terminal.type_line("take a note");
    terminal.wait_for(|screen| screen.contains(AFTER), PATIENCE);
    // Green: what the gauge says at a glance.
    assert!(terminal.screen_coloured().contains("\x1b[32m███████████░"));
}

#[test]
fn it_stands_below_the_users_own_and_without_colour_when_asked() {
    let (_server, sandbox) = sandbox(&Client::current(), answer());
    let own = sandbox.write_script("own", "jq -r '\"own line of \" + .model.id'");
    status_line(&sandbox, &format!("--no-color --wrap '{}'", own.display()));
    let terminal = sandbox.terminal(80, 24).model("claude-opus-4-6").start();
    terminal.type_line("take a note");
    let screen = terminal.wait_for(|screen| screen.contains(AFTER), PATIENCE);
    let place = |text: &str| screen.lines().position(|line| line.contains(text));
    let own = place("own line of claude-opus-4-6").unwrap();
    assert_eq!(place(AFTER), Some(own + 1), "{screen}");
    assert!(!terminal.screen_coloured().contains("\x1b[32m███"));
}

#[test]
fn right_after_a_compaction_it_says_that_it_does_not_know() {
    let script = Script::new().main([
        ModelAnswer::text("noted").prompt_tokens(84_000),
        ModelAnswer::text("go on").prompt_tokens(30_000),
    ]);
    let (_server, sandbox) = sandbox(&Client::current(), script);
    status_line(&sandbox, "");
    let terminal = sandbox.terminal(80, 24).model("claude-opus-4-6").start();
    terminal.type_line("take a note");
    terminal.wait_for(|screen| screen.contains(AFTER), PATIENCE);
    terminal.type_line("/compact");
    terminal.wait_for(|screen| screen.contains(BEFORE), PATIENCE);
    terminal.type_line("and on");
    terminal.wait_for(|screen| screen.contains("15% · 30k/200k"), PATIENCE);
}
