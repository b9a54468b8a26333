//! Modes: words that a key takes.

use serde::{Deserialize, Serialize};

/// What the ceiling guard does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "Written<ModeWord>")]
pub enum GuardMode {
    /// Tells the user and the model.
    #[default]
    Warn,
    /// Refuses the call.
    Strict,
    /// Nothing.
    Off,
}

/// A mode as it is written: YAML takes a bare `off` for a switch.
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
    /// Every mode, as it is written.
    pub const WORDS: [&str; 3] = ["warn", "strict", "off"];

    /// This mode, as it is written.
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

/// What a session is given when it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "Written<RestoreWord>")]
pub enum RestoreMode {
    /// The last checkpoint where the work was cut off or the window was nearly full, else an offer.
    #[default]
    Auto,
    /// The last checkpoint.
    Inject,
    /// A word that there is one.
    Offer,
    /// Nothing, after a compaction neither.
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
    /// Every mode, as it is written.
    pub const WORDS: [&str; 4] = ["auto", "inject", "offer", "off"];

    /// This mode, as it is written.
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
