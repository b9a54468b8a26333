//! Recognizes breakpoints of the work: commits and test runs.
//!
//! Matches a command and its output by hand, without regular expressions, because this runs in
//! hooks.

mod runner;
mod tally;

pub use tally::{Tally, tally};

use crate::shell::{self, Command};

/// A moment at which the work is in a known state, good or bad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breakpoint {
    Commit {
        /// The abbreviated hash as git prints it; `None` if git printed nothing.
        sha: Option<String>,
        /// The first line of the message.
        message: Option<String>,
        /// `None` if git did not print the branch.
        branch: Option<String>,
        /// The number of changed files; `None` if git did not print it.
        files: Option<u32>,
    },
    /// A test run that completed.
    Tests {
        passed: bool,
        /// The number of tests that ran.
        count: Option<u32>,
        failed: Option<u32>,
    },
}

/// Returns the breakpoint that a command line reached, judged by its exit status and output. A
/// commit takes precedence over tests in the same line.
pub fn of(line: &str, failed: bool, output: &str) -> Option<Breakpoint> {
    let commands = shell::commands(line);
    commit(line, &commands, failed, output).or_else(|| tests(&commands, failed, output))
}

/// Words of which every breakpoint's command line contains at least one.
const TELLING: [&str; 16] = [
    "test", "commit", "check", "verify", "spec", "jest", "phpunit", "mocha", "karma", "nose2",
    "tox", "nox", "behave", "ava", "busted", "pest",
];

/// Returns whether a command line can be a breakpoint. This cheap check comes before anything reads
/// the output.
pub fn may_be(line: &str) -> bool {
    line.as_bytes().windows(3).any(begins_telling) && TELLING.iter().any(|word| line.contains(word))
}

/// Returns whether one of these words starts with `bytes`. Rejects most command lines in one pass.
fn begins_telling(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        b"tes"
            | b"com"
            | b"che"
            | b"ver"
            | b"spe"
            | b"jes"
            | b"php"
            | b"moc"
            | b"kar"
            | b"nos"
            | b"tox"
            | b"nox"
            | b"beh"
            | b"ava"
            | b"bus"
            | b"pes"
    )
}

/// Returns whether a command runs tests.
pub fn runs_tests(command: &Command) -> bool {
    runner::runs_tests(&command.words)
}

/// Returns whether a program does nothing but run tests.
pub fn is_runner(program: &str) -> bool {
    runner::RUNNERS.contains(&program)
}

fn commit(line: &str, commands: &[Command], failed: bool, output: &str) -> Option<Breakpoint> {
    let words = commands.iter().find_map(|command| committing(&command.words))?;
    let shown = output.lines().find_map(shown_commit);
    // The exit code belongs to the whole line: if git printed a commit, the commit exists, even if
    // something failed after it.
    if let Some((branch, sha, subject)) = shown {
        return Some(Breakpoint::Commit {
            sha: Some(sha.to_owned()),
            message: Some(subject.to_owned()),
            branch: Some(branch.to_owned()),
            files: output.lines().find_map(files_changed),
        });
    }
    const NOTHING: [&str; 4] =
        ["nothing to commit", "nothing added to commit", "no changes added", "Aborting commit"];
    let refused = failed || NOTHING.iter().any(|words| output.contains(words));
    let message = || message(line, words);
    (!refused).then(|| Breakpoint::Commit {
        sha: None,
        message: message(),
        branch: None,
        files: None,
    })
}

/// Returns the arguments of `git commit`, if the command is one.
fn committing(words: &[String]) -> Option<&[String]> {
    if words.first().is_none_or(|program| program != "git") {
        return None;
    }
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "-C" | "-c" => at += 2,
            "commit" => break,
            flag if flag.starts_with('-') => at += 1,
            _ => return None,
        }
    }
    let rest = words.get(at + 1..)?;
    (!rest.iter().any(|word| matches!(word.as_str(), "--dry-run" | "--help" | "-h")))
        .then_some(rest)
}

