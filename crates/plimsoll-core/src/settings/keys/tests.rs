use super::*;
use crate::settings::Config;

/// Collects the names of all keys in `value`, below `prefix`.
fn names(prefix: &str, value: &serde_json::Value, found: &mut Vec<String>) {
    match value.as_object().filter(|members| !members.is_empty()) {
        Some(members) => {
            let dot = if prefix.is_empty() { "" } else { "." };
            for (name, member) in members {
                names(&format!("{prefix}{dot}{name}"), member, found);
            }
        }
        None => found.push(prefix.to_owned()),
    }
}

#[test]
fn the_table_has_exactly_the_keys_of_a_config() {
    let mut known = Vec::new();
    names("", &serde_json::to_value(Config::default()).unwrap(), &mut known);
    let mut listed: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    known.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, known);
}

fn takes(key: &Key, value: serde_json::Value) -> bool {
    let nested = |value, part: &str| serde_json::json!({ part: value });
    serde_json::from_value::<Config>(key.name.rsplit('.').fold(value, nested)).is_ok()
}

#[test]
fn a_config_takes_what_the_table_says_and_nothing_else() {
    use serde_json::json;
    for key in KEYS {
        let (good, bad) = match key.kind {
            Kind::Percent => (json!([0.01, 40, 100]), json!([0, -1, 100.1, "40", true])),
            Kind::Tokens | Kind::Seconds | Kind::Times => {
                (json!([1, 200_000]), json!([0, -1, 1.5, "1", true]))
            }
            Kind::Number => (json!([0, 1, 9]), json!([-1, 1.5, "1", true])),
            Kind::Switch => (json!([true, false]), json!([0, "true", []])),
            Kind::Choice(words) => (json!(words), json!(["", "other", 1, []])),
            Kind::Choices(words) => (json!([[], words]), json!(["a", ["other"], [1], {}])),
            Kind::Database => (
                json!(["postgres://me@host/plimsoll", "postgresql:///x"]),
                json!(["", "mysql://x", 1, []]),
            ),
            Kind::Words => (json!([[], ["a", "b"]]), json!(["a", [1], {}])),
            Kind::Text => (json!(["", "/handoff"]), json!([1, true, []])),
            Kind::Models => (
                json!([{}, {"m": {"window": 1}}]),
                json!([[], {"m": 1}, {"m": {}}, {"m": {"window": 0}}, {"m": {"window": 1, "x": 1}}]),
            ),
        };
        for good in good.as_array().unwrap() {
            assert!(takes(key, good.clone()), "{} = {good}", key.name);
        }
        for bad in bad.as_array().unwrap() {
            assert!(!takes(key, bad.clone()), "{} = {bad}", key.name);
        }
    }
}

#[test]
fn a_slip_leads_back_to_the_key_that_was_meant() {
    for (written, meant) in [
        ("lines.wran", Some("lines.warn")),
        ("lines.wram", Some("lines.warn")),
        ("warn", Some("lines.warn")),
        ("lines.ceilling", Some("lines.ceiling")),
        ("line", Some("lines")),
        ("gaurd", Some("guard")),
        ("mode", Some("guard.mode")),
        ("guard.warn_command", Some("warn_command")),
        ("recovery-skills", Some("guard.recovery_skills")),
        ("enable", Some("auto_context.enabled")),
        ("auto_context.treshold", Some("auto_context.thresholds")),
        ("auto_context.pol_interval_seconds", Some("auto_context.poll_interval_seconds")),
        ("x", None),
        ("", None),
    ] {
        assert_eq!(suggest(written), meant, "{written}");
    }
}

#[test]
fn values_read_as_they_are_written() {
    let models = [("m".to_owned(), ModelSettings { window: 5 })];
    let words = ["a".to_owned(), "b".to_owned()];
    assert_eq!(Value::Models(&models).to_string(), "{m: {window: 5}}");
    assert_eq!(Value::Words(&words).to_string(), "[a, b]");
    assert_eq!(Value::Percent(Percent::whole(40)).to_string(), "40");
    assert_eq!(Value::tokens(None).to_string(), "none");
}
