//! What the agent's own client is set to.

use serde::{Deserialize, Serialize};

use crate::Tokens;

/// What the agent's client is set to do with its windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientSettings {
    /// Compacts by itself.
    pub auto_compact: bool,
    /// Compacts if the user asks for it.
    pub can_compact: bool,
    /// The window its threshold is reckoned from, whatever the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_compact_window: Option<Tokens>,
    /// The same for single models …
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub model_compact_windows: Vec<(String, Tokens)>,
    /// … and for all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_window: Option<Tokens>,
    /// Lowers the threshold to this percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_percent: Option<f64>,
    /// The longest answer it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<Tokens>,
    /// Long-context models get the ordinary window.
    pub disable_long_context: bool,
    /// The window it assumes for models it does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_model_window: Option<Tokens>,
    /// The window it assumes for every model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_model_window: Option<Tokens>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
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
    /// The configured window for `model`, and by which setting.
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

/// A setting of the client's that decides where it compacts. Only adapters know its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientSetting {
    /// Whether it compacts by itself.
    AutoCompact,
    /// The percentage that lowers its threshold.
    Percent,
    /// The window its threshold is reckoned from, whatever the model.
    ForcedWindow,
    /// The same for one model.
    ModelWindow,
    /// The same for all models without one of their own.
    Window,
}
