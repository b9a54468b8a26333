//! Decides which names announce a secret, and of which kind.
//!
//! The last word of a name says what it names: `api_token` is a token, `token_file` a file,
//! `max_tokens` a count.

use std::ops::Range;

use super::scan::{self, URL64};

/// The class of secret that a name announces. A password can be any text; the others look random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretClass {
    Password,
    Secret,
    Token,
    Key,
}

impl SecretClass {
    pub(super) fn kind(self) -> &'static str {
        match self {
            SecretClass::Password => "password",
            SecretClass::Secret => "secret",
            SecretClass::Token => "token",
            SecretClass::Key => "key",
        }
    }
}

/// Returns whether a kind is only a class, not a specific service.
pub(super) fn is_class_kind(kind: &str) -> bool {
    [SecretClass::Password, SecretClass::Secret, SecretClass::Token, SecretClass::Key]
        .iter()
        .any(|class| class.kind() == kind)
}

/// Words that may follow the deciding word: `PASSWORD_PROD`, `secret_key_base`.
const QUALIFIERS: &[&str] = &[
    "1",
    "2",
    "3",
    "b64",
    "base",
    "base64",
    "dev",
    "development",
    "hex",
    "live",
    "new",
    "old",
    "plain",
    "prod",
    "production",
    "raw",
    "sandbox",
    "staging",
    "test",
    "value",
];

/// Words before `key` that make it a secret. Other keys name a row, a cache entry or a button.
const SECRET_KEY_WORDS: &[&str] = &[
    "access",
    "account",
    "admin",
    "api",
    "app",
    "application",
    "auth",
    "azure",
    "client",
    "cloudflare",
    "cookie",
    "datadog",
    "deploy",
    "encryption",
    "heroku",
    "hmac",
    "jwt",
    "license",
    "mailgun",
    "master",
    "openai",
    "pagerduty",
    "private",
    "role",
    "secret",
    "sendgrid",
    "service",
    "session",
    "shared",
    "signing",
    "stripe",
    "subscription",
    "twilio",
    "vercel",
    "webhook",
];

/// Words before `token` that make it harmless: a piece of text, a list position or a signal.
const HARMLESS_TOKEN_WORDS: &[&str] = &[
    "a",
    "any",
    "bos",
    "cancel",
    "cancellation",
    "cls",
    "continuation",
    "current",
    "delta",
    "each",
    "end",
    "eos",
    "eof",
    "every",
    "expected",
    "first",
    "image",
    "input",
    "last",
    "mask",
    "max",
    "next",
    "one",
    "output",
    "pad",
    "page",
    "parse",
    "per",
    "peek",
    "prev",
    "previous",
    "progress",
    "sep",
    "special",
    "start",
    "stop",
    "sync",
    "text",
    "the",
    "this",
    "unexpected",
    "unk",
    "word",
    "css",
    "design",
    "color",
];

/// Parts of names that identify the service, with the kind of its secret.
const SERVICES: &[(&str, &str)] = &[
    ("aws", "aws-secret-key"),
    ("azure", "azure-key"),
    ("bitbucket", "bitbucket-secret"),
    ("cloudflare", "cloudflare-token"),
    ("datadog", "datadog-key"),
    ("dd_api", "datadog-key"),
    ("dd_app", "datadog-key"),
    ("discord", "discord-token"),
    ("heroku", "heroku-key"),
    ("netlify", "netlify-token"),
    ("pagerduty", "pagerduty-key"),
    ("paypal", "paypal-secret"),
    ("snowflake", "snowflake-secret"),
    ("twilio", "twilio-secret"),
    ("vault", "vault-token"),
    ("vercel", "vercel-token"),
    ("accountkey", "azure-key"),
    ("sharedaccesskey", "azure-key"),
];

