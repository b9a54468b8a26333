//! The page of the HTTP API, made of its OpenAPI document.

use std::fmt::Write as _;

use serde_json::Value;

use super::{MADE, is_told, kind, members, said};
use crate::env::TestEnv;
use crate::serve::client::Running;

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
            let _ = write!(page, "\n## {} {path}\n", method.to_uppercase());
            endpoint(operation, &mut page);
        }
    }
    page += "\n## Objects\n";
    for (name, schema) in members(&api["components"]["schemas"]) {
        let _ = write!(page, "\n### {name}\n\n{}\n", said(schema));
        object(schema, &mut page);
    }
    is_told("reference/api.md", &page, "`GET /openapi.json` says something else");
}

/// What is asked, and what is answered.
fn endpoint(operation: &Value, page: &mut String) {
    let summary = operation["summary"].as_str().unwrap_or_default();
    let _ = writeln!(page, "\n{}", format!("{summary}. {}", said(operation)).trim_end());
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    table(
        "parameter",
        page,
        parameters.map(|it| (it["name"].as_str().unwrap(), &it["schema"], it, "")),
    );
    let told = [("Body", &operation["requestBody"]), ("Answer", &operation["responses"]["200"])];
    for (name, told) in told {
        let content = members(&told["content"]).next().map(|(_, content)| kind(&content["schema"]));
        page.extend(content.map(|kind| format!("\n{name}: {kind}\n")));
    }
}

/// What an object has.
fn object(schema: &Value, page: &mut String) {
    for (several, told) in [("allOf", ""), ("oneOf", "\nOne of these:\n")] {
        if let Some(parts) = schema[several].as_array() {
            *page += told;
            return parts.iter().for_each(|part| object(part, page));
        }
    }
    if !schema["properties"].is_object() {
        let _ = write!(page, "\nIt is {}.\n", kind(schema));
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let fields = members(&schema["properties"]).map(|(name, field)| {
        let rest = if required.contains(&name.as_str()) { "" } else { ", optional" };
        (name.as_str(), field, field, rest)
    });
    table("field", page, fields);
}

/// A table of values: what each is called, what it may be, what is said of it, and what else there is.
fn table<'a>(
    what: &str,
    page: &mut String,
    rows: impl Iterator<Item = (&'a str, &'a Value, &'a Value, &'static str)>,
) {
    let rows = rows.map(|(name, schema, about, rest)| {
        format!("| `{name}` | {}{rest} | {} |\n", kind(schema), said(about))
    });
    let rows: String = rows.collect();
    if !rows.is_empty() {
        let _ = write!(page, "\n| {what} | values | meaning |\n|---|---|---|\n{rows}");
    }
}
