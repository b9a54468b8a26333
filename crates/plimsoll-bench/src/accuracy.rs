//! Measures how well readings predict the next prompt size, on real transcripts.
//!
//! `occupancy_eval.py` scores the predictions: it runs the command on copies cut right before a
//! call. The projects form two fixed halves, so that rates fitted on one half can be checked on the
//! other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde::Serialize;

use crate::bench_env::BenchEnv;
use crate::competitors;
use crate::gates::{Gate, at_most};
use crate::section::PartResults;
use crate::table::table;

/// Scores of the predictions.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Accuracy {
    /// One score for all projects, one per half, and one for the first calls after a compaction.
    scores: Vec<Score>,
    /// Name of the first prerequisite missing on this machine. If set, there are no scores.
    missing: Option<&'static str>,
}

/// Prediction error over a set of calls, relative to the true prompt size.
#[derive(Debug, PartialEq, Serialize)]
struct Score {
    name: String,
    calls: String,
    median: String,
    p95: String,
    p99: String,
    within_1_percent: String,
    within_5_percent: String,
    unanswered: String,
}

const TRANSCRIPTS: &str = "transcripts/claude-code";
const JUDGE: &str = "occupancy_eval.py";
/// Names of the two scores that gates refer to.
const ALL: &str = "all projects";
const COMPACTED: &str = "first call after a compaction";

/// Runs the script's `--cmd` mode, but only on the first call after each compaction.
const AFTER_COMPACTION: &str = "
import sys
sys.path.insert(0, sys.argv[1])
import occupancy_eval as judge
every_call = judge.walk
judge.walk = lambda path: (call for call in every_call(path) if call.kind == 'compact')
judge.run_cmd(list(judge.files_of(sys.argv[3:])), sys.argv[2], 1)
";

/// Predicts one in `every` calls of the transcripts in `folder`, which also contains the evaluation
/// script.
pub(crate) fn evaluate(
    stage: &BenchEnv,
    plimsoll: &Path,
    folder: &Path,
    every: u32,
) -> anyhow::Result<Accuracy> {
    let (transcripts, eval) = (folder.join(TRANSCRIPTS), folder.join("eval"));
    let (script, python) = (eval.join(JUDGE), competitors::python());
    let needed = [(TRANSCRIPTS, &transcripts), (JUDGE, &script), ("python3", &python)];
    if let Some((missing, _)) = needed.into_iter().find(|(_, path)| !path.exists()) {
        return Ok(Accuracy { missing: Some(missing), ..Accuracy::default() });
    }
    let measure = format!("'{}' measure --transcript {{file}} --tokens", plimsoll.display());
    let (all, halves) = projects(&transcripts)?;
    let every = every.to_string();
    let mut scores = Vec::new();
    let [fitted, other] = halves;
    for (name, chosen) in [(ALL, &all), ("the half fitted on", &fitted), ("the other half", &other)]
    {
        let mut command = python_command(stage, &python);
        command.arg(&script).args(chosen).args(["--cmd", &measure, "--cmd-every", &every]);
        scores.push(score(name, &mut command)?);
    }
    let mut command = python_command(stage, &python);
    command.args(["-c", AFTER_COMPACTION]).arg(eval).arg(&measure).args(all);
    scores.push(score(COMPACTED, &mut command)?);
    Ok(Accuracy { scores, missing: None })
}

/// Builds a Python command with the stage's environment that writes no compiled files next to the
/// script.
fn python_command(stage: &BenchEnv, python: &Path) -> Command {
    let mut command = Command::new(python);
    command.arg("-B").env_clear().envs(stage.environment());
    command
}

/// Returns all projects (the first level of folders), and the same projects in two halves: every
/// other one by name. The rates were fitted on the second, fourth and so on.
fn projects(folder: &Path) -> anyhow::Result<(Vec<PathBuf>, [Vec<PathBuf>; 2])> {
    let entries = fs::read_dir(folder).context("could not list the transcripts")?;
    let mut all = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    all.sort();
    let every_other = |from: usize| all.iter().skip(from).step_by(2).cloned().collect();
    let halves = [every_other(1), every_other(0)];
    Ok((all, halves))
}

