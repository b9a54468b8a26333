//! What a line of Claude Code's transcript tells of the work.

use std::borrow::Cow;

use plimsoll_core::reading::Scope;
use plimsoll_core::work::{Act, Record, Step, Tool};

use super::transcript::Line;
use crate::json::{Fields, Json};

pub(super) fn record(bytes: &[u8], scope: Scope) -> Option<Record<'_>> {
    let line = Line::read(bytes, Some(scope))?;
    let mut acts = Vec::new();
    match line.kind {
        "assistant" => answer(&line, &mut acts),
        "user" if line.summary => {}
        "user" => said(&line, &mut acts),
        "system" if line.is_boundary() => acts.push(Act::Compacted),
        _ => return None,
    }
    Some(Record {
        id: line.id,
        parent: line.parent,
        time: line.time(),
        folder: line.folder.and_then(Json::text),
        branch: line.branch.and_then(Json::text),
        acts,
    })
}

fn answer<'a>(line: &Line<'a>, acts: &mut Vec<Act<'a>>) {
    for block in blocks(line) {
        match block.get("type").and_then(Json::plain) {
            Some("text") => acts.extend(block.get("text").and_then(Json::text).map(Act::Said)),
            Some("tool_use") => acts.extend(call(&block)),
            _ => {}
        }
    }
}

fn blocks<'a>(line: &Line<'a>) -> impl Iterator<Item = Fields<'a>> {
    content(line).into_iter().flat_map(Json::objects)
}

fn content<'a>(line: &Line<'a>) -> Option<Json<'a>> {
    line.message.as_ref()?.get("content")
}

/// Members of a tool's input that choose among words of the tool's own.
const OPTIONS: [&str; 4] = ["output_mode", "status", "subagent_type", "type"];

fn call<'a>(block: &Fields<'a>) -> Option<Act<'a>> {
    let input = block.get("input")?;
    let field = |name: &str| input.get(name).and_then(Json::text);
    let number = |name: &str| input.get(name).and_then(Json::number).map(|number| number as u32);
    let name = block.get("name").and_then(Json::plain)?;
    let path = || field("file_path").or_else(|| field("notebook_path")).or_else(|| field("path"));
    let tool = match name {
        "Edit" | "MultiEdit" | "NotebookEdit" => {
            Tool::Edit { path: path()?, texts: strings(input, &["file_path", "notebook_path"]) }
        }
        "Write" => Tool::Write { path: path()?, text: field("content").unwrap_or_default() },
        "Read" => Tool::Read { path: path()?, from: number("offset"), lines: number("limit") },
        "Bash" | "PowerShell" => Tool::Shell { command: field("command")? },
        "Agent" | "Task" => Tool::Delegate {
            task: field("description").unwrap_or_default(),
            text: field("prompt").unwrap_or_default(),
        },
        "TodoWrite" => Tool::Plan(input.get("todos")?.elements().filter_map(step).collect()),
        _ => Tool::Other { name, path: path(), texts: strings(input, &OPTIONS) },
    };
    Some(Act::Called { call: block.get("id").and_then(Json::plain)?, tool })
}

fn step(todo: Json<'_>) -> Option<Step<'_>> {
    let done = todo.get("status").and_then(Json::plain) == Some("completed");
    Some(Step { text: todo.get("content")?.text()?, done })
}

/// Every string in a value, however deep.
fn strings<'a>(value: Json<'a>, but: &[&str]) -> Vec<Cow<'a, str>> {
    let mut texts = Vec::new();
    value.strings(|key, inside| {
        if !but.iter().any(|name| name.as_bytes() == key) {
            texts.push(Json::decoded(inside));
        }
    });
    texts
}

fn said<'a>(line: &Line<'a>, acts: &mut Vec<Act<'a>>) {
    let Some(content) = content(line) else { return };
    if let Some(text) = content.text() {
        return acts.extend(own_words(text, line.meta).map(Act::Asked));
    }
    for block in content.objects() {
        match block.get("type").and_then(Json::plain) {
            Some("text") => {
                let text = block.get("text").and_then(Json::text);
                acts.extend(text.and_then(|text| own_words(text, line.meta)).map(Act::Asked));
            }
            Some("tool_result") => acts.extend(returned(line, &block)),
            _ => {}
        }
    }
}

fn returned<'a>(line: &Line<'a>, block: &Fields<'a>) -> Option<Act<'a>> {
    let content = block.get("content");
    let text = match content.and_then(Json::escaped) {
        Some(inside) => ends(inside),
        None => {
            let mut all = String::new();
            for part in content.into_iter().flat_map(Json::elements) {
                if let Some(inside) = part.get("text").and_then(Json::escaped) {
                    all += &ends(inside);
                    all.push('\n');
                }
            }
            Cow::Owned(all)
        }
    };
    Some(Act::Returned {
        call: block.get("tool_use_id").and_then(Json::plain)?,
        failed: block.get("is_error").is_some_and(Json::is_true),
        text,
        changed: line.result.as_ref().map(changed).unwrap_or_default(),
    })
}

/// Of a long text its beginning and its end.
fn ends(inside: &[u8]) -> Cow<'_, str> {
    const HEAD: usize = 12 << 10;
    const TAIL: usize = 4 << 10;
    if inside.len() <= HEAD + TAIL {
        return Json::decoded(inside);
    }
    let (head, tail) = (&inside[..HEAD], &inside[inside.len() - TAIL..]);
    Cow::Owned(format!("{}\n{}", Json::decoded(head), Json::decoded(tail)))
}

/// The lines that an edit changed, as the client found them.
fn changed(result: &Fields<'_>) -> Vec<(u32, u32)> {
    let hunks = result.get("structuredPatch").into_iter().flat_map(Json::elements);
    hunks
        .filter_map(|hunk| {
            let number = |name: &str| Some(hunk.get(name)?.number()? as u32);
            Some((number("newStart")?, number("newLines")?))
        })
        .collect()
}

/// What of a prompt the user said: clients speak in their place, too.
fn own_words(text: Cow<'_, str>, meta: bool) -> Option<Cow<'_, str>> {
    if meta {
        return None;
    }
    let trimmed = text.trim_start();
    if let Some(rest) = trimmed.strip_prefix("<command-") {
        let from = rest.find("<command-args>")? + "<command-args>".len();
        let to = from + rest[from..].find("</command-args>")?;
        let words = rest[from..to].trim();
        return (!words.is_empty()).then(|| Cow::Owned(words.to_owned()));
    }
    const MACHINES: [&str; 6] = [
        "<",
        "Caveat: ",
        "[Request interrupted",
        "Base directory for this skill",
        "This session is being continued",
        "## Resuming from Checkpoint",
    ];
    (!trimmed.is_empty() && !MACHINES.iter().any(|start| trimmed.starts_with(start)))
        .then_some(text)
}
