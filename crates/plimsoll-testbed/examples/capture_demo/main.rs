//! Captures the sample session that `plimsoll demo` plays, from the real client:
//!
//! ```sh
//! cargo run -p plimsoll-testbed --example capture_demo -- \
//!     crates/plimsoll-agents/assets/claude-code/sample.jsonl
//! ```
//!
//! The client works on a small project in a terminal, driven by a scripted model. A hook records
//! each payload and the transcript size at that moment. The tape merges hook calls and transcript
//! records into one ordered sequence.

mod story;
mod tape;

use std::fs;
use std::time::Duration;

use plimsoll_testbed::{Client, Hooks, ModelServer, Sandbox};

const PATIENCE: Duration = Duration::from_secs(120);

/// Hook that records the payload and the transcript size. The client flushes its transcript about
/// every 100 ms and waits for its hooks, so after the pause all records from before the call are on
/// disk.
const HOOK: &str = r#"payload=$(cat)
sleep 0.4
size=$(cat "$HOME"/.claude/projects/*/*.jsonl 2>/dev/null | wc -c)
printf '%s\t%s\n' "$size" "$payload" >> "$HOME/calls""#;

fn main() {
    let out = std::env::args().nth(1).expect("the name of the file to write should be given");
    let server = ModelServer::start(story::script());
    let sandbox = Sandbox::new(&Client::current(), &server);
    story::write_project(&sandbox.project());
    sandbox.write_user_settings(&hooks(&sandbox).settings());

    let notes = || fs::read_to_string(sandbox.home().join("calls")).unwrap_or_default();
    let turns = || notes().matches(r#""hook_event_name":"Stop""#).count();
    let terminal = sandbox.terminal(100, 40).model(story::MODEL);
    // By default, a terminal session runs its subagents in the background.
    let terminal = terminal.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1").start();
    for (before, prompt) in story::PROMPTS.iter().enumerate() {
        terminal.type_line(prompt);
        terminal.wait_for(|_| turns() > before, PATIENCE);
    }
    terminal.exit();
    fs::write(out, tape::merge(&notes(), &sandbox)).expect("the tape should be writable");
}

/// Installs the hook on every event that plimsoll subscribes to.
fn hooks(sandbox: &Sandbox) -> Hooks {
    let hook = sandbox.write_script("hook", HOOK);
    let events = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "PostCompact"];
    let hooks = events.iter().fold(Hooks::new(), |hooks, event| hooks.on(event, &hook, &[]));
    let hooks = hooks.on_matching("PreToolUse", "Agent|Task|Skill", &hook, &[]);
    hooks.on("Stop", &hook, &[])
}
