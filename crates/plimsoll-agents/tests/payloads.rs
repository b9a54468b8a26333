//! Every payload captured from the real client is a test.

use plimsoll_agents::Adapter;
use plimsoll_agents::claude_code::ClaudeCode;

/// What is no hook's payload (status lines, an environment) lies beside them, and is no event.
#[test]
#[expect(clippy::disallowed_methods, reason = "the captured payloads are files")]
fn payloads_become_events() {
    insta::glob!("../fixtures/claude-code/hooks", "*.json", |path| {
        let payload = std::fs::read(path).unwrap();
        insta::assert_debug_snapshot!(ClaudeCode.event(&payload));
    });
}
