//! Sizes of the files that tasks name.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use plimsoll_core::text::thousands;
use plimsoll_core::weight::{Answer, ClassCounter, Tokenizer, Weight};
use plimsoll_core::{Tokens, models};
use plimsoll_engine::paths::{self, Links};

use crate::batch;
use crate::batch::{Estimator, Task, files_to_work_on};

/// Sizes of files in tokens, and warnings about files that could not be measured.
pub(super) struct FileSizes {
    /// Keyed by the file name as written in the task.
    pub(super) sizes: HashMap<String, Tokens>,
    /// Sentences for the user.
    pub(super) warnings: Vec<String>,
}

/// Calls `with` for each task and subtask that is not done, together with its parent tasks,
/// innermost first.
fn for_each_open_task<'t>(
    tasks: &'t [Task],
    above: &[&'t Task],
    with: &mut dyn FnMut(&'t Task, &[&'t Task]),
) {
    for task in tasks.iter().filter(|task| !task.done) {
        with(task, above);
        for_each_open_task(&task.subtasks, &[&[task], above].concat(), with);
    }
}

/// Returns the files of tasks that are too large and can be split by files.
pub(super) fn files_of_split_tasks<'t>(
    tasks: &'t [Task],
    estimator: &Estimator,
    available: Tokens,
) -> Vec<&'t str> {
    let mut files = Vec::new();
    for_each_open_task(tasks, &[], &mut |task, above| {
        let own = files_to_work_on(task, above);
        if own.len() > 1 && estimator.estimate_subtask(task, above) > available {
            files.extend(own.iter().map(String::as_str));
        }
    });
    files
}

/// Measures every file that a task names.
pub(super) fn measure_files(project: &Path, tasks: &[Task], model: &str) -> FileSizes {
    let mut names = BTreeSet::new();
    for_each_open_task(tasks, &[], &mut |task, _| {
        names.extend(task.files.iter().map(String::as_str))
    });
    let fallback = plimsoll_agents::DEFAULT.profile().estimation.tokenizer;
    let tokenizer = models::tokenizer(Some(model), fallback);
    let mut weighed = FileSizes { sizes: HashMap::new(), warnings: Vec::new() };
    let (mut missing, mut outside) = (Vec::new(), Vec::new());
    for name in names {
        match resolve_in_project(project, name).and_then(|path| file_tokens(&path, tokenizer)) {
            Ok(tokens) => drop(weighed.sizes.insert(name.to_owned(), tokens)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => outside.push(name),
            Err(_) => missing.push(name),
        }
    }
    weighed.warnings.extend(warning(
        &missing,
        "no text file in this project",
        "no text files in this project",
    ));
    weighed.warnings.extend(warning(&outside, "outside this project", "outside this project"));
    weighed
}

fn warning(names: &[&str], one: &str, many: &str) -> Option<String> {
    const NAMED: usize = 3;
    let first = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let more = if names.len() > NAMED { ", …" } else { "" };
    let tokens = thousands(batch::UNKNOWN_FILE_TOKENS);
    match names.len() {
        0 => None,
        1 => Some(format!("{} is {one} and counts as {tokens} tokens", first[0])),
        count => {
            let list = first.join(", ");
            Some(format!(
                "{count} files are {many} and count as {tokens} tokens each: {list}{more}"
            ))
        }
    }
}

/// Resolves a file name within a project. The file may be reached through a link, but must be
/// inside the project.
pub(super) fn resolve_in_project(project: &Path, name: &str) -> io::Result<PathBuf> {
    let path = project.join(name).canonicalize()?;
    match path.starts_with(paths::canonical(project)) {
        false => Err(io::ErrorKind::PermissionDenied.into()),
        true if path.is_file() => Ok(path),
        true => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Returns the tokens that reading a file adds to a window.
fn file_tokens(path: &Path, tokenizer: &Tokenizer) -> io::Result<Tokens> {
    /// The rest of a larger file is assumed to be like its beginning.
    const LOOKED_AT: u64 = 16 << 20;
    let file = paths::open(path, Links::Refused)?;
    let len = file.metadata()?.len();
    let counter = count_characters(file.take(LOOKED_AT))?;
    let weight = Weight { tool_text: counter.classes(), tool_results: 1, ..Weight::default() };
    let millis = u128::from(tokenizer.added(&weight, Answer::Counted));
    let whole = millis * u128::from(len.max(1)) / u128::from(len.clamp(1, LOOKED_AT));
    Ok(whole.div_ceil(1_000) as Tokens)
}

/// Counts the characters of a text file.
fn count_characters(mut file: io::Take<File>) -> io::Result<ClassCounter> {
    let mut counter = ClassCounter::default();
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(counter),
            // A zero byte means that the file is not text.
            read if piece[..read].contains(&0) => return Err(io::ErrorKind::InvalidData.into()),
            read => counter.add(&piece[..read]),
        }
    }
}
