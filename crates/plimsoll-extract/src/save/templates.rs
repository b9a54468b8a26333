//! The texts of saves for commits, test runs and nearly full windows.

use plimsoll_core::Tokens;

use super::{NewSave, SaveEnvironment, SaveKind};

/// Length of an abbreviated hash.
const SHORT: usize = 8;

#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    pub sha: &'a str,
    pub message: &'a str,
    pub branch: &'a str,
    /// Number of changed files.
    pub files: u64,
}

#[derive(Clone, Debug, Default)]
pub struct TestRun<'a> {
    pub passed: bool,
    /// Number of tests; `None` if unknown.
    pub count: Option<u64>,
    /// Number of failures.
    pub failed: u64,
    /// Duration.
    pub seconds: f64,
    /// The command line.
    pub command: Option<&'a str>,
    /// Names of failed tests, as far as known.
    pub names: &'a [String],
}

/// A nearly full context window.
#[derive(Clone, Copy, Debug)]
pub struct NearlyFullWindow {
    pub used: Tokens,
    /// Size of the window.
    pub window: Tokens,
}

/// Returns the save for a commit.
pub fn commit_save(environment: SaveEnvironment, commit: &Commit<'_>) -> NewSave {
    let Commit { sha, message, branch, files } = *commit;
    let (short, subject) = (short_sha(sha), first(message.lines().next().unwrap_or_default(), 80));
    NewSave {
        environment,
        kind: SaveKind::Commit,
        task: format!("Commit: {subject}"),
        context: Some(format!("Branch: {branch}, SHA: {short}, Files: {files}")),
        tags: vec!["git-commit".to_owned(), branch.to_owned(), short],
        // The full hash, so that any prefix of it finds the save.
        key_artifacts: vec![sha.to_owned()],
        commit: Some(sha.to_owned()),
        ..NewSave::default()
    }
}

/// Returns the save for a test run.
pub fn test_run_save(environment: SaveEnvironment, run: &TestRun<'_>) -> NewSave {
    let TestRun { passed, count, failed, seconds, command, names } = run;
    let came_to = if *passed { "tests-passed" } else { "tests-failed" };
    let (task, figure) = match (passed, count) {
        (true, Some(count)) => (
            format!("Tests passed: {count} tests in {seconds:.1}s"),
            Some(format!("count-{count}")),
        ),
        (false, Some(count)) => {
            (format!("Tests failed: {failed}/{count} failed"), Some(format!("failed-{failed}")))
        }
        (true, None) => (format!("Tests passed in {seconds:.1}s: how many is not known"), None),
        (false, None) => ("Tests failed: how many is not known".to_owned(), None),
    };
    NewSave {
        environment,
        kind: SaveKind::Tests,
        task,
        context: command.map(|command| format!("Command: {command}")),
        blockers: (!names.is_empty()).then(|| format!("Failed: {}", names.join(", "))),
        tags: std::iter::once(came_to.to_owned()).chain(figure).collect(),
        ..NewSave::default()
    }
}

/// Returns the save for a nearly full window without further details.
pub fn full_window_save(environment: SaveEnvironment, full: NearlyFullWindow) -> NewSave {
    let NearlyFullWindow { used, window } = full;
    let percent = full.percent();
    NewSave {
        environment,
        kind: SaveKind::Auto,
        task: format!("[Auto-save at {percent:.0}% context]"),
        context: Some(format!("Automatic save triggered at {used}/{window} tokens")),
        next_steps: Some("Continue from auto-save point".to_owned()),
        tags: vec!["auto-save".to_owned(), format!("tokens-{used}")],
        ..NewSave::default()
    }
}

/// Returns the command that restores the newest save of an environment.
pub fn restart_command(environment: &SaveEnvironment) -> String {
    format!("rs {environment}")
}

/// Returns the message shown after saving a nearly full window.
pub fn saved_message(environment: &SaveEnvironment) -> String {
    format!("Session saved. Run '{}' to continue.", restart_command(environment))
}

/// Abbreviates a commit hash.
pub fn short_sha(sha: &str) -> String {
    first(sha, SHORT)
}

impl NearlyFullWindow {
    /// Returns the fill level in percent.
    pub fn percent(self) -> f64 {
        self.used as f64 / self.window as f64 * 100.0
    }
}

fn first(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> SaveEnvironment {
        SaveEnvironment::default()
    }

    #[test]
    fn commits_are_named_by_their_first_line() {
        let message = format!("{}\n\nbody", "é".repeat(100));
        let sha = "0123456789abcdef0123456789abcdef01234567";
        let save = commit_save(
            environment(),
            &Commit { sha, message: &message, branch: "main", files: 3 },
        );
        assert_eq!(save.task, format!("Commit: {}", "é".repeat(80)));
        assert_eq!(save.context.as_deref(), Some("Branch: main, SHA: 01234567, Files: 3"));
        assert_eq!(save.tags, ["git-commit", "main", "01234567"]);
        assert_eq!(save.commit.as_deref(), Some(sha));
    }

    #[test]
    fn test_runs_are_described_by_their_counts() {
        let run = TestRun { passed: true, count: Some(12), seconds: 1.24, ..TestRun::default() };
        let save = super::test_run_save(environment(), &run);
        assert_eq!(save.task, "Tests passed: 12 tests in 1.2s");
        assert_eq!(save.tags, ["tests-passed", "count-12"]);
        assert_eq!((save.context, save.blockers), (None, None));
        let names = ["a::b".to_owned(), "c".to_owned()];
        let run = TestRun {
            count: Some(12),
            failed: 2,
            command: Some("cargo test"),
            names: &names,
            ..TestRun::default()
        };
        let save = super::test_run_save(environment(), &run);
        assert_eq!(save.task, "Tests failed: 2/12 failed");
        assert_eq!(save.tags, ["tests-failed", "failed-2"]);
        assert_eq!(save.context.as_deref(), Some("Command: cargo test"));
        assert_eq!(save.blockers.as_deref(), Some("Failed: a::b, c"));
        let save =
            super::test_run_save(environment(), &TestRun { seconds: 3.0, ..TestRun::default() });
        assert_eq!(save.task, "Tests failed: how many is not known");
        assert_eq!(save.tags, ["tests-failed"]);
    }

    #[test]
    fn full_windows_are_described_by_their_fill_level() {
        let save =
            full_window_save(environment(), NearlyFullWindow { used: 170_000, window: 200_000 });
        assert_eq!(save.task, "[Auto-save at 85% context]");
        assert_eq!(
            save.context.as_deref(),
            Some("Automatic save triggered at 170000/200000 tokens")
        );
        assert_eq!(save.next_steps.as_deref(), Some("Continue from auto-save point"));
        assert_eq!(save.tags, ["auto-save", "tokens-170000"]);
        assert_eq!(
            saved_message(&save.environment),
            "Session saved. Run 'rs development' to continue."
        );
    }
}
