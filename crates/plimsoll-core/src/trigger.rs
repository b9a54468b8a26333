//! Predicts where the client compacts automatically.

use crate::Tokens;
use crate::event::AgentId;
use crate::settings::{ClientSetting, ClientSettings};

/// The point at which the client compacts the conversation, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    At {
        tokens: Tokens,
        source: TriggerSource,
        /// The setting that makes the client compact earlier than by default.
        lowered_by: Option<ClientSetting>,
    },
    /// The user has disabled automatic compaction.
    SwitchedOff,
    /// This model has no threshold: the client compacts only when the service refuses the prompt.
    OnRefusal,
}

/// Where a trigger comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerSource {
    /// The client's formula with the user's settings.
    Formula,
    /// Earlier compactions of this user.
    Learned { compactions: u32 },
}

impl Trigger {
    /// Returns the trigger in tokens; `None` if the client has no threshold.
    pub fn tokens(self) -> Option<Tokens> {
        match self {
            Self::At { tokens, .. } => Some(tokens),
            Self::SwitchedOff | Self::OnRefusal => None,
        }
    }

    /// Like [`Trigger::tokens`], but `None` if the trigger is above `window`: the user has set a
    /// window smaller than the client's, and it fills up before the client compacts.
    pub fn within(self, window: Tokens) -> Option<Tokens> {
        self.tokens().filter(|tokens| *tokens <= window)
    }

    /// Returns whether a setting makes the client compact earlier than by default. If so, a
    /// percentage of the window does not show how near the compaction is.
    pub fn is_lowered(self) -> bool {
        matches!(self, Self::At { lowered_by: Some(_), .. })
    }
}

/// The compactions recorded for a model and client version.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Learned {
    /// `None` for the default agent, and in files of release 0.1, which knew no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub model: String,
    pub version: String,
    /// Tokens before each of the newest automatic compactions, newest last.
    pub seen: Vec<Tokens>,
}

/// The number of newest compactions that count.
pub const LEARN_FROM: usize = 5;

/// The point at which an agent's client compacts automatically, before any user setting. Each agent
/// supplies its own: `min(percent × (window − reserve), window − reserve − headroom)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompactionRule {
    /// Tokens that the client reserves for the answer, at most.
    pub reserve: Tokens,
    /// Tokens that the client keeps free in addition to the reserve.
    pub headroom: Tokens,
    /// Percentage of the window without the reserve; `None` if the rule has none.
    pub percent: Option<f64>,
    /// The smallest window that the user can set for compaction; smaller ones are raised to it.
    pub smallest_window: Tokens,
    /// Parts of the names of models without a threshold: the client compacts only when the service
    /// refuses the prompt, unless the user sets a window.
    pub on_refusal: &'static [&'static str],
}

impl CompactionRule {
    fn waits_for_refusal(&self, model: Option<&str>) -> bool {
        model.is_some_and(|model| self.on_refusal.iter().any(|part| model.contains(part)))
    }
}

/// Returns where the client compacts a conversation with `model` in a window of `window` tokens.
/// The window is the client's own, see [`of_client`](crate::window::of_client).
///
/// `seen` has the tokens before the newest automatic compactions of the same model and client
/// version, which correct the formula.
pub fn resolve(
    window: Tokens,
    model: Option<&str>,
    client: &ClientSettings,
    seen: &[Tokens],
) -> Trigger {
    if !client.auto_compact {
        return Trigger::SwitchedOff;
    }
    // A compaction above the window happened in a different window.
    let seen: Vec<Tokens> = seen.iter().copied().filter(|tokens| *tokens <= window).collect();
    match formula(window, model, client) {
        Some((tokens, lowered_by)) => correct(Some(tokens), lowered_by, &seen),
        None => correct(None, None, &seen),
    }
}

/// Returns where the client is configured to compact, and the user's setting that decides it.
/// Ignores earlier compactions.
pub fn configured(
    window: Tokens,
    model: Option<&str>,
    client: &ClientSettings,
) -> (Trigger, Option<ClientSetting>) {
    if !client.auto_compact {
        return (Trigger::SwitchedOff, Some(ClientSetting::AutoCompact));
    }
    match formula(window, model, client) {
        Some((tokens, setting)) => {
            (Trigger::At { tokens, source: TriggerSource::Formula, lowered_by: setting }, setting)
        }
        None => (Trigger::OnRefusal, None),
    }
}

