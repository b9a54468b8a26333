//! A reading from the tail equals the reading of a full scan, wherever a transcript ends.

use std::fs::File;
use std::path::{Path, PathBuf};

use plimsoll_agents::claude_code::ClaudeCode;
use plimsoll_core::reading::{Reading, Scope};
use plimsoll_core::weight;
use plimsoll_engine::jsonl::JsonLines;
use plimsoll_engine::{reading, tail};
use plimsoll_testbed::generator::{self, Ending, GeneratorOptions, Layout};

const FIXTURES: &str = "../plimsoll-agents/fixtures/claude-code/transcripts";

#[test]
fn every_captured_transcript_reads_the_same_from_either_end_wherever_it_is_cut() {
    let fixtures = fixtures();
    std::thread::scope(|threads| {
        for half in 0..2 {
            let own = fixtures.iter().skip(half).step_by(2);
            threads.spawn(|| own.for_each(|(path, scope)| Cuts::of(path, *scope).check_bytes()));
        }
    });
}

#[test]
fn generated_transcripts_read_the_same_from_either_end() {
    for seed in 1..=4 {
        for layout in [Layout::Separate, Layout::Inline] {
            for ending in [Ending::Complete, Ending::Trap(60)] {
                // With a wanted reading, the transcript ends in a manual compaction; without one,
                // in automatic ones.
                for prompt_tokens in [None, Some(30_000)] {
                    let options = GeneratorOptions {
                        size: 300_000,
                        seed,
                        layout,
                        ending,
                        prompt_tokens,
                        ..GeneratorOptions::default()
                    };
                    Cuts::generated(&options).check_lines();
                }
            }
        }
    }
}

#[test]
fn a_generated_transcript_with_many_compactions_reads_the_same_from_either_end() {
    let options = GeneratorOptions { size: 8_000_000, ..GeneratorOptions::default() };
    let cuts = Cuts::generated(&options);
    let compactions = memmem(&cuts.bytes, b"\"compact_boundary\"");
    assert!(!compactions.is_empty(), "{} compactions", compactions.len());
    for at in compactions {
        // The two readings could differ around compactions.
        cuts.check_near(at, 12);
    }
}

/// Lists the transcripts captured from the client, with their scope.
fn fixtures() -> Vec<(PathBuf, Scope)> {
    let mut found = Vec::new();
    for entry in entries(Path::new(FIXTURES)) {
        let inside = if entry.is_dir() { entries(&entry) } else { Vec::new() };
        found.extend(inside.into_iter().map(|path| (path, Scope::Subagent)));
        found.push((entry, Scope::Main));
    }
    found.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "jsonl"));
    let of = |scope| found.iter().filter(|(_, found)| *found == scope).count();
    assert!(of(Scope::Main) >= 23 && of(Scope::Subagent) >= 3, "{found:?}");
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("the fixtures are there");
    entries.map(|entry| entry.expect("the fixtures can be listed").path()).collect()
}

fn memmem(bytes: &[u8], needle: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|at| bytes[*at..].starts_with(needle)).collect()
}

/// A transcript that is cut shorter and shorter.
struct Cuts {
    name: String,
    scope: Scope,
    bytes: Vec<u8>,
    folder: tempfile::TempDir,
}

impl Cuts {
    fn new(name: String, scope: Scope, bytes: Vec<u8>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("cut.jsonl"), &bytes).expect("a copy");
        Self { name, scope, bytes, folder }
    }

    fn of(path: &Path, scope: Scope) -> Self {
        let bytes = std::fs::read(path).expect("the fixture can be read");
        Self::new(path.display().to_string(), scope, bytes)
    }

    fn generated(options: &GeneratorOptions) -> Self {
        let mut bytes = Vec::new();
        generator::write(&mut bytes, options).expect("memory takes it all");
        Self::new(format!("{options:?}"), Scope::Main, bytes)
    }

    /// Cuts after every line, with and without its newline.
    fn check_lines(&self) {
        let mut cuts: Vec<usize> = self.line_ends().flat_map(|end| [end, end - 1]).collect();
        cuts.push(self.bytes.len());
        self.check_cuts(cuts);
    }

    /// Cuts after every byte. A scan depends only on the complete lines before the cut, so there is
    /// one scan for each of them, and one where only the newline is missing.
    fn check_bytes(&self) {
        let path = self.folder.path().join("cut.jsonl");
        let file = File::options().write(true).open(&path).expect("our own file");
        let mut scanned: Option<(usize, Option<Reading>)> = None;
        for cut in (0..=self.bytes.len()).rev() {
            file.set_len(cut as u64).expect("our own file");
            let whole =
                self.bytes[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let lacks_newline = self.bytes.get(cut) == Some(&b'\n');
            let key = if lacks_newline { cut } else { whole };
            if scanned.as_ref().is_none_or(|(scanned, _)| *scanned != key) {
                scanned = Some((key, scan(&path, self.scope)));
            }
            let expected = scanned.as_ref().and_then(|(_, reading)| reading.clone());
            let cut = format!("{} cut at {cut} of {}", self.name, self.bytes.len());
            check(&path, self.scope, &expected, &cut);
        }
    }

    /// Cuts after each of the `lines` on both sides of the byte `at`.
    fn check_near(&self, at: usize, lines: usize) {
        let ends: Vec<usize> = self.line_ends().collect();
        let here = ends.partition_point(|end| *end <= at);
        let near = here.saturating_sub(lines)..(here + lines).min(ends.len());
        self.check_cuts(ends[near].to_vec());
    }

    fn check_cuts(&self, mut cuts: Vec<usize>) {
        cuts.sort_unstable();
        let path = self.folder.path().join("cut.jsonl");
        let file = File::options().write(true).open(&path).expect("our own file");
        std::fs::write(&path, &self.bytes).expect("our own file");
        // From longest to shortest, the file only needs truncating.
        for cut in cuts.into_iter().rev() {
            file.set_len(cut as u64).expect("our own file");
            let cut = format!("{} cut at {cut} of {}", self.name, self.bytes.len());
            check(&path, self.scope, &scan(&path, self.scope), &cut);
        }
    }

    /// Returns the offset after each newline.
    fn line_ends(&self) -> impl Iterator<Item = usize> {
        let newlines = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        newlines.map(|(at, _)| at + 1)
    }
}

fn scan(path: &Path, scope: Scope) -> Option<Reading> {
    let file = JsonLines::open(path).expect("it can be opened").expect("it is there");
    reading::scan(&ClaudeCode, &file, scope).expect("it can be read").reading()
}

/// Checks that the reading from the tail equals that of a full scan and is not above the bound that
/// looking back gives: a hook that decides by the bound must not miss anything.
#[track_caller]
fn check(path: &Path, scope: Scope, expected: &Option<Reading>, cut: &str) {
    let file = JsonLines::open(path).expect("it can be opened").expect("it is there");
    let found = tail::look_back(&ClaudeCode, &file, scope).expect("it can be read");
    let tail = reading::take(&ClaudeCode, &file, scope, &found).expect("it can be read");
    assert_eq!(tail, *expected, "{cut}");
    if let (Some(tail), Some(newest), true) = (tail, &found.newest, found.is_counted()) {
        let at_most = newest.tokens + weight::at_most(found.bytes_since);
        assert!(tail.used <= at_most, "{cut}: {} is more than {at_most}", tail.used);
    }
}
