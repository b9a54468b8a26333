//! What we remember of one window between two hook calls.

use serde::{Deserialize, Serialize};

use crate::Tokens;
use crate::entry::Place;
use crate::window::{Window, WindowSource};

/// The whole state of a session's (or a subagent's) window: small enough to be repeated with every
/// decision, so that the last one tells all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The highest bucket in which we warned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warned: Option<Bucket>,
    /// The highest bucket in which the guard spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Bucket>,
    /// Whether saving the session was suggested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suggested: bool,
    /// A warning about this window has told the user to act.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub advised: bool,
    /// Under how many tokens nothing can be due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
    /// What this session proved of its window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<ProvenWindow>,
    /// The bucket in which the checkpoint line was crossed, and that was seen to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crossed: Option<Bucket>,
    /// The bucket in which the watcher asked for a checkpoint because that line was crossed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Bucket>,
    /// The value of `since` at which it asked for one because of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_since: Option<u64>,
    /// The bucket in which the restart line was crossed, and the session was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<Bucket>,
    /// When the session was stopped at the restart line, for its conductor to begin a fresh one; in
    /// milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<u64>,
    /// Since when there is work without a checkpoint, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// When the last breakpoint was seen to, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<u64>,
    /// The last checkpoint of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed: Option<Seal>,
    /// The last restore after a compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored: Option<Restored>,
    /// Where the newest compaction stands in the transcript, for agents that report none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction: Option<u64>,
    /// The checkpoint of another session that this one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// The session was started without a person at the keyboard.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub headless: bool,
    /// Something waits to be told to the model.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waiting: bool,
    /// The messages of the board that were handled last, by their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handled: Vec<String>,
}

/// Names of decisions, as the spool records them. Those of words are [`crate::policy::Speech::label`].
pub mod label {
    /// Nothing was said.
    pub const QUIET: &str = "quiet";
    /// A session has begun.
    pub const STARTED: &str = "started";
    /// A session continues after a pause.
    pub const RESUMED: &str = "resumed";
    /// A session is over.
    pub const ENDED: &str = "ended";
    /// The client reported the size of the window.
    pub const WINDOW: &str = "window";
    /// A tool has run, and there is no transcript.
    pub const UNSEEN: &str = "unseen";
    /// A checkpoint was saved.
    pub const SEALED: &str = "sealed";
    /// A checkpoint that a stop needs could not be saved.
    pub const UNSEALED: &str = "unsealed";
    /// The session was given a checkpoint of another one.
    pub const GIVEN: &str = "given";
    /// The work was restored after a compaction.
    pub const RESTORED: &str = "restored";
    /// The summary lacks something that will be told to the model.
    pub const SUMMARISED: &str = "summarised";
    /// The contents of the window were replaced.
    pub const REPLACED: &str = "replaced";
}

/// A checkpoint of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// When it was sealed, in milliseconds since the epoch.
    pub at: u64,
    /// Its id.
    pub id: String,
    /// What the work came to by then: the same number means that nothing has changed.
    pub mark: u64,
    /// How many tools the agent had used by then.
    #[serde(default)]
    pub steps: u32,
    /// The place of the newest record that it covers.
    #[serde(default)]
    pub covers: Place,
}

/// A restore after a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// How many tools the agent had used by then.
    pub steps: u32,
    /// How many times the model had answered by then.
    #[serde(default)]
    pub turns: u32,
    /// How many compactions came one right after the other by then.
    pub times: u32,
    /// How many tokens were given.
    pub budget: usize,
}

/// Five points of a percentage: 85 % to just under 90 % is the 17th.
pub type Bucket = u32;

/// Under how many tokens no warning can be due, as long as the levels stay where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quiet {
    /// The token count.
    pub below: Tokens,
    /// What it was reckoned from: window, trigger and lines, as one number.
    // Earlier releases wrote all of them, as `basis`.
    #[serde(rename = "of", default)]
    pub basis: u64,
}

/// A window size that this session proved for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenWindow {
    /// The size.
    pub tokens: Tokens,
    /// How it was proved.
    pub source: WindowSource,
    /// The model it holds for.
    pub model: String,
}

impl SessionState {
    /// The proven window, if it holds for `model`.
    pub fn proven(&self, model: Option<&str>) -> Option<Window> {
        let proven = self.window.as_ref()?;
        (Some(proven.model.as_str()) == model)
            .then_some(Window { tokens: proven.tokens, source: proven.source })
    }

    /// Returns the state with these messages of the board recorded as handled. Only the newest are kept.
    #[must_use]
    pub fn with_handled(mut self, messages: Vec<String>) -> Self {
        const REMEMBERED: usize = 16;
        self.handled.extend(messages);
        self.handled.drain(..self.handled.len().saturating_sub(REMEMBERED));
        self
    }

    /// The highest bucket in which anything was said or done.
    pub fn spoken(&self) -> Option<Bucket> {
        self.warned.max(self.guarded).max(self.crossed).max(self.asked).max(self.saved)
    }

    /// Returns the state after the window was emptied: everything about the old conversation is reset.
    pub fn emptied(&self) -> Self {
        let Self { window, since, paused, sealed, compaction, given, headless, handled, .. } =
            self.clone();
        Self {
            window,
            since,
            paused,
            sealed,
            compaction,
            given,
            headless,
            handled,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_release_remembered_is_understood() {
        let line = r#"{"warned":16,"quiet":{"below":5,"basis":{"window":200000,"warn":160000}}}"#;
        let state: SessionState = serde_json::from_str(line).unwrap();
        assert_eq!(state.warned, Some(16));
        assert_eq!(state.quiet, Some(Quiet { below: 5, basis: 0 }), "it is of no known basis");
    }
}
