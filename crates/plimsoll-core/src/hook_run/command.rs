//! Reduces a command line to a recognizable form without secrets.
//!
//! Secrets have no common format, so this module does not search for them. It keeps words that are
//! known to be harmless and replaces everything else with `…`.

use crate::bytes;
use crate::shell::{self, Word};

/// A hook's command, safe to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Hash of the whole command line. It distinguishes commands whose shown text is equal.
    pub id: u64,
    /// The command line without anything that may be secret.
    pub shown: String,
}

impl Command {
    /// Hashes `line` and removes everything that may be secret from its shown text.
    pub fn new(line: &str) -> Self {
        Self { id: bytes::fnv1a(line.as_bytes()), shown: cut(without_secrets(line)) }
    }
}

/// Maximum length of the shown text, in characters.
const LONGEST: usize = 200;

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

const LEFT_OUT: &str = "…";

/// Keeps the program of each command, the script that an interpreter runs, names of variables and
/// long flags, and plain words that are not a flag's value.
fn without_secrets(line: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut next = Next::Program;
    let mut from = 0;
    for Word { text, end } in shell::words(line) {
        let written = line[from..end].trim_start();
        from = end;
        if escapes_us(written) {
            kept.push(LEFT_OUT.to_owned());
            break;
        }
        let (word, operator) = split_operator(&text, written);
        if !word.is_empty() {
            let shown;
            (shown, next) = next.take(word);
            kept.push(shown);
        }
        if !operator.is_empty() {
            next = Next::Program;
            match kept.last_mut() {
                Some(last) if !word.is_empty() => last.push_str(operator),
                _ => kept.push(operator.to_owned()),
            }
        }
    }
    kept.dedup_by(|word, before| word == LEFT_OUT && before == LEFT_OUT);
    kept.join(" ")
}

/// Returns whether the rest of the line is more than a list of words: the inside of a substitution,
/// or text for stdin.
fn escapes_us(written: &str) -> bool {
    let count = |character| written.matches(character).count();
    count('(') != count(')') || written.contains('`') || written.contains("<<")
}

/// Splits a word from the operator at its end, which begins another command.
fn split_operator<'t>(text: &'t str, written: &str) -> (&'t str, &'t str) {
    match written.contains(['\'', '"', '\\']) {
        true => (text, ""),
        false => text.split_at(text.trim_end_matches([';', '&', '|']).len()),
    }
}

/// The role of the next word.
#[derive(Clone, Copy)]
enum Next {
    /// The program, possibly after assignments.
    Program,
    /// The first word after a shell.
    OfShell,
    /// The first word after another interpreter.
    OfInterpreter,
    /// The script of an interpreter that has flags, or another flag.
    Script,
    /// The script that an interpreter's subcommand runs, or another word.
    ScriptOrWord,
    /// Commands for a shell.
    Commands,
    Word,
    /// The value of a flag.
    Value,
}

impl Next {
    /// Returns the shown form of the next word, and the role of the word after it.
    fn take(self, word: &str) -> (String, Self) {
        if let Self::Commands = self {
            return (format!("'{}'", without_secrets(word)), Self::Word);
        }
        if let Some(assigned) = assignment(word) {
            return (assigned, if matches!(self, Self::Program) { self } else { Self::Word });
        }
        let is_flag = word.starts_with('-');
        match self {
            Self::Program if !is_flag => (path(word), after_program(word)),
            Self::OfShell if word == "-c" => (word.to_owned(), Self::Commands),
            Self::OfShell | Self::OfInterpreter | Self::Script if is_flag => {
                (flag(word), Self::Script)
            }
            Self::OfShell | Self::OfInterpreter | Self::ScriptOrWord if is_script(word) => {
                (path(word), Self::Word)
            }
            Self::Script if is_script(word) && !word.contains(' ') => (path(word), Self::Word),
            Self::OfInterpreter | Self::ScriptOrWord if is_plain(word) => {
                (word.to_owned(), Self::ScriptOrWord)
            }
            _ if is_flag => (flag(word), after_flag(word)),
            Self::OfShell | Self::Word if is_plain(word) => (word.to_owned(), Self::Word),
            _ if is_of_variable(word) => (path(word), Self::Word),
            _ => (LEFT_OUT.to_owned(), Self::Word),
        }
    }
}

