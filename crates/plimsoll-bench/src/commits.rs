//! Measures how much `plimsoll init --git` adds to a commit, by alternating commits with and
//! without the hook.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde::Serialize;
use tempfile::TempDir;

use crate::gates::Gate;
use crate::percentiles::Percentiles;
use crate::section::PartResults;
use crate::table::percentile_table;

const ROUNDS: usize = 40;

/// Duration of commits, in milliseconds.
#[derive(Debug, Serialize)]
pub(crate) struct CommitTimings {
    with_hook: Percentiles,
    without: Percentiles,
    /// Time that the hook adds, relative to the preceding commit without it.
    added: Percentiles,
}

/// Times commits in a temporary repository.
pub(crate) fn time_commits(plimsoll: &Path) -> anyhow::Result<CommitTimings> {
    let home = TempDir::new().context("could not make a temporary folder")?;
    let git = |arguments: &[&str]| run_timed(home.path(), Command::new("git").args(arguments));
    git(&["init", "-q"])?;
    git(&["config", "user.name", "A"])?;
    git(&["config", "user.email", "a@example.org"])?;
    run_timed(home.path(), Command::new(plimsoll).args(["init", "--git", "--yes"]))?;
    let (mut with_hook, mut without, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let bare = git(&["-c", "core.hooksPath=/dev/null", "commit", "-qm", "x", EMPTY])?;
        let hooked = git(&["commit", "-qm", "x", EMPTY])?;
        without.push(bare);
        with_hook.push(hooked);
        added.push(hooked - bare);
    }
    let [with_hook, without, added] = [with_hook, without, added].map(Percentiles::of);
    Ok(CommitTimings { with_hook, without, added })
}

const EMPTY: &str = "--allow-empty";

/// Runs a command in `repository`, which is also its `HOME`, and returns the duration in
/// milliseconds.
fn run_timed(repository: &Path, command: &mut Command) -> anyhow::Result<f64> {
    command.current_dir(repository).env_clear().env("HOME", repository);
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("could not run {command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

impl PartResults for CommitTimings {
    const ABOUT: &'static str =
        "The same empty commit without git's post-commit hook and with it, in turn.";

    fn tables(&self) -> String {
        let CommitTimings { with_hook, without, added } = self;
        let rows =
            [("without the hook", without), ("with it", with_hook), ("the hook's part", added)];
        percentile_table("`git commit`", rows)
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let added = self.added.p50_ms;
        Ok(vec![Gate::new(
            "git's hook adds < 20 ms to a commit, median",
            format!("{added:.1} ms"),
            added < 20.0,
        )])
    }
}
