//! The front matter: a checkpoint's metadata.

use std::fmt::Write as _;

use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::policy::brief;
use plimsoll_core::time::{moment, utc_second};
use plimsoll_core::{Millis, Tokens};
use serde::{Deserialize, Deserializer};

use super::CheckpointProblem;
use super::yaml::{optional, quoted, scalar};

/// Metadata of a checkpoint. Files of other tools may have less: only `created` to `iteration` are
/// required.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Meta {
    /// Name of the file without its extension; empty if the file does not give one.
    #[serde(default)]
    pub id: String,
    /// Time of creation, to the second.
    #[serde(deserialize_with = "deserialize_created")]
    pub created: Millis,
    /// Reason for the checkpoint.
    #[serde(rename = "trigger")]
    pub occasion: Occasion,
    /// Folder of the project.
    pub project: String,
    pub session_id: String,
    /// Number of the checkpoint within the project.
    pub iteration: u64,
    /// The checkpoint that this work continued from.
    #[serde(default)]
    pub parent: Option<String>,
    /// Whether the file was read back and found intact.
    #[serde(default)]
    pub verified: bool,
    /// Whether some content is missing.
    #[serde(default)]
    pub partial: bool,
    #[serde(default)]
    pub agent: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    /// Tokens in the context window.
    #[serde(default)]
    pub used: Option<Tokens>,
    /// Size of the context window.
    #[serde(default)]
    pub window: Option<Tokens>,
    /// State of the repository.
    #[serde(default)]
    pub git: Option<GitState>,
    /// Extent of the transcript that was read.
    #[serde(default)]
    pub transcript: Option<TranscriptExtent>,
    /// Hash of the body.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Mac of all fields above.
    #[serde(default)]
    pub mac: Option<String>,
}

/// State of a git repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GitState {
    /// `None` if the head is detached.
    #[serde(default)]
    pub branch: Option<String>,
    /// `None` before the first commit.
    #[serde(default)]
    pub head: Option<String>,
    /// Whether there were uncommitted changes.
    #[serde(default)]
    pub dirty: bool,
}

impl GitState {
    /// Describes how the repository changed until `now`; `None` if it did not.
    pub fn describe_change(&self, now: &Self) -> Option<String> {
        let name = |name: &Option<String>| brief(name.as_deref().unwrap_or("none"));
        let short = |head: &Option<String>| name(head).chars().take(8).collect::<String>();
        if self.branch != now.branch {
            let (then, now) = (name(&self.branch), name(&now.branch));
            return Some(format!("the branch was {then} and is {now}"));
        }
        let (then, now) = (short(&self.head), short(&now.head));
        (then != now).then(|| format!("the branch has moved from {then} to {now}"))
    }
}

/// The part of a transcript that was read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TranscriptExtent {
    pub path: String,
    /// Number of bytes read.
    pub offset: u64,
    /// Hash of the last 4 KiB before `offset`.
    pub tail_sha256: String,
}

fn deserialize_created<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Millis, D::Error> {
    let text = String::deserialize(deserializer)?;
    moment(&text).ok_or_else(|| serde::de::Error::custom("not a moment in UTC"))
}

/// Returns the text of the checkpoint file.
pub fn render(meta: &Meta, body: &str) -> String {
    let mac = meta.mac.as_ref().map_or_else(String::new, |mac| format!("{MAC}{}\n", quoted(mac)));
    format!("---\n{}{mac}---\n\n{body}", signed_lines(meta))
}

const MAC: &str = "mac: ";

/// Returns the lines of the front matter that the mac covers: all but its own.
pub(super) fn signed_lines(meta: &Meta) -> String {
    let mut text = String::with_capacity(1024);
    let mut line = |key: &str, value: String| {
        // A nested value starts on the line below its key. Writing to a `String` cannot fail.
        let space = if value.starts_with('\n') { "" } else { " " };
        let _ = writeln!(text, "{key}:{space}{value}");
    };
    let count = |count: Option<u64>| count.map_or_else(|| "null".to_owned(), |n| n.to_string());
    line("id", scalar(&meta.id));
    line("created", utc_second(meta.created));
    line("trigger", meta.occasion.label().to_owned());
    line("project", scalar(&meta.project));
    line("session_id", scalar(&meta.session_id));
    line("iteration", meta.iteration.to_string());
    line("parent", optional(meta.parent.as_deref()));
    line("verified", meta.verified.to_string());
    line("partial", meta.partial.to_string());
    line("agent", optional(meta.agent.as_deref()));
    line("model", optional(meta.model.as_deref()));
    line("used", count(meta.used));
    line("window", count(meta.window));
    line("git", meta.git.as_ref().map_or_else(|| "null".to_owned(), git));
    line("transcript", meta.transcript.as_ref().map_or_else(|| "null".to_owned(), source));
    line("sha256", optional(meta.sha256.as_deref()));
    text
}

fn git(GitState { branch, head, dirty }: &GitState) -> String {
    let (branch, head) = (optional(branch.as_deref()), optional(head.as_deref()));
    format!("\n  branch: {branch}\n  head: {head}\n  dirty: {dirty}")
}

fn source(TranscriptExtent { path, offset, tail_sha256 }: &TranscriptExtent) -> String {
    let (path, tail) = (scalar(path), scalar(tail_sha256));
    format!("\n  path: {path}\n  offset: {offset}\n  tail_sha256: {tail}")
}

/// Returns the mac at the end of a front matter, and the lines that it covers.
pub(super) fn split_mac(front_matter: &str) -> Option<(&str, &str)> {
    let lines = front_matter.strip_suffix('\n')?;
    let start = lines.rfind('\n')? + 1;
    let mac = lines[start..].strip_prefix(MAC)?.strip_prefix('"')?.strip_suffix('"')?;
    Some((mac, &front_matter[..start]))
}

/// Parses a front matter. Limits on size, depth and aliases bound the cost of hostile input.
pub fn parse(front_matter: &str) -> Result<Meta, CheckpointProblem> {
    const LARGEST: usize = 16 << 10;
    if front_matter.len() > LARGEST {
        return Err(CheckpointProblem::UnreadableFrontMatter);
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 4,
            max_nodes: 512,
            max_events: 2_048,
            max_anchors: 0,
            max_aliases: 0,
            max_documents: 1,
        },
    };
    serde_saphyr::from_str_with_options(front_matter, options)
        .map_err(|_| CheckpointProblem::UnreadableFrontMatter)
}
