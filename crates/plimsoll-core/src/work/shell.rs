//! Command lines as they were typed.

use std::collections::HashMap;

/// A command's place in the table.
pub(super) type CommandId = u32;

/// A command, known by its program and subcommands.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) key: String,
    /// As it was typed last, where it worked if it ever did.
    pub(super) typed: String,
    pub(super) hot: f32,
    pub(super) at: u32,
    pub(super) uses: u32,
    pub(super) worked: Option<bool>,
}

/// All commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    pub(super) all: Vec<Command>,
    by_key: HashMap<String, CommandId>,
}

/// Programs that everybody knows how to use.
const EVERYDAY: &[&str] = &[
    "awk", "basename", "bash", "break", "cat", "cd", "chmod", "chown", "clear", "command", "cp",
    "cut", "date", "df", "diff", "dirname", "do", "done", "du", "echo", "elif", "else", "env",
    "esac", "exit", "export", "false", "fi", "file", "find", "for", "function", "grep", "head",
    "if", "in", "jq", "kill", "less", "ln", "local", "ls", "man", "mkdir", "more", "mv", "open",
    "pgrep", "pkill", "popd", "printf", "ps", "pushd", "pwd", "read", "realpath", "return", "rg",
    "rm", "rmdir", "sed", "set", "sh", "sleep", "sort", "source", "stat", "tail", "tee", "test",
    "then", "time", "timeout", "touch", "tr", "tree", "true", "uniq", "unset", "wc", "wait",
    "which", "while", "xargs",
];

/// Words before a program that are not it.
const PREFIXES: &[&str] = &["sudo", "time", "nohup", "npx", "exec", "command"];

const LONGEST: usize = 160;

impl Commands {
    /// Notes the commands of a line.
    pub(super) fn typed(&mut self, line: &str, clock: u32) -> Vec<CommandId> {
        let mut ids = Vec::new();
        for segment in segments(line) {
            let Some(key) = key(segment) else { continue };
            let id = match self.by_key.get(&key) {
                Some(id) => *id,
                None => {
                    let id = self.all.len() as CommandId;
                    self.by_key.insert(key.clone(), id);
                    let typed = String::new();
                    self.all.push(Command { key, typed, hot: 0.0, at: clock, uses: 0, worked: None });
                    id
                }
            };
            let command = &mut self.all[id as usize];
            command.hot = command.hot * (-((clock - command.at) as f32) / 120.0).exp2() + 1.0;
            command.at = clock;
            command.uses += 1;
            command.typed = super::words::cut(segment.trim(), LONGEST).to_owned();
            ids.push(id);
        }
        ids
    }

    pub(super) fn ended(&mut self, ids: &[CommandId], failed: bool) {
        for id in ids {
            self.all[*id as usize].worked = Some(!failed);
        }
    }
}

/// The commands of a line, pipes and lists taken apart.
fn segments(line: &str) -> impl Iterator<Item = &str> {
    line.split(['\n', ';', '|', '&']).map(str::trim).filter(|segment| !segment.is_empty())
}

/// What a command is known by: the program and up to two subcommands.
fn key(segment: &str) -> Option<String> {
    let mut words = segment.split_whitespace().skip_while(|word| is_prefix(word));
    let program = words.next()?;
    let named = program.starts_with(|c: char| c.is_ascii_alphabetic());
    if !named || EVERYDAY.binary_search(&program).is_ok() || program.contains(['=', '(', '"', '\'']) {
        return None;
    }
    let is_sub = |word: &&str| {
        !word.starts_with(['-', '/', '$', '<', '>', '"', '\''])
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '@' | '/' | '*' | '-'))
    };
    let subs: Vec<&str> = words.take_while(is_sub).take(2).collect();
    (!subs.is_empty()).then(|| format!("{program} {}", subs.join(" ")))
}

fn is_prefix(word: &str) -> bool {
    let assignment = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
    });
    assignment || PREFIXES.contains(&word)
}

/// Branches that git commands of a line name.
pub(super) fn branches(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for segment in segments(line) {
        let mut words = segment.split_whitespace();
        if words.next() != Some("git") {
            continue;
        }
        let Some(verb) = words.next() else { continue };
        if !matches!(verb, "checkout" | "switch" | "push" | "rebase" | "merge" | "worktree" | "branch" | "fetch" | "pull" | "log" | "diff") {
            continue;
        }
        found.extend(words.filter_map(|word| {
            let name = word.strip_prefix("origin/").unwrap_or(word);
            let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.'));
            let speaks = name.contains('/') || name.matches('-').count() >= 2;
            let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
            (plain && speaks && starts && name.len() > 4 && !super::names::is_file(name)).then_some(name)
        }));
    }
    found
}
