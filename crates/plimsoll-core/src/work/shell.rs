//! Command lines as they were typed, and what came of them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::names;
use super::score::{Clock, Score};
use super::words::cut;

/// A command, known by its program and subcommands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Command {
    /// What it is known by.
    pub(super) key: String,
    /// As it was typed last.
    pub(super) typed: String,
    pub(super) score: Score,
    /// How it ended last; nothing as long as it runs.
    pub(super) worked: Option<bool>,
    /// What it said when it failed last, as long as it has not worked since.
    pub(super) complaint: Option<String>,
}

/// All commands, the most useful of them at least.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Command>", into = "Vec<Command>")]
pub(super) struct Commands {
    pub(super) all: Vec<Command>,
    by_key: HashMap<String, usize>,
}

impl From<Vec<Command>> for Commands {
    fn from(all: Vec<Command>) -> Self {
        let keys = all.iter().enumerate();
        let by_key = keys.map(|(at, command)| (command.key.clone(), at)).collect();
        Self { all, by_key }
    }
}

impl From<Commands> for Vec<Command> {
    fn from(commands: Commands) -> Self {
        commands.all
    }
}

/// Programs that everybody knows how to use.
const EVERYDAY: &[&str] = &[
    "awk", "basename", "bash", "break", "cat", "cd", "chmod", "chown", "clear", "command", "cp",
    "cut", "date", "df", "diff", "dirname", "do", "done", "du", "echo", "elif", "else", "env",
    "esac", "exit", "export", "false", "fi", "file", "find", "for", "function", "grep", "head",
    "if", "in", "jq", "kill", "less", "ln", "local", "ls", "man", "mkdir", "more", "mv", "open",
    "pgrep", "pkill", "popd", "printf", "ps", "pushd", "pwd", "read", "realpath", "return", "rg",
    "rm", "rmdir", "sed", "set", "sh", "sleep", "sort", "source", "stat", "tail", "tee", "test",
    "then", "time", "timeout", "touch", "tr", "tree", "true", "uniq", "unset", "wait", "wc",
    "which", "while", "xargs",
];

/// Words before a program that are not it.
const PREFIXES: &[&str] = &["sudo", "time", "nohup", "npx", "exec", "command"];

const LONGEST: usize = 160;
const LONGEST_COMPLAINT: usize = 400;
/// How many are kept when there are twice as many.
const MOST: usize = 300;

impl Commands {
    /// Notes the commands of a line, and gives what each is known by.
    pub(super) fn typed(&mut self, line: &str, now: Clock) -> Vec<String> {
        segments(line).filter_map(|segment| self.segment(segment, now)).collect()
    }

    fn segment(&mut self, segment: &str, now: Clock) -> Option<String> {
        let key = key(segment)?;
        let at = *self.by_key.entry(key.clone()).or_insert(self.all.len());
        if at == self.all.len() {
            let (key, typed, score) = (key.clone(), String::new(), Score::default());
            self.all.push(Command { key, typed, score, worked: None, complaint: None });
        }
        let command = &mut self.all[at];
        command.score.add(1.0, now);
        command.typed = cut(segment, LONGEST).to_owned();
        Some(key)
    }

    /// Notes how a line ended. A later success closes what failed before.
    pub(super) fn ended(&mut self, keys: &[String], failed: bool, said: &str) {
        for (at, key) in keys.iter().enumerate() {
            let Some(known) = self.by_key.get(key) else { continue };
            let command = &mut self.all[*known];
            command.worked = Some(!failed);
            // Of a list the last one is to blame: what came before it worked.
            let blamed = failed && at + 1 == keys.len();
            command.complaint = blamed.then(|| complaint(said));
        }
    }

    /// Forgets the least useful if there are too many.
    pub(super) fn shrink(&mut self, now: Clock) {
        if self.all.len() > 2 * MOST {
            let mut all = std::mem::take(&mut self.all);
            all.sort_by(|one, other| other.score.at(now).total_cmp(&one.score.at(now)));
            all.truncate(MOST);
            *self = Self::from(all);
        }
    }
}

