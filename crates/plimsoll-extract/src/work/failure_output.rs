//! Decides from a command's output whether the command failed, if its exit code is unknown.

use plimsoll_core::bytes;

/// Programs that show the output of others.
const SHOWING: &[&str] =
    &["curl", "docker", "gh", "glab", "journalctl", "kubectl", "psql", "sqlite3", "ssh"];

/// Starts of lines that report a failure.
const STARTS: &[&str] = &[
    "error:",
    "error[",
    "Error:",
    "ERROR:",
    "ERROR in ",
    "[ERROR]",
    "FAILED",
    "FAILURE:",
    "BUILD FAILED",
    "npm ERR!",
    "npm error",
    "Traceback (most recent call last)",
    "fatal:",
    "make: ***",
];

/// Parts of such lines, as compilers write them after the position.
const WITHIN: &[&str] = &[": error:", ": error TS", ": fatal error:", "]: *** ["];

/// Returns whether the output of this program reports a failure. For `git`, only `fatal:` counts,
/// because most of its output is quoted content.
pub(super) fn reports_failure(program: &str, said: &str) -> bool {
    match program {
        "git" => bytes::lines(said).any(|line| line.starts_with("fatal:")),
        _ if SHOWING.contains(&program) => false,
        _ => {
            let within =
                WITHIN.iter().any(|part| bytes::contains(part.as_bytes(), said.as_bytes()));
            bytes::lines(said)
                .map(plain)
                .any(|line| (within || may_start(line)) && is_failure(line))
        }
    }
}

/// Returns whether a line may start with a failure report: most lines do not.
fn may_start(line: &str) -> bool {
    matches!(
        line.as_bytes().first(),
        Some(b'e' | b'E' | b'[' | b'F' | b'B' | b'n' | b'T' | b'f' | b'm')
    )
}

/// Strips the color codes at the start of a line.
fn plain(line: &str) -> &str {
    let colour = line.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m'));
    colour.map_or(line, |(_, rest)| plain(rest)).trim_start()
}

fn is_failure(line: &str) -> bool {
    let start = STARTS.iter().find_map(|start| line.strip_prefix(start));
    match start {
        // `FAILED: 0` is not a failure.
        Some(rest) => !rest.trim_start_matches([':', '=', ' ', '\t']).starts_with('0'),
        None => WITHIN.iter().any(|part| line.contains(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn may_start_covers_every_start() {
        assert!(STARTS.iter().all(|start| may_start(start)));
    }

    #[test]
    fn failures_are_distinguished_from_successes_and_shown_text() {
        for (program, said) in [
            ("cargo", "warning: x\nerror: could not compile `a` (lib)"),
            ("cargo", "\u{1b}[1m\u{1b}[31merror[E0308]\u{1b}[0m: mismatched types"),
            ("npm", "ERROR in ./src/a.ts\nModule not found"),
            ("npm", "npm ERR! code 1"),
            ("tsc", "src/a.ts(3,4): error TS2322: Type 'a'"),
            ("make", "a.c:1:2: error: expected ';'\nmake[1]: *** [a.o] Error 1"),
            ("python", "Traceback (most recent call last):\n  File"),
            ("git", "fatal: not a git repository"),
        ] {
            assert!(reports_failure(program, said), "{said}");
        }
        for (program, said) in [
            ("npm", "0 errors, 2 warnings\nFAILED: 0"),
            ("cargo", "Finished in 2s; no error: all fine"),
            ("git", "error: this stands in a file"),
            ("gh", "error: this stands in a log"),
        ] {
            assert!(!reports_failure(program, said), "{said}");
        }
    }
}
