//! Every payload captured from the real client is a test.

use plimsoll_agents::Adapter;
use plimsoll_agents::claude_code::ClaudeCode;

#[test]
#[expect(clippy::disallowed_methods, reason = "the captured payloads are files")]
fn payloads_become_events() {
    insta::glob!("../fixtures/claude-code/hooks", "[A-Z]*.json", |path| {
        let payload = std::fs::read(path).unwrap();
        insta::assert_debug_snapshot!(ClaudeCode.event(&payload));
    });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the captured payloads are files")]
fn what_is_no_hook_payload_is_no_event() {
    insta::glob!("../fixtures/claude-code/hooks", "[a-z]*.json", |path| {
        let payload = std::fs::read(path).unwrap();
        assert_eq!(ClaudeCode.event(&payload), Ok(None), "{}", path.display());
    });
}
