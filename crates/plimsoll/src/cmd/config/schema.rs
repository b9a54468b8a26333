//! `plimsoll config schema`

use plimsoll_core::settings::Settings;
use plimsoll_core::settings::keys::{self, KEYS, Key, Kind, Setter};
use serde_json::{Value, json};

use crate::ui::Ui;

/// Print the JSON schema of config.yaml, for editors
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  plimsoll config schema > ~/.config/plimsoll/schema.json

and as the first line of config.yaml, for an editor with the YAML language server:
  # yaml-language-server: $schema=schema.json")]
pub(crate) struct Args {}

pub(crate) fn run(ui: &Ui) -> anyhow::Result<()> {
    ui.print_json(&schema())
}

/// The schema. An empty value counts as none everywhere, as where all keys of a section are
/// commented out.
fn schema() -> Value {
    let mut root = section();
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Settings of plimsoll");
    for key in KEYS {
        let (within, own) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        let mut at = &mut root;
        for name in within.split('.').filter(|name| !name.is_empty()) {
            at = &mut at["properties"][name];
            if at.is_null() {
                *at = section();
            }
        }
        at["properties"][own] = property(key);
    }
    root
}

fn section() -> Value {
    json!({ "type": ["object", "null"], "properties": {}, "additionalProperties": false })
}

fn property(key: &Key) -> Value {
    let mut property = allowed(key.kind);
    let meaning = match key.setter {
        Setter::Anyone => key.meaning.to_owned(),
        Setter::User => format!("{} (not in a project's config)", key.meaning),
    };
    property["description"] = json!(meaning);
    match (key.value)(&Settings::default()) {
        keys::Value::Unset => {}
        value => property["default"] = json!(value),
    }
    if key.alias_of.is_some() {
        property["deprecated"] = json!(true);
    }
    property
}

fn allowed(kind: Kind) -> Value {
    match kind {
        Kind::Percent => {
            json!({ "type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 100 })
        }
        Kind::Tokens | Kind::Seconds | Kind::Times => {
            json!({ "type": ["integer", "null"], "minimum": 1 })
        }
        Kind::Number => json!({ "type": ["integer", "null"], "minimum": 0 }),
        Kind::Switch => json!({ "type": ["boolean", "null"] }),
        Kind::Choice(words) => {
            let words = words.iter().map(|word| json!(word));
            // Older YAML takes a bare `off` for a switch, and so does our own parser.
            json!({ "enum": words.chain([json!(false), json!(true), Value::Null]).collect::<Value>() })
        }
        Kind::Choices(words) => {
            json!({ "type": ["array", "null"], "items": { "enum": words } })
        }
        Kind::Words => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
        Kind::Text => json!({ "type": ["string", "null"] }),
        Kind::Database => json!({ "type": ["string", "null"], "pattern": "^postgres(ql)?://" }),
        Kind::Models => json!({ "type": ["object", "null"], "additionalProperties": model() }),
    }
}

fn model() -> Value {
    json!({
        "type": "object",
        "properties": { "window": { "type": "integer", "minimum": 1 } },
        "required": ["window"],
        "additionalProperties": false,
    })
}
