//! Counts test results in the output of a test run.

use crate::bytes;

/// The number of passed and failed tests, as far as the output says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: Option<u32>,
    /// The number of failed tests, including errors.
    pub failed: Option<u32>,
    /// The names of the first failed tests.
    pub names: Vec<String>,
    total: Option<u32>,
    /// The output says in words that the run failed.
    broken: bool,
}

/// Counts the test results in the output of a run.
pub fn tally(output: &str) -> Tally {
    let mut tally = Tally::default();
    for line in bytes::lines(output) {
        let plain = trim(line);
        if !may_tell(plain) {
            continue;
        }
        if is_summary(plain) {
            tally.take(plain);
        } else if let Some(count) = tally.of_one(line) {
            *count = Some(count.unwrap_or(0) + 1);
        }
        tally.broken |= is_bad(plain);
        tally.name(plain);
    }
    let rest = tally.total.map(|total| total.saturating_sub(tally.failed.unwrap_or(0)));
    tally.passed = tally.passed.or(rest);
    if tally.passed.is_some() && !tally.broken {
        tally.failed = tally.failed.or(Some(0));
    }
    tally
}

impl Tally {
    /// Returns the number of tests that ran.
    pub fn count(&self) -> Option<u32> {
        match (self.passed, self.failed) {
            (None, None) => None,
            (passed, failed) => Some(passed.unwrap_or(0) + failed.unwrap_or(0)),
        }
    }

    /// Returns whether anything failed, by counts or by words.
    pub fn is_bad(&self) -> bool {
        self.broken || self.failed.is_some_and(|failed| failed > 0)
    }

    /// Formats the counts: `12 passed, 1 failed (name)`. `None` if the output has no counts.
    pub fn words(&self) -> Option<String> {
        let passed = self.passed.map(|count| format!("{count} passed"));
        let failed = self.failed.filter(|count| *count > 0 || passed.is_none());
        let names = match self.names.is_empty() {
            true => String::new(),
            false => format!(" ({})", self.names.join(", ")),
        };
        let failed = failed.map(|count| format!("{count} failed{names}"));
        let words: Vec<String> = passed.into_iter().chain(failed).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Adds the counts of a summary line. Each binary of a cargo run prints one; other runners
    /// print one for all, and the last one wins.
    fn take(&mut self, line: &str) {
        let counts = pairs(line);
        let of = |words: &[&str]| {
            let found = counts.iter().filter(|(word, _)| words.contains(&word.as_str()));
            found.map(|(_, count)| *count).reduce(u32::saturating_add)
        };
        let adds = line.starts_with("test result:");
        let note = |known: &mut Option<u32>, new: Option<u32>| match (*known, new) {
            (Some(before), Some(new)) if adds => *known = Some(before.saturating_add(new)),
            (_, Some(new)) => *known = Some(new),
            (_, None) => {}
        };
        note(&mut self.passed, of(&["passed", "pass", "passing"]));
        note(
            &mut self.failed,
            of(&["failed", "fail", "failing", "failure", "failures", "error", "errors"]),
        );
        note(&mut self.total, of(&["tests", "test", "examples", "example", "total", "run"]));
    }

    /// Returns the count that the line of a single test adds to. Indented lines are ignored: a Go
    /// test may contain other tests.
    fn of_one(&mut self, line: &str) -> Option<&mut Option<u32>> {
        if line.starts_with("--- PASS: ") {
            return Some(&mut self.passed);
        }
        line.starts_with("--- FAIL: ").then_some(&mut self.failed)
    }

    /// Records the name of a failed test, if the line names one.
    fn name(&mut self, line: &str) {
        const MOST: usize = 3;
        const LONGEST: usize = 80;
        if self.names.len() == MOST {
            return;
        }
        let Some(name) = failed_test(line) else { return };
        let name: String = name.trim().chars().take(LONGEST).collect();
        if !name.is_empty() && !self.names.contains(&name) {
            self.names.push(name);
        }
    }
}

/// Trims the decoration that runners print around a line.
fn trim(line: &str) -> &str {
    let is_drawn = |byte: &u8| matches!(byte, b'=' | b' ' | b'\t' | b'\r');
    let bytes = line.as_bytes();
    let from = bytes.iter().position(|byte| !is_drawn(byte)).unwrap_or(bytes.len());
    let to = bytes.iter().rposition(|byte| !is_drawn(byte)).map_or(from, |last| last + 1);
    &line[from..to]
}

/// Returns whether a line may contain test results, judged by its first byte. Most output does not.
fn may_tell(line: &str) -> bool {
    line.as_bytes().first().is_some_and(|first| {
        first.is_ascii_digit() || !first.is_ascii() || b"#(-FOPRSTemnt".contains(first)
    })
}

/// Returns whether a line summarizes a run.
fn is_summary(line: &str) -> bool {
    const STARTS: [&str; 10] = [
        "test result: ",
        "Summary [",
        "Tests: ",
        "Tests  ",
        "Tests run: ",
        "Passed! ",
        "Failed! ",
        "OK (",
        "Ran ",
        "FAILED (",
    ];
    const KEYS: [&str; 10] = [
        "passed", "failed", "pass", "fail", "passing", "failing", "tests", "test", "examples",
        "example",
    ];
    let mut words = line.split([' ', ',']).filter(|word| !word.is_empty());
    match (words.next(), words.next()) {
        (Some("#" | "ℹ"), Some("pass" | "fail")) => true,
        (Some(count), Some(key)) if count.parse::<u32>().is_ok() => KEYS.contains(&key),
        _ => STARTS.iter().any(|start| line.starts_with(start)),
    }
}

/// Parses the counts of a summary: `12 passed`, `Passed: 12`, `failures=1`, `# pass 12`.
fn pairs(line: &str) -> Vec<(String, u32)> {
    let line = line.replace('=', ": ");
    let words: Vec<&str> = line.split_whitespace().collect();
    let trimmed =
        |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
    let number = |word: &str| trimmed(word).parse::<u32>().ok();
    if let ["#" | "ℹ", key, count] = words[..] {
        return number(count).map(|count| (key.to_owned(), count)).into_iter().collect();
    }
    let mut pairs = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1);
        let follows = |word: &&&str| word.starts_with(|c: char| c.is_ascii_alphabetic());
        let ends = word.ends_with([',', '.', ';']);
        if let (Some(count), Some(key), false) = (number(word), next.filter(follows), ends) {
            pairs.push((trimmed(key), count));
        } else if let (true, Some(count)) = (word.ends_with(':'), next.and_then(|it| number(it))) {
            // In `12 tests run: 12 passed` the second count belongs to the word after it.
            if words.get(at + 2).is_none_or(|_| next.is_some_and(|it| it.ends_with([',', ')']))) {
                pairs.push((trimmed(word), count));
            }
        }
    }
    pairs
}