/// Parses `[main 1a2b3c4] message` into branch, hash and subject. Ignores git's note between branch
/// and hash.
fn shown_commit(line: &str) -> Option<(&str, &str, &str)> {
    let (inside, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
    let (branch, sha) = inside.rsplit_once(' ')?;
    let branch = branch.split(" (").next().unwrap_or_default();
    let is_sha = (7..=40).contains(&sha.len()) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sha.then(|| (branch, sha, subject.trim()))
}

/// Parses ` 4 files changed, 187 insertions(+)`.
fn files_changed(line: &str) -> Option<u32> {
    let (count, rest) = line.trim_start().split_once(" file")?;
    let changed = rest.trim_start_matches('s').starts_with(" changed");
    count.parse().ok().filter(|_| changed)
}

/// Returns the first line of the commit message in a command.
fn message(line: &str, words: &[String]) -> Option<String> {
    let given = words.iter().enumerate().find_map(|(at, word)| {
        let is_short = word.starts_with('-') && !word.starts_with("--") && word.ends_with('m');
        match is_short || word == "--message" {
            true => words.get(at + 1).map(String::as_str),
            false => word.strip_prefix("--message="),
        }
    })?;
    // The text of a here-document follows in the command line, after the line with `<<`.
    let text = match given.starts_with("$(cat <<") {
        true => line.split_once("<<")?.1.split_once('\n')?.1,
        false => given,
    };
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn tests(commands: &[Command], failed: bool, output: &str) -> Option<Breakpoint> {
    let last = commands.iter().rposition(runs_tests)?;
    let tally = tally(output);
    // The exit code belongs to the whole line: another command may have failed after the tests.
    let others = commands[last + 1..].iter().any(|command| !is_filter(&command.words));
    let told = tally.failed == Some(0) && others;
    let passed = !tally.is_bad() && (!failed || told);
    Some(Breakpoint::Tests { passed, count: tally.count(), failed: tally.failed })
}

/// Returns whether a command only filters the output of another.
fn is_filter(words: &[String]) -> bool {
    let program = words.first().map(String::as_str);
    matches!(program, Some("cat" | "grep" | "head" | "rg" | "sed" | "tail" | "tee"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_commit(line: &str, failed: bool, output: &str, expected: Option<(&str, &str)>) {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let expected = expected.map(|(sha, message)| (some(sha), some(message)));
        let told = of(line, failed, output).map(|breakpoint| match breakpoint {
            Breakpoint::Commit { sha, message, .. } => (sha, message),
            tests => panic!("{tests:?}"),
        });
        assert_eq!(told, expected, "{line}");
    }

    #[track_caller]
    fn check_tests(line: &str, failed: bool, output: &str, expected: (bool, u32, u32)) {
        let (passed, count, failures) = expected;
        let expected = Breakpoint::Tests { passed, count: Some(count), failed: Some(failures) };
        assert_eq!(of(line, failed, output), Some(expected), "{line}");
    }

    #[test]
    fn every_telling_word_is_seen() {
        for word in TELLING {
            assert!(may_be(&format!("run {word}")), "{word}");
        }
        assert!(!may_be("ls -la") && !may_be("cat compiler.rs verse"));
    }

    #[test]
    fn a_commit_is_known_by_what_git_showed() {
        let shown = "[next 4a91321a] feat(config): add a type\n 4 files changed, 187 insertions(+)";
        let commit = Some(("4a91321a", "feat(config): add a type"));
        check_commit("git add -A && git commit -m x", false, shown, commit);
        check_commit("git -C app -c user.name=a commit -am x && git push", true, shown, commit);
        let first = "[main (root-commit) 0123abc] first";
        check_commit("git commit -F -", false, first, Some(("0123abc", "first")));
    }

    #[test]
    fn a_commit_is_told_with_its_branch_and_size() {
        for (shown, branch, files) in [
            ("[a/b 4a91321a] x\n 4 files changed, 187 insertions(+)", "a/b", Some(4)),
            ("[main (root-commit) 0123abc] x\n 1 file changed, 1 insertion(+)", "main", Some(1)),
            ("[detached HEAD 0123abc] x", "detached HEAD", None),
        ] {
            let told = of("git commit -m x", false, shown);
            let Some(Breakpoint::Commit { branch: on, files: count, .. }) = told else { panic!() };
            assert_eq!((on.as_deref(), count), (Some(branch), files));
        }
    }

    #[test]
    fn a_commit_that_shows_nothing_has_the_message_it_was_given() {
        check_commit("git commit -qm 'fix: it'", false, "", Some(("", "fix: it")));
        let line = "git commit -q -m \"$(cat <<'EOF'\nfeat: \"quoted\"\n\nmore\nEOF\n)\"";
        check_commit(line, false, "", Some(("", "feat: \"quoted\"")));
        check_commit("git commit --amend --no-edit -q", false, "", Some(("", "")));
    }

    #[test]
    fn what_was_not_committed_is_no_commit() {
        check_commit("git commit -m x", true, "error: pathspec", None);
        check_commit(
            "git commit -m x || true",
            false,
            "nothing to commit, working tree clean",
            None,
        );
        check_commit("git commit --dry-run", false, "", None);
        check_commit("echo 'git commit -m x'", false, "", None);
        check_commit("git log --grep commit", false, "", None);
    }

    #[test]
    fn runs_of_tests_are_counted() {
        let cargo = "running 2 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\
                     running 3 tests\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured";
        check_tests("cargo test --all", true, cargo, (false, 5, 1));
        let nextest = "     Summary [   0.012s] 12 tests run: 12 passed, 0 skipped";
        check_tests("cargo +nightly nextest run -p a", false, nextest, (true, 12, 0));
        let pytest = "FAILED tests/a.py::test_x - assert\n==== 1 failed, 12 passed, 2 warnings in 1.20s ====";
        check_tests("uv run pytest -q", true, pytest, (false, 13, 1));
        let jest = "Test Suites: 2 passed, 2 total\nTests:       1 skipped, 12 passed, 13 total";
        check_tests("npx jest src", false, jest, (true, 12, 0));
        let vitest = " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 12 passed (13)";
        check_tests("pnpm exec vitest run", true, vitest, (false, 13, 1));
        let bun = " 99 pass\n 1 fail\n 212 expect() calls\nRan 100 tests across 3 files. [17.00ms]";
        check_tests("bun test 2>&1", true, bun, (false, 100, 1));
        let go = "--- PASS: TestA (0.00s)\n    --- PASS: TestA/b (0.00s)\n--- FAIL: TestC (0.01s)\nFAIL\nFAIL\tx/y\t0.1s";
        check_tests("go test -v ./...", true, go, (false, 2, 1));
    }

    #[test]
    fn a_pipe_that_hides_the_exit_code_hides_no_failure() {
        let tail = "FAIL\tentire.io/cli\t0.4s\nok  \tentire.io/cli/paths\t(cached)\nFAIL";
        let expected = Breakpoint::Tests { passed: false, count: None, failed: None };
        assert_eq!(of("go test ./... 2>&1 | tail -3", false, tail), Some(expected));
        let broken = "error[E0308]: mismatched types\nerror: could not compile `a` (lib test)";
        let expected = Breakpoint::Tests { passed: false, count: None, failed: None };
        assert_eq!(of("cargo test | tail", false, broken), Some(expected));
    }

    #[test]
    fn what_failed_after_the_tests_is_not_theirs() {
        let output = "test result: ok. 2 passed; 0 failed; 0 ignored\nerror: a lint";
        check_tests("cargo test && cargo clippy -- -D warnings", true, output, (true, 2, 0));
    }

    #[test]
    fn a_run_that_tells_no_counts_has_its_exit_code() {
        let run = |failed| of("make test", failed, "all fine");
        let tests = |passed| Some(Breakpoint::Tests { passed, count: None, failed: None });
        assert_eq!((run(false), run(true)), (tests(true), tests(false)));
    }

    #[test]
    fn other_commands_are_no_breakpoints() {
        for line in ["ls test", "cat tests/a.rs", "cargo build", "grep -rn 'cargo test' .", ""] {
            assert_eq!(of(line, false, "1 passed"), None, "{line}");
        }
    }
}