/// Returns the class of secret that a name announces; `None` if it announces none.
pub(super) fn class(name: &str) -> Option<SecretClass> {
    if matches!(name, "PWD" | "OLDPWD") {
        return None;
    }
    let words = words(name);
    let counted = words.iter().rposition(|word| !QUALIFIERS.contains(&word.as_str()))?;
    let before = counted.checked_sub(1).map_or("", |before| words[before].as_str());
    let word = words[counted].as_str();
    match word {
        "pwd" | "pass" | "passwd" | "passcode" | "passphrase" => Some(SecretClass::Password),
        "key" => (SECRET_KEY_WORDS.contains(&before)
            || is_extension(name) && !HARMLESS_HEADER_KEYS.contains(&before))
        .then_some(SecretClass::Key),
        "token" => (!HARMLESS_TOKEN_WORDS.contains(&before)).then_some(SecretClass::Token),
        "pat" => matches!(before, "github" | "gh" | "gitlab" | "devops" | "azure")
            .then_some(SecretClass::Token),
        "secret" | "secrets" | "credential" | "credentials" => Some(SecretClass::Secret),
        "auth" => (name.starts_with('_') || is_extension(name) || before == "rediscli")
            .then_some(SecretClass::Token),
        joined => joined_class(joined),
    }
}

/// Returns whether a name is a header name: words joined by hyphens, with no leading hyphen.
pub(super) fn is_header(name: &str) -> bool {
    !name.starts_with('-') && name.contains('-')
}

/// Returns whether a name is an application's own header: `X-Functions-Key`.
fn is_extension(name: &str) -> bool {
    scan::matches_at(name.as_bytes(), 0, "x-")
}

/// Words before `key` in headers that are not secrets.
const HARMLESS_HEADER_KEYS: &[&str] =
    &["cache", "idempotency", "partition", "routing", "surrogate"];

/// Classifies names written as one word: `PGPASSWORD`, `apikey`, `authtoken`.
fn joined_class(word: &str) -> Option<SecretClass> {
    let is_key = |word: &str| SECRET_KEY_WORDS.iter().any(|key| word.ends_with(key));
    let ends = [
        ("password", SecretClass::Password),
        ("passwort", SecretClass::Password),
        ("kennwort", SecretClass::Password),
        ("passwd", SecretClass::Password),
        ("pwd", SecretClass::Password),
        ("secret", SecretClass::Secret),
        ("token", SecretClass::Token),
    ];
    let class = ends.iter().find(|(end, _)| word.ends_with(end)).map(|(_, class)| *class);
    class.or_else(|| {
        word.strip_suffix("key").filter(|start| is_key(start)).map(|_| SecretClass::Key)
    })
}

/// Returns the kind of a name's secret: the service's if the name mentions one, otherwise the
/// class.
pub(super) fn kind(name: &str, class: SecretClass) -> &'static str {
    let owner = SERVICES.iter().find(|(owner, _)| scan::position(name.as_bytes(), owner).is_some());
    owner.map_or(class.kind(), |(_, kind)| kind)
}

/// Splits a name into lower-case words. `apiKey`, `API_KEY`, `api-key` and `api key` give the same
/// two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric()
            || before.is_ascii_lowercase() && letter.is_ascii_uppercase()
        {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric() {
            words.last_mut().expect("there is always one").push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Longest name; anything longer is data.
const LONGEST: usize = 64;

/// Returns the range of the name that contains a keyword.
pub(super) fn name_around(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let run = URL64.run_start(text, hit.start, LONGEST + 1);
    let start = scan::skip_escape_letter(text, run).min(hit.start);
    let most = text.len().min(hit.end + LONGEST + 1);
    let end = URL64.run_end(&text[..most], hit.end);
    let is_mark = text[..start].ends_with(super::MARKER.as_bytes());
    (end - start <= LONGEST && !is_mark).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_decides() {
        let secret = [
            "API_TOKEN",
            "apiKey",
            "x-api-key",
            "PGPASSWORD",
            "secret_key_base",
            "DB_PASS",
            "client_secret",
            "_authToken",
        ];
        for name in secret {
            assert!(class(name).is_some(), "{name}");
        }
        let plain = [
            "token_file",
            "max_tokens",
            "secretName",
            "primary_key",
            "tokenizer",
            "PWD",
            "next_token",
            "bypass",
            "input_tokens",
            "key",
        ];
        for name in plain {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
