//! Extracts the work from a transcript record.

use std::borrow::Cow;

use plimsoll_core::entry::{EntryId, Follows};
use plimsoll_core::reading::Scope;
use plimsoll_extract::redact::redact_member;
use plimsoll_extract::work::{
    ChangeKind, FileChange, PlanStep, StepState, ToolOutput, ToolUse, WorkEvent, WorkRecord,
};

use super::skim::Skim;
use super::transcript::Line;
use crate::ends::ends;
use crate::json::{Fields, Json};

pub(super) fn record<'a>(
    bytes: &'a [u8],
    scope: Scope,
    has_only_to_end: &dyn Fn(&str) -> bool,
) -> Option<WorkRecord<'a>> {
    let line = match Skim::read(bytes, scope, has_only_to_end)? {
        Skim::Read(line) => line,
        Skim::Ended(call) => {
            return Some(WorkRecord {
                events: vec![ended(call)],
                advances: true,
                ..WorkRecord::default()
            });
        }
    };
    let mut acts = Vec::new();
    match line.kind {
        "assistant" => answer(&line, &mut acts),
        "user" if line.summary => {}
        "user" => said(&line, &mut acts),
        "system" if line.is_boundary() => acts.push(WorkEvent::Compaction),
        _ => return None,
    }
    let is_result = acts.iter().any(is_result);
    let has_words = acts.iter().any(|act| *act != WorkEvent::Compaction);
    // Ignore both in results, which may not have been read to their end. Other records have them
    // too.
    let (folder, branch) = if is_result { (None, None) } else { (line.folder, line.branch) };
    Some(WorkRecord {
        place: 0,
        id: line.id,
        follows: Follows::parent(line.parent),
        is_prompt: line.kind == "user" && !line.summary && !is_result,
        advances: has_words
            || is_the_models(&line)
            || is_shell_mode(&line)
            || shows_something(&line),
        message: message(&line),
        time: line.time(),
        folder: folder.and_then(Json::text),
        branch: branch.and_then(Json::text),
        events: acts,
    })
}

/// Returns the act of a call that succeeded, without further details.
fn ended(call: &str) -> WorkEvent<'_> {
    let said = ToolOutput::new(b"", said_by_tool);
    WorkEvent::ToolResult { call, failed: false, said, changes: Vec::new(), step: None }
}

fn is_result(act: &WorkEvent<'_>) -> bool {
    matches!(act, WorkEvent::ToolResult { .. } | WorkEvent::CallDropped { .. })
}

/// Returns the model's message that a record is a part of.
fn message(line: &Line<'_>) -> Option<EntryId> {
    let id = line.message.as_ref().filter(|_| is_the_models(line))?.get("id")?;
    id.escaped().map(EntryId::new)
}

/// Returns whether the model wrote a record. The client also writes messages in its place.
fn is_the_models(line: &Line<'_>) -> bool {
    let model = line.message.as_ref().and_then(|message| message.get("model"));
    line.kind == "assistant" && model.and_then(Json::plain) != Some("<synthetic>")
}

/// Returns whether a record is a command that the user ran in the client's shell mode, or its
/// output.
fn is_shell_mode(line: &Line<'_>) -> bool {
    let text = content(line).filter(|_| line.kind == "user" && !line.summary).and_then(Json::text);
    text.is_some_and(|text| text.starts_with("<bash-"))
}

/// Returns whether the user sent an image or a document.
fn shows_something(line: &Line<'_>) -> bool {
    let is_shown = |block: &Fields<'_>| {
        matches!(block.get("type").and_then(Json::plain), Some("image" | "document"))
    };
    line.kind == "user" && !line.meta && line.blocks.iter().any(is_shown)
}

fn answer<'a>(line: &Line<'a>, acts: &mut Vec<WorkEvent<'a>>) {
    if !is_the_models(line) {
        return;
    }
    for block in &line.blocks {
        match block.get("type").and_then(Json::plain) {
            Some("text") => {
                acts.extend(block.get("text").and_then(Json::text).map(WorkEvent::ModelText))
            }
            Some("tool_use") => {
                acts.extend(plan_file(block));
                acts.extend(call(block));
            }
            _ => {}
        }
    }
}

fn content<'a>(line: &Line<'a>) -> Option<Json<'a>> {
    line.message.as_ref()?.get("content")
}

/// Members of a tool's input whose values are words defined by the tool.
const OPTIONS: [&str; 4] = ["output_mode", "status", "subagent_type", "type"];

