//! Checks that secrets are redacted, that other text stays, and that redaction keeps its
//! invariants.

mod commit_hashes;
mod non_secrets;
mod planted_secrets;
mod properties;

use super::*;

/// Generates pseudo-random characters from a seed. No test contains a whole secret, because secret
/// scanners would report it.
fn random(alphabet: &str, length: usize, seed: u64) -> String {
    let letters = alphabet.as_bytes();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let draw = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(letters[(state >> 33) as usize % letters.len()])
    };
    (0..length).map(draw).collect()
}

/// Escapes a text as inside a JSON string.
fn in_json(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[test]
fn a_text_without_secrets_is_not_copied() {
    assert!(matches!(redact("84,000 tokens used, commit 3f9a1c2"), Cow::Borrowed(_)));
}

#[test]
fn only_the_value_is_redacted() {
    let url = format!("postgres://user:{}@host/db", "secret");
    assert_eq!(redact(&url), "postgres://user:[redacted:password]@host/db");
    let env = format!("export DB_PASSWORD={} && run", "hunter2");
    assert_eq!(redact(&env), "export DB_PASSWORD=[redacted:password] && run");
    let header = format!("-H 'X-Api-Key: {}' -v", random("abcdef0123456789", 32, 1));
    assert_eq!(redact(&header), "-H 'X-Api-Key: [redacted:key]' -v");
}

#[test]
fn long_values_are_redacted_to_their_end() {
    for length in 240..260 {
        for between in [".", "é", ".:"] {
            let value = random("abcdef0123456789", length, 7) + between + "tail9tail9";
            let redacted = redact(&format!("MY_TOKEN={value} end")).into_owned();
            assert_eq!(redacted, "MY_TOKEN=[redacted:token] end");
            assert!(!redact(&format!("my_token: {value}")).contains("9tail9"), "{value}");
        }
    }
}

#[test]
fn values_beyond_the_search_limit_are_redacted_whole() {
    let part = |seed| random("abcdefghkmnpqrstuvwxyzABCDEFGHKMNPQRSTUVWXYZ23456789", 8, seed);
    let value = format!("{}é{}é{}", part(1), part(2), part(3));
    let redacted = |before: usize| {
        let comment = "-".repeat(before);
        redact(&format!("kind: Secret\n#{comment}\ndata:\n  a: {value}\n")).into_owned()
    };
    assert!(redacted(1_900).ends_with("  a: [redacted:kubernetes-secret]\n"));
    for before in 1_900..2_100 {
        let redacted = redacted(before);
        assert!(!redacted.contains('é') || redacted.contains(&value), "{redacted}");
    }
}

#[test]
fn member_names_announce_secrets() {
    let hash = random("abcdef0123456789", 40, 2);
    assert_eq!(redact_member("api_key", &hash), "[redacted:key]");
    assert_eq!(redact_member("X-Auth-Token", &hash), "[redacted:token]");
    assert_eq!(
        redact_member("Authorization", &format!("Bearer {hash}")),
        "Bearer [redacted:bearer-token]"
    );
    assert_eq!(redact_member("commit", &hash), hash);
    assert_eq!(redact_member("token", "a \"quoted\" sentence"), "a \"quoted\" sentence");
    assert_eq!(redact_member("note", &format!("token={hash}")), "token=[redacted:token]");
}
