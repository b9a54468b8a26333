//! Properties of redaction that hold for every text.

use proptest::prelude::*;

use super::*;

/// Generates pieces of secrets and of surrounding text, in any order.
fn secret_fragments() -> impl Strategy<Value = String> {
    let keywords: Vec<_> = rules::RULES.iter().map(|rule| rule.keyword.to_owned()).collect();
    let keyword = proptest::sample::select(keywords);
    const PIECES: &[&str] = &[
        "=",
        ": ",
        " ",
        "\"",
        "'",
        "\\\"",
        "\\n",
        "\n",
        "`",
        "@",
        ":",
        "/",
        ".",
        "-",
        "[",
        "]",
        "(",
        ")",
        "é",
        "→",
        "$",
        "{",
        "password",
        "TOKEN=",
        "is ",
        "api_key",
        "hunter2",
        "a1B2c3D4e5F6g7H8",
        "[redacted:token]",
        "[redacted:",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "Cookie: a=",
        ";",
        "kind: Secret\ndata:\n  a: ",
        " -p",
        " -u a:",
        "login ",
        "--",
        "<token>",
        "\u{1F511}",
    ];
    let piece = proptest::sample::select(PIECES).prop_map(str::to_owned);
    let run = "[A-Za-z0-9+/=_.-]{1,70}";
    proptest::collection::vec(prop_oneof![3 => keyword, 5 => piece, 2 => run, 1 => ".{0,8}"], 0..24)
        .prop_map(|pieces| pieces.concat())
}

/// Removes the redaction markers from a text.
fn without_markers(text: &str) -> String {
    let mut parts = text.split(MARKER);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(']').map_or(part, |(_, rest)| rest))
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut letters = whole.chars();
    part.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

fn check_properties(text: &str) -> Result<(), TestCaseError> {
    let redacted = redact(text);
    prop_assert_eq!(redact(&redacted), redacted.as_ref(), "again");
    prop_assert!(is_subsequence(&without_markers(&redacted), text), "{} became {}", text, redacted);
    prop_assert!(redacted.len() <= 5 * text.len() + 32, "{} became {}", text, redacted);
    Ok(())
}

/// Checks that text outside the secrets does not change.
fn check_other_text_is_unchanged(text: &str) -> Result<(), TestCaseError> {
    let secrets = secrets(text);
    let redacted = replace_secrets(text, &secrets);
    let (mut rest, mut from) = (redacted.as_str(), 0);
    for Secret { range, kind } in secrets {
        let expected = format!("{}{MARKER}{kind}]", &text[from..range.start]);
        prop_assert!(rest.starts_with(&expected), "{} became {}", text, redacted);
        (rest, from) = (&rest[expected.len()..], range.end);
    }
    prop_assert_eq!(rest, &text[from..]);
    Ok(())
}

proptest! {
    #[test]
    fn properties_hold_for_any_text(text in ".{0,200}") {
        check_properties(&text)?;
        check_other_text_is_unchanged(&text)?;
    }

    #[test]
    fn properties_hold_for_secret_fragments(text in secret_fragments()) {
        check_properties(&text)?;
        check_other_text_is_unchanged(&text)?;
    }
}