fn call<'a>(block: &Fields<'a>) -> Option<WorkEvent<'a>> {
    let input = block.get("input")?;
    let field = |name: &str| input.get(name).and_then(Json::text);
    let number = |name: &str| input.get(name).and_then(Json::number).map(|number| number as u32);
    let name = block.get("name").and_then(Json::plain)?;
    let path = || field("file_path").or_else(|| field("notebook_path")).or_else(|| field("path"));
    let tool = match name {
        "Edit" | "MultiEdit" | "NotebookEdit" => {
            let (old, new) = edited(input);
            ToolUse::Edit { path: path()?, old, new }
        }
        "Write" => ToolUse::Write { path: path()?, text: field("content").unwrap_or_default() },
        "Read" => ToolUse::Read { path: path()?, from: number("offset"), lines: number("limit") },
        "Bash" | "PowerShell" => ToolUse::Shell { command: field("command")? },
        "Agent" | "Task" => ToolUse::Delegate {
            task: field("description").unwrap_or_default(),
            text: field("prompt").unwrap_or_default(),
        },
        "TodoWrite" => ToolUse::Plan(input.get("todos")?.elements().filter_map(step).collect()),
        "TaskCreate" => ToolUse::AddStep {
            text: field("subject")?,
            about: field("description").unwrap_or_default(),
        },
        "TaskUpdate" => ToolUse::SetStep {
            step: field("taskId")?,
            text: field("subject"),
            state: input.get("status").and_then(Json::plain).and_then(state),
        },
        _ => ToolUse::Other { name, path: path(), texts: strings(input, &OPTIONS) },
    };
    Some(WorkEvent::ToolCall { call: block.get("id").and_then(Json::plain)?, tool })
}

fn step(todo: Json<'_>) -> Option<PlanStep<'_>> {
    let done = todo.get("status").and_then(Json::plain) == Some("completed");
    Some(PlanStep { text: todo.get("content")?.text()?, done })
}

fn state(status: &str) -> Option<StepState> {
    match status {
        "pending" | "in_progress" => Some(StepState::Open),
        "completed" => Some(StepState::Done),
        "deleted" => Some(StepState::Dropped),
        _ => None,
    }
}

/// Reads a step from the result of listing all steps.
fn shown(task: Json<'_>) -> Option<WorkEvent<'_>> {
    let state = task.get("status").and_then(Json::plain).and_then(state)?;
    Some(WorkEvent::StepShown {
        step: task.get("id")?.text()?,
        text: task.get("subject")?.text()?,
        state,
    })
}

/// Returns a plan that the model wrote into the client's plan folder.
fn plan_file<'a>(block: &Fields<'a>) -> Option<WorkEvent<'a>> {
    let input = block
        .get("input")
        .filter(|_| block.get("name").and_then(Json::plain).is_some_and(|name| name == "Write"))?;
    let path = input.get("file_path")?.text()?;
    let is_plan = path.contains("/.claude/plans/") || path.contains("\\.claude\\plans\\");
    input.get("content").filter(|_| is_plan)?.text().map(WorkEvent::PlanWritten)
}

/// Returns the old and the new texts of an edit.
fn edited(input: Json<'_>) -> (Vec<Cow<'_, str>>, Vec<Cow<'_, str>>) {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    input.strings(|key, inside| match key {
        b"file_path" | b"notebook_path" => {}
        b"old_string" => old.push(Json::decoded(inside)),
        _ => new.push(Json::decoded(inside)),
    });
    (old, new)
}

/// Returns every string in a value, at any depth, except the members `but`. Redacts secrets that
/// only their key reveals.
fn strings<'a>(value: Json<'a>, but: &[&str]) -> Vec<Cow<'a, str>> {
    let mut texts = Vec::new();
    value.strings(|key, inside| {
        if !but.iter().any(|name| name.as_bytes() == key) {
            let text = Json::decoded(inside);
            texts.push(match redact_member(&Json::decoded(key), &text) {
                Cow::Owned(redacted) => Cow::Owned(redacted),
                Cow::Borrowed(_) => text,
            });
        }
    });
    texts
}

