//! What the compactions of finished transcripts lost, and who kept it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use plimsoll_agents::Adapter;
use plimsoll_core::entry::Kind;
use plimsoll_core::reading::Scope;
use plimsoll_core::work::{Judgement, Recall, Shown, restore};

use crate::jsonl::JsonLines;
use crate::work::Folding;

/// What a session is given back, in tokens, where nothing else is configured.
const BUDGET: usize = 2000;

/// The transcripts in a folder and the folders in it, in order of their names.
pub fn find(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if kind.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Judges the compactions of a transcript by the work after each; nothing if `deadline` came first.
pub fn judge(
    adapter: &dyn Adapter,
    transcript: &Path,
    deadline: Option<Instant>,
) -> io::Result<Option<Vec<Judgement>>> {
    let Some(file) = JsonLines::open(transcript)? else {
        return Err(io::ErrorKind::NotFound.into());
    };
    match is_compacted(adapter, &file)? {
        true => read(adapter, &file, deadline),
        false => Ok(Some(Vec::new())),
    }
}

/// Whether there is any compaction: most transcripts have none, and need no second look.
fn is_compacted(adapter: &dyn Adapter, file: &JsonLines) -> io::Result<bool> {
    let mut lines = file.forward(0);
    while let Some(line) = lines.next()? {
        let entry = adapter.entry(line.bytes, Scope::Main);
        if entry.is_some_and(|entry| matches!(entry.kind, Kind::Boundary(_))) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read(
    adapter: &dyn Adapter,
    file: &JsonLines,
    deadline: Option<Instant>,
) -> io::Result<Option<Vec<Judgement>>> {
    let (mut recall, mut folding) = (Recall::default(), Folding::default());
    let mut judgements = Vec::new();
    let mut lines = file.forward(0);
    while let Some(line) = lines.next()? {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        let record = adapter.record(line.bytes, Scope::Main);
        let shown = adapter.shown(line.bytes, Scope::Main);
        if let Some(Shown::Compacted { kept_from }) = shown {
            let time = record.as_ref().and_then(|record| record.time);
            let work = folding.read_on(adapter, &file.until(line.offset)?)?;
            judgements.extend(recall.compacted(time, kept_from, restore(work, BUDGET)));
        }
        record.iter().for_each(|record| recall.take(record));
        shown.iter().for_each(|shown| recall.show(shown));
    }
    judgements.extend(recall.finish());
    Ok(Some(judgements))
}
