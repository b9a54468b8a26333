//! Scores what the compactions of finished transcripts lost, and what preserved it.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_agents::Agent;
use plimsoll_core::entry::Kind;
use plimsoll_core::event::SessionId;
use plimsoll_core::reading::Scope;
use plimsoll_extract::work::{
    Judgement, ModelInput, Recall, RecallCounts, restore, unknown_status,
};
use plimsoll_store::{Store, StoreError};

use crate::jsonl::JsonLines;
use crate::sessions::{self, Found};
use crate::work::Folding;

/// Default size of a restore in tokens.
const BUDGET: usize = 2000;

/// Finds the transcripts in a folder and its subfolders, sorted by path.
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

/// Judges the compactions of a transcript by the work after each.
pub fn judge(transcript: &Path) -> io::Result<Vec<Judgement>> {
    let file = open(transcript)?;
    let agent = sessions::agent_of(&file);
    let judgements = match is_compacted(agent, &file)? {
        true => read(agent, &file, None)?,
        false => None,
    };
    Ok(judgements.unwrap_or_default())
}

fn open(transcript: &Path) -> io::Result<JsonLines> {
    JsonLines::open(transcript)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Reports whether a transcript contains a compaction. Most do not, and need no second pass.
fn is_compacted(agent: &'static dyn Agent, file: &JsonLines) -> io::Result<bool> {
    let mut lines = file.forward(0);
    let mut talks = false;
    while let Some(line) = lines.next()? {
        let entry = agent.transcript().entry(line.bytes, Scope::Main);
        talks = talks
            || entry.is_some()
            || agent.transcript().entry(line.bytes, Scope::Subagent).is_some();
        if entry.is_some_and(|entry| matches!(entry.kind, Kind::Boundary(_))) {
            return Ok(true);
        }
    }
    let why = "no line of it is one of a conversation";
    if talks { Ok(false) } else { Err(io::Error::new(io::ErrorKind::InvalidData, why)) }
}

/// Reads and judges the file; `None` if `deadline` passed first.
fn read(
    agent: &'static dyn Agent,
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
        let record = agent.transcript().record(line.bytes, Scope::Main);
        let shown = agent.transcript().shown(line.bytes, Scope::Main);
        if let Some(ModelInput::Compacted { kept_from }) = shown {
            let time = record.as_ref().and_then(|record| record.time);
            let work = folding.read_on(agent, &file.until(line.offset)?)?;
            judgements.extend(recall.begin_compaction(
                time,
                kept_from,
                restore(&work, BUDGET, &unknown_status),
            ));
        }
        record.iter().for_each(|record| recall.read_record(record));
        shown.iter().for_each(|shown| recall.read_input(shown));
    }
    judgements.extend(recall.finish());
    Ok(Some(judgements))
}

/// Total over the newest compactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    pub tally: RecallCounts,
    /// Number of judged sessions.
    pub sessions: usize,
    /// Number of sessions with compactions.
    pub of: usize,
}

/// Maximum number of sessions to judge.
const MOST_SESSIONS: usize = 20;

/// Judges the newest compacted sessions, as many as `patience` allows.
pub fn newest(store: &Store, found: &[Found], patience: Duration) -> anyhow::Result<Newest> {
    let deadline = Instant::now() + patience;
    let compacted = compacted(store, found)?;
    let mut newest = Newest { of: compacted.len(), ..Newest::default() };
    for found in compacted.into_iter().take(MOST_SESSIONS) {
        // Unreadable sessions are left out, like those for which there is no time.
        let judged = open(&found.path).and_then(|file| read(found.agent, &file, Some(deadline)));
        let Ok(Some(judgements)) = judged else { continue };
        newest.sessions += 1;
        newest.tally += comparable(&judgements);
    }
    Ok(newest)
}

/// Selects the sessions that were compacted, according to the store.
pub fn compacted<'f>(store: &Store, found: &'f [Found]) -> Result<Vec<&'f Found>, StoreError> {
    let rows = store.compactions()?.into_iter().filter(|row| row.subagent.is_none());
    let names: HashSet<SessionId> = rows.map(|row| row.session).collect();
    Ok(found.iter().filter(|found| names.contains(&found.owner.session)).collect())
}

/// Counts the facts of compactions with a summary, so that summary and restore can be compared.
fn comparable(judgements: &[Judgement]) -> RecallCounts {
    let with_summary = judgements.iter().filter(|judgement| judgement.has_summary);
    RecallCounts::of(with_summary.flat_map(|judgement| &judgement.facts))
}
