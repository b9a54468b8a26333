//! The commands that were run, and their results.

use plimsoll_core::breakpoint::{self, Tally};
use plimsoll_core::entry::Place;
use plimsoll_core::shell::Command as Typed;
use serde::{Deserialize, Serialize, Serializer};

use super::failure_output::reports_failure;
use super::item_index::ItemIndex;
use super::names;
use super::score::{Clock, UseScore};
use super::sentences::cut;
use super::sourced_text::SourcedText;

/// A command, identified by its program and subcommands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownCommand {
    /// Program and subcommands.
    pub(super) key: String,
    /// The command line as last typed.
    pub(super) typed: String,
    pub(super) score: UseScore,
    /// Result of the last run; `None` while it runs.
    pub(super) worked: Option<bool>,
    /// Error output of the last failure, until the command succeeds.
    pub(super) complaint: Option<SourcedText>,
    /// Whether the command runs tests; `tally` has their last result.
    tests: bool,
    /// Whether the exit code of the line says nothing about this command.
    is_hidden: bool,
    pub(super) tally: Option<String>,
    /// Place of the record that last ran it.
    pub(super) place: Place,
}

/// The commands of a session, limited to the most useful ones.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<KnownCommand>")]
pub(super) struct KnownCommands {
    pub(super) all: Vec<KnownCommand>,
    by_key: ItemIndex,
}

impl PartialEq for KnownCommands {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl From<Vec<KnownCommand>> for KnownCommands {
    fn from(all: Vec<KnownCommand>) -> Self {
        let by_key = ItemIndex::of(all.iter().map(|command| command.key.as_str()));
        Self { all, by_key }
    }
}

impl Serialize for KnownCommands {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(to)
    }
}

/// Programs that need no explanation.
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

/// Words that may precede a program.
const PREFIXES: &[&str] = &["sudo", "time", "nohup", "npx", "exec", "command"];

const LONGEST: usize = 160;
const LONGEST_COMPLAINT: usize = 400;
/// Number of commands kept once there are twice as many.
const MOST: usize = 300;

impl KnownCommands {
    /// Records the commands of a line and returns their keys.
    pub(super) fn typed(&mut self, line: &[Typed], now: Clock, place: Place) -> Vec<String> {
        line.iter().filter_map(|typed| self.one(typed, now, place)).collect()
    }

    fn one(&mut self, typed: &Typed, now: Clock, place: Place) -> Option<String> {
        let key = key(&typed.typed)?;
        let at = self.place(&key).unwrap_or_else(|| {
            self.by_key.add(&key, self.all.len() as u32);
            self.all.push(KnownCommand { key: key.clone(), ..KnownCommand::default() });
            self.all.len() - 1
        });
        let command = &mut self.all[at];
        command.score.add(1.0, now);
        command.typed = cut(&typed.typed, LONGEST).to_owned();
        command.tests = breakpoint::runs_tests(typed);
        command.is_hidden = typed.is_hidden;
        command.place = place;
        Some(key)
    }

    fn place(&self, key: &str) -> Option<usize> {
        let place = self.by_key.find(key, |place| self.all[place as usize].key == key);
        place.map(|place| place as usize)
    }

    /// Returns whether the output of these commands says more than the exit code of their line.
    pub(super) fn listen(&self, keys: &[String]) -> bool {
        let known = keys.iter().filter_map(|key| self.place(key));
        known.map(|at| &self.all[at]).any(|command| command.tests || command.is_hidden)
    }

    /// Records the result of a line. A success clears an earlier failure.
    pub(super) fn ended(&mut self, keys: &[String], failed: bool, said: &str, place: Place) {
        let known: Vec<usize> = keys.iter().filter_map(|key| self.place(key)).collect();
        let tests = known.iter().rposition(|at| self.all[*at].tests);
        let tally = tests.map_or_else(Tally::default, |_| breakpoint::tally(said));
        // In a list, the last command failed, unless tests report failures: then the commands
        // before them succeeded and the ones after them did not run. Among commands with an unknown
        // exit code, the last one whose output can report a failure is to blame.
        let complains = |at: &usize| {
            let command = &self.all[*at];
            let is_told = command.tests && tally.count().is_some();
            command.is_hidden && !is_told && reports_failure(program(&command.key), said)
        };
        let blamed = match tests {
            Some(at) if tally.is_bad() => Some(at),
            _ if failed => Some(known.len().saturating_sub(1)),
            _ => known.iter().rposition(complains),
        };
        let ran = blamed.filter(|_| failed || tally.is_bad());
        let ran = ran.map_or(known.len(), |blamed| blamed + 1);
        self.close_parts(&keys[..ran.min(keys.len())], blamed);
        for (nth, at) in known.into_iter().enumerate().take(ran) {
            let command = &mut self.all[at];
            let failed = blamed == Some(nth);
            command.worked = Some(!failed);
            command.complaint = failed.then(|| SourcedText::new(complaint(said), place));
            command.tally = tally.words().filter(|_| command.tests);
        }
    }