fn formula(
    window: Tokens,
    model: Option<&str>,
    client: &ClientSettings,
) -> Option<(Tokens, Option<ClientSetting>)> {
    let rule = &client.rule;
    let configured = client.compact_window(model);
    if rule.waits_for_refusal(model) && configured.is_none() {
        return None;
    }
    let lower = configured.map(|(tokens, setting)| {
        let tokens = tokens.max(rule.smallest_window);
        (tokens, Some(setting).filter(|_| tokens < window))
    });
    let (window, setting) = lower.map_or((window, None), |(lower, by)| (window.min(lower), by));
    let reserve = client.max_output_tokens.unwrap_or(rule.reserve).min(rule.reserve);
    let effective = window.saturating_sub(reserve);
    // A window smaller than what the client keeps free is not a real one: the user set it for a
    // test.
    let threshold = effective.checked_sub(rule.headroom).filter(|threshold| *threshold > 0)?;
    let share = |percent: f64| (effective as f64 * percent / 100.0) as Tokens;
    let threshold = rule.percent.map_or(threshold, |percent| threshold.min(share(percent)));
    Some(match client.compact_percent.map(share) {
        Some(tokens) if tokens < threshold => (tokens, Some(ClientSetting::Percent)),
        _ => (threshold, setting),
    })
}

