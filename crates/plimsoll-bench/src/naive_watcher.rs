//! A naive watcher for comparison: it rereads every changed file from the start.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

/// Argument with which the benchmark starts itself as this watcher.
pub(crate) const ARGUMENT: &str = "watch-naively";

const PAUSE: Duration = Duration::from_millis(100);

/// Watches the transcripts in a folder until stdout is closed.
pub(crate) fn watch(projects: &Path) -> anyhow::Result<()> {
    let mut lengths: HashMap<PathBuf, u64> = HashMap::new();
    loop {
        for path in transcripts(projects)? {
            let length = fs::metadata(&path)?.len();
            if lengths.insert(path.clone(), length) != Some(length) {
                print_reading(&path)?;
            }
        }
        std::thread::sleep(PAUSE);
    }
}

fn transcripts(projects: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for project in fs::read_dir(projects)? {
        for file in fs::read_dir(project?.path())? {
            found.push(file?.path());
        }
    }
    Ok(found)
}

/// Prints the prompt size of the last response in a transcript.
fn print_reading(path: &Path) -> anyhow::Result<()> {
    let session = path.file_stem().context("a transcript has a name")?.to_string_lossy();
    let text = fs::read(path)?;
    let lines = text.split(|byte| *byte == b'\n');
    let entries = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let prompts = entries.filter_map(|entry| {
        let usage = entry.get("message")?.get("usage")?.clone();
        let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
        Some(
            tokens("input_tokens")
                + tokens("cache_creation_input_tokens")
                + tokens("cache_read_input_tokens"),
        )
    });
    let used = prompts.fold(None, |_, prompt| Some(prompt));
    let view = json!({"session": session, "reading": {"used": used}});
    let mut out = std::io::stdout().lock();
    writeln!(out, "{view}")?;
    Ok(out.flush()?)
}