/// Shows an assignment as `NAME=…`. A word without such a name may be the secret itself: base64
/// ends in `=`.
fn assignment(word: &str) -> Option<String> {
    let (name, value) = word.split_once('=')?;
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_named = !name.is_empty() && name.bytes().all(is_name) && !looks_random(name);
    (is_named && !value.is_empty() && !value.starts_with('=')).then(|| format!("{name}={LEFT_OUT}"))
}

fn after_program(word: &str) -> Next {
    const RUN_ANOTHER: [&str; 6] = ["env", "exec", "nohup", "sudo", "time", "command"];
    const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];
    const OTHERS: [&str; 15] = [
        "python",
        "node",
        "bun",
        "deno",
        "tsx",
        "npx",
        "bunx",
        "uv",
        "uvx",
        "go",
        "ruby",
        "perl",
        "php",
        "pwsh",
        "osascript",
    ];
    let name = word.rsplit('/').next().unwrap_or(word);
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match unversioned {
        _ if word.contains('=') => Next::Program,
        name if RUN_ANOTHER.contains(&name) => Next::Program,
        name if SHELLS.contains(&name) => Next::OfShell,
        name if OTHERS.contains(&name) => Next::OfInterpreter,
        _ => Next::Word,
    }
}

/// Shows a flag's name. Hides the word if it may contain a value, as in `-phunter2`.
fn flag(word: &str) -> String {
    let (name, value) = word.split_once('=').map_or((word, ""), |(name, _)| (name, "=…"));
    let is_long = name.strip_prefix("--").is_some_and(is_plain);
    let is_letter = matches!(name.as_bytes(), [b'-', letter] if letter.is_ascii_alphabetic());
    match is_long || is_letter {
        true => format!("{name}{value}"),
        false => LEFT_OUT.to_owned(),
    }
}

fn after_flag(word: &str) -> Next {
    if word.contains('=') { Next::Word } else { Next::Value }
}

/// Returns whether a word is an ordinary lowercase word, such as a subcommand.
fn is_plain(word: &str) -> bool {
    const LONGEST: usize = 24;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || b"-_.".contains(&byte);
    word.len() <= LONGEST
        && word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(is_plain)
}

