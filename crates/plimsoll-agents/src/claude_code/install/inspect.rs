//! Reads the parts of Claude Code's settings that concern us.

use jsonc_parser::ast::Value;

use plimsoll_core::policy::brief;

use super::events;
use crate::install::{HookEntry, Inspection, StatusLine, Timeout, Unfit};
use crate::jsonc::{self, Array, Object, ParseError, member};
use plimsoll_core::shell;

/// The variable that makes the client compact earlier.
pub(super) const OVERRIDE: &str = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE";

/// The file name of our program.
const NAME: &str = "plimsoll";

pub(super) fn inspect(text: &str) -> Result<Inspection, Unfit> {
    let text = without_mark(text);
    let Some(root) = root(text)? else { return Ok(Inspection::default()) };
    let hooks: Vec<HookEntry> = hooks(&root).into_iter().map(|found| found.entry).collect();
    let env = member(&root, "env").and_then(Value::as_object);
    let variable = |name: &str| scalar(member(env?, name)?);
    Ok(Inspection {
        unknown_events: unknown_events(&hooks),
        hooks,
        hooks_disabled: member(&root, "disableAllHooks")
            .and_then(Value::as_boolean_lit)
            .is_some_and(|disabled| disabled.value),
        status_line: status_line(&root),
        switch: variable("PLIMSOLL"),
        compact_at: variable(OVERRIDE),
        twice: twice(&root),
        ignored: ignored(text, &root),
    })
}

/// Removes the byte order mark that some editors write.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Parses a settings text as an object; `None` if it is blank.
pub(super) fn root(text: &str) -> Result<Option<Object<'_>>, Unfit> {
    match jsonc::parse(text).map_err(|error| syntax(&error))? {
        None => Ok(None),
        Some(Value::Object(root)) => Ok(Some(root)),
        Some(_) => Err(Unfit::Form { what: "the whole of it".to_owned(), expected: "an object" }),
    }
}

fn syntax(error: &ParseError) -> Unfit {
    let (line, column) = (error.line_display(), error.column_display());
    Unfit::Syntax { why: error.kind().to_string().to_lowercase(), line, column }
}

/// A hook and its position: the indexes of its event, its group and itself.
pub(super) struct Found {
    pub(super) entry: HookEntry,
    pub(super) event: usize,
    pub(super) group: usize,
    pub(super) index: usize,
}

/// Returns all hooks of a settings text. Ignores values that are not hooks.
pub(super) fn hooks(root: &Object<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let events = member(root, "hooks").and_then(Value::as_object);
    for (event, property) in events.iter().flat_map(|events| &events.properties).enumerate() {
        for (group, value) in elements(Some(&property.value)).enumerate() {
            let Some(object) = value.as_object() else { continue };
            let matcher = member(object, "matcher").and_then(string);
            for (index, hook) in elements(member(object, "hooks")).enumerate() {
                let entry =
                    hook.as_object().map(|hook| entry(property.name.as_str(), &matcher, hook));
                found.extend(entry.map(|entry| Found { entry, event, group, index }));
            }
        }
    }
    found
}

fn elements<'o, 'a>(value: Option<&'o Value<'a>>) -> impl Iterator<Item = &'o Value<'a>> {
    let array: Option<&'o Array<'a>> = value.and_then(Value::as_array);
    array.into_iter().flat_map(|array| &array.elements)
}

fn entry(event: &str, matcher: &Option<String>, hook: &Object<'_>) -> HookEntry {
    let command = member(hook, "command").and_then(string).unwrap_or_default();
    let args = member(hook, "args").and_then(Value::as_array);
    let args = args.map(|args| args.elements.iter().filter_map(string).collect::<Vec<_>>());
    let timeout = match member(hook, "timeout") {
        None => Timeout::Unset,
        Some(Value::NumberLit(number)) => {
            number.value.parse().map_or(Timeout::Invalid, Timeout::Seconds)
        }
        Some(_) => Timeout::Invalid,
    };
    let is_ours = match &args {
        Some(args) => is_our_program(&command) && args.first().is_some_and(|arg| arg == "hook"),
        None => calls(&command, "hook"),
    };
    let event = event.to_owned();
    HookEntry { event, matcher: matcher.clone(), command, args, timeout, is_ours }
}

