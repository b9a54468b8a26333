//! Output of agents, stored in files of their run.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use plimsoll_core::policy::is_plain;
use plimsoll_core::run::RunId;
use plimsoll_engine::paths::Paths;
use plimsoll_extract::redact::redact;

use super::files::RunFiles;

/// The end of an agent's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputTail {
    /// File with the complete output.
    pub file: PathBuf,
    /// The last lines, without secrets and control characters.
    pub lines: Vec<String>,
}

/// Returns the non-empty output files of a session: stdout, then stderr if it is stored.
pub fn output_files(paths: &Paths, run: &RunId, job: u32, leg: u32) -> Vec<PathBuf> {
    let files = RunFiles::of(paths, run);
    let holds = |file: &PathBuf| file.metadata().is_ok_and(|metadata| metadata.len() > 0);
    [files.stdout(job, leg), files.stderr(job, leg)].into_iter().filter(holds).collect()
}

/// Returns the end of a session's stderr, or of its stdout if stderr is empty.
pub fn output_tail(paths: &Paths, run: &RunId, job: u32, leg: u32) -> Option<OutputTail> {
    let files = output_files(paths, run, job, leg).into_iter().rev();
    let mut words =
        files.map(|file| OutputTail { lines: last_lines(&file).unwrap_or_default(), file });
    words.find(|words| !words.lines.is_empty())
}

/// Returns the last non-empty lines of a file, each shortened.
fn last_lines(file: &Path) -> Option<Vec<String>> {
    const TAIL: u64 = 4 << 10;
    const LONGEST: usize = 300;
    const MOST: usize = 8;
    let mut file = File::open(file).ok()?;
    let skipped = file.metadata().ok()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(skipped)).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let tail = redact(&String::from_utf8_lossy(&tail)).into_owned();
    // The tail may begin within a line, and half a secret would not be redacted.
    let whole = tail.lines().skip(usize::from(skipped > 0 && tail.contains('\n')));
    let lines: Vec<&str> = whole.map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MOST)..];
    let plain = |line: &str| line.chars().filter(|it| is_plain(*it)).take(LONGEST).collect();
    Some(last.iter().map(|line| plain(line)).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("1-1.out");
        fs::write(&file, text).unwrap();
        assert_eq!(last_lines(&file).unwrap(), expected);
    }

    #[test]
    fn the_tail_has_no_empty_lines_and_no_secrets() {
        check("", &[]);
        check("one\n\n  two  \n\n", &["one", "  two"]);
        check("\u{1b}[31mred\u{1b}[0m\n", &["[31mred[0m"]);
        check(
            "key sk-ant-api03-8Fk2mNq7RtYw3XzB5cVd9LpJ1hGsQ4uE\n",
            &["key [redacted:anthropic-key]"],
        );
        let many: String = (1..=5_000).map(|number| format!("line {number}\n")).collect();
        let last: Vec<String> = (4_993..=5_000).map(|number| format!("line {number}")).collect();
        check(&many, &last.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
