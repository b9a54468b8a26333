//! Every payload captured from the real client is a test.

use std::path::Path;

use plimsoll_agents::claude_code::ClaudeCode;
use plimsoll_agents::{Home, HookCall, HookDialect};

/// Captures that are no payloads of hooks (status lines, an environment) are no events.
#[test]
#[expect(clippy::disallowed_methods, reason = "the captured payloads are files")]
fn payloads_become_events() {
    let home = Home { user: Path::new("/home/dev"), config: None };
    insta::glob!("../fixtures/claude-code/hooks", "*.json", |path| {
        let payload = std::fs::read(path).unwrap();
        let call = HookCall { payload: &payload, event: None, home };
        insta::assert_debug_snapshot!(ClaudeCode.decode(&call));
    });
}
