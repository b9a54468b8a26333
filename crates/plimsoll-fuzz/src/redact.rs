//! Redaction: secrets are removed from any text.

use plimsoll_extract::redact::{redact, secrets};

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    check_redaction(&text);
    // Plant each secret in the middle of the text.
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (before, behind) = text.split_at(middle);
    for secret in PLANTED {
        let planted = format!("{before}\n{secret}\n{behind}");
        assert!(!redact(&planted).lines().any(|line| line == secret), "{planted:?}");
    }
}

/// Secrets of several kinds, each on a line of its own.
const PLANTED: [&str; 4] = [
    "ghp_0123456789abcdefghijABCDEFGHIJ456789",
    "AKIAQ3EGRYWSPLK7JH2D",
    "sk-ant-api03-fZk1XbU0pTq9Lr8Vw7Ys6Nd5Mc4Hb3Ga2Fe1Dj0KiPoIuYtReWqAsDfGhJkL-zXcVbNmQwErTyUiOpAsDf-1a2b3cAA",
    "xoxb-263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1",
];

fn check_redaction(text: &str) {
    let once = redact(text);
    assert_eq!(redact(&once), once, "redacting again changes nothing");
    let mut end = 0;
    for secret in secrets(text) {
        assert!(end <= secret.range.start && secret.range.start < secret.range.end);
        assert!(
            text.get(secret.range.clone()).is_some(),
            "{:?} is within a character",
            secret.range
        );
        end = secret.range.end;
    }
}