/// Corrects the formula by earlier compactions.
///
/// Without a formula, a single compaction is enough. A lower trigger needs two compactions that
/// agree: a single one may come from an idle session or from other settings. A higher trigger needs
/// three compactions, all well above the formula: a single large tool result can carry any call
/// past the threshold.
fn correct(formula: Option<Tokens>, lowered_by: Option<ClientSetting>, seen: &[Tokens]) -> Trigger {
    const ENOUGH: usize = 3;
    let seen = &seen[seen.len().saturating_sub(LEARN_FROM)..];
    let mut sorted = seen.to_vec();
    sorted.sort_unstable();
    let agreed = matches!(sorted[..], [lowest, next, ..] if next - lowest <= next / 33);
    let at = |tokens, source| Trigger::At { tokens, source, lowered_by };
    let compactions = seen.len() as u32;
    let learned = |tokens| at(tokens, TriggerSource::Learned { compactions });
    match (formula, sorted.first()) {
        (None, Some(lowest)) => learned(*lowest),
        (None, None) => Trigger::OnRefusal,
        (Some(tokens), Some(lowest)) if *lowest < tokens - tokens / 50 && agreed => {
            learned(*lowest)
        }
        (Some(tokens), Some(lowest)) if *lowest > tokens + tokens / 33 && seen.len() >= ENOUGH => {
            learned(*lowest)
        }
        (Some(tokens), _) => at(tokens, TriggerSource::Formula),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models;

    const RULE: CompactionRule = CompactionRule {
        reserve: 20_000,
        headroom: 13_000,
        percent: None,
        smallest_window: 100_000,
        on_refusal: &["opus-4-5"],
    };

    fn plain() -> ClientSettings {
        ClientSettings { rule: RULE, ..ClientSettings::default() }
    }

    fn at(tokens: Tokens) -> Trigger {
        Trigger::At { tokens, source: TriggerSource::Formula, lowered_by: None }
    }

    fn lowered(tokens: Tokens, by: ClientSetting) -> Trigger {
        Trigger::At { tokens, source: TriggerSource::Formula, lowered_by: Some(by) }
    }

    fn learned(tokens: Tokens, compactions: u32) -> Trigger {
        let source = TriggerSource::Learned { compactions };
        Trigger::At { tokens, source, lowered_by: None }
    }

    #[track_caller]
    fn check(model: &str, client: &ClientSettings, seen: &[Tokens], expected: Trigger) {
        let window = models::known(model).map_or(200_000, |model| model.window);
        assert_eq!(resolve(window, Some(model), client, seen), expected);
    }

    #[test]
    fn the_formula_follows_the_clients_settings() {
        let plain = plain();
        check("claude-opus-5-5", &plain, &[], at(967_000));
        check("claude-opus-4-6", &plain, &[], at(167_000));
        check("claude-opus-4-5", &plain, &[], Trigger::OnRefusal);
        let window = ClientSettings { forced_compact_window: Some(100_000), ..plain.clone() };
        check("claude-opus-5-5", &window, &[], lowered(67_000, ClientSetting::ForcedWindow));
        check("claude-opus-4-5", &window, &[], lowered(67_000, ClientSetting::ForcedWindow));
        let small = ClientSettings { forced_compact_window: Some(50_000), ..plain.clone() };
        check("claude-opus-5-5", &small, &[], lowered(67_000, ClientSetting::ForcedWindow));
        let percent = ClientSettings { compact_percent: Some(50.0), ..plain.clone() };
        check("claude-opus-4-6", &percent, &[], lowered(90_000, ClientSetting::Percent));
        let high = ClientSettings { compact_percent: Some(99.0), ..plain.clone() };
        check("claude-opus-4-6", &high, &[], at(167_000));
        let output = ClientSettings { max_output_tokens: Some(8_000), ..plain.clone() };
        check("claude-opus-4-6", &output, &[], at(179_000));
        assert_eq!(resolve(25_000, Some("claude-opus-4-6"), &plain, &[]), Trigger::OnRefusal);
        let off = ClientSettings { auto_compact: false, ..plain };
        check("claude-opus-5-5", &off, &[100_000], Trigger::SwitchedOff);
    }

    #[test]
    fn a_rule_may_be_a_percentage() {
        let rule = CompactionRule { percent: Some(70.0), ..CompactionRule::default() };
        let client = ClientSettings { rule, ..ClientSettings::default() };
        assert_eq!(resolve(200_000, Some("any"), &client, &[]), at(140_000));
        assert_eq!(
            resolve(200_000, None, &ClientSettings { rule: RULE, ..client }, &[]),
            at(167_000)
        );
    }

    #[test]
    fn a_models_own_window_setting_comes_before_the_general_one() {
        let client = ClientSettings {
            compact_window: Some(150_000),
            model_compact_windows: vec![("claude-opus-4-6".to_owned(), 120_000)],
            ..plain()
        };
        check("claude-opus-4-6", &client, &[], lowered(87_000, ClientSetting::ModelWindow));
        check("claude-sonnet-4-6", &client, &[], lowered(117_000, ClientSetting::Window));
    }

    #[test]
    fn the_setting_that_decides_is_named() {
        let decides =
            |client: &ClientSettings| configured(200_000, Some("claude-opus-4-6"), client).1;
        let plain = plain();
        assert_eq!(decides(&plain), None);
        let window = ClientSettings { compact_window: Some(150_000), ..plain.clone() };
        assert_eq!(decides(&window), Some(ClientSetting::Window));
        let both = ClientSettings { compact_percent: Some(40.0), ..window.clone() };
        assert_eq!(decides(&both), Some(ClientSetting::Percent));
        let too_high = ClientSettings { compact_percent: Some(99.0), ..window };
        assert_eq!(decides(&too_high), Some(ClientSetting::Window));
        let too_wide = ClientSettings { compact_window: Some(900_000), ..plain.clone() };
        assert_eq!(decides(&too_wide), None);
        assert_eq!(resolve(25_000, Some("claude-opus-4-6"), &plain, &[]), Trigger::OnRefusal);
        let off = ClientSettings { auto_compact: false, ..plain };
        assert_eq!(decides(&off), Some(ClientSetting::AutoCompact));
    }

    #[test]
    fn the_users_own_compactions_correct_the_formula() {
        let plain = plain();
        check("claude-opus-4-6", &plain, &[155_300], at(167_000));
        check("claude-opus-4-6", &plain, &[155_300, 155_000, 168_000], learned(155_000, 3));
        check("claude-opus-4-6", &plain, &[120_000, 155_000], at(167_000));
        check("claude-opus-4-6", &plain, &[967_000, 967_500, 968_000], at(167_000));
        check("claude-opus-4-6", &plain, &[167_400, 171_000], at(167_000));
        check("claude-opus-4-6", &plain, &[190_000], at(167_000));
        check("claude-opus-4-6", &plain, &[190_000, 188_000, 191_000], learned(188_000, 3));
        check("claude-opus-4-5", &plain, &[155_000], learned(155_000, 1));
        check("claude-opus-4-5", &plain, &[199_000, 198_000], learned(198_000, 2));
        let old_ones_are_forgotten = [90_000, 168_000, 168_000, 168_000, 168_000, 168_000];
        check("claude-opus-4-6", &plain, &old_ones_are_forgotten, at(167_000));
    }
}
