//! Input for planning that comes from outside: task files, sizes of files, files that change
//! together, and the room in a session.

mod file_sizes;
mod room;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use plimsoll_core::Tokens;

use crate::batch::parse::{self, Format};
use crate::batch::{CoChanges, Estimator, Factors, PlanError, PlanningTerms, Task};

use plimsoll_engine::git;

use self::file_sizes::FileSizes;
pub use self::room::{SessionRoom, find_room};

/// Maximum size of a task file.
const MAX_TASK_FILE_BYTES: u64 = 8 << 20;

/// Reads a task file, which may be a pipe.
pub fn read_file(path: &Path) -> io::Result<String> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    read_text(File::open(path)?)
}

/// Reads a task file from a reader such as stdin.
pub fn read_text(from: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(MAX_TASK_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let invalid = |why| io::Error::new(io::ErrorKind::InvalidData, why);
    if bytes.len() as u64 > MAX_TASK_FILE_BYTES {
        return Err(invalid("it is larger than 8 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| invalid("it is not text in UTF-8"))
}

/// Parses the tasks of the task file `name`, for the project in this folder.
pub fn parse_tasks(project: &Path, name: &str, text: &str) -> Result<Vec<Task>, PlanError> {
    parse::parse(text, Format::of(name, text), &|file| {
        file_sizes::resolve_in_project(project, file).is_ok()
    })
}

/// Returns the terms for planning, and warnings about the files that tasks name.
///
/// `model` determines how text is counted.
pub fn planning_terms(
    project: &Path,
    tasks: &[Task],
    available: Tokens,
    factors: Factors,
    model: Option<&str>,
) -> (PlanningTerms, Vec<String>) {
    let FileSizes { sizes: weights, warnings } =
        file_sizes::measure_files(project, tasks, model.unwrap_or_default());
    let estimator = Estimator { file_tokens: weights, factors };
    let files = file_sizes::files_of_split_tasks(tasks, &estimator, available);
    let together = co_changes(project, &files);
    (PlanningTerms { available, estimator, co_changes: together }, warnings)
}

/// Returns which of these files change together, according to git. Empty without git; then only
/// names count.
pub(crate) fn co_changes(project: &Path, files: &[impl AsRef<str>]) -> CoChanges {
    let files: Vec<&str> = files.iter().map(AsRef::as_ref).collect();
    let mut together = CoChanges::default();
    if files.is_empty() {
        return together;
    }
    for commit in git::changes(project, &files).unwrap_or_default() {
        together.add_commit(&commit);
    }
    together
}