fn score(name: &str, command: &mut Command) -> anyhow::Result<Score> {
    let output = command.output().context("could not run `occupancy_eval.py`")?;
    let (text, log) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let last = log.lines().last().unwrap_or("no answer");
    Ok(parse(name, &text).unwrap_or_else(|| Score { calls: last.to_owned(), ..Score::empty(name) }))
}

impl Score {
    fn empty(name: &str) -> Self {
        let none = String::new;
        Self {
            name: name.to_owned(),
            calls: none(),
            median: none(),
            p95: none(),
            p99: none(),
            within_1_percent: none(),
            within_5_percent: none(),
            unanswered: none(),
        }
    }
}

/// Parses the script's one-row table and the line below it.
fn parse(name: &str, text: &str) -> Option<Score> {
    let row = text.lines().find(|line| line.starts_with("| cmd |"))?;
    let columns: Vec<_> = row.split('|').map(str::trim).collect();
    let column = |index: usize| columns.get(index).map(|text| (*text).to_owned());
    let unanswered = text.lines().find_map(|line| line.strip_prefix("no answer on "))?;
    Some(Score {
        name: name.to_owned(),
        calls: column(2)?,
        median: column(3)?,
        p95: column(5)?,
        p99: column(6)?,
        within_1_percent: column(8)?,
        within_5_percent: column(9)?,
        unanswered: unanswered.trim_end_matches(" calls").to_owned(),
    })
}

impl PartResults for Accuracy {
    const ABOUT: &'static str = "Real transcripts are cut right before a call, and `plimsoll measure` says how large its prompt will be; \
        the transcript goes on with how large it was.";

    fn tables(&self) -> String {
        if self.scores.is_empty() {
            return String::new();
        }
        let row = |score: &Score| {
            let Score { name, calls, median, p95, p99, .. } = score;
            let Score { within_1_percent, within_5_percent, unanswered, .. } = score;
            [name, calls, median, p95, p99, within_1_percent, within_5_percent, unanswered]
                .map(String::clone)
        };
        let head = [
            "calls of",
            "calls",
            "median error",
            "p95",
            "p99",
            "within 1 %",
            "within 5 %",
            "no answer",
        ];
        table(head, self.scores.iter().map(row))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let of = |name: &str, figure: fn(&Score) -> &str| {
            let score = self.scores.iter().find(|score| score.name == name);
            score.and_then(|score| figure(score).trim_end_matches('%').parse::<f64>().ok())
        };
        let error = |what: &str, percent: Option<f64>, limit: f64| {
            let gate = at_most(&format!("{what}, in percent,"), percent.unwrap_or(f64::NAN), limit);
            match self.missing {
                Some(missing) => Gate::not_judged(missing, gate.promise),
                None => gate,
            }
        };
        Ok(vec![
            error("median error of predicted prompts", of(ALL, |score| &score.median), 0.05),
            error("p95 of that error", of(ALL, |score| &score.p95), 0.7),
            // Equivalent to 99 % of calls within 5 %. The script rounds that share to a tenth,
            // which is too coarse.
            error("p99 of that error", of(ALL, |score| &score.p99), 5.0),
            error(
                "median error right after a compaction",
                of(COMPACTED, |score| &score.median),
                12.0,
            ),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_table_is_read() {
        let text = "**x**\n\n| estimator | calls | median | p90 | p95 | p99 | max | within 1% | within 5% | bias |\n\
            |---|---|\n| cmd | 12 | 0.03% | 0.40% | 0.55% | 2.0% | 9% | 97.0% | 99.0% | +0.01% |\n\n\
            no answer on 3 calls\n";
        let expected = Score {
            name: "half".to_owned(),
            calls: "12".to_owned(),
            median: "0.03%".to_owned(),
            p95: "0.55%".to_owned(),
            p99: "2.0%".to_owned(),
            within_1_percent: "97.0%".to_owned(),
            within_5_percent: "99.0%".to_owned(),
            unanswered: "3".to_owned(),
        };
        assert_eq!(parse("half", text), Some(expected));
        assert_eq!(parse("half", "Traceback"), None);
    }
}
