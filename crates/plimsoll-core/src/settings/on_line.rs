//! Who makes a checkpoint when a threshold is crossed or the last checkpoint is too old.

use serde::{Deserialize, Serialize};

/// Who acts when the session crosses the checkpoint threshold, or works half an hour without a
/// checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLine {
    /// The session's own hook, at once. The watcher asks for a checkpoint only if none was made.
    #[default]
    Hook,
    /// Only the watcher decides. The hook makes the checkpoints that the watcher asks for.
    Watcher,
}

impl OnLine {
    /// The values as written in a config.
    pub const WORDS: [&str; 2] = ["hook", "watcher"];

    /// Returns the value as written in a config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Watcher => "watcher",
        }
    }
}