/// Returns the status line; `None` if it is missing or malformed.
pub(super) fn status_line(root: &Object<'_>) -> Option<StatusLine> {
    let command = member(member(root, "statusLine")?.as_object()?, "command").and_then(string)?;
    let is_ours = calls(&command, "statusline");
    let wraps = is_ours.then(|| wrapped(&command).ok().flatten()).flatten();
    Some(StatusLine { command, is_ours, wraps })
}

/// Returns the command that our status line wraps. Fails if the command line has any other
/// argument, because removing ours could remove part of the user's.
pub(super) fn wrapped(command: &str) -> Result<Option<String>, Unfit> {
    let mut words = shell::words(command).into_iter().skip(2).map(|word| word.text);
    let mut wrapped = None;
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("--wrap", value)) => Some(value.to_owned()),
            _ if word == "--wrap" => words.next(),
            _ if word == "--no-color" => continue,
            _ => None,
        };
        if value.is_none() || wrapped.is_some() {
            let what = "`statusLine.command`".to_owned();
            return Err(Unfit::Form { what, expected: "one that plimsoll can be taken out of" });
        }
        wrapped = value;
    }
    Ok(wrapped)
}

/// Returns whether a shell command line calls us with `subcommand`.
fn calls(line: &str, subcommand: &str) -> bool {
    let words = shell::words(line);
    matches!(&words[..], [program, first, ..] if is_our_program(&program.text) && first.text == subcommand)
}

fn is_our_program(program: &str) -> bool {
    program.rsplit('/').next() == Some(NAME)
}

fn unknown_events(hooks: &[HookEntry]) -> Vec<String> {
    let events = hooks.iter().map(|hook| &hook.event);
    let mut unknown: Vec<String> =
        events.filter(|event| !events::knows(None, event)).cloned().collect();
    unknown.dedup();
    unknown
}

/// Returns why the client ignores a text that we can read.
fn ignored(text: &str, root: &Object<'_>) -> Option<String> {
    if let Err(error) = jsonc::parse_strictly(text) {
        return Some(syntax(&error).to_string());
    }
    (member(root, "statusLine").is_some() && status_line(root).is_none())
        .then(|| "`statusLine` has no `command`".to_owned())
}

/// Returns the keys that occur twice and matter to us.
pub(super) fn twice(root: &Object<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |object: Option<&Object<'_>>, prefix: &str, ours: &dyn Fn(&str) -> bool| {
        let mut names: Vec<&str> = object
            .iter()
            .flat_map(|object| object.properties.iter().map(|property| property.name.as_str()))
            .filter(|name| ours(name))
            .collect();
        names.sort_unstable();
        let doubled = names.windows(2).filter(|pair| pair[0] == pair[1]);
        found.extend(doubled.map(|pair| format!("{prefix}{}", brief(pair[0]))));
    };
    let object = |key| member(root, key).and_then(Value::as_object);
    look(Some(root), "", &|name| matches!(name, "hooks" | "statusLine" | "env"));
    look(object("hooks"), "hooks.", &|_| true);
    look(object("statusLine"), "statusLine.", &|name| name == "command");
    look(object("env"), "env.", &|name| matches!(name, OVERRIDE | "PLIMSOLL"));
    found.dedup();
    found
}

fn string(value: &Value<'_>) -> Option<String> {
    value.as_string_lit().map(|text| text.value.to_string())
}

/// Formats a value as the client passes it on in a variable.
pub(super) fn scalar(value: &Value<'_>) -> Option<String> {
    match value {
        Value::StringLit(text) => Some(text.value.to_string()),
        Value::NumberLit(number) => Some(number.value.to_owned()),
        Value::BooleanLit(on) => Some(on.value.to_string()),
        _ => None,
    }
}
