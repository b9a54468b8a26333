//! The pages of reference, made of what the binary says.

mod api;

use std::fmt::Write as _;

use serde_json::Value;

use super::is_told;
use crate::env::TestEnv;

const MADE: &str = "<!-- Made by the tests in `crates/plimsoll/tests/cli/docs`; do not edit. -->";

/// Every command by what help tells of it: `board`, `board ack` and so on.
pub(crate) fn commands(env: &TestEnv) -> Vec<String> {
    below(env, "")
}

fn below(env: &TestEnv, name: &str) -> Vec<String> {
    let help = help(env, name);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // What is said of a command may go on in a second line.
    let names = listed.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help").map(|last| format!("{name} {last}"));
    names
        .map(|name| name.trim_start().to_owned())
        .flat_map(|name| [vec![name.clone()], below(env, &name)].concat())
        .collect()
}

fn help(env: &TestEnv, name: &str) -> String {
    let ran = env.plimsoll(&format!("{name} --help"));
    assert!(ran.status.success(), "{ran}");
    ran.stdout.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn the_page_of_commands_is_what_help_says() {
    let env = TestEnv::new();
    let mut page = format!("# Commands\n\n{MADE}\n\nWhat `--help` says of each.\n");
    for name in [vec![String::new()], commands(&env)].concat() {
        let title = format!("plimsoll {name}");
        let _ = write!(page, "\n## {}\n\n```text\n{}```\n", title.trim_end(), help(&env, &name));
    }
    is_told("reference/cli.md", &page, "`plimsoll --help` says something else");
}

#[test]
fn the_page_of_settings_is_what_the_schema_says() {
    let schema = TestEnv::new().plimsoll("config schema");
    let schema: Value = serde_json::from_str(&schema.stdout).unwrap();
    let mut page = format!(
        "# Settings\n\n{MADE}\n\nThe keys of `~/.config/plimsoll/config.yaml`, all optional. \
         `plimsoll config default` prints a file with all of them,\n`plimsoll config check` says what is \
         wrong in yours.\n\n| key | values | default | meaning |\n|---|---|---|---|\n"
    );
    keys("", &schema, &mut page);
    is_told("reference/config.md", &page, "`plimsoll config schema` says something else");
}

/// A row for every value below a place of the schema.
fn keys(place: &str, schema: &Value, page: &mut String) {
    for (name, key) in members(&schema["properties"]) {
        let name = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        if key["properties"].is_object() {
            keys(&name, key, page);
            continue;
        }
        let default = Some(&key["default"]).filter(|value| !value.is_null());
        let default = default.map_or_else(String::new, |value| format!("`{value}`"));
        let _ = writeln!(page, "| `{name}` | {} | {default} | {} |", kind(key), said(key));
    }
}

/// What values a schema describes.
fn kind(schema: &Value) -> String {
    let is_something = |part: &&Value| **part != "null" && part["type"] != "null";
    let all = |of: &Value, between: &str, told: &dyn Fn(&Value) -> String| {
        let parts = of.as_array()?.iter().filter(is_something).map(told);
        Some(parts.collect::<Vec<_>>().join(between))
    };
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let named = name.map(|name| format!("[{name}](#{})", name.to_lowercase()));
    let list = schema["items"].is_object().then(|| format!("list of {}", kind(&schema["items"])));
    let word = |value: &Value| value.as_str().unwrap_or("any").to_owned();
    named
        .or(list)
        .or_else(|| words(&schema["enum"]))
        .or_else(|| all(&schema["oneOf"], " or ", &kind))
        .or_else(|| all(&schema["anyOf"], " or ", &kind))
        .or_else(|| all(&schema["allOf"], " with ", &kind))
        .or_else(|| all(&schema["type"], " or ", &word))
        .unwrap_or_else(|| word(&schema["type"]))
}

/// Words to choose from. What a config may say instead of a word is another way to write one of them.
fn words(of: &Value) -> Option<String> {
    let words = of.as_array()?.iter().filter_map(Value::as_str).map(|word| format!("`{word}`"));
    Some(words.collect::<Vec<_>>().join(", "))
}

/// What is said of it, in a line.
fn said(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
