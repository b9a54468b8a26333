//! Tests the real client in a terminal, with shell scripts as the programs it runs.

use std::fs;
use std::time::Duration;

use plimsoll_testbed::{Client, ModelAnswer, ModelServer, Sandbox, Script};
use serde_json::{Value, json};

/// Generous limit, so that a slow machine does not fail a test.
const TIMEOUT: Duration = Duration::from_secs(180);

#[test]
fn a_prompt_is_answered_on_the_screen() {
    check_prompt_is_answered(&Client::current());
}

#[test]
fn a_prompt_is_answered_on_the_screen_of_the_old_client() {
    check_prompt_is_answered(&Client::old());
}

fn check_prompt_is_answered(client: &Client) {
    let server = ModelServer::start(Script::new().main([
        ModelAnswer::text("The hold is empty."),
        ModelAnswer::tool("Bash", json!({ "command": "echo half > hold" })),
        ModelAnswer::text("The hold is half full."),
    ]));
    let sandbox = Sandbox::new(client, &server);
    let terminal = sandbox.terminal(80, 24).start();

    terminal.type_line("how full is the hold of the ship that left the harbour this morning, and of the one before it?");
    terminal.wait_for(|screen| screen.contains("The hold is empty."), TIMEOUT);
    terminal.type_line("and now?");
    let screen = terminal.wait_for(|screen| screen.contains("The hold is half full."), TIMEOUT);

    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    assert!(terminal.screen_coloured().contains("\x1b["));
    let hold = fs::read_to_string(sandbox.project().join("hold")).expect("the tool's file");
    assert_eq!(hold, "half\n");
    terminal.exit();
    assert_eq!(server.main_turns().len(), 3);
}

#[test]
fn a_status_line_is_shown_and_receives_the_window_usage() {
    check_status_line(&Client::current());
}

#[test]
fn a_status_line_is_shown_by_the_old_client_too() {
    check_status_line(&Client::old());
}

fn check_status_line(client: &Client) {
    let server =
        ModelServer::start(Script::new().main([ModelAnswer::text("noted").prompt_tokens(50_000)]));
    let sandbox = Sandbox::new(client, &server);
    let script = "cat > \"$HOME/told.json\"\necho \"draught: $COLUMNS columns\"";
    let command = sandbox.write_script("statusline", script);
    sandbox
        .write_user_settings(&json!({ "statusLine": { "type": "command", "command": command } }));
    let terminal = sandbox.terminal(100, 30).model("claude-opus-4-6").start();

    terminal.wait_for(|screen| screen.contains("draught: 100 columns"), TIMEOUT);
    terminal.type_line("take a note");

    let told = || {
        let text = fs::read_to_string(sandbox.home().join("told.json")).unwrap_or_default();
        serde_json::from_str::<Value>(&text).unwrap_or_default()["context_window"].take()
    };
    terminal.wait_for(|_| told()["total_input_tokens"] == 50_000, TIMEOUT);
    assert_eq!(told()["context_window_size"], 200_000);
}

#[test]
fn dropping_a_terminal_kills_its_processes() {
    let server = ModelServer::start(Script::new().main([
        ModelAnswer::tool("Bash", json!({ "command": "sleep 1000", "run_in_background": true })),
        ModelAnswer::text("it sleeps"),
    ]));
    let sandbox = Sandbox::new(&Client::current(), &server);
    let terminal = sandbox.terminal(80, 24).start();
    terminal.type_line("sleep");
    terminal.wait_for(|screen| screen.contains("it sleeps"), TIMEOUT);

    drop(terminal);

    let home = format!("HOME={}", sandbox.home().display());
    let processes = fs::read_dir("/proc").expect("the processes").flatten();
    let environments =
        processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
    let is_ours = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).split('\0').any(|it| it == home);
    assert_eq!(environments.filter(is_ours).count(), 0);
    sandbox.terminal(80, 24).start().exit();
}