/// Returns whether a line says in words that a run failed.
fn is_bad(line: &str) -> bool {
    const STARTS: [&str; 11] = [
        "FAIL ",
        "FAIL\t",
        "FAILED (",
        "FAILURES!",
        "--- FAIL: ",
        "error: could not compile",
        "error: test failed",
        "error[E",
        "make: ***",
        "npm ERR!",
        "npm error",
    ];
    line == "FAIL" || STARTS.iter().any(|start| line.starts_with(start))
}

/// Returns the name of the failed test in a line.
fn failed_test(line: &str) -> Option<&str> {
    let after = |start: &str| line.strip_prefix(start);
    if let Some(rest) = after("--- FAIL: ") {
        return rest.split_whitespace().next();
    }
    if let Some(rest) = after("FAILED ").filter(|rest| rest.contains("::")) {
        return rest.split(" - ").next();
    }
    if let Some(rest) = after("test ") {
        return rest.strip_suffix(" ... FAILED");
    }
    if let Some(rest) = after("FAIL [") {
        return rest.split_whitespace().next_back();
    }
    if let Some(rest) = after("FAIL ").filter(|rest| rest.contains(" > ")) {
        return rest.split_once(" > ").map(|(_, name)| name);
    }
    let rest = after("(fail) ").or_else(|| after("● ").filter(|rest| rest.contains(" › ")))?;
    rest.split(" [").next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<&str>) {
        assert_eq!(tally(output).words().as_deref(), expected, "{output}");
    }

    #[test]
    fn every_runner_is_put_in_the_same_words() {
        check(
            "test work::a ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored",
            Some("3 passed, 1 failed (work::a)"),
        );
        check(
            "FAIL [   0.005s] core work::b\nSummary [ 0.1s] 4 tests run: 3 passed, 1 failed, 0 skipped",
            Some("3 passed, 1 failed (work::b)"),
        );
        check("FAILED t/a.py::test_x - E\n1 failed in 0.1s", Some("1 failed (t/a.py::test_x)"));
        check(
            "  ● suite › adds\nTests: 1 failed, 3 total",
            Some("2 passed, 1 failed (suite › adds)"),
        );
        check(
            " FAIL  a.test.ts > adds\n Tests  1 failed | 2 passed (3)",
            Some("2 passed, 1 failed (adds)"),
        );
        check("(fail) adds [0.1ms]\n 2 pass\n 1 fail", Some("2 passed, 1 failed (adds)"));
        check("--- FAIL: TestX (0.00s)\nFAIL\tpkg\t0.1s", Some("1 failed (TestX)"));
        check("12 passing (3s)\n1 failing", Some("12 passed, 1 failed"));
        check("# tests 3\n# pass 2\n# fail 1", Some("2 passed, 1 failed"));
        check("12 examples, 1 failure", Some("11 passed, 1 failed"));
        check("OK (12 tests, 30 assertions)", Some("12 passed"));
        check("Tests: 12, Assertions: 30, Failures: 1.", Some("11 passed, 1 failed"));
        check(
            "Passed!  - Failed:     0, Passed:    12, Skipped: 0, Total:    12",
            Some("12 passed"),
        );
        check("Tests run: 3, Failures: 1, Errors: 0, Skipped: 0", Some("2 passed, 1 failed"));
        check("Ran 3 tests in 0.1s\n\nFAILED (failures=1, errors=1)", Some("1 passed, 2 failed"));
        check("100% tests passed, 0 tests failed out of 12", None);
    }

    #[test]
    fn other_words_are_no_counts() {
        check("3 errors found in the log\nprocessed 12 files", None);
        check("ok  \tpkg\t0.1s", None);
        assert!(!tally("ok  \tpkg\t0.1s").is_bad());
    }
}