    /// Clears failures of parts after the whole succeeded: `go test` clears `go test ./a`, and `git
    /// rebase --continue` clears `git rebase main`.
    fn close_parts(&mut self, keys: &[String], blamed: Option<usize>) {
        // `make` without a target builds one of many, but `pytest` runs all tests.
        let is_whole = |key: &str| key.contains(' ') || breakpoint::is_runner(key);
        let worked = keys.iter().enumerate().filter(|(nth, _)| Some(*nth) != blamed);
        for (_, key) in worked.filter(|(_, key)| is_whole(key)) {
            let is_part = |command: &&mut KnownCommand| {
                command.key.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with(' '))
            };
            self.all.iter_mut().filter(is_part).for_each(|command| command.complaint = None);
        }
    }

    /// Drops the least useful commands if there are too many.
    pub(super) fn shrink(&mut self, now: Clock) {
        if self.all.len() > 2 * MOST {
            let mut all = std::mem::take(&mut self.all);
            all.sort_by(|one, other| other.score.at(now).total_cmp(&one.score.at(now)));
            all.truncate(MOST);
            *self = Self::from(all);
        }
    }
}

/// Returns the part of a failed command's output that explains the failure.
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

/// Returns the keys of a line's commands that have a subcommand: a program alone is not worth
/// mentioning.
pub(super) fn keys(line: &[Typed]) -> impl Iterator<Item = String> {
    line.iter().filter_map(|typed| key(&typed.typed)).filter(|key| key.contains([' ', '/']))
}

/// Returns the key of a command: the program and up to two words that are not flags. Only build and
/// check programs and the project's own scripts count without such words.
fn key(segment: &str) -> Option<String> {
    let mut words = segment.split_whitespace().skip_while(|word| is_prefix(word));
    let program = words.next()?;
    let mut words = words.peekable();
    if matches!(program, "bash" | "sh") {
        let script = words.next().filter(|word| word.ends_with(".sh") && is_sub(word))?;
        return Some(format!("{program} {script}"));
    }
    let is_script = is_script(program);
    let is_name = program.starts_with(|c: char| c.is_ascii_alphabetic()) || is_script;
    let is_name = is_name && !program.contains(['=', '(', '"', '\'', '$']);
    if !is_name || EVERYDAY.binary_search(&program).is_ok() {
        return None;
    }
    let mut parts = vec![program];
    if program.starts_with("python") && words.next_if_eq(&"-m").is_some() {
        parts.extend(["-m", words.next()?]);
    }
    parts.extend(words.take_while(|word| is_sub(word)).take(2));
    let is_known = parts.len() > 1 || is_script || is_check(program);
    is_known.then(|| parts.join(" "))
}

/// Programs that build or check without further arguments.
const CHECKS: &[&str] = &[
    "black",
    "clippy-driver",
    "cmake",
    "eslint",
    "flake8",
    "golangci-lint",
    "gradle",
    "just",
    "mage",
    "make",
    "mvn",
    "mypy",
    "ninja",
    "prettier",
    "pylint",
    "pyright",
    "rake",
    "rollup",
    "rubocop",
    "ruff",
    "task",
    "tsc",
    "vite",
    "webpack",
];

fn is_check(program: &str) -> bool {
    CHECKS.binary_search(&program).is_ok() || breakpoint::is_runner(program)
}

/// Returns whether a program is a file of the project: `./run.sh`, `scripts/build`.
fn is_script(program: &str) -> bool {
    program.contains('/') && !program.starts_with(['/', '~', '-'])
}

