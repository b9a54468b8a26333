//! Parses task files: YAML, JSON and Markdown check lists.

mod markdown;
mod yaml;

use super::{PlanError, Task};

/// Format of a task file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML, including JSON, which is valid YAML.
    Data,
    /// A Markdown check list.
    Markdown,
}

impl Format {
    /// Detects the format by the file extension, else by the content.
    pub fn of(name: &str, text: &str) -> Self {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("yaml" | "yml" | "json") => Self::Data,
            Some("md" | "markdown") => Self::Markdown,
            _ if markdown::is_check_list(text.trim_start_matches('\u{feff}')) => Self::Markdown,
            _ => Self::Data,
        }
    }
}

/// Parses the tasks of a file. `exists` returns whether the project has a file of that name; a
/// check list names files in backticks.
pub fn parse(
    text: &str,
    format: Format,
    exists: &dyn Fn(&str) -> bool,
) -> Result<Vec<Task>, PlanError> {
    // Some editors write a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let mut tasks = match format {
        Format::Data => yaml::read(text)?,
        Format::Markdown => markdown::read(text, exists)?,
    };
    if tasks.is_empty() {
        let what = "there is no task in it".to_owned();
        return Err(PlanError { line: None, message: what });
    }
    assign_ids(&mut tasks, "");
    tasks.iter_mut().for_each(mark_done_parents);
    Ok(tasks)
}

/// Marks a task as done if all its subtasks are.
fn mark_done_parents(task: &mut Task) {
    task.subtasks.iter_mut().for_each(mark_done_parents);
    task.done |= !task.subtasks.is_empty() && task.subtasks.iter().all(|subtask| subtask.done);
}

/// Names tasks without a name by their numbers.
fn assign_ids(tasks: &mut [Task], prefix: &str) {
    for (at, task) in tasks.iter_mut().enumerate() {
        if task.id.is_empty() {
            task.id = format!("{prefix}{}", at + 1);
        }
        let prefix = format!("{}.", task.id);
        assign_ids(&mut task.subtasks, &prefix);
    }
}

#[cfg(test)]
mod tests;
