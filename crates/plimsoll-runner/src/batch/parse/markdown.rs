//! Check lists in Markdown: an unticked item is a task, nested items are its subtasks.

use super::super::{PlanError, Task};
use super::yaml;

/// Whether a text contains a check list item.
pub(super) fn is_check_list(text: &str) -> bool {
    text.lines().any(|line| parse_item(line).is_some())
}

/// Parses a whole file. Skips text that belongs to no item.
pub(super) fn read(text: &str, exists: &dyn Fn(&str) -> bool) -> Result<Vec<Task>, PlanError> {
    let mut open: Vec<OpenItem> = Vec::new();
    let mut tasks = Vec::new();
    let mut in_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let found = parse_item(line).filter(|_| !in_code);
        in_code ^= is_fence(line);
        let indent = indent(line);
        match found {
            Some((done, words)) => {
                close_items(&mut open, indent, exists, &mut tasks)?;
                open.push(OpenItem::new(indent, done, words, number));
            }
            None if line.trim().is_empty() => {}
            None if open.last().is_some_and(|item| indent > item.indent) => {
                open.iter_mut()
                    .next_back()
                    .into_iter()
                    .for_each(|item| item.add_line(line, number));
            }
            // Text that is not indented ends the list.
            None => close_items(&mut open, 0, exists, &mut tasks)?,
        }
    }
    close_items(&mut open, 0, exists, &mut tasks)?;
    Ok(tasks)
}

/// An item that may still continue.
struct OpenItem {
    indent: usize,
    task: Task,
    /// Text of the item so far.
    words: String,
    /// Lines that are fields, with their line numbers.
    fields: Vec<(u64, String)>,
    /// Indentation of the last field. Lines with more indentation belong to that field.
    field_indent: Option<usize>,
}

impl OpenItem {
    fn new(indent: usize, done: bool, words: &str, line: u64) -> Self {
        let task = Task { done, line: Some(line), ..Task::default() };
        let (words, fields) = (words.to_owned(), Vec::new());
        Self { indent, task, words, fields, field_indent: None }
    }

    /// Adds a line that belongs to the item.
    fn add_line(&mut self, line: &str, number: u64) {
        let indent = indent(line);
        let text = line.trim();
        if self.field_indent.is_some_and(|field| indent > field) {
            self.fields.push((number, format!("  {text}")));
        } else if is_field(text) {
            self.field_indent = Some(indent);
            self.fields.push((number, quote_names(text)));
        } else {
            self.field_indent = None;
            self.words += "\n";
            self.words += text;
        }
    }

    fn into_task(self, exists: &dyn Fn(&str) -> bool) -> Result<Task, PlanError> {
        let mut task = self.task;
        task.description = self.words.trim().to_owned();
        task.files = mentioned_files(&task.description, exists);
        let Some((first, _)) = self.fields.first() else { return Ok(task) };
        let text = self.fields.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
        let fields = yaml::read_fields(&text).map_err(|problem| {
            let at = problem.line.and_then(|line| self.fields.get(line as usize - 1));
            PlanError { line: Some(at.map_or(*first, |(number, _)| *number)), ..problem }
        })?;
        Ok(merge_fields(task, fields))
    }
}

fn merge_fields(task: Task, fields: Task) -> Task {
    let either = |field: String, own: String| if field.is_empty() { own } else { field };
    Task {
        description: either(fields.description, task.description),
        files: if fields.files.is_empty() { task.files } else { fields.files },
        done: task.done || fields.done,
        subtasks: [task.subtasks, fields.subtasks].concat(),
        line: task.line,
        ..fields
    }
}

/// Closes the items to which an item or text at `indent` does not belong.
fn close_items(
    open: &mut Vec<OpenItem>,
    indent: usize,
    exists: &dyn Fn(&str) -> bool,
    tasks: &mut Vec<Task>,
) -> Result<(), PlanError> {
    while let Some(item) = open.pop_if(|item| item.indent >= indent) {
        let task = item.into_task(exists)?;
        match open.last_mut() {
            Some(parent) => parent.task.subtasks.push(task),
            None => tasks.push(task),
        }
    }
    Ok(())
}

/// Returns whether a check list item is ticked, and its text; `None` if the line is not an item.
fn parse_item(line: &str) -> Option<(bool, &str)> {
    let text = line.trim_start();
    let digits = text.len() - text.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let bulleted = match digits {
        0 => text.strip_prefix(['-', '*', '+']),
        _ => text[digits..].strip_prefix(['.', ')']),
    };
    let (mark, words) = bulleted?.trim_start().strip_prefix('[')?.split_once(']')?;
    let is_apart = words.is_empty() || words.starts_with(' ');
    match mark {
        " " | "" if is_apart => Some((false, words.trim())),
        "x" | "X" if is_apart => Some((true, words.trim())),
        _ => None,
    }
}

/// Returns the indentation of a line; tab stops are four columns apart.
fn indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|character| character.is_whitespace());
    blanks.fold(0, |column, blank| if blank == '\t' { column / 4 * 4 + 4 } else { column + 1 })
}

fn is_fence(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("```") || text.starts_with("~~~")
}

fn is_field(text: &str) -> bool {
    let field =
        text.split_once(':').filter(|(_, value)| value.is_empty() || value.starts_with(' '));
    field.is_some_and(|(name, _)| yaml::FIELDS.contains(&name))
}

/// Quotes the value of a field that contains names, so that `after: 2.10` is not read as a number.
fn quote_names(text: &str) -> String {
    let Some((name, value)) = text.split_once(": ") else { return text.to_owned() };
    let is_names = matches!(name, "id" | "after" | "files");
    match is_names && !value.trim_start().starts_with(['[', '"', '\'']) {
        true => format!("{name}: '{}'", value.trim().replace('\'', "''")),
        false => text.to_owned(),
    }
}

/// Returns the existing files that a text mentions in backticks, each once.
fn mentioned_files(text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for word in text.split('`').skip(1).step_by(2) {
        if !files.iter().any(|file| file == word) && exists(word) {
            files.push(word.to_owned());
        }
    }
    files
}
