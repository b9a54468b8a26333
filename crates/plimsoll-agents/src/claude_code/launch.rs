//! Command lines that start the client without a user at the keyboard.

use plimsoll_core::event::SessionId;

use crate::{Launch, NotConducted};

/// The default command that starts the client without a user at the keyboard.
pub(super) const HEADLESS: [&str; 2] = ["claude", "-p"];
/// Programs that start another one, which their arguments name.
const STARTERS: [&str; 6] = ["env", "npx", "nice", "ionice", "stdbuf", "timeout"];
/// The client's program, and its package.
const PROGRAMS: [&str; 2] = ["claude", "claude-code"];
/// Flags without which the client needs a user at the keyboard.
const PRINT: [&str; 2] = ["-p", "--print"];
/// Flags that continue an existing session or set its id.
const OF_A_SESSION: [&str; 7] =
    ["-c", "--continue", "-r", "--resume", "--session-id", "--fork-session", "--from-pr"];
/// Flags with which the client writes no transcript or calls no hooks.
const UNSEEN: [&str; 3] = ["--no-session-persistence", "--bare", "--safe-mode"];

/// Checks how a command line starts the client; `None` if it starts something else.
pub(super) fn launch(command: &[String]) -> Option<Result<Launch, NotConducted>> {
    let program = program(command)?;
    let arguments = &command[program + 1..];
    let has = |names: &[&'static str]| names.iter().copied().find(|name| is_set(arguments, name));
    Some(if let Some(option) = has(&OF_A_SESSION) {
        Err(NotConducted {
            option: Some(option),
            why: "it names a session, and each must be a fresh one",
        })
    } else if let Some(option) = has(&UNSEEN) {
        Err(NotConducted {
            option: Some(option),
            why: "with it nobody can see how full a window is",
        })
    } else if has(&PRINT).is_none() {
        Err(NotConducted {
            option: None,
            why: "without `-p` it waits for somebody at the keyboard",
        })
    } else {
        Ok(Launch {
            streams: value(arguments, "--output-format") == Some("stream-json"),
            reads_stdin: value(arguments, "--input-format").is_none_or(|format| format == "text"),
        })
    })
}

/// Adds a session id to the command line, and a prompt if there is one. The prompt comes right
/// after `-p`, because options at the end may take any number of words.
pub(super) fn started(
    command: &[String],
    session: &SessionId,
    prompt: Option<&str>,
) -> Vec<String> {
    let mut words = command.to_vec();
    let program = program(command).unwrap_or(0);
    let print = words.iter().position(|word| PRINT.contains(&word.as_str())).unwrap_or(program);
    if let Some(prompt) = prompt {
        words.insert(print + 1, prompt.to_owned());
    }
    words.splice(program + 1..program + 1, ["--session-id".to_owned(), session.to_string()]);
    words
}

/// Returns the index of the client's program in a command line.
fn program(command: &[String]) -> Option<usize> {
    let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let is_client = |word: &String| PROGRAMS.contains(&name(word).as_str());
    let first = command.first()?;
    match STARTERS.contains(&name(first).as_str()) {
        true => command.iter().position(is_client),
        false => is_client(first).then_some(0),
    }
}

/// Returns the words of a command line before `--`, which ends the options.
fn options(arguments: &[String]) -> impl Iterator<Item = (usize, &String)> {
    arguments.iter().enumerate().take_while(|(_, word)| *word != "--")
}

fn is_set(arguments: &[String], name: &str) -> bool {
    options(arguments).any(|(_, word)| word == name || word.starts_with(&format!("{name}=")))
}

/// Returns the value of an option.
fn value<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    options(arguments).find_map(|(at, word)| match word.strip_prefix(name)? {
        "" => arguments.get(at + 1).map(String::as_str),
        rest => rest.strip_prefix('='),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn fit(line: &str) -> Option<Result<bool, Option<&'static str>>> {
        let launch = launch(&words(line))?;
        Some(launch.map(|launch| launch.streams).map_err(|unfit| unfit.option))
    }

    #[test]
    fn the_client_is_known_by_its_program() {
        for line in ["claude -p x", "/opt/bin/claude --print x", "env A=1 claude -p x"] {
            assert_eq!(fit(line), Some(Ok(false)), "{line}");
        }
        assert_eq!(fit("npx @anthropic-ai/claude-code -p x"), Some(Ok(false)));
        for line in ["my-agent --model claude", "sh -c claude", "claudette -p"] {
            assert_eq!(fit(line), None, "{line}");
        }
    }

    #[test]
    fn what_names_a_session_or_hides_one_is_refused() {
        assert_eq!(fit("claude -p x --continue"), Some(Err(Some("--continue"))));
        assert_eq!(fit("claude -p -r abc x"), Some(Err(Some("-r"))));
        assert_eq!(fit("claude -p x --session-id=abc"), Some(Err(Some("--session-id"))));
        assert_eq!(fit("claude -p x --bare"), Some(Err(Some("--bare"))));
        assert_eq!(fit("claude x"), Some(Err(None)));
        assert_eq!(fit("claude -p -- --continue"), Some(Ok(false)), "it is the prompt");
    }

    #[test]
    fn a_stream_is_told_from_an_answer() {
        assert_eq!(fit("claude -p x --output-format stream-json --verbose"), Some(Ok(true)));
        assert_eq!(fit("claude -p x --output-format=stream-json"), Some(Ok(true)));
        assert_eq!(fit("claude -p x --output-format json"), Some(Ok(false)));
    }

    #[test]
    fn session_and_prompt_stand_where_no_option_swallows_them() {
        let session = SessionId::new("s").unwrap();
        let line = words("nice claude -p --allowedTools Bash Edit");
        let expected = words("nice claude --session-id s -p P --allowedTools Bash Edit");
        assert_eq!(started(&line, &session, Some("P")), expected);
        let expected = words("claude --session-id s -p x");
        assert_eq!(started(&words("claude -p x"), &session, None), expected);
    }
}
