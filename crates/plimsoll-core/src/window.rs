//! Determines the size of a context window.

use crate::Tokens;
use crate::models::{self, DEFAULT_WINDOW, LONG_WINDOW};
use crate::settings::{ClientSettings, ModelSettings};

/// A context window and the source of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub tokens: Tokens,
    pub source: WindowSource,
}

/// Where a window's size comes from, most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// A flag, an environment variable or the config.
    Override,
    /// The client's status line, for this session.
    StatusLine,
    /// The agent's transcript or payloads.
    Agent,
    /// A long-context mark on the requested model.
    Mark,
    /// The client's setting for models that it does not know.
    ClientSetting,
    /// The table of models, ours or the user's.
    Table,
    /// A prompt larger than the window assumed before.
    Inferred,
    /// The default, which is a guess.
    Default,
}

impl WindowSource {
    /// Returns whether the size is only a guess. A guess must never be a reason to refuse a call.
    pub fn is_guess(self) -> bool {
        self == Self::Default
    }

    /// Returns the name used in output.
    pub fn label(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::StatusLine => "status_line",
            Self::Agent => "agent",
            Self::Mark => "mark",
            Self::ClientSetting => "client_setting",
            Self::Table => "table",
            Self::Inferred => "inferred",
            Self::Default => "default",
        }
    }
}

/// Everything that may determine the size of a window.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowFacts<'a> {
    /// The size that the user set for this call.
    pub override_tokens: Option<Tokens>,
    /// The size that the agent reports for this session.
    pub reported: Option<Tokens>,
    /// The size that this session has proven before, for the same model.
    pub proven: Option<Window>,
    /// The model that answered last.
    pub model: Option<&'a str>,
    /// The model was requested with a long-context mark.
    pub long_context: bool,
    /// The largest known prompt that the service has accepted in this session.
    pub largest_prompt: Tokens,
}

/// Determines the size of a window from the first source that knows it.
pub fn resolve(
    facts: &WindowFacts<'_>,
    user_models: &[(String, ModelSettings)],
    client: &ClientSettings,
) -> Window {
    if let Some(tokens) = facts.override_tokens {
        return Window { tokens, source: WindowSource::Override };
    }
    let proven = facts.proven.filter(|window| window.source == WindowSource::StatusLine);
    let assumed = proven.unwrap_or_else(|| assume(facts, user_models, client));
    let inferred = facts.proven.map_or(0, |window| window.tokens).max(facts.largest_prompt);
    if inferred <= assumed.tokens {
        return assumed;
    }
    let larger = facts.model.and_then(models::known).and_then(|model| model.larger_window);
    let tokens = larger.filter(|larger| *larger >= inferred).unwrap_or(inferred);
    let source = match facts.proven {
        Some(window) if window.tokens >= facts.largest_prompt => window.source,
        // A prompt of an unknown model proves only that the window is larger: the size is still a
        // guess.
        _ if assumed.source.is_guess() => assumed.source,
        _ => WindowSource::Inferred,
    };
    Window { tokens, source }
}

/// Returns the window that the client's trigger depends on. If the user has set a smaller window,
/// that changes percentages but not the client, so this returns the client's own. Otherwise returns
/// `window`, the result of [`resolve`].
pub fn of_client(
    window: Window,
    facts: &WindowFacts<'_>,
    user_models: &[(String, ModelSettings)],
    client: &ClientSettings,
) -> Window {
    if window.source != WindowSource::Override {
        return window;
    }
    let own = resolve(&WindowFacts { override_tokens: None, ..*facts }, user_models, client);
    if own.tokens <= window.tokens { window } else { own }
}

