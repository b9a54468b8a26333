//! Times `plimsoll rs` with a hundred thousand saves: the newest, and all kinds of searches.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use plimsoll_testbed::generator::SplitMix64;
use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;

use crate::gates::Gate;
use crate::percentiles::Percentiles;
use crate::section::PartResults;
use crate::table::{percentile_table, with_title};

const SAVES: u64 = 100_000;
const WORDS: usize = 8_000;
const ROUNDS: usize = 5;
const ENVIRONMENTS: [&str; 3] = ["development", "staging", "release"];

/// Timings of restoring, as whole processes.
#[derive(Debug, Serialize)]
pub(crate) struct RestoreTimings {
    saves: u64,
    /// Seconds to import all saves into a new store.
    taken_in_s: f64,
    newest: Percentiles,
    search: Percentiles,
}

/// Writes a journal of saves, imports it, and restores from it.
pub(crate) fn time_restores(plimsoll: &Path) -> anyhow::Result<RestoreTimings> {
    let home = TempDir::new().context("could not make a temporary folder")?;
    let words = vocabulary();
    write_journal(&home.path().join(".local/share/plimsoll"), &words)
        .context("could not write saves")?;
    let call = |arguments: &[&str]| run_timed(plimsoll, home.path(), arguments);
    let taken_in_s = call(&[])? / 1e3;
    let (mut newest, mut search) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for environment in ENVIRONMENTS {
            newest.push(call(&[environment, "--limit", "10"])?);
            for query in queries(&words) {
                search.push(call(&[environment, &query, "--limit", "10"])?);
            }
        }
    }
    let (newest, search) = (Percentiles::of(newest), Percentiles::of(search));
    Ok(RestoreTimings { saves: SAVES, taken_in_s, newest, search })
}

/// Returns words of two to four syllables.
fn vocabulary() -> Vec<String> {
    let mut random = SplitMix64::new(5);
    let mut one_of = |letters: &str| {
        let at = random.below(letters.len());
        letters[at..=at].to_owned()
    };
    let mut syllable = |at: usize| {
        let end = if at.is_multiple_of(2) { one_of("nrstlm") } else { String::new() };
        one_of("bcdfghjklmnprstvwz") + &one_of("aeiou") + &end
    };
    (0..WORDS).map(|at| (0..2 + at % 3).map(|part| syllable(at + part)).collect()).collect()
}

/// Writes saves whose word frequencies are as uneven as those of a natural language.
fn write_journal(folder: &Path, words: &[String]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut journal = BufWriter::new(File::create(folder.join("saves.jsonl"))?);
    let mut random = SplitMix64::new(7);
    for number in 0..SAVES {
        let mut word = || {
            let share = random.below(1_000_000) as f64 / 1e6;
            words[(words.len() as f64).powf(share) as usize - 1].as_str()
        };
        let mut text = |count: usize| {
            let words: Vec<&str> = (0..count).map(|_| word()).collect();
            words.join(" ")
        };
        // One environment has only a few saves.
        let environment = if number % 1000 == 7 { 2 } else { number as usize % 2 };
        let save = json!({
            "id": format!("{number:036}"),
            "created": number,
            "environment": ENVIRONMENTS[environment],
            "kind": if number % 4 == 0 { "auto" } else { "manual" },
            "task": text(8),
            "context": text(30),
            "next_steps": text(15),
            "tags": [text(1), format!("count-{}", number % 500)],
            "key_artifacts": [format!("src/{}/{}.rs", text(1), text(1)), text(2).replace(' ', "_")],
        });
        serde_json::to_writer(&mut journal, &save)?;
        journal.write_all(b"\n")?;
    }
    journal.flush()
}

/// Returns queries with frequent and rare words, several words, a path, an identifier, a partial
/// word and a misspelt word.
fn queries(words: &[String]) -> Vec<String> {
    let word = |at: usize| words[at].as_str();
    let mut misspelt = word(6_002).to_owned();
    let last = misspelt.pop().unwrap_or('x');
    misspelt.insert(misspelt.len() - 1, last);
    vec![
        word(0).to_owned(),
        word(30).to_owned(),
        word(500).to_owned(),
        word(5_000).to_owned(),
        format!("{} {}", word(3), word(700)),
        format!("{} {} {}", word(0), word(1), word(40)),
        format!("src/{}", word(100)),
        format!("{}_{}", word(20), word(9)),
        word(902)[1..].to_owned(),
        word(60)[..4].to_owned(),
        misspelt,
        "count-77".to_owned(),
    ]
}

fn run_timed(plimsoll: &Path, home: &Path, arguments: &[&str]) -> anyhow::Result<f64> {
    let mut command = Command::new(plimsoll);
    command.arg("rs").args(arguments).arg("--json").env_clear().env("HOME", home);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let output = command.output().context("could not start `plimsoll rs`")?;
    ensure!(output.status.success(), "`plimsoll rs` failed: {}", output.status);
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

impl PartResults for RestoreTimings {
    const ABOUT: &'static str =
        "`plimsoll rs` as a whole process, for the newest save and for searches of every kind.";

    fn tables(&self) -> String {
        let RestoreTimings { saves, taken_in_s, newest, search } = self;
        let title = format!("{saves} saves, taken in within {taken_in_s:.0} s");
        with_title(
            &title,
            &percentile_table("`plimsoll rs`", [("newest", newest), ("search", search)]),
        )
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let gate = |(what, spread): (&str, &Percentiles)| {
            let promise = format!("p95 of `rs`, {what}, in {} saves < 20 ms", self.saves);
            Gate::new(promise, format!("{:.1} ms", spread.p95_ms), spread.p95_ms < 20.0)
        };
        Ok([("newest", &self.newest), ("search", &self.search)].map(gate).into())
    }
}
