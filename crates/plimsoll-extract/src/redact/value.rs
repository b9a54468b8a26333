//! Decides whether a value is a secret or only occupies the place of one.
//!
//! Three kinds of value stay: references (`$TOKEN`, `{{ secret }}`, `process.env.API_KEY`),
//! placeholders (`<your-token>`, `xxxx`, `changeme`) and words. Well-known defaults (`admin`,
//! `postgres`) count as words: they reveal nothing, and they help the reader.

use super::scan::{self, ALNUM};

/// Words used as placeholders or well-known defaults.
const KNOWN_WORDS: &[&str] = &[
    "admin",
    "any",
    "apikey",
    "arg",
    "bearer",
    "bool",
    "boolean",
    "buffer",
    "bytes",
    "changeme",
    "changeit",
    "char",
    "confirmed",
    "const",
    "default",
    "demo",
    "disabled",
    "dummy",
    "empty",
    "enabled",
    "encrypted",
    "error",
    "fake",
    "false",
    "field",
    "guest",
    "hashed",
    "hidden",
    "inherit",
    "input",
    "invalid",
    "issuer",
    "letmein",
    "minioadmin",
    "missing",
    "mock",
    "mysql",
    "none",
    "null",
    "number",
    "object",
    "optional",
    "option",
    "param",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "passwort",
    "placeholder",
    "plain",
    "plaintext",
    "postgres",
    "prompt",
    "public",
    "pwd",
    "random",
    "read",
    "redis",
    "required",
    "root",
    "sample",
    "secret",
    "secrets",
    "self",
    "status",
    "stdin",
    "string",
    "test",
    "testing",
    "text",
    "token",
    "true",
    "undefined",
    "unknown",
    "unset",
    "user",
    "username",
    "valid",
    "value",
    "varchar",
    "void",
    "with",
    "write",
];

/// Parts that occur only in placeholders, never in a random token by chance.
const PLACEHOLDERS: &[&str] = &[
    "your-",
    "your_",
    "<your",
    "yourpassword",
    "yoursecret",
    "yourtoken",
    "yourapikey",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "replace_",
    "replace-",
    "xxxxxx",
    "******",
    "......",
    "\u{2026}",
    "dummy-",
    "dummy_",
    "insert-",
    "insert_",
    "-here",
    "_here",
];

/// Starts of code that fetches a secret.
const LOOKUPS: &[&str] = &[
    "process.env",
    "os.environ",
    "getenv",
    "import.meta",
    "env.",
    "env(",
    "env[",
    "env:",
    "secrets.",
    "config.",
    "settings.",
    "self.",
    "this.",
    "args.",
    "vault:",
    "op://",
    "arn:",
    "sops:",
];

/// Returns whether a value is a reference, a placeholder or a well-known word.
pub(super) fn is_harmless(value: &[u8]) -> bool {
    is_reference(value) || is_known_word(value) || is_placeholder(value)
}

/// Returns whether a value refers to a secret instead of being one.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let is_variable = |byte| matches!(byte, b'$' | b'{' | b'<' | b'[' | b'(' | b'%' | b'*');
    let interpolates = |mark: &str| scan::position(value, mark).is_some();
    value.first().is_none_or(|first| is_variable(*first))
        || value[0] == b'!' && value[1..].iter().all(u8::is_ascii_alphabetic)
        || ["${", "{{", "$(", "#{", "}}", "%("].into_iter().any(interpolates)
        || LOOKUPS.iter().any(|lookup| scan::matches_at(value, 0, lookup))
}

/// Returns whether a value is a placeholder for a secret.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let mut letters = value.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let first = letters.next();
    let is_one_letter = letters.all(|byte| Some(byte) == first);
    is_one_letter
        || PLACEHOLDERS.iter().any(|part| scan::position(value, part).is_some())
        || is_example(value)
}

/// Returns whether a value calls itself an example: it ends as vendors' sample keys do, or the rest
/// of it is words.
fn is_example(value: &[u8]) -> bool {
    const EXAMPLE: &str = "example";
    let Some(at) = scan::position(value, EXAMPLE) else { return false };
    let rest = [&value[..at], b" ", &value[at + EXAMPLE.len()..]].concat();
    let is_wordy = || rest.split(|byte| !ALNUM.has(*byte)).all(is_word_like);
    value.ends_with(b"EXAMPLE") || value.ends_with(b"EXAMPLEKEY") || is_wordy()
}

/// Returns whether a value must be a secret, whatever its name: long, made of base64 characters,
/// with both cases and digits, and no words.
pub(super) fn is_opaque(value: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    (32..=256).contains(&value.len())
        && value.iter().all(is_plain)
        && has_mixed_character_classes(value)
        && !is_harmless(value)
}

/// Returns whether a value looks like a hash or an id: at least sixteen hexadecimal digits, or a
/// UUID. Such a value is a secret only if its place says so.
pub(super) fn is_hash(value: &[u8]) -> bool {
    const UUID: [usize; 5] = [8, 4, 4, 4, 12];
    let is_hex = |part: &[u8]| part.iter().all(u8::is_ascii_hexdigit);
    let is_uuid = || {
        let mut parts = value.split(|byte| *byte == b'-');
        let fits =
            |length: &usize| parts.next().is_some_and(|part| part.len() == *length && is_hex(part));
        UUID.iter().all(fits) && parts.next().is_none()
    };
    value.len() >= 16 && (is_hex(value) || is_uuid())
}

