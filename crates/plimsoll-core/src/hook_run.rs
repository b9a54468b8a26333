//! A run of somebody's hook, as a transcript tells of it.
//!
//! What agents record is not every run; each adapter says what its agent leaves out.

use crate::entry::EntryId;

/// One run of one hook command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    /// What the client was about when it ran its hooks. Together with event and command this names
    /// the run, however many records tell of it.
    pub call: EntryId,
    /// The agent's name for the event.
    pub event: String,
    /// The command line, see [`without_secrets`].
    pub command: String,
    /// How long it took, where that is recorded.
    pub millis: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a hook's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ended well, or nobody says otherwise.
    Done,
    /// It refused what the agent was about to do.
    Refused,
    /// It failed, and the agent went on.
    Failed,
    /// It was stopped: it ran longer than it may, or the user went on without it.
    Stopped,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Done, Self::Refused, Self::Failed, Self::Stopped];

    /// As it is written in output and in the store.
    pub fn label(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// How much of a command line is kept.
const LONGEST_COMMAND: usize = 200;

/// A command line, fit to be remembered: what may be a secret is left out, and so is what is longer
/// than anyone reads.
///
/// A value is taken for a secret when it is assigned (`NAME=…`, `--flag=…`), follows a word that
/// speaks of one (`--token …`, `Bearer …`), carries a login in an address, or is long and looks
/// random.
pub fn without_secrets(command: &str) -> String {
    let mut kept = String::new();
    let mut secret_follows = false;
    for word in command.split_whitespace() {
        if !kept.is_empty() {
            kept.push(' ');
        }
        match word.split_once('=') {
            _ if secret_follows && !speaks_of_secrets(word) => kept.push('…'),
            Some((name, _)) => kept.extend([name, "=…"]),
            None if has_login(word) || looks_random(word) => kept.push('…'),
            None => kept.push_str(word),
        }
        secret_follows = speaks_of_secrets(word) && !word.contains('=');
    }
    match kept.char_indices().nth(LONGEST_COMMAND) {
        Some((end, _)) => format!("{}…", &kept[..end]),
        None => kept,
    }
}

fn speaks_of_secrets(word: &str) -> bool {
    const WORDS: [&str; 7] =
        ["token", "secret", "passw", "api-key", "apikey", "bearer", "authorization"];
    let flag = word.starts_with('-') || word.ends_with(':') || !word.contains(['/', '.']);
    let word = word.to_ascii_lowercase().replace('_', "-");
    flag && WORDS.iter().any(|secret| word.contains(secret))
}

fn has_login(word: &str) -> bool {
    word.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}

fn looks_random(word: &str) -> bool {
    const SHORTEST: usize = 20;
    let of_one_piece = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+'\"".contains(&byte);
    word.len() >= SHORTEST
        && word.bytes().all(of_one_piece)
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, kept: &str) {
        assert_eq!(without_secrets(command), kept);
    }

    #[test]
    fn a_command_keeps_what_tells_it_apart() {
        for plain in [
            "/usr/bin/python3 /home/ada/hooks/check_token.py --fast",
            "bash -c 'cd $CLAUDE_PROJECT_DIR && npm run lint'",
            "entire hooks claude-code session-start",
            "",
        ] {
            check(plain, plain);
        }
        check("  sh \n a.sh ", "sh a.sh");
    }

    #[test]
    fn secrets_are_left_out() {
        check("API_KEY=sk-1 notify --user=ada", "API_KEY=… notify --user=…");
        check("notify --token abc --fast", "notify --token … --fast");
        check("curl -H 'Authorization: Bearer abc' x", "curl -H 'Authorization: Bearer … x");
        check("curl https://ada:pw@example.org/x", "curl …");
        check("notify ghp_16C7e42F292c6912E7710c838347Ae178B4a", "notify …");
    }

    #[test]
    fn a_long_command_is_cut() {
        let kept = without_secrets(&"ä ".repeat(500));
        assert_eq!(kept.chars().count(), LONGEST_COMMAND + 1);
        assert!(kept.ends_with('…'));
    }
}