fn said<'a>(line: &Line<'a>, acts: &mut Vec<WorkEvent<'a>>) {
    let Some(content) = content(line) else { return };
    if let Some(text) = content.text() {
        if let Some(report) = report(&text) {
            return acts.push(report);
        }
        return acts.extend(own_words(text, line.meta).map(WorkEvent::UserPrompt));
    }
    for block in &line.blocks {
        match block.get("type").and_then(Json::plain) {
            Some("text") => {
                let text = block.get("text").and_then(Json::text);
                acts.extend(
                    text.and_then(|text| own_words(text, line.meta)).map(WorkEvent::UserPrompt),
                );
            }
            Some("tool_result") => returned(line, block, acts),
            _ => {}
        }
    }
}

/// Reads the report of a background subagent, which the client sends in the user's place.
fn report(text: &str) -> Option<WorkEvent<'static>> {
    let rest = text.trim_start().strip_prefix("<task-notification>")?;
    let inside = |from: &str, to: &str| Some(rest.split_once(from)?.1.split_once(to)?.0.to_owned());
    let task = inside("<summary>Agent \"", "\"")?;
    Some(WorkEvent::SubagentReport {
        task: task.into(),
        text: inside("<result>", "</result>")?.into(),
    })
}

fn returned<'a>(line: &Line<'a>, block: &Fields<'a>, acts: &mut Vec<WorkEvent<'a>>) {
    let Some(call) = block.get("tool_use_id").and_then(Json::plain) else { return };
    let content = block.get("content").map_or(&b""[..], Json::raw);
    let said = ToolOutput::new(content, said_by_tool);
    let failed = block.get("is_error").is_some_and(Json::is_true);
    if failed && let Some(words) = refused(&said.text()) {
        acts.push(WorkEvent::CallDropped { call });
        return acts.extend(words.map(|words| WorkEvent::UserPrompt(words.to_owned().into())));
    }
    if line.result.as_ref().is_some_and(is_unwaited) {
        return acts.push(WorkEvent::CallDropped { call });
    }
    if let Some(result) = &line.result {
        acts.extend(result.get("plan").and_then(Json::text).map(WorkEvent::PlanWritten));
        acts.extend(answers(result));
        acts.extend(result.get("tasks").into_iter().flat_map(Json::elements).filter_map(shown));
    }
    let changes = line.result.as_ref().map(changes).unwrap_or_default();
    let step = line.result.as_ref().and_then(|result| result.get("task")?.get("id")?.text());
    acts.push(WorkEvent::ToolResult { call, failed, said, changes, step });
}

/// Returns the text of a result's content, which is a string or a list of blocks.
fn said_by_tool(content: &[u8]) -> Cow<'_, str> {
    let content = Json::of(content);
    if let Some(inside) = content.escaped() {
        return ends(inside);
    }
    let mut all = String::new();
    for part in content.elements() {
        if let Some(inside) = part.get("text").and_then(Json::escaped) {
            all += &ends(inside);
            all.push('\n');
        }
    }
    Cow::Owned(all)
}

/// Returns `Some` if a failed call was never made, with the user's reason if there is one.
fn refused(text: &str) -> Option<Option<&str>> {
    if text.starts_with("<tool_use_error>Sibling tool call errored") {
        return Some(None);
    }
    let rest = text.strip_prefix("The user doesn't want to proceed with this tool use.")?;
    let words = rest.split_once("the user said:\n").map(|(_, words)| without_advice(words).trim());
    Some(words.filter(|words| !words.is_empty() && !words.starts_with(CLARIFIES)))
}

/// Returns whether a tool continues in the background, so that the record is not its result.
fn is_unwaited(result: &Fields<'_>) -> bool {
    let status = result.get("status").and_then(Json::plain);
    result.get("backgroundTaskId").is_some_and(|task| !task.is_null())
        || matches!(status, Some("async_launched" | "teammate_spawned"))
}

/// Returns the user's answers to the questions of a dialog.
fn answers<'a>(result: &Fields<'a>) -> impl Iterator<Item = WorkEvent<'a>> {
    let answers = result.get("answers").into_iter().flat_map(Json::members);
    answers.filter_map(|(question, answer)| {
        Some(WorkEvent::QuestionAnswered {
            question: Json::decoded(question),
            answer: answer.text()?,
        })
    })
}