/// Returns whether a value may be a credential in a place where little else occurs: it looks
/// random, is a hash, or has a digit, which words and code names in such a place do not have.
pub(super) fn is_credential(value: &[u8], least: usize) -> bool {
    let has_digit = value.iter().any(u8::is_ascii_digit) && !is_code_name(value);
    value.len() >= least
        && (has_digit && !is_address(value) || is_random(value, least) || is_hash(value))
        && !value.iter().any(u8::is_ascii_whitespace)
        && !is_harmless(value)
}

/// Returns whether a value has lower case, upper case and digits, and no words.
pub(super) fn has_mixed_character_classes(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_digit)
        && is_random(value, value.len())
}

/// Returns whether a value is a code name with a separator: `user.password2`, `base64_value`, but
/// not `hunter2`.
pub(super) fn is_code_name(value: &[u8]) -> bool {
    is_name(value) && value.iter().any(|byte| b"_.:".contains(byte))
}

/// Returns whether a value is a well-known word, also with a digit after it: `password`, `token2`.
fn is_known_word(value: &[u8]) -> bool {
    let letters = value.trim_ascii_end();
    let end = letters.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
    let word = if letters.len() - end < 2 { &letters[..end] } else { letters };
    KNOWN_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
        || is_secret_name(word)
}

/// Returns whether a word is a name for a secret: `myPassword`, `test-token`.
fn is_secret_name(word: &[u8]) -> bool {
    let names = |end: &&str| {
        word.len().checked_sub(end.len()).is_some_and(|from| scan::matches_at(word, from, end))
    };
    ["password", "secret", "token", "key"].iter().any(names) && is_name(word)
}

/// Returns whether a value has at least `least` bytes and is not made of words, numbers, names or
/// paths.
pub(super) fn is_random(value: &[u8], least: usize) -> bool {
    value.len() >= least
        && !value.iter().any(u8::is_ascii_whitespace)
        && !is_address(value)
        && value.split(|byte| !ALNUM.has(*byte)).any(|piece| !is_word_like(piece))
}

/// Returns whether a value is a URL, a short `0x` number, or a blockchain address of forty
/// hexadecimal digits.
fn is_address(value: &[u8]) -> bool {
    let is_number = value.starts_with(b"0x") && (value.len() <= 20 || value.len() == 42);
    is_number || scan::position(value, "://").is_some()
}

/// Returns whether letters and digits are combined as people do it: `sha256`, `userPassword`, `v2`,
/// `2024`, `JSONValue`. Such a piece has few, long parts; a random text changes case and mixes in
/// digits everywhere.
fn is_word_like(piece: &[u8]) -> bool {
    const LONGEST: usize = 28;
    let least = if piece.iter().any(u8::is_ascii_digit) { 6 } else { 4 };
    let parts = 1 + (1..piece.len()).filter(|place| begins_part(piece, *place)).count();
    let is_short = piece.len() <= LONGEST * parts;
    piece.len() <= 4 || is_short && (parts <= 2 || piece.len() >= least * parts)
}

/// Returns whether a word or a number starts here, such as at `V` in `myValue` and in `JSONValue`.
fn begins_part(piece: &[u8], place: usize) -> bool {
    let (before, here) = (piece[place - 1], piece[place]);
    let ends_acronym =
        before.is_ascii_uppercase() && scan::at(piece, place + 1).is_ascii_lowercase();
    let begins_word = here.is_ascii_uppercase() && (before.is_ascii_lowercase() || ends_acronym);
    begins_word || before.is_ascii_digit() != here.is_ascii_digit()
}

/// Returns whether a value is a name in code: `user.password`, `PASSWORD_FIELD`, `tokens`.
pub(super) fn is_name(value: &[u8]) -> bool {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    value.iter().all(is_part) && value.split(|byte| !ALNUM.has(*byte)).all(is_word_like)
}

/// Returns whether a value has letters and a digit or a special character common in passwords.
pub(super) fn is_password_like(value: &[u8]) -> bool {
    let is_mark = |byte: &u8| byte.is_ascii_digit() || b"!@#$%^&*+?~".contains(byte);
    value.iter().any(u8::is_ascii_alphabetic) && value.iter().any(is_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_names_numbers_and_paths_are_not_random() {
        let values = [
            "authorization",
            "my-k8s-secret-1",
            "sha256",
            "userPassword",
            "2024-01-31",
            "v1.12.3",
            "src/auth/token.rs",
            "JSONValue",
            "INPUT_TOKENS",
            "https://example.org/a1b2c3d4e5f6",
        ];
        for value in values {
            assert!(!is_random(value.as_bytes(), 4), "{value}");
        }
    }

    #[test]
    fn generated_values_are_random() {
        for value in
            ["s3cr3t", "a1b2c3d4", "kJ8xQ2mP", "qwertzuiopasdfghjklyxcvbnmqwert", "x/Y9z8w7v6u5"]
        {
            assert!(is_random(value.as_bytes(), 6), "{value}");
        }
    }

    #[test]
    fn references_and_placeholders_are_recognized() {
        for value in ["$TOKEN", "${{ secrets.X }}", "pre-${TOKEN}", "process.env.X", "%s", "<x>"] {
            assert!(is_reference(value.as_bytes()), "{value}");
        }
        for value in ["xxxx", "****", "your-api-key", "AKIAIOSFODNN7EXAMPLE", "...", "XXXX-XXXX"] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
    }
}
