//! The pages of reference, made of what the binary says.

use std::fmt::Write as _;

use serde_json::Value;

use super::is_told;
use crate::env::TestEnv;
use crate::serve::client::Running;

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
    ran.stdout
}

const MADE: &str = "<!-- Made by the tests of `crates/plimsoll/tests/cli/docs`; do not edit. -->";

#[test]
fn the_page_of_commands_is_what_help_says() {
    let env = TestEnv::new();
    let mut page = format!("# Commands\n\n{MADE}\n\nWhat `--help` says of each.\n");
    let all = [vec![String::new()], commands(&env)].concat();
    for name in all {
        let help: String =
            help(&env, &name).lines().map(|it| it.trim_end().to_owned() + "\n").collect();
        let title = format!("plimsoll {name}");
        let _ = write!(page, "\n## {}\n\n```text\n{help}```\n", title.trim_end());
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
        } else {
            let default = if key["default"].is_null() {
                String::new()
            } else {
                code(&key["default"].to_string())
            };
            let _ =
                writeln!(page, "| {} | {} | {default} | {} |", code(&name), kind(key), said(key));
        }
    }
}

#[test]
fn the_page_of_the_api_is_what_its_document_says() {
    let env = TestEnv::new();
    let api = Running::start(&env, &[]).get("/openapi.json").json();
    let mut page = format!(
        "# HTTP API\n\n{MADE}\n\n{} Whatever goes wrong is answered with a [Problem](#problem).\n\
         `GET /openapi.json` has all of this as OpenAPI {}.\n",
        said(&api["info"]),
        api["openapi"].as_str().unwrap()
    );
    for (path, methods) in members(&api["paths"]) {
        for (method, operation) in members(methods) {
            endpoint(&method.to_uppercase(), path, operation, &mut page);
        }
    }
    page += "\n## Objects\n";
    for (name, schema) in members(&api["components"]["schemas"]) {
        let _ = write!(page, "\n### {name}\n\n{}\n", said(schema));
        fields(schema, &mut page);
    }
    is_told("reference/api.md", &page, "`GET /openapi.json` says something else");
}

fn endpoint(method: &str, path: &str, operation: &Value, page: &mut String) {
    let summary = operation["summary"].as_str().unwrap_or_default();
    let _ = write!(page, "\n## {method} {path}\n\n{summary}. {}\n", said(operation));
    let parameters = operation["parameters"].as_array();
    if parameters.is_some() {
        *page += "\n| parameter | values | meaning |\n|---|---|---|\n";
    }
    for parameter in parameters.into_iter().flatten() {
        let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
        let _ = writeln!(page, "| {} | {} | {} |", code(name), kind(schema), said(parameter));
    }
    let content = |of: &Value| members(&of["content"]).next().map(|(_, it)| kind(&it["schema"]));
    let (asked, answered) =
        (content(&operation["requestBody"]), content(&operation["responses"]["200"]));
    let told = [("Body", asked), ("Answer", answered)];
    for (name, kind) in told.into_iter().filter_map(|(name, kind)| Some((name, kind?))) {
        let _ = write!(page, "\n{name}: {kind}\n");
    }
}

/// A table of what an object has.
fn fields(schema: &Value, page: &mut String) {
    if let Some(parts) = schema["allOf"].as_array() {
        return parts.iter().for_each(|part| fields(part, page));
    }
    if !schema["properties"].is_object() {
        let _ = write!(page, "\nIt is {}.\n", kind(schema));
        return;
    }
    *page += "\n| field | values | meaning |\n|---|---|---|\n";
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in members(&schema["properties"]) {
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let _ = writeln!(page, "| {} | {}{optional} | {} |", code(name), kind(field), said(field));
    }
}

/// What values a schema describes.
fn kind(schema: &Value) -> String {
    let several = |word: &str, of: &str| {
        let parts = schema[word].as_array()?;
        Some(parts.iter().map(kind).collect::<Vec<_>>().join(of))
    };
    let named = schema["$ref"].as_str().map(|name| {
        let name = name.rsplit('/').next().unwrap_or_default();
        format!("[{name}](#{})", name.to_lowercase())
    });
    let values = schema["enum"].as_array().map(|values| {
        values
            .iter()
            .map(|value| code(value.as_str().unwrap_or("null")))
            .collect::<Vec<_>>()
            .join(", ")
    });
    let list = schema["items"].is_object().then(|| format!("list of {}", kind(&schema["items"])));
    let types = || match &schema["type"] {
        Value::Array(types) => {
            let types = types.iter().filter_map(Value::as_str).filter(|it| *it != "null");
            types.collect::<Vec<_>>().join(" or ")
        }
        one => one.as_str().unwrap_or("any").to_owned(),
    };
    named
        .or(values)
        .or(list)
        .or_else(|| several("oneOf", " or "))
        .or_else(|| several("anyOf", " or "))
        .or_else(|| several("allOf", " with "))
        .unwrap_or_else(types)
}

/// What is said of it, in a line.
fn said(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
