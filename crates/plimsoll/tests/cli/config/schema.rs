//! The schema for editors says of a config what `config check` says.

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Whether `value` is what `schema` describes.
///
/// As much of JSON Schema 2020-12 as ours uses; a keyword that is not known here fails the test. A
/// whole validator would bring some seventy crates.
fn fits(schema: &Value, value: &Value) -> bool {
    schema.as_object().unwrap().iter().all(|(keyword, says)| match keyword.as_str() {
        "$schema" | "title" | "description" | "default" | "deprecated" => true,
        "type" => types(says).any(|name| is_a(name, value)),
        "enum" => says.as_array().unwrap().contains(value),
        "minimum" => value.as_f64().is_none_or(|number| number >= says.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= says.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|number| number > says.as_f64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| fits(says, item))),
        "required" => {
            let has = |object: &serde_json::Map<String, Value>| {
                says.as_array()
                    .unwrap()
                    .iter()
                    .all(|key| object.contains_key(key.as_str().unwrap()))
            };
            value.as_object().is_none_or(has)
        }
        "properties" => members(value)
            .all(|(key, member)| says.get(key).is_none_or(|schema| fits(schema, member))),
        "additionalProperties" => members(value)
            .filter(|(key, _)| schema["properties"].get(key.as_str()).is_none())
            .all(|(_, member)| says.as_bool().unwrap_or_else(|| fits(says, member))),
        unknown => panic!("the test knows no `{unknown}`"),
    })
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn types(says: &Value) -> impl Iterator<Item = &str> {
    let many = says.as_array().into_iter().flatten();
    many.chain([says]).filter_map(Value::as_str)
}

fn is_a(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        unknown => panic!("JSON knows no `{unknown}`"),
    }
}

#[test]
fn the_schema_and_the_check_agree() {
    let env = TestEnv::new();
    let schema: Value = serde_json::from_str(&env.plimsoll("config schema").stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let everything = json!({
        "lines": {"ceiling": 40, "checkpoint": 60.5, "save": 70, "warn": 80, "restart": 100},
        "guard": {"mode": "strict", "ceiling_tokens": 1, "recovery_skills": ["a", "b"]},
        "checkpoint": {"on_line": "watcher"},
        "board": {"coordination_file": true},
        "quiet": true,
        "window": 200_000,
        "warn_command": "/handoff",
        "reviewer": {
            "command": ["claude", "-p"],
            "second_command": [],
            "interval_seconds": 60,
            "most_per_day": 5,
        },
        "run": {"max_sessions": 9, "max_tokens": 1, "max_minutes": 240},
        "models": {"house": {"window": 400_000}},
        "auto_context": {
            "enabled": false,
            "thresholds": {"warning": 70, "critical": 100},
            "poll_interval_seconds": 5,
        },
    });
    let sound = [
        everything,
        json!({}),
        json!({"lines": null, "quiet": null}),
        json!({"guard": {"mode": "off"}}),
        json!({"guard": {"mode": false}}),
        json!({"models": {}, "guard": {"recovery_skills": []}}),
    ];
    let unsound = [
        json!({"lines": {"wran": 60}}),
        json!({"lines": {"warn": 0}}),
        json!({"lines": {"warn": 100.5}}),
        json!({"lines": {"warn": "80"}}),
        json!({"lines": 7}),
        json!({"guard": {"mode": "fierce"}}),
        json!({"guard": {"ceiling_tokens": 0}}),
        json!({"guard": {"recovery_skills": "a"}}),
        json!({"guard": {"recovery_skills": [1]}}),
        json!({"checkpoint": {"on_line": "both"}}),
        json!({"board": {"coordination_file": "x"}}),
        json!({"quiet": "yes"}),
        json!({"window": 1.5}),
        json!({"window": -1}),
        json!({"warn_command": 3}),
        json!({"models": {"house": 5}}),
        json!({"models": {"house": {}}}),
        json!({"models": {"house": {"window": 5, "colour": "red"}}}),
        json!({"auto_context": {"thresholds": {"warning": 101}}}),
        json!({"auto_context": {"poll_interval_seconds": 0}}),
        json!({"no_such_key": 1}),
        json!([]),
        json!("text"),
    ];
    let samples = sound.iter().map(|it| (it, true)).chain(unsound.iter().map(|it| (it, false)));
    for (config, is_sound) in samples {
        assert_eq!(fits(&schema, config), is_sound, "schema: {config}");
        // JSON is YAML.
        env.user_config(&config.to_string());
        let ran = env.plimsoll("config check");
        assert_eq!(ran.status.success(), is_sound, "{config}: {ran}");
    }
}