/// Returns the changes that the client recorded: the file of an edit, or all files that changed
/// while a command ran.
fn changes<'a>(result: &Fields<'a>) -> Vec<FileChange<'a>> {
    if let Some(patch) = result.get("structuredPatch") {
        let change = match result.get("type").and_then(Json::plain) {
            Some("create") => Some(ChangeKind::Created),
            Some("update") => Some(ChangeKind::Overwritten),
            _ => None,
        };
        let original = result.get("originalFile").filter(|file| !file.is_null());
        let original = original.map(|file| ToolOutput::new(file.raw(), content_of));
        return vec![FileChange { path: None, change, lines: hunks(patch), original }];
    }
    let Some(diff) = result.get("bashEditDiff") else { return Vec::new() };
    let shown = diff.get("files").into_iter().flat_map(Json::elements);
    let mut changes: Vec<FileChange<'_>> = shown.filter_map(shown_change).collect();
    // If many files changed, the client shows the lines of only some of them.
    for path in diff.get("changedFiles").into_iter().flat_map(Json::elements) {
        let path = path.text();
        if path.is_some() && !changes.iter().any(|known| known.path == path) {
            changes.push(FileChange { path, change: None, lines: Vec::new(), original: None });
        }
    }
    changes
}

/// Decodes a file's content in a result.
fn content_of(raw: &[u8]) -> Cow<'_, str> {
    Json::of(raw).text().unwrap_or_default()
}

fn shown_change(file: Json<'_>) -> Option<FileChange<'_>> {
    let is = |name: &str| file.get(name).is_some_and(Json::is_true);
    let change = match (is("created"), is("deleted")) {
        (true, _) => ChangeKind::Created,
        (_, true) => ChangeKind::Deleted,
        _ => ChangeKind::Edited,
    };
    let lines = file.get("hunks").map(hunks).unwrap_or_default();
    let path = Some(file.get("filePath")?.text()?);
    Some(FileChange { path, change: Some(change), lines, original: None })
}

fn hunks(patch: Json<'_>) -> Vec<(u32, u32)> {
    let lines = |hunk: Json<'_>| {
        let number = |name: &str| Some(hunk.get(name)?.number()? as u32);
        Some((number("newStart")?, number("newLines")?))
    };
    patch.elements().filter_map(lines).collect()
}

/// The client's words for a user who wants to discuss the questions instead of answering.
const CLARIFIES: &str = "The user wants to clarify these questions.";

/// Beginnings of advice that the client adds for the model after the user's words.
const ADVICE: [&str; 4] = [
    "\n\nNote: The user's next message may contain",
    "\n\nIf you need specific details from before",
    "\n\nIf this plan can be broken down into",
    "\n<system-reminder>",
];

/// Removes text that the client added for the model.
fn without_advice(text: &str) -> &str {
    let end = ADVICE.iter().filter_map(|advice| text.find(advice)).min();
    &text[..end.unwrap_or(text.len())]
}

/// Beginnings of prompts that the client or another program wrote. Any other tag is the user's own.
const MACHINES: &[&str] = &[
    "<bash-",
    "<ci-monitor-event",
    "<ide_",
    "<ide-",
    "<local-command-",
    "<system-reminder",
    "<task-notification",
    "<teammate-message",
    "<tool_use_error",
    "<user-prompt-submit-hook",
    "Caveat: ",
    "[Request interrupted",
    "Base directory for this skill",
    "Operation stopped by hook:",
    "Stop hook feedback:",
    "This session is being continued",
    "## Resuming from Checkpoint",
];

