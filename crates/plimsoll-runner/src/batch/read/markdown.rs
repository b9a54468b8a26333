//! Check lists in Markdown: an item that is not ticked off is a task, nested items are its subtasks.

use super::super::{Problem, Task};
use super::data;

/// Whether a text has an item of a check list.
pub(super) fn is_check_list(text: &str) -> bool {
    text.lines().any(|line| item(line).is_some())
}

/// Reads a whole file. What is no item, and stands under none, is passed over.
pub(super) fn read(text: &str, exists: &dyn Fn(&str) -> bool) -> Result<Vec<Task>, Problem> {
    let mut open: Vec<Open> = Vec::new();
    let mut tasks = Vec::new();
    let mut in_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let found = item(line).filter(|_| !in_code);
        in_code ^= is_fence(line);
        let indent = indent(line);
        match found {
            Some((done, words)) => {
                close(&mut open, indent, exists, &mut tasks)?;
                open.push(Open::new(indent, done, words, number));
            }
            None if line.trim().is_empty() => {}
            None if open.last().is_some_and(|item| indent > item.indent) => {
                open.iter_mut().next_back().into_iter().for_each(|item| item.add(line, number));
            }
            // Words at the edge end the list.
            None => close(&mut open, 0, exists, &mut tasks)?,
        }
    }
    close(&mut open, 0, exists, &mut tasks)?;
    Ok(tasks)
}

/// An item whose end has not come yet.
struct Open {
    indent: usize,
    task: Task,
    /// Lines that belong to it, with their numbers, and those of them that are fields.
    words: String,
    fields: Vec<(u64, String)>,
    /// How far the last field is indented: what is indented more belongs to it.
    field_indent: Option<usize>,
}

impl Open {
    fn new(indent: usize, done: bool, words: &str, line: u64) -> Self {
        let task = Task { done, line: Some(line), ..Task::default() };
        let (words, fields) = (words.to_owned(), Vec::new());
        Self { indent, task, words, fields, field_indent: None }
    }

    /// Takes a line that stands under the item.
    fn add(&mut self, line: &str, number: u64) {
        let indent = indent(line);
        let text = line.trim();
        if self.field_indent.is_some_and(|field| indent > field) {
            self.fields.push((number, format!("  {text}")));
        } else if is_field(text) {
            self.field_indent = Some(indent);
            self.fields.push((number, quoted(text)));
        } else {
            self.field_indent = None;
            self.words += "\n";
            self.words += text;
        }
    }

    fn into_task(self, exists: &dyn Fn(&str) -> bool) -> Result<Task, Problem> {
        let mut task = self.task;
        task.description = self.words.trim().to_owned();
        task.files = mentioned(&task.description, exists);
        let Some((first, _)) = self.fields.first() else { return Ok(task) };
        let text = self.fields.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
        let fields = data::read_fields(&text).map_err(|problem| {
            let at = problem.line.and_then(|line| self.fields.get(line as usize - 1));
            Problem { line: Some(at.map_or(*first, |(number, _)| *number)), ..problem }
        })?;
        Ok(with_fields(task, fields))
    }
}

fn with_fields(task: Task, fields: Task) -> Task {
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

/// Ends the items that an item or a text at `indent` does not belong to.
fn close(
    open: &mut Vec<Open>,
    indent: usize,
    exists: &dyn Fn(&str) -> bool,
    tasks: &mut Vec<Task>,
) -> Result<(), Problem> {
    while let Some(item) = open.pop_if(|item| item.indent >= indent) {
        let task = item.into_task(exists)?;
        match open.last_mut() {
            Some(parent) => parent.task.subtasks.push(task),
            None => tasks.push(task),
        }
    }
    Ok(())
}

/// The words of an item of a check list, and whether it is ticked off.
fn item(line: &str) -> Option<(bool, &str)> {
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

/// How far a line is indented; a tab goes to the next fourth column.
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
    field.is_some_and(|(name, _)| data::FIELDS.contains(&name))
}

/// A field whose names need no quotes: `after: 2.10` is no number here.
fn quoted(text: &str) -> String {
    let Some((name, value)) = text.split_once(": ") else { return text.to_owned() };
    let is_names = matches!(name, "id" | "after" | "files");
    match is_names && !value.trim_start().starts_with(['[', '"', '\'']) {
        true => format!("{name}: '{}'", value.trim().replace('\'', "''")),
        false => text.to_owned(),
    }
}

/// The files that a text mentions between backticks, each once.
fn mentioned(text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for word in text.split('`').skip(1).step_by(2) {
        if !files.iter().any(|file| file == word) && exists(word) {
            files.push(word.to_owned());
        }
    }
    files
}
