//! Saves: named session states, in one sequence per environment.
//!
//! A person, a script or a hook makes a save to find it again: a few texts, tags, and links to the
//! session, the checkpoint and the commit. A save does not change later. The texts of a session's
//! save come from its checkpoint, so nothing is extracted twice. [`templates`] has the texts for
//! commits, test runs and full windows, so that all callers use the same ones.

mod environment;
mod from_checkpoint;
mod render;
pub mod templates;

pub use environment::{InvalidEnvironment, SaveEnvironment};
pub use from_checkpoint::from_checkpoint;
pub use render::{render_fenced, sections};

use plimsoll_core::Millis;
use plimsoll_core::policy::is_plain;
use serde::{Deserialize, Serialize};

use crate::work::sanitize as kept;

/// A stored save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Save {
    /// A UUIDv7.
    pub id: String,
    /// Time of creation.
    pub created: Millis,
    /// Content.
    #[serde(flatten)]
    pub what: NewSave,
}

/// Content of a save.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSave {
    pub environment: SaveEnvironment,
    pub kind: SaveKind,
    /// Current work, in a line or two.
    pub task: String,
    /// Background needed to continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockers: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_steps: Option<String>,
    /// Search words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Relevant files and names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_artifacts: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The checkpoint with more details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// Commit at the time of the save: a full or abbreviated hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Reason for a save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SaveKind {
    /// A user or script asked for it.
    #[default]
    Manual,
    /// The window was nearly full.
    Auto,
    /// Something was committed.
    Commit,
    /// Tests were run.
    Tests,
}

impl SaveKind {
    pub const ALL: [Self; 4] = [Self::Manual, Self::Auto, Self::Commit, Self::Tests];

    pub fn label(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::Commit => "commit",
            Self::Tests => "tests",
        }
    }

    /// Returns the kind with this label.
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.label() == label)
    }
}

/// Maximum lengths of texts in characters, and of lists in items.
const LONGEST_TASK: usize = 1_000;
const LONGEST_TEXT: usize = 20_000;
const LONGEST_ITEM: usize = 300;
const MOST_TAGS: usize = 32;
const MOST_ARTIFACTS: usize = 100;

impl NewSave {
    /// Fills the empty texts and artifacts from `other`. Environment, kind, tags and links stay.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let list = |own: Vec<String>, other| if own.is_empty() { other } else { own };
        Self {
            task: if self.task.trim().is_empty() { other.task } else { self.task },
            context: self.context.or(other.context),
            blockers: self.blockers.or(other.blockers),
            next_steps: self.next_steps.or(other.next_steps),
            key_artifacts: list(self.key_artifacts, other.key_artifacts),
            ..self
        }
    }

    /// Makes the save safe to store: removes secrets and control characters, and limits lengths.
    #[must_use]
    pub fn sanitized(self) -> Self {
        let some = |text: Option<String>| {
            text.map(|text| sanitize_text(&text, LONGEST_TEXT)).filter(|text| !text.is_empty())
        };
        Self {
            task: sanitize_text(&self.task, LONGEST_TASK),
            context: some(self.context),
            blockers: some(self.blockers),
            next_steps: some(self.next_steps),
            tags: sanitize_list(&self.tags, MOST_TAGS),
            key_artifacts: sanitize_list(&self.key_artifacts, MOST_ARTIFACTS),
            project: self.project.map(|path| path.chars().filter(|it| is_plain(*it)).collect()),
            session: self.session.map(|id| one_line(&id)),
            checkpoint: self.checkpoint.map(|id| one_line(&id)),
            commit: self.commit.map(|sha| one_line(&sha).to_ascii_lowercase()),
            ..self
        }
    }
}

/// Cleans a text of several lines.
fn sanitize_text(text: &str, longest: usize) -> String {
    kept::first_chars(&kept::sanitize(text), longest)
}

/// Cleans a list: one line per item, without duplicates.
fn sanitize_list(list: &[String], most: usize) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for item in list.iter().map(|item| one_line(item)) {
        if !item.is_empty() && !items.contains(&item) && items.len() < most {
            items.push(item);
        }
    }
    items
}

fn one_line(text: &str) -> String {
    kept::first_chars(&kept::sanitize_name(text), LONGEST_ITEM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitized_saves_have_no_secrets_or_extra_lines() {
        let new = NewSave {
            task: " use ghp_0123456789abcdefghijABCDEFGHIJ456789 \u{1b}[31m".to_owned(),
            context: Some(" \u{7} ".to_owned()),
            tags: vec!["a\nb".to_owned(), String::new(), "x".to_owned(), "x".to_owned()],
            commit: Some("ABCDEF0".to_owned()),
            ..NewSave::default()
        };
        let kept = new.sanitized();
        assert!(kept.task.starts_with("use [redacted:"), "{}", kept.task);
        assert!(!kept.task.contains('\u{1b}'));
        assert_eq!(kept.context, None);
        assert_eq!(kept.tags, ["ab", "x"]);
        assert_eq!(kept.commit.as_deref(), Some("abcdef0"));
    }

    #[test]
    fn secrets_split_by_a_control_character_are_redacted() {
        let broken = "ghp_0123456789\u{8}abcdefghijABCDEFGHIJ456789".to_owned();
        let new = NewSave { task: broken.clone(), tags: vec![broken], ..NewSave::default() };
        let kept = new.sanitized();
        assert_eq!(
            (&*kept.task, &*kept.tags[0]),
            ("[redacted:github-token]", "[redacted:github-token]")
        );
    }

    #[test]
    fn only_empty_fields_are_filled_in() {
        let text = |text: &str| Some(text.to_owned());
        let said = NewSave { next_steps: text("dry"), ..NewSave::default() };
        let kind = SaveKind::Auto;
        let other =
            NewSave { task: "Paint".to_owned(), next_steps: text("x"), kind, ..said.clone() };
        let expected = NewSave { task: "Paint".to_owned(), ..said.clone() };
        assert_eq!(said.or(other), expected);
    }

    #[test]
    fn saves_are_flat_json() {
        let what = NewSave { task: "Mend it".to_owned(), ..NewSave::default() };
        let save = Save { id: "1".to_owned(), created: 2, what };
        let json = serde_json::to_string(&save).unwrap();
        assert_eq!(
            json,
            r#"{"id":"1","created":2,"environment":"development","kind":"manual","task":"Mend it"}"#
        );
        assert_eq!(serde_json::from_str::<Save>(&json).unwrap(), save);
    }

    #[test]
    fn kinds_have_labels() {
        for kind in SaveKind::ALL {
            assert_eq!(SaveKind::from_label(kind.label()), Some(kind));
        }
    }
}
