//! Runs every stored input through its target again.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "a test says which input it was at")]

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_fuzz::{TARGETS, Target, find};

fn inputs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort_unstable();
    paths
}

fn replay(target: &Target) {
    let [corpus, crashes] = target.folders().map(|folder| inputs(&folder));
    assert!(!corpus.is_empty(), "`{}` has no corpus", target.name);
    for path in corpus.iter().chain(&crashes) {
        // A failing test shows the input that it failed on.
        eprintln!("{}", path.display());
        (target.run)(&fs::read(path).unwrap());
    }
}

#[test]
fn hook() {
    replay(find("hook").unwrap());
}

#[test]
fn transcript() {
    replay(find("transcript").unwrap());
}

#[test]
fn front_matter() {
    replay(find("front_matter").unwrap());
}

#[test]
fn config() {
    replay(find("config").unwrap());
}

#[test]
fn settings() {
    replay(find("settings").unwrap());
}

#[test]
fn http() {
    replay(find("http").unwrap());
}

#[test]
fn board() {
    replay(find("board").unwrap());
}

#[test]
fn tasks() {
    replay(find("tasks").unwrap());
}

#[test]
fn journal() {
    replay(find("journal").unwrap());
}

#[test]
fn redact() {
    replay(find("redact").unwrap());
}

#[test]
fn fence() {
    replay(find("fence").unwrap());
}

#[test]
fn spool() {
    replay(find("spool").unwrap());
}

#[test]
fn words() {
    replay(find("words").unwrap());
}

#[test]
fn every_target_accepts_the_inputs_of_all_others() {
    for target in &TARGETS {
        let [corpus, crashes] = target.folders().map(|folder| inputs(&folder));
        for path in corpus.iter().chain(&crashes) {
            let input = fs::read(path).unwrap();
            TARGETS
                .iter()
                .filter(|other| other.name != "http")
                .for_each(|other| (other.run)(&input));
        }
    }
}
