//! What the server holds while sessions work, and what is left when it has ended: the look for leaks.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use plimsoll_testbed::Postgres;
use serde::Serialize;

use crate::server::Server;

const CONNECTIONS: &str = include_str!("../../connections.sql");
/// How long the database may take to notice that somebody is gone.
const NOTICING: Duration = Duration::from_secs(10);

/// What is held at a moment.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Held {
    pub(crate) seconds: u64,
    /// Of the server, whose process has the watcher and the shipper in it.
    pub(crate) memory_bytes: u64,
    pub(crate) handles: u64,
    pub(crate) threads: u64,
    /// To the team's database.
    pub(crate) connections: u64,
    pub(crate) files: u64,
    pub(crate) checkpoints: u64,
}

/// The server, and all that it may leave something in.
pub(super) struct Place<'a> {
    pub(super) server: &'a Server,
    pub(super) home: &'a Path,
    pub(super) database: &'a Postgres,
}

impl Place<'_> {
    /// What is held now, so many seconds into the run.
    pub(super) fn held(&self, seconds: u64) -> anyhow::Result<Held> {
        let process = PathBuf::from(format!("/proc/{}", self.server.process()));
        let status = fs::read_to_string(process.join("status")).context("the server has ended")?;
        let field = |name: &str| -> anyhow::Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next());
            Ok(number.context("no such field")?.parse()?)
        };
        let files = Files::below(self.home);
        Ok(Held {
            seconds,
            memory_bytes: field("VmRSS:")? * 1024,
            handles: fs::read_dir(process.join("fd"))?.count() as u64,
            threads: field("Threads:")?,
            connections: connections(self.database)?,
            files: files.others,
            checkpoints: files.checkpoints,
        })
    }

    /// Processes of this home beside the server, when nobody calls a hook any more.
    pub(super) fn strays(&self) -> anyhow::Result<Vec<String>> {
        processes(self.home, Some(self.server.process()))
    }
}

/// What is left of a server that has ended.
pub(super) fn left(home: &Path, database: &Postgres) -> anyhow::Result<Vec<String>> {
    let end = Instant::now() + NOTICING;
    while connections(database)? > 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(50));
    }
    let connections = Some(connections(database)?).filter(|count| *count > 0);
    let mut left = processes(home, None)?;
    left.extend(connections.map(|count| format!("{count} connections to the database")));
    left.extend(Files::below(home).half_written);
    Ok(left)
}

fn connections(database: &Postgres) -> anyhow::Result<u64> {
    database.sql(CONNECTIONS).parse().context("could not count connections")
}

/// Processes whose home this is, but for one.
fn processes(home: &Path, but: Option<u32>) -> anyhow::Result<Vec<String>> {
    let ours = format!("HOME={}", home.display());
    let but = but.map(|process| process.to_string());
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")?.flatten() {
        // Most are no process, or somebody else's, or end meanwhile.
        let Ok(variables) = fs::read(process.path().join("environ")) else { continue };
        let is_ours = variables.split(|byte| *byte == 0).any(|it| it == ours.as_bytes());
        if is_ours && process.file_name().to_str() != but.as_deref() {
            let name = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
            found.push(format!("process `{}`", name.replace('\0', " ").trim_end()));
        }
    }
    Ok(found)
}

/// The files of a home. Transcripts are not ours, and not counted.
#[derive(Debug, Default, PartialEq)]
struct Files {
    checkpoints: u64,
    others: u64,
    /// With names that we give to what is not whole yet.
    half_written: Vec<String>,
}

impl Files {
    fn below(home: &Path) -> Self {
        let mut files = Self::default();
        files.count(home, &home.join(".claude/projects"));
        files
    }

    fn count(&mut self, folder: &Path, transcripts: &Path) {
        // A folder may go while sessions work: an inbox does as soon as it is empty.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension().and_then(OsStr::to_str) {
                _ if path == transcripts => {}
                _ if entry.file_type().is_ok_and(|it| it.is_dir()) => {
                    self.count(&path, transcripts)
                }
                // One of them is a link to the newest.
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
    fn files_are_counted_by_what_they_may_grow_with() {
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
        let Files { checkpoints, others, half_written } = Files::below(home.path());
        assert_eq!((checkpoints, others, half_written.len()), (1, 2, 1));
    }
}