fn assume(
    facts: &WindowFacts<'_>,
    user_models: &[(String, ModelSettings)],
    client: &ClientSettings,
) -> Window {
    if let Some(tokens) = facts.reported {
        return Window { tokens, source: WindowSource::Agent };
    }
    let long = |source| match client.disable_long_context {
        true => Window { tokens: DEFAULT_WINDOW, source: WindowSource::ClientSetting },
        false => Window { tokens: LONG_WINDOW, source },
    };
    if let Some(tokens) = client.any_model_window {
        return Window { tokens, source: WindowSource::ClientSetting };
    }
    if facts.long_context {
        return long(WindowSource::Mark);
    }
    let Some(model) = facts.model else {
        return Window { tokens: DEFAULT_WINDOW, source: WindowSource::Default };
    };
    if let Some((_, found)) = user_models.iter().find(|(name, _)| model.contains(name.as_str())) {
        return Window { tokens: found.window, source: WindowSource::Table };
    }
    match (models::known(model), client.unknown_model_window) {
        (Some(known), _) if known.window == LONG_WINDOW => long(WindowSource::Table),
        (Some(known), _) => Window { tokens: known.window, source: WindowSource::Table },
        (None, Some(tokens)) => Window { tokens, source: WindowSource::ClientSetting },
        (None, None) => Window { tokens: DEFAULT_WINDOW, source: WindowSource::Default },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(facts: WindowFacts<'_>, tokens: Tokens, source: WindowSource) {
        let models = [("house".to_owned(), ModelSettings { window: 64_000 })];
        let window = resolve(&facts, &models, &ClientSettings::default());
        assert_eq!(window, Window { tokens, source });
    }

    fn model(model: &str) -> WindowFacts<'_> {
        WindowFacts { model: Some(model), ..WindowFacts::default() }
    }

    #[test]
    fn the_first_source_that_answers_wins() {
        use WindowSource::{Agent, Default, Inferred, Mark, Override, StatusLine, Table};
        let opus = model("claude-opus-4-6");
        check(WindowFacts { override_tokens: Some(64_000), ..opus }, 64_000, Override);
        let reported = Window { tokens: 500_000, source: StatusLine };
        check(WindowFacts { proven: Some(reported), ..opus }, 500_000, StatusLine);
        check(WindowFacts { long_context: true, ..opus }, 1_000_000, Mark);
        check(model("my-house-model"), 64_000, Table);
        check(opus, 200_000, Table);
        check(model("claude-opus-5-5"), 1_000_000, Table);
        check(model("no-one-knows"), 200_000, Default);
        check(WindowFacts::default(), 200_000, Default);
        check(WindowFacts { largest_prompt: 200_001, ..opus }, 1_000_000, Inferred);
        check(WindowFacts { largest_prompt: 200_000, ..opus }, 200_000, Table);
        check(WindowFacts { largest_prompt: 3_000_000, ..opus }, 3_000_000, Inferred);
        check(WindowFacts { reported: Some(272_000), ..opus }, 272_000, Agent);
    }

    #[test]
    fn a_large_prompt_of_an_unknown_model_proves_only_that_its_window_is_larger() {
        let unknown = WindowFacts { largest_prompt: 250_000, ..model("no-one-knows") };
        check(unknown, 250_000, WindowSource::Default);
        let before = Window { tokens: 260_000, source: WindowSource::Default };
        check(WindowFacts { proven: Some(before), ..unknown }, 260_000, WindowSource::Default);
    }

    #[test]
    fn a_smaller_override_leaves_the_client_its_own_window() {
        let own = |facts: WindowFacts<'_>| {
            let client = ClientSettings::default();
            of_client(resolve(&facts, &[], &client), &facts, &[], &client)
        };
        let small = |model| {
            let override_tokens = Some(60_000);
            WindowFacts { override_tokens, model, ..WindowFacts::default() }
        };
        let known = Window { tokens: 200_000, source: WindowSource::Table };
        assert_eq!(own(small(Some("claude-opus-4-6"))), known);
        let reported = Window { tokens: 500_000, source: WindowSource::StatusLine };
        assert_eq!(own(WindowFacts { proven: Some(reported), ..small(None) }), reported);
        let set = |tokens| Window { tokens, source: WindowSource::Override };
        let guess = Window { tokens: DEFAULT_WINDOW, source: WindowSource::Default };
        assert_eq!(own(small(Some("no-one-knows"))), guess, "no client has a smaller one");
        let large = WindowFacts { override_tokens: Some(1_000_000), ..model("claude-opus-4-6") };
        assert_eq!(own(large), set(1_000_000));
        assert_eq!(own(model("claude-opus-4-6")), known);
    }

    #[test]
    fn what_a_session_proved_once_stays_proven() {
        let proven = Some(Window { tokens: 1_000_000, source: WindowSource::Inferred });
        let facts = WindowFacts { proven, ..model("claude-sonnet-4-5") };
        check(facts, 1_000_000, WindowSource::Inferred);
    }

    #[test]
    fn a_proven_window_beyond_every_known_one_does_not_shrink() {
        let proven = Some(Window { tokens: 1_200_000, source: WindowSource::Inferred });
        let facts = WindowFacts { proven, largest_prompt: 50_000, ..model("no-one-knows") };
        check(facts, 1_200_000, WindowSource::Inferred);
    }

    #[test]
    fn a_client_without_long_context_has_short_windows() {
        let client = ClientSettings { disable_long_context: true, ..ClientSettings::default() };
        let window = resolve(&model("claude-opus-5-5"), &[], &client);
        assert_eq!(window, Window { tokens: 200_000, source: WindowSource::ClientSetting });
    }
}
