//! Captures the sample session that `plimsoll demo` plays, from the real client:
//!
//! ```sh
//! cargo run -p plimsoll-testbed --example capture_demo -- \
//!     crates/plimsoll-agents/assets/claude-code/sample.jsonl
//! ```
//!
//! The client works on a small project on a terminal, a scripted model tells it what to do, and a
//! hook notes each payload together with how much of the transcript was on disk. The tape puts both
//! back into that order.

mod story;
mod tape;

use std::fs;
use std::time::Duration;

use plimsoll_testbed::{Client, Hooks, ModelServer, Sandbox};

const PATIENCE: Duration = Duration::from_secs(120);

/// Notes the payload and the transcript's size. The client writes its transcript about every
/// 100 ms and waits for its hooks, so after a moment everything before the call is there.
const HOOK: &str = r#"payload=$(cat)
sleep 0.4
size=$(cat "$HOME"/.claude/projects/*/*.jsonl 2>/dev/null | wc -c)
printf '%s\t%s\n' "$size" "$payload" >> "$HOME/calls""#;

fn main() {
    let out = std::env::args().nth(1).expect("the name of the file to write should be given");
    let server = ModelServer::start(story::script());
    let sandbox = Sandbox::new(&Client::current(), &server);
    story::furnish(&sandbox.project());
    sandbox.user_settings(&hooks(&sandbox).settings());

    let notes = || fs::read_to_string(sandbox.home().join("calls")).unwrap_or_default();
    let turns = || notes().matches(r#""hook_event_name":"Stop""#).count();
    let terminal = sandbox.terminal(100, 40).model(story::MODEL);
    // Subagents of a session on a terminal run in the background otherwise.
    let terminal = terminal.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1").start();
    for (before, prompt) in story::PROMPTS.iter().enumerate() {
        terminal.type_line(prompt);
        terminal.wait_for(|_| turns() > before, PATIENCE);
    }
    terminal.exit();
    fs::write(out, tape::cut(&notes(), &sandbox)).expect("the tape should be writable");
}

/// The hook, on every event that plimsoll asks for.
fn hooks(sandbox: &Sandbox) -> Hooks {
    let hook = sandbox.script("hook", HOOK);
    let events = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "PostCompact"];
    let hooks = events.iter().fold(Hooks::new(), |hooks, event| hooks.on(event, &hook, &[]));
    let hooks = hooks.on_matching("PreToolUse", "Agent|Task|Skill", &hook, &[]);
    hooks.on("Stop", &hook, &[])
}
