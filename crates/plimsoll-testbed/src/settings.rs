//! Builds the client's settings as a user would write them in `settings.json`.

use std::path::Path;

use serde_json::{Map, Value, json};

/// Hook entries, by event.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    by_event: Map<String, Value>,
}

impl Hooks {
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `program` directly, without a shell, on every `event`.
    pub fn on(self, event: &str, program: &Path, args: &[&str]) -> Self {
        self.on_matching(event, "*", program, args)
    }

    /// Runs `program` on each `event` whose subject (tool, source, trigger) matches `matcher`.
    pub fn on_matching(
        mut self,
        event: &str,
        matcher: &str,
        program: &Path,
        args: &[&str],
    ) -> Self {
        let entry = json!({ "type": "command", "command": program, "args": args });
        let group = json!({ "matcher": matcher, "hooks": [entry] });
        let groups = self.by_event.entry(event).or_insert_with(|| json!([]));
        groups.as_array_mut().expect("an event's groups are an array").push(group);
        self
    }

    /// Returns the contents of a settings file with only these hooks.
    pub fn settings(&self) -> Value {
        json!({ "hooks": self.by_event })
    }
}
