//! The server of a machine, with its watcher, and a team's database behind it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

/// How long it may take to end when it is asked to.
const ENDING: Duration = Duration::from_secs(20);

/// What a process holds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Held {
    pub(crate) memory_bytes: u64,
    pub(crate) files: usize,
    pub(crate) threads: usize,
}

pub(super) struct Service {
    child: Child,
    home: PathBuf,
}

impl Service {
    pub(super) fn start(plimsoll: &Path, home: &Path, database: &str) -> anyhow::Result<Self> {
        let config = home.join(".config/plimsoll");
        fs::create_dir_all(&config)?;
        let share = "team: {share: [readings, checkpoints, saves, board]}\n";
        fs::write(config.join("config.yaml"), share)?;
        let call = |arguments: &[&str]| {
            let mut command = Command::new(plimsoll);
            command.args(arguments).env_clear().env("HOME", home).stdin(Stdio::null());
            command.env("PLIMSOLL_DATABASE_URL", database);
            command
        };
        let made = call(&["team", "init"]).stdout(Stdio::null()).status();
        ensure!(made.context("could not start `plimsoll team init`")?.success(), "no tables");
        let mut child = call(&["serve", "--listen", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .context("could not start `plimsoll serve`")?;
        let mut stderr = BufReader::new(child.stderr.take().context("no stderr")?);
        let mut line = String::new();
        stderr.read_line(&mut line)?;
        ensure!(line.contains("http://"), "`plimsoll serve` does not start: {line}");
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Ok(Self { child, home: home.to_owned() })
    }

    pub(super) fn held(&self) -> anyhow::Result<Held> {
        let process = PathBuf::from(format!("/proc/{}", self.child.id()));
        let status = fs::read_to_string(process.join("status"))?;
        let field = |name: &str| -> anyhow::Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number =
                line.and_then(|line| line.split_whitespace().next()).context("no field")?;
            Ok(number.parse()?)
        };
        Ok(Held {
            memory_bytes: field("VmRSS:")? * 1024,
            files: fs::read_dir(process.join("fd"))?.count(),
            threads: field("Threads:")? as usize,
        })
    }

    /// Asks it to end; gives what is left of it: processes of this home, files that are half written.
    pub(super) fn end(mut self) -> anyhow::Result<Vec<String>> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)
            .context("the server has ended by itself")?;
        let end = Instant::now() + ENDING;
        while self.child.try_wait()?.is_none() {
            ensure!(Instant::now() < end, "the server does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut left = processes(&self.home)?;
        half_written(&self.home, &mut left)?;
        Ok(left)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended as it was asked to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processes whose home this is.
fn processes(home: &Path) -> anyhow::Result<Vec<String>> {
    let ours = format!("HOME={}", home.display());
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")?.flatten() {
        // Most are no process, or somebody else's, or end meanwhile.
        let Ok(variables) = fs::read(process.path().join("environ")) else { continue };
        if variables.split(|byte| *byte == 0).any(|variable| variable == ours.as_bytes()) {
            let name = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
            found.push(name.replace('\0', " "));
        }
    }
    Ok(found)
}

/// Files with names that we give to what is not whole yet.
fn half_written(folder: &Path, found: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type()?.is_dir() {
            half_written(&path, found)?;
        } else if name.ends_with(".tmp") || name.ends_with(".new") {
            found.push(path.display().to_string());
        }
    }
    Ok(())
}