/// Returns the program of a key.
fn program(key: &str) -> &str {
    key.split(' ').next().unwrap_or_default()
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

/// Returns the branches named in git commands.
pub(super) fn branches(commands: &[Typed]) -> Vec<&str> {
    const VERBS: &[&str] = &[
        "branch", "checkout", "diff", "fetch", "log", "merge", "pull", "push", "rebase", "switch",
        "worktree",
    ];
    let mut found = Vec::new();
    for command in commands {
        let mut words = command.words.iter().map(String::as_str);
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
    use plimsoll_core::shell::commands;

    use super::*;

    fn keys(line: &str) -> Vec<String> {
        KnownCommands::default().typed(&commands(line), 1, 1)
    }

    fn run(known: &mut KnownCommands, line: &str, failed: bool, said: &str) {
        let keys = known.typed(&commands(line), 1, 1);
        known.ended(&keys, failed, said, 2);
    }

    #[test]
    fn everyday_programs_are_sorted() {
        assert!(EVERYDAY.is_sorted() && CHECKS.is_sorted());
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
    fn build_and_check_programs_need_no_subcommand() {
        for (line, key) in [
            ("pytest -q", "pytest"),
            ("make -j4", "make"),
            ("npx tsc --noEmit", "tsc"),
            ("./run.sh --fast", "./run.sh"),
            ("./gradlew build", "./gradlew build"),
            ("bash scripts/check.sh -x", "bash scripts/check.sh"),
            ("python -m pytest -x", "python -m pytest"),
            ("CI=1 npx jest --ci", "jest"),
        ] {
            assert_eq!(keys(line), [key], "{line}");
        }
        assert_eq!(keys("node; /usr/bin/env; python -V; bash -c x"), [""; 0]);
    }

    #[test]
    fn output_reveals_failures_hidden_by_a_pipe() {
        let mut known = KnownCommands::default();
        run(&mut known, "cargo build 2>&1 | tail -5", false, "error: could not compile `a`");
        run(&mut known, "npm run build | tail", false, "ERROR in ./src/a.ts");
        run(&mut known, "cargo clippy | tail", false, "0 errors");
        run(&mut known, "npm run show", false, "error: of somebody else");
        run(
            &mut known,
            "cargo nextest run | tail",
            false,
            "error: in a log\nSummary [1s] 2 tests run: 2 passed",
        );
        let ends: Vec<_> = known.all.iter().map(|command| command.worked).collect();
        assert_eq!(ends, [Some(false), Some(false), Some(true), Some(true), Some(true)]);
        assert_eq!(known.all[0].complaint.as_deref(), Some("error: could not compile `a`"));
    }

    #[test]
    fn success_of_one_target_clears_no_other() {
        let mut known = KnownCommands::default();
        run(&mut known, "make deploy", true, "failed");
        run(&mut known, "pytest tests/a.py", true, "failed");
        run(&mut known, "make", false, "");
        run(&mut known, "pytest", false, "");
        let open: Vec<_> = known.all.iter().map(|command| command.complaint.is_some()).collect();
        assert_eq!(open, [true, false, false, false]);
    }

    #[test]
    fn a_later_success_clears_a_failure() {
        let mut known = KnownCommands::default();
        let said = "running\nerror[E0308]: mismatched types\n  --> src/a.rs:1";
        run(&mut known, "cargo test --all", true, said);
        assert_eq!(known.all[0].complaint.as_deref(), Some("error[E0308]: mismatched types"));
        run(&mut known, "cargo test", false, "ok");
        assert_eq!((known.all[0].worked, &known.all[0].complaint), (Some(true), &None));
    }

    #[test]
    fn success_of_the_whole_clears_failures_of_parts() {
        let mut known = KnownCommands::default();
        run(&mut known, "git rebase origin/main", true, "error: could not apply");
        run(&mut known, "go test ./a", true, "FAIL");
        run(&mut known, "git rebase --continue", false, "");
        run(&mut known, "go test ./b", false, "");
        let open: Vec<_> = known.all.iter().map(|command| command.complaint.is_some()).collect();
        assert_eq!(open, [false, true, false, false]);
    }

    #[test]
    fn tests_are_distinguished_from_other_commands() {
        let mut known = KnownCommands::default();
        let said = "test result: FAILED. 3 passed; 1 failed; 0 ignored";
        run(&mut known, "cargo build -q && cargo test | tail -3 && git push origin x", false, said);
        let ends: Vec<_> = known.all.iter().map(|command| command.worked).collect();
        assert_eq!(ends, [Some(true), Some(false), None]);
        assert_eq!(known.all[1].tally.as_deref(), Some("3 passed, 1 failed"));
    }

    #[test]
    fn branches_are_found_in_git_commands() {
        let check = |line: &str, expected: &[&str]| {
            assert_eq!(branches(&commands(line)), expected, "{line}");
        };
        check("git checkout -b feat/load-line && ls a/b", &["feat/load-line"]);
        check("git push origin fix-the-thing", &["fix-the-thing"]);
        check("git diff src/main.rs", &[]);
    }
}
