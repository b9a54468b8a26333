//! Reads Claude Code's own settings for windows and compaction.

use plimsoll_core::Tokens;
use plimsoll_core::settings::{ClientSetting, ClientSettings};
use plimsoll_core::trigger::CompactionRule;
use serde::Deserialize;
use serde_json::Value;

/// Where the client compacts by default.
pub(super) const RULE: CompactionRule = CompactionRule {
    reserve: 20_000,
    headroom: 13_000,
    percent: None,
    smallest_window: 100_000,
    on_refusal: &["opus-4-5", "sonnet-4-5", "haiku-4-5"],
};

/// The parts of a settings file that concern us. Values of the wrong type count as absent.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    auto_compact_enabled: Value,
    auto_compact_window: Value,
    model_settings: Value,
    env: Value,
}

/// Combines settings files, strongest first. Ignores files that are not valid JSON, even those with
/// comments, because the client does so too. Accepts a byte order mark.
pub(super) fn settings(files: &[&str]) -> ClientSettings {
    let read = |text: &&str| serde_json::from_str(text.trim_start_matches('\u{feff}')).ok();
    let files: Vec<File> = files.iter().filter_map(read).collect();
    let own = ClientSettings {
        rule: RULE,
        auto_compact: files
            .iter()
            .find_map(|file| file.auto_compact_enabled.as_bool())
            .unwrap_or(true),
        model_compact_windows: model_windows(&files),
        compact_window: files.iter().find_map(|file| file.auto_compact_window.as_u64()),
        ..ClientSettings::default()
    };
    // The client adds the variables in its settings to its own environment.
    environment(own, &|name| files.iter().find_map(|file| text(file.env.get(name)?)))
}

/// The environment variables that we read.
pub(super) const VARIABLES: [&str; 7] = [
    "DISABLE_COMPACT",
    "DISABLE_AUTO_COMPACT",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT",
    "CLAUDE_CODE_MAX_CONTEXT_TOKENS",
];

/// Overrides the settings in the files with the environment. Invalid values count as absent.
pub(super) fn environment(
    settings: ClientSettings,
    env: &dyn Fn(&str) -> Option<String>,
) -> ClientSettings {
    let number = |name: &str| env(name)?.trim().parse::<Tokens>().ok();
    let switch = |name: &str| env(name).is_some_and(|value| is_on(&value));
    let percent = |name: &str| {
        let percent = env(name)?.trim().parse::<f64>().ok()?;
        (percent > 0.0 && percent <= 100.0).then_some(percent)
    };
    let never = switch("DISABLE_COMPACT");
    let named_window = number("CLAUDE_CODE_MAX_CONTEXT_TOKENS");
    ClientSettings {
        auto_compact: settings.auto_compact && !never && !switch("DISABLE_AUTO_COMPACT"),
        can_compact: settings.can_compact && !never,
        forced_compact_window: number("CLAUDE_CODE_AUTO_COMPACT_WINDOW")
            .or(settings.forced_compact_window),
        compact_percent: percent("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE").or(settings.compact_percent),
        max_output_tokens: number("CLAUDE_CODE_MAX_OUTPUT_TOKENS").or(settings.max_output_tokens),
        disable_long_context: switch("CLAUDE_CODE_DISABLE_1M_CONTEXT")
            || settings.disable_long_context,
        unknown_model_window: named_window.or(settings.unknown_model_window),
        any_model_window: named_window.filter(|_| never).or(settings.any_model_window),
        ..settings
    }
}

pub(super) fn setting_name(setting: ClientSetting) -> &'static str {
    match setting {
        ClientSetting::AutoCompact => "autoCompactEnabled or DISABLE_AUTO_COMPACT",
        ClientSetting::Percent => "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
        ClientSetting::ForcedWindow => "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
        ClientSetting::ModelWindow => "modelSettings.autoCompactWindow",
        ClientSetting::Window => "autoCompactWindow",
    }
}

fn model_windows(files: &[File]) -> Vec<(String, Tokens)> {
    let mut windows = Vec::new();
    let models = files.iter().filter_map(|file| file.model_settings.as_object()).flatten();
    for (model, settings) in models {
        if let Some(window) = settings["autoCompactWindow"].as_u64() {
            windows.push((model.clone(), window));
        }
    }
    windows
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        _ => None,
    }
}

fn is_on(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_file_and_the_environment_win() {
        let local =
            r#"{"autoCompactWindow": 150000, "env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": 40}}"#;
        let user = r#"{"autoCompactWindow": 300000, "autoCompactEnabled": false,
            "modelSettings": {"claude-opus-5-5": {"autoCompactWindow": 120000}},
            "env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "70", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}}"#;
        let found = settings(&[local, user]);
        assert!(!found.auto_compact);
        assert_eq!(found.compact_window, Some(150_000));
        assert_eq!(found.model_compact_windows, [("claude-opus-5-5".to_owned(), 120_000)]);
        assert_eq!(found.compact_percent, Some(40.0));
        assert_eq!(found.max_output_tokens, Some(8_000));
        let env = |name: &str| (name == "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE").then(|| "55".to_owned());
        assert_eq!(environment(found, &env).compact_percent, Some(55.0));
    }

    #[test]
    fn the_list_of_variables_is_what_is_asked_for() {
        let asked = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let env = |name: &str| {
            asked.borrow_mut().insert(name.to_owned());
            None
        };
        environment(ClientSettings::default(), &env);
        let listed = VARIABLES.map(str::to_owned).into_iter().collect();
        assert_eq!(asked.into_inner(), listed);
    }

    #[test]
    fn a_file_counts_where_the_client_reads_it() {
        let window = |text: &str| settings(&[text]).compact_window;
        assert_eq!(window("\u{feff}{\r\n\"autoCompactWindow\": 150000}"), Some(150_000));
        assert_eq!(window("{\"autoCompactWindow\": 150000} // mine"), None);
    }

    #[test]
    fn nonsense_counts_as_absent() {
        let wrong =
            r#"{"autoCompactWindow": "x", "autoCompactEnabled": 3, "env": [], "modelSettings": 1}"#;
        let files = ["{", "[]", wrong];
        let usual = ClientSettings { rule: RULE, ..ClientSettings::default() };
        assert_eq!(settings(&files), usual);
        let env = |_: &str| Some("nonsense".to_owned());
        assert_eq!(environment(ClientSettings::default(), &env), ClientSettings::default());
    }
}
