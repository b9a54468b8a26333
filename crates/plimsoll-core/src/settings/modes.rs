//! Settings whose values are words.

use serde::{Deserialize, Serialize};

/// What the ceiling guard does above the ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "Written<ModeWord>")]
pub enum GuardMode {
    /// Warns the user and the model.
    #[default]
    Warn,
    /// Refuses the call.
    Strict,
    Off,
}

/// A mode as written in a config. YAML reads a bare `off` as a boolean.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written<W> {
    Switch(bool),
    Word(W),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeWord {
    Warn,
    Strict,
    Off,
}

impl GuardMode {
    /// The modes as written in a config.
    pub const WORDS: [&str; 3] = ["warn", "strict", "off"];

    /// Returns the mode as written in a config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Strict => "strict",
            Self::Off => "off",
        }
    }
}

impl From<Written<ModeWord>> for GuardMode {
    fn from(written: Written<ModeWord>) -> Self {
        match written {
            Written::Word(ModeWord::Strict) => Self::Strict,
            Written::Word(ModeWord::Off) | Written::Switch(false) => Self::Off,
            Written::Word(ModeWord::Warn) | Written::Switch(true) => Self::Warn,
        }
    }
}

/// What a session receives when it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "Written<RestoreWord>")]
pub enum RestoreMode {
    /// The last checkpoint if the work was interrupted or the window was nearly full, otherwise an
    /// offer.
    #[default]
    Auto,
    /// The last checkpoint.
    Inject,
    /// A note that there is a checkpoint.
    Offer,
    /// Nothing, not even after a compaction.
    Off,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RestoreWord {
    Auto,
    Inject,
    Offer,
    Off,
}

impl RestoreMode {
    /// The modes as written in a config.
    pub const WORDS: [&str; 4] = ["auto", "inject", "offer", "off"];

    /// Returns the mode as written in a config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Inject => "inject",
            Self::Offer => "offer",
            Self::Off => "off",
        }
    }
}

impl From<Written<RestoreWord>> for RestoreMode {
    fn from(written: Written<RestoreWord>) -> Self {
        match written {
            Written::Word(RestoreWord::Auto) | Written::Switch(true) => Self::Auto,
            Written::Word(RestoreWord::Inject) => Self::Inject,
            Written::Word(RestoreWord::Offer) => Self::Offer,
            Written::Word(RestoreWord::Off) | Written::Switch(false) => Self::Off,
        }
    }
}
