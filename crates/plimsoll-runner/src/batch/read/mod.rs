//! Task files: YAML, JSON and check lists in Markdown.

mod data;
mod markdown;

use super::{Problem, Task};

/// What a task file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML; JSON is read as the YAML that it is.
    Data,
    /// A check list in Markdown.
    Markdown,
}

impl Format {
    /// The format of a file by the ending of its name, else by what stands in it.
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

/// The tasks of a file. `exists` tells whether the project has a file of that name: what a check list
/// mentions between backticks may be one.
pub fn read(
    text: &str,
    format: Format,
    exists: &dyn Fn(&str) -> bool,
) -> Result<Vec<Task>, Problem> {
    // Some editors begin a file with a mark that nobody sees.
    let text = text.trim_start_matches('\u{feff}');
    let mut tasks = match format {
        Format::Data => data::read(text)?,
        Format::Markdown => markdown::read(text, exists)?,
    };
    if tasks.is_empty() {
        let what = "there is no task in it".to_owned();
        return Err(Problem { line: None, what });
    }
    number(&mut tasks, "");
    tasks.iter_mut().for_each(tick_off);
    Ok(tasks)
}

/// A task is done where all that it consists of is.
fn tick_off(task: &mut Task) {
    task.subtasks.iter_mut().for_each(tick_off);
    task.done |= !task.subtasks.is_empty() && task.subtasks.iter().all(|subtask| subtask.done);
}

/// Names the tasks that have no name of their own by their numbers.
fn number(tasks: &mut [Task], prefix: &str) {
    for (at, task) in tasks.iter_mut().enumerate() {
        if task.id.is_empty() {
            task.id = format!("{prefix}{}", at + 1);
        }
        let prefix = format!("{}.", task.id);
        number(&mut task.subtasks, &prefix);
    }
}

#[cfg(test)]
mod tests;
