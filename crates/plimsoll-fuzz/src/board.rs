//! Messages on the board: text from any file is shown as data inside a fence.

use std::fs;

use plimsoll_engine::board::{Lasting, deliver, list};
use plimsoll_extract::board::{self, HEADING, Message, MessageContent, PathClaim};
use plimsoll_extract::redact::redact;

use crate::fence;
use crate::sandbox::Sandbox;

pub(crate) fn run(input: &[u8]) {
    if let Ok(claim) = serde_json::from_slice::<PathClaim>(input) {
        let written = serde_json::to_vec(&claim).unwrap();
        assert_eq!(serde_json::from_slice::<PathClaim>(&written).unwrap(), claim);
        assert!(!claim.conflicts_with(&claim), "nobody is in their own way");
    }
    let Ok(message) = serde_json::from_slice::<Message>(input) else { return };
    let written = serde_json::to_vec(&message).unwrap();
    assert_eq!(serde_json::from_slice::<Message>(&written).unwrap(), message, "written is read");
    let cleaned = message.clone().sanitized();
    assert_eq!(cleaned.clone().sanitized(), cleaned, "cleaning again changes nothing");
    check_rendering(&[cleaned.clone(), cleaned.clone()]);
    check_delivery(message, &cleaned, input);
}

/// Checks that each message is shown as one line of data and contains no secret.
fn check_rendering(messages: &[Message]) {
    let Some(told) = board::render_messages(messages) else { return };
    assert_eq!(redact(&told), told);
    let inside: Vec<&str> = told.lines().skip(3).collect();
    assert_eq!(inside.len(), messages.len() + 1, "a line each, whatever it says: {told}");
    assert!(told.starts_with(HEADING));
    fence::check_closed_once(&told, &inside[..messages.len()].join("\n"));
}

/// Checks that a file in an inbox is read as the message in it, whoever wrote the file.
fn check_delivery(message: Message, cleaned: &Message, input: &[u8]) {
    let sandbox = Sandbox::new();
    let paths = sandbox.env(&[]).paths;
    let now = plimsoll_engine::world::now() as i64;
    deliver(&paths, cleaned, Lasting::Kill).unwrap();
    let posted = list(&paths).unwrap();
    match cleaned.has_expired(now) {
        true => assert!(posted.is_empty()),
        false => assert_eq!(posted[0].message, *cleaned),
    }
    fs::write(paths.inbox(&message.to).join(message.id.as_str()), input).unwrap();
    let posted = list(&paths).unwrap();
    let texts = posted.iter().filter_map(|posted| match &posted.message.what {
        MessageContent::Message { text } => Some(text),
        MessageContent::CheckpointTrigger { .. } => None,
    });
    texts.for_each(|text| assert!(!text.contains('\u{1b}'), "no escape sequence is told"));
}