/// What a failed command said, as far as it tells why.
fn complaint(said: &str) -> String {
    let tells = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "fail", "panick", "cannot", "not found", "undefined", "exception", "expected"]
            .iter()
            .any(|word| line.contains(word))
    };
    let mut lines: Vec<&str> = said.lines().map(str::trim).filter(tells).take(6).collect();
    if lines.is_empty() {
        let ends = said.lines().map(str::trim).filter(|line| !line.is_empty());
        lines = ends.rev().take(3).collect();
        lines.reverse();
    }
    cut(&lines.join("\n"), LONGEST_COMPLAINT).to_owned()
}

/// The commands of a line, pipes and lists taken apart.
fn segments(line: &str) -> impl Iterator<Item = &str> {
    line.split(['\n', ';', '|', '&']).map(str::trim).filter(|segment| !segment.is_empty())
}

/// What the commands of a line are known by.
pub(super) fn keys(line: &str) -> impl Iterator<Item = String> {
    segments(line).filter_map(key)
}

/// What a command is known by: the program and up to two words that are no flags.
fn key(segment: &str) -> Option<String> {
    let mut words = segment.split_whitespace().skip_while(|word| is_prefix(word));
    let program = words.next()?;
    let is_name = program.starts_with(|c: char| c.is_ascii_alphabetic())
        && !program.contains(['=', '(', '"', '\'']);
    if !is_name || EVERYDAY.binary_search(&program).is_ok() {
        return None;
    }
    let subs: Vec<&str> = words.take_while(|word| is_sub(word)).take(2).collect();
    (!subs.is_empty()).then(|| format!("{program} {}", subs.join(" ")))
}

fn is_sub(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_:.@/*-".contains(c);
    !word.starts_with(['-', '/', '$', '<', '>']) && word.chars().all(is_plain)
}

fn is_prefix(word: &str) -> bool {
    let is_variable = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_variable(name)) || PREFIXES.contains(&word)
}

/// Branches that git commands of a line name.
pub(super) fn branches(line: &str) -> Vec<&str> {
    const VERBS: &[&str] = &[
        "branch", "checkout", "diff", "fetch", "log", "merge", "pull", "push", "rebase", "switch",
        "worktree",
    ];
    let mut found = Vec::new();
    for segment in segments(line) {
        let mut words = segment.split_whitespace();
        if words.next() == Some("git") && words.next().is_some_and(|verb| VERBS.contains(&verb)) {
            found.extend(words.filter_map(branch));
        }
    }
    found
}

fn branch(word: &str) -> Option<&str> {
    let name = word.strip_prefix("origin/").unwrap_or(word);
    let is_plain = |c: char| c.is_alphanumeric() || "_-/.".contains(c);
    let speaks = name.contains('/') || name.matches('-').count() >= 2;
    let fits = name.len() > 4
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_plain);
    (fits && speaks && !names::is_file(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(line: &str) -> Vec<String> {
        let mut commands = Commands::default();
        commands.typed(line, 1);
        commands.all.into_iter().map(|command| command.key).collect()
    }

    #[test]
    fn the_list_of_everyday_programs_can_be_searched() {
        assert!(EVERYDAY.is_sorted());
    }

    #[test]
    fn commands_are_known_by_program_and_subcommands() {
        assert_eq!(
            keys("cd app && RUST_LOG=debug cargo nextest run -p core | tail -3"),
            ["cargo nextest run"]
        );
        assert_eq!(keys("npx vitest run src/a.test.ts; ls"), ["vitest run src/a.test.ts"]);
        assert_eq!(keys("go test ./cmd/... -race"), ["go test ./cmd/..."]);
        assert_eq!(keys("cat x | grep y; echo done"), [""; 0]);
    }

    #[test]
    fn a_later_success_closes_what_failed() {
        let mut commands = Commands::default();
        let keys = commands.typed("cargo test --all", 1);
        commands.ended(&keys, true, "running\nerror[E0308]: mismatched types\n  --> src/a.rs:1");
        assert_eq!(commands.all[0].complaint.as_deref(), Some("error[E0308]: mismatched types"));
        let keys = commands.typed("cargo test", 2);
        commands.ended(&keys, false, "ok");
        assert_eq!((commands.all[0].worked, &commands.all[0].complaint), (Some(true), &None));
    }

    #[test]
    fn branches_are_found_in_git_commands() {
        assert_eq!(branches("git checkout -b feat/load-line && ls a/b"), ["feat/load-line"]);
        assert_eq!(branches("git push origin fix-the-thing"), ["fix-the-thing"]);
        assert_eq!(branches("git diff src/main.rs"), [""; 0]);
    }
}