/// Returns whether a word names a file: it starts with a folder, or has a file extension.
fn is_script(word: &str) -> bool {
    let is_ending = |ending: &str| {
        (1..=4).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let begins_at_folder = word.starts_with(['/', '.', '~', '$']) && word.contains('/');
    begins_at_folder || word.rsplit_once('.').is_some_and(|(_, ending)| is_ending(ending))
}

/// Returns whether a word is a path in a folder named by a variable that has not been expanded.
fn is_of_variable(word: &str) -> bool {
    let name = word.strip_prefix("${").and_then(|rest| Some(rest.split_once("}/")?.0));
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
}

/// Shows a path without components that look random. Hides the word if it is not a path.
fn path(word: &str) -> String {
    let of_path =
        |character: char| character.is_alphanumeric() || "/._-+@~${}[ ".contains(character);
    if !word.chars().all(of_path) {
        return LEFT_OUT.to_owned();
    }
    let names = word.split('/').map(|name| if looks_random(name) { LEFT_OUT } else { name });
    let path = names.collect::<Vec<_>>().join("/");
    if path.contains(' ') { format!("\"{path}\"") } else { path }
}

/// Returns whether part of a name looks random.
fn looks_random(name: &str) -> bool {
    let is_random = |piece: &str| {
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        digits > 4 || piece.len() >= 12 && digits > 0 || piece.len() >= 32
    };
    name.split(|character: char| !character.is_alphanumeric()).any(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, shown: &str) {
        assert_eq!(Command::new(line).shown, shown);
    }

    #[test]
    fn a_command_keeps_what_tells_it_apart() {
        for plain in [
            "callback",
            "/usr/bin/python3 /home/ada/hooks/check_token.py --fast",
            "/Users/ada/.claude/hooks/rtk-rewrite.sh",
            "entire hooks claude-code session-start",
            "go run ${CLAUDE_PROJECT_DIR}/cmd/entire/main.go hooks claude-code stop",
            "node --no-warnings ~/hooks/step2.mjs stop",
            "",
        ] {
            check(plain, plain);
        }
        check("  sh \n a.sh ", "sh a.sh");
        check(r#"sh "/opt/my tools/a.sh""#, r#"sh "/opt/my tools/a.sh""#);
        check(r#"bash "${CLAUDE_PLUGIN_ROOT}/stop.sh""#, "bash ${CLAUDE_PLUGIN_ROOT}/stop.sh");
        check(r#""${ROOT}/hooks/run-hook.cmd" start"#, "${ROOT}/hooks/run-hook.cmd start");
    }

    #[test]
    fn each_command_of_a_line_is_kept() {
        check(
            r#"[ -n "$HERE" ] && [ -x "$HERE/notify.sh" ] && "$HERE/notify.sh" || true"#,
            "[ -n … && [ -x … && $HERE/notify.sh || true",
        );
        check("cd $HERE; npm run lint | tee log.txt", "cd …; npm run lint | tee log.txt");
        check("bash -c 'cd $HERE && npm run lint'", "bash -c 'cd … && npm run lint'");
        check("uv run --script ${ROOT}/a.py", "uv run --script ${ROOT}/a.py");
        check("env A=b nohup python3 -u ./a.py &", "env A=… nohup python3 -u ./a.py &");
    }

    #[test]
    fn secrets_are_left_out() {
        check("API_KEY=sk-1 notify --user=ada", "API_KEY=… notify --user=…");
        check("API_KEY='two words' notify now", "API_KEY=… notify now");
        check("notify --token abc --fast", "notify --token … --fast");
        check("notify --pass x later", "notify --pass … later");
        check("mysql -phunter2 -u ada:pw", "mysql … -u …");
        check("sudo -phunter2 notify", "sudo …");
        check("login ada hunter2", "login ada …");
        check("npx notify --token hunter.abc", "npx notify --token …");
        check("bash -e -c '/bin/notify hunter'", "bash -e -c …");
        check("notify dXNlcjpodW50ZXIy==", "notify …");
        check("dXNlcjpodW50ZXIy== notify", "… notify");
        check("curl -H 'Authorization: Bearer abc' x", "curl -H … x");
        check("curl https://ada:pw@example.org/x", "curl …");
        check("curl https://hooks.slack.com/services/T00/B00/XXXX", "curl …");
        check("notify ghp_16C7e42F292c6912E7710c838347Ae178B4a", "notify …");
        check("notify wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "notify …");
        check("node eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmN", "node …");
        check("sh /run/f3a9c07be1d24a55/a.sh", "sh /run/…/a.sh");
    }

    #[test]
    fn what_is_no_list_of_words_is_left_out() {
        check("TOKEN=$(pass show work) notify", "…");
        check("notify `pass show work` now", "notify …");
        check("cat <<END\nhunter\nEND", "cat …");
        check("bash -c 'TOKEN=hunter notify secret-token-of-2026'", "bash -c 'TOKEN=… notify …'");
    }

    #[test]
    fn commands_that_look_alike_are_told_apart() {
        let (one, other) = (Command::new("notify --token a"), Command::new("notify --token b"));
        assert_eq!(one.shown, other.shown);
        assert_ne!(one.id, other.id);
        let long = "word ".repeat(99);
        assert_ne!(Command::new(&format!("{long}a")).id, Command::new(&format!("{long}b")).id);
    }

    #[test]
    fn a_long_command_is_cut() {
        let shown = Command::new(&"word ".repeat(500)).shown;
        assert_eq!(shown.chars().count(), LONGEST + 1);
        assert!(shown.ends_with('…'));
    }
}
