//! The front matter: what is known of a checkpoint besides its body.

use std::fmt::Write as _;

use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::policy::brief;
use plimsoll_core::time::{moment, utc_second};
use plimsoll_core::{Millis, Tokens};
use serde::{Deserialize, Deserializer};

use super::Problem;
use super::yaml::{optional, quoted, scalar};

/// What is known of a checkpoint besides its body. A file of someone else's may tell less: all that
/// must be there are the first of these, the id aside.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Meta {
    /// The name of the file, less its ending; empty if the file does not tell.
    #[serde(default)]
    pub id: String,
    /// When it was made, to the second.
    #[serde(deserialize_with = "created")]
    pub created: Millis,
    /// What it was made for.
    #[serde(rename = "trigger")]
    pub occasion: Occasion,
    /// The project's folder.
    pub project: String,
    /// The session.
    pub session_id: String,
    /// Which checkpoint of the project it is.
    pub iteration: u64,
    /// The checkpoint that the work went on from.
    #[serde(default)]
    pub parent: Option<String>,
    /// It was read back and found whole.
    #[serde(default)]
    pub verified: bool,
    /// Not everything could be taken in.
    #[serde(default)]
    pub partial: bool,
    /// The agent.
    #[serde(default)]
    pub agent: Option<String>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// How full the window was.
    #[serde(default)]
    pub used: Option<Tokens>,
    /// How large it was.
    #[serde(default)]
    pub window: Option<Tokens>,
    /// How the repository stood.
    #[serde(default)]
    pub git: Option<Git>,
    /// How far the transcript was read.
    #[serde(default)]
    pub transcript: Option<Source>,
    /// The hash of the body.
    #[serde(default)]
    pub sha256: Option<String>,
    /// What vouches for everything above.
    #[serde(default)]
    pub mac: Option<String>,
}

/// How a repository stood.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Git {
    /// The branch; nothing if the head is on none.
    #[serde(default)]
    pub branch: Option<String>,
    /// The commit; nothing before the first.
    #[serde(default)]
    pub head: Option<String>,
    /// Whether there were changes that no commit has.
    #[serde(default)]
    pub dirty: bool,
}

impl Git {
    /// How the repository has moved on by `now`, in words; nothing if it has not.
    pub fn moved(&self, now: &Self) -> Option<String> {
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

/// How far a transcript was read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Source {
    /// The file.
    pub path: String,
    /// How many bytes of it.
    pub offset: u64,
    /// The hash of the last 4 KiB before that.
    pub tail_sha256: String,
}

fn created<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Millis, D::Error> {
    let text = String::deserialize(deserializer)?;
    moment(&text).ok_or_else(|| serde::de::Error::custom("not a moment in UTC"))
}

/// The text of a file.
pub fn render(meta: &Meta, body: &str) -> String {
    let mac = meta.mac.as_ref().map_or_else(String::new, |mac| format!("{MAC}{}\n", quoted(mac)));
    format!("---\n{}{mac}---\n\n{body}", vouched(meta))
}

const MAC: &str = "mac: ";

/// The lines of the front matter that the mac vouches for: all but its own.
pub(super) fn vouched(meta: &Meta) -> String {
    let mut text = String::with_capacity(1024);
    let mut line = |key: &str, value: String| {
        // What has lines of its own begins below its key. A string takes whatever is written to it.
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

fn git(Git { branch, head, dirty }: &Git) -> String {
    let (branch, head) = (optional(branch.as_deref()), optional(head.as_deref()));
    format!("\n  branch: {branch}\n  head: {head}\n  dirty: {dirty}")
}

fn source(Source { path, offset, tail_sha256 }: &Source) -> String {
    let (path, tail) = (scalar(path), scalar(tail_sha256));
    format!("\n  path: {path}\n  offset: {offset}\n  tail_sha256: {tail}")
}

/// The mac that a front matter ends with, and the lines that it vouches for.
pub(super) fn mac_of(front_matter: &str) -> Option<(&str, &str)> {
    let lines = front_matter.strip_suffix('\n')?;
    let start = lines.rfind('\n')? + 1;
    let mac = lines[start..].strip_prefix(MAC)?.strip_prefix('"')?.strip_suffix('"')?;
    Some((mac, &front_matter[..start]))
}

/// Reads a front matter. Nothing that anybody writes there takes long or much memory: it is short,
/// shallow, and refers to nothing.
pub fn parse(front_matter: &str) -> Result<Meta, Problem> {
    const LARGEST: usize = 16 << 10;
    if front_matter.len() > LARGEST {
        return Err(Problem::UnreadableFrontMatter);
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
        .map_err(|_| Problem::UnreadableFrontMatter)
}
