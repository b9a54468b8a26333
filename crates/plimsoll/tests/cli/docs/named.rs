//! Where a document says that a test shows something, there is a test of that name; and what no test of
//! behaviour can show, the manifests say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{files, root};

/// The documents, and how many tests each names at least.
const DOCUMENTS: [(&str, usize); 2] = [("docs/seeds.md", 100), ("SECURITY.md", 50)];

/// What the documents call a suite, and where it lies.
const SUITES: [(&str, &str); 12] = [
    ("cli", "crates/plimsoll/tests/cli"),
    ("claude", "crates/plimsoll/tests/claude"),
    ("browser", "crates/plimsoll/tests/browser"),
    ("binary", "crates/plimsoll/src"),
    ("core", "crates/plimsoll-core"),
    ("extract", "crates/plimsoll-extract"),
    ("agents", "crates/plimsoll-agents"),
    ("store", "crates/plimsoll-store"),
    ("engine", "crates/plimsoll-engine"),
    ("runner", "crates/plimsoll-runner"),
    ("server", "crates/plimsoll-server"),
    ("testbed", "crates/plimsoll-testbed"),
];

/// The tests that a text names: the word for a suite, then names in backticks, one after the other.
fn named(text: &str) -> BTreeSet<(&'static str, &str)> {
    let pieces: Vec<&str> = text.split('`').collect();
    let mut found = BTreeSet::new();
    let mut suite = None;
    for pair in pieces.chunks_exact(2) {
        let (before, name) = (pair[0], pair[1]);
        let last = before.split_whitespace().next_back().unwrap_or_default();
        let last = last.trim_start_matches(['(', '|']);
        let goes_on = matches!(before.trim(), "," | "and" | ", and");
        let said = SUITES.iter().find(|(known, _)| *known == last).map(|(known, _)| *known);
        suite = said.or(suite.filter(|_| goes_on));
        found.extend(suite.map(|suite| (suite, name)));
    }
    found
}

/// The tests of a suite.
fn tests(folder: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files(&root().join(folder), "rs") {
        let text = fs::read_to_string(file).unwrap();
        let mut is_test = false;
        for line in text.lines().map(str::trim_start) {
            let name = line.strip_prefix("fn ").and_then(|rest| rest.split_once('('));
            if let Some((name, _)) = name.filter(|_| is_test) {
                found.insert(name.to_owned());
                is_test = false;
            }
            is_test |= line == "#[test]";
        }
    }
    found
}

/// Whether a word is a sentence, as only tests are called.
fn is_sentence(word: &str) -> bool {
    let letters = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    word.matches('_').count() >= 4 && word.chars().all(letters)
}

#[test]
fn every_test_that_a_document_names_is_there() {
    for (document, least) in DOCUMENTS {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let named = named(&text);
        for (suite, folder) in SUITES {
            let tests = tests(folder);
            for (_, name) in named.iter().filter(|(of, _)| *of == suite) {
                assert!(tests.contains(*name), "{document}: {suite} has no test `{name}`");
            }
        }
        let is_named = |name: &str| named.iter().any(|(_, known)| *known == name);
        let loose = text.split('`').skip(1).step_by(2).find(|it| is_sentence(it) && !is_named(it));
        assert_eq!(loose, None, "{document}: which suite is it in?");
        assert!(named.len() >= least, "{document} names {} tests", named.len());
    }
}

#[test]
fn unsafe_code_is_forbidden_in_every_crate() {
    let says = |path: &Path, words: &str| fs::read_to_string(path).unwrap().contains(words);
    assert!(says(&root().join("Cargo.toml"), "unsafe_code = \"forbid\""));
    let crates = root().join("crates").read_dir().unwrap();
    for manifest in crates.map(|entry| entry.unwrap().path().join("Cargo.toml")) {
        assert!(says(&manifest, "[lints]\nworkspace = true"), "{}", manifest.display());
    }
}
