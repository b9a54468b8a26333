//! Who makes the checkpoint that a line or the clock asks for.

use serde::{Deserialize, Serialize};

/// Who acts when the checkpoint line is crossed, or half an hour has passed without a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLine {
    /// The session's own hook, at once; the watcher asks for it only if none was made.
    #[default]
    Hook,
    /// The watcher alone decides; the hook does what it asks for.
    Watcher,
}

impl OnLine {
    /// Both, as they are written.
    pub const WORDS: [&str; 2] = ["hook", "watcher"];

    /// This one, as it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Watcher => "watcher",
        }
    }
}
