//! Queries git repositories: hook files, the last commit, files that change together.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{child, paths};

/// The commit that `HEAD` points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub sha: String,
    /// Branch; empty if `HEAD` is detached.
    pub branch: String,
    /// First line of the message.
    pub subject: String,
    /// Number of changed files.
    pub files: u64,
}

/// Time limit for git.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns the last commit in the repository of `folder`.
pub fn head(folder: &Path) -> io::Result<Head> {
    let format = "--format=%H%n%D%n%s%n";
    let told = run(folder, &["-c", "log.showSignature=false", "log", "-1", "--name-only", format])?;
    parse(&told).ok_or_else(|| io::Error::other("git did not tell the commit"))
}

/// Returns the hash of `HEAD` in the repository of `folder`.
pub fn at(folder: &Path) -> io::Result<String> {
    run(folder, &["rev-parse", "HEAD"]).map(|told| told.trim_end().to_owned())
}

fn parse(told: &str) -> Option<Head> {
    let mut lines = told.lines();
    let (sha, refs, subject) = (lines.next()?, lines.next()?, lines.next()?);
    let branch = refs.split(", ").find_map(|name| name.strip_prefix("HEAD -> "));
    Some(Head {
        sha: sha.to_owned(),
        branch: branch.unwrap_or_default().to_owned(),
        subject: subject.to_owned(),
        files: lines.filter(|line| !line.is_empty()).count() as u64,
    })
}

/// Returns which of `files` each of the newest commits changed, as far as git's output arrives in
/// time.
pub fn changes(folder: &Path, files: &[&str]) -> io::Result<Vec<Vec<String>>> {
    const COMMITS: &str = "--max-count=500";
    let mut command = command(folder);
    command.arg("--literal-pathspecs");
    command.args(["-c", "core.quotePath=false", "-c", "log.showSignature=false", "log", COMMITS]);
    command.args(["--no-merges", "--name-only", "--relative", "--format=%x00", "--stdin"]);
    let input = format!("HEAD\n--\n{}\n", files.join("\n"));
    let ran = child::run(&mut command, input.into_bytes(), PATIENCE)?;
    let told = String::from_utf8_lossy(&ran.stdout);
    // With a long history the output is cut off, usually within a name.
    let whole = told.rfind('\n').map_or("", |end| &told[..end]);
    let names =
        |commit: &str| commit.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    Ok(whole.split('\0').skip(1).map(names).collect())
}

/// Returns the file of a hook in the repository of `folder`, wherever its hooks are configured to
/// be.
pub fn hook_file(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let told = run(folder, &["rev-parse", "--git-path", &format!("hooks/{name}")])?;
    // From a subfolder git prints a path with `..`.
    let file = folder.join(told.trim_end_matches('\n'));
    let hooks = file.parent().map_or_else(|| folder.to_owned(), paths::canonical);
    Ok(hooks.join(name))
}

/// Returns a git command for a folder that may be untrusted. Git runs no file system monitor, and
/// ignores the config of a bare repository among the files.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.args(["-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit", "-C"]);
    command.arg(folder);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> io::Result<String> {
    let mut command = command(folder);
    command.args(arguments);
    let ran = child::run(&mut command, Vec::new(), PATIENCE)?;
    match ran.status.is_some_and(|status| status.success()) {
        true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        false => Err(io::Error::other("git knows no repository there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_told_with_its_branch_and_size() {
        let told = "0123\nHEAD -> a/b, tag: v1\nfix: it\n\nsrc/a.rs\nsrc/b.rs\n";
        let expected = Head {
            sha: "0123".to_owned(),
            branch: "a/b".to_owned(),
            subject: "fix: it".to_owned(),
            files: 2,
        };
        assert_eq!(parse(told), Some(expected));
        let loose = parse("0123\nHEAD\n\n\n").unwrap();
        assert_eq!((loose.branch.as_str(), loose.files), ("", 0));
        assert_eq!(parse(""), None);
    }
}
