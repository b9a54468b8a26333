//! The settings of the agent's client.

use serde::{Deserialize, Serialize};

use crate::Tokens;
use crate::trigger::CompactionRule;

/// The client's settings for windows and compaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientSettings {
    /// The rule that these settings modify. It comes from the agent with every call, never from the
    /// cache.
    #[serde(skip)]
    pub rule: CompactionRule,
    /// The client compacts automatically.
    pub auto_compact: bool,
    /// The client compacts when the user asks for it.
    pub can_compact: bool,
    /// The window used to compute the threshold, for every model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_compact_window: Option<Tokens>,
    /// The window used to compute the threshold, for single models.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub model_compact_windows: Vec<(String, Tokens)>,
    /// The window used to compute the threshold, for all other models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_window: Option<Tokens>,
    /// Lowers the threshold to this percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_percent: Option<f64>,
    /// The longest answer that the client requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<Tokens>,
    /// Long-context models get the ordinary window.
    pub disable_long_context: bool,
    /// The window that the client assumes for models it does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_model_window: Option<Tokens>,
    /// The window that the client assumes for every model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_model_window: Option<Tokens>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            rule: CompactionRule::default(),
            auto_compact: true,
            can_compact: true,
            forced_compact_window: None,
            model_compact_windows: Vec::new(),
            compact_window: None,
            compact_percent: None,
            max_output_tokens: None,
            disable_long_context: false,
            unknown_model_window: None,
            any_model_window: None,
        }
    }
}

impl ClientSettings {
    /// Returns the configured window for `model`, and the setting that it comes from.
    pub fn compact_window(&self, model: Option<&str>) -> Option<(Tokens, ClientSetting)> {
        let own = |model: &str| {
            let found = self.model_compact_windows.iter().find(|(name, _)| name == model);
            found.map(|(_, window)| *window)
        };
        let by = |setting| move |tokens| (tokens, setting);
        let forced = self.forced_compact_window.map(by(ClientSetting::ForcedWindow));
        forced
            .or_else(|| model.and_then(own).map(by(ClientSetting::ModelWindow)))
            .or_else(|| self.compact_window.map(by(ClientSetting::Window)))
    }
}

/// A client setting that decides where the client compacts. Only the agent's module knows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientSetting {
    /// Automatic compaction on or off.
    AutoCompact,
    /// The percentage that lowers the threshold.
    Percent,
    /// The window for every model.
    ForcedWindow,
    /// The window for one model.
    ModelWindow,
    /// The window for all models without one of their own.
    Window,
}