/// Returns the user's own words in a prompt; `None` if a program wrote it.
fn own_words(text: Cow<'_, str>, meta: bool) -> Option<Cow<'_, str>> {
    if meta {
        return None;
    }
    let trimmed = text.trim_start();
    if trimmed.starts_with("<command-") {
        return command_words(trimmed).map(|words| Cow::Owned(words.to_owned()));
    }
    if trimmed.is_empty() || MACHINES.iter().any(|start| trimmed.starts_with(start)) {
        return None;
    }
    match without_advice(&text).len() {
        whole if whole == text.len() => Some(text),
        end => Some(Cow::Owned(text[..end].to_owned())),
    }
}

/// Built-in commands that take arguments and send nothing to the model.
const BUILT_INS: &[&str] = &[
    "add-dir",
    "advisor",
    "agents",
    "allowed-tools",
    "autocompact",
    "branch",
    "btw",
    "bug",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "copy",
    "cost",
    "doctor",
    "effort",
    "exit",
    "export",
    "fast",
    "feedback",
    "fork",
    "help",
    "hooks",
    "ide",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "output-style",
    "permissions",
    "plugin",
    "privacy-settings",
    "quit",
    "release-notes",
    "remote-control",
    "rename",
    "resume",
    "rewind",
    "sandbox",
    "settings",
    "skills",
    "stats",
    "status",
    "statusline",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "upgrade",
    "usage",
    "vim",
];

/// Built-in commands whose arguments are a task for the model.
const TASK_BUILT_INS: [&str; 2] = ["goal", "plan"];

/// Returns the arguments of a command if they are the user's words, unlike those of a built-in
/// command such as `/model opus`.
fn command_words(markup: &str) -> Option<&str> {
    let name = tagged(markup, "command-name")?.trim().trim_start_matches('/');
    let is_task = TASK_BUILT_INS.contains(&name) || !is_built_in(markup, name);
    tagged(markup, "command-args").map(str::trim).filter(|words| is_task && !words.is_empty())
}

/// Returns whether the client carries out a command itself. The markup of such a command begins
/// with the name, and the tags after it are indented; the markup of a command with a prompt begins
/// with the message. The list of names is for markup that lost its indentation.
fn is_built_in(markup: &str, name: &str) -> bool {
    const NAME_END: &str = "</command-name>";
    let behind_name = markup.split_once(NAME_END).map_or("", |(_, rest)| rest);
    let is_indented = behind_name.trim_start_matches(['\r', '\n']).starts_with([' ', '\t']);
    markup.starts_with("<command-name>") && (is_indented || BUILT_INS.contains(&name))
}

/// Returns the text between a tag and its end tag.
fn tagged<'t>(markup: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = markup.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refusal(rest: &str, expected: Option<&str>) {
        let text = format!("The user doesn't want to proceed with this tool use. {rest}");
        assert_eq!(refused(&text), Some(expected), "{rest}");
    }

    #[test]
    fn words_given_with_a_refusal_are_the_users_and_advice_is_not() {
        let advice = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention.";
        check_refusal("the user said:\nuse the logger", Some("use the logger"));
        check_refusal(&format!("the user said:\nuse the logger{advice}"), Some("use the logger"));
        check_refusal(&format!("STOP what you are doing.{advice}"), None);
        check_refusal("the user said:\nThe user wants to clarify these questions.\n  Ask.", None);
    }

    #[test]
    fn what_the_client_adds_to_a_prompt_is_not_the_users() {
        let own = |text: &'static str| own_words(text.into(), false);
        let tail =
            "Do the plan.\n\n\nIf you need specific details from before exiting plan mode, read x";
        assert_eq!(own(tail).as_deref(), Some("Do the plan.\n"));
        let reminder = "Fix it.\n<system-reminder>\nnever mind\n</system-reminder>";
        assert_eq!(own(reminder).as_deref(), Some("Fix it."));
        assert_eq!(own("Operation stopped by hook: Warning"), None);
        assert_eq!(own("Stop it.").as_deref(), Some("Stop it."));
    }

    #[test]
    fn arguments_of_built_in_commands_are_not_the_users_words() {
        let built_in = |name: &str, arguments: &str| {
            format!(
                "<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n            <command-args>{arguments}</command-args>"
            )
        };
        let commands = [
            ("model", "opus"),
            ("effort", "high"),
            ("config", "theme=dark"),
            ("permissions", "allow Bash"),
            ("add-dir", "/tmp"),
            ("compact", "focus on numbers"),
            ("of-a-later-client", "on"),
        ];
        for (name, arguments) in commands {
            let markup = built_in(name, arguments);
            assert_eq!(own_words(markup.as_str().into(), false), None, "{name}");
        }
        let unindented = "<command-name>/model</command-name>\n<command-args>opus</command-args>";
        assert_eq!(own_words(unindented.into(), false), None);
        let task = built_in("plan", "mend the hull");
        assert_eq!(own_words(task.as_str().into(), false).as_deref(), Some("mend the hull"));
    }

    #[test]
    fn arguments_of_the_users_own_commands_are_their_words() {
        for name in ["mycmd", "plim:status", "review", "model"] {
            let markup = format!(
                "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n<command-args>mend the hull</command-args>"
            );
            assert_eq!(own_words(markup.as_str().into(), false).as_deref(), Some("mend the hull"));
        }
        let without_message =
            "<command-name>/mycmd</command-name>\n<command-args>mend the hull</command-args>";
        assert_eq!(own_words(without_message.into(), false).as_deref(), Some("mend the hull"));
        let silent = "<command-message>a</command-message>\n<command-name>/a</command-name>";
        assert_eq!(own_words(silent.into(), false), None);
    }
}
