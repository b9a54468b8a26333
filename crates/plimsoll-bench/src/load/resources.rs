//! Samples the server's resources while sessions work, and finds leftovers after it has ended, to
//! detect leaks.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use plimsoll_testbed::Postgres;
use serde::Serialize;

use crate::serve_process::ServeProcess;

const CONNECTIONS: &str = include_str!("../../connections.sql");
/// How long the database may take to notice a closed connection.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Resource usage at one moment.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ResourceSample {
    pub(crate) seconds: u64,
    /// Memory of the server process, which also runs the watcher and the shipper.
    pub(crate) memory_bytes: u64,
    pub(crate) handles: u64,
    pub(crate) threads: u64,
    /// Connections to the team's database.
    pub(crate) connections: u64,
    pub(crate) files: u64,
    pub(crate) checkpoints: u64,
}

/// The server and the places where it may leave something behind.
pub(super) struct LoadedServer<'a> {
    pub(super) server: &'a ServeProcess,
    pub(super) home: &'a Path,
    pub(super) database: &'a Postgres,
}

impl LoadedServer<'_> {
    /// Samples the resource usage, `seconds` into the run.
    pub(super) fn sample(&self, seconds: u64) -> anyhow::Result<ResourceSample> {
        let process = PathBuf::from(format!("/proc/{}", self.server.pid()));
        let status = fs::read_to_string(process.join("status")).context("the server has ended")?;
        let field = |name: &str| -> anyhow::Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next());
            Ok(number.context("no such field")?.parse()?)
        };
        let files = FileCounts::count_in(self.home);
        Ok(ResourceSample {
            seconds,
            memory_bytes: field("VmRSS:")? * 1024,
            handles: fs::read_dir(process.join("fd"))?.count() as u64,
            threads: field("Threads:")?,
            connections: connections(self.database)?,
            files: files.others,
            checkpoints: files.checkpoints,
        })
    }

    /// Returns processes of this home other than the server, once no more hooks are called.
    pub(super) fn stray_processes(&self) -> anyhow::Result<Vec<String>> {
        processes(self.home, Some(self.server.pid()))
    }
}

/// Returns the leftovers of a server that has ended.
pub(super) fn leftovers(home: &Path, database: &Postgres) -> anyhow::Result<Vec<String>> {
    let end = Instant::now() + DISCONNECT_TIMEOUT;
    while connections(database)? > 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(50));
    }
    let connections = Some(connections(database)?).filter(|count| *count > 0);
    let mut left = processes(home, None)?;
    left.extend(connections.map(|count| format!("{count} connections to the database")));
    left.extend(FileCounts::count_in(home).half_written);
    Ok(left)
}

fn connections(database: &Postgres) -> anyhow::Result<u64> {
    database.sql(CONNECTIONS).parse().context("could not count connections")
}

/// Returns the processes whose `HOME` is `home`, except the process `but`.
fn processes(home: &Path, but: Option<u32>) -> anyhow::Result<Vec<String>> {
    let ours = format!("HOME={}", home.display());
    let but = but.map(|process| process.to_string());
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")?.flatten() {
        // Most entries are not processes, belong to another user, or end meanwhile.
        let Ok(variables) = fs::read(process.path().join("environ")) else { continue };
        let is_ours = variables.split(|byte| *byte == 0).any(|it| it == ours.as_bytes());
        if is_ours && process.file_name().to_str() != but.as_deref() {
            let name = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
            found.push(format!("process `{}`", name.replace('\0', " ").trim_end()));
        }
    }
    Ok(found)
}

/// Counts of the files in a home. Transcripts are not counted, because the client writes them.
#[derive(Debug, Default, PartialEq)]
struct FileCounts {
    checkpoints: u64,
    others: u64,
    /// Files whose names mark them as unfinished.
    half_written: Vec<String>,
}

impl FileCounts {
    fn count_in(home: &Path) -> Self {
        let mut files = Self::default();
        files.count(home, &home.join(".claude/projects"));
        files
    }

    fn count(&mut self, folder: &Path, transcripts: &Path) {
        // A folder may disappear while sessions work: an inbox is removed as soon as it is empty.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension().and_then(OsStr::to_str) {
                _ if path == transcripts => {}
                _ if entry.file_type().is_ok_and(|it| it.is_dir()) => {
                    self.count(&path, transcripts)
                }
                // One of these files is a symlink to the newest checkpoint.
                Some("md") if !path.is_symlink() => self.checkpoints += 1,
                ending => {
                    self.others += 1;
                    let is_half = matches!(ending, Some("tmp" | "new"));
                    self.half_written.extend(is_half.then(|| format!("`{}`", path.display())));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_not_counted_and_unfinished_files_are_listed() {
        let home = tempfile::tempdir().unwrap();
        for name in [
            ".claude/projects/-a/session.jsonl",
            "project/.claude/checkpoints/one.md",
            ".local/share/plimsoll/store.sqlite",
            ".local/share/plimsoll/spool/session.plimsoll-7.tmp",
        ] {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let FileCounts { checkpoints, others, half_written } = FileCounts::count_in(home.path());
        assert_eq!((checkpoints, others, half_written.len()), (1, 2, 1));
    }
}
