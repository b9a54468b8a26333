//! Shared test helpers: an empty file and minimal rows.

mod batch_sizes;
mod criteria;
mod history;
mod ingest;
mod open;
mod queries;
mod saves;
mod search;
mod series;

use std::fs::File;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use tempfile::TempDir;

use super::*;
use crate::{
    Batch, Bookmark, CompactionRow, DecisionRow, IngestResult, ReadingRow, SessionRow, SourceFile,
};

const PATIENCE: Duration = Duration::from_secs(5);

/// Creates an empty file for a store, as the engine does.
fn new_file() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    File::create(&path).unwrap();
    (folder, path)
}

fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn source(inode: u64) -> SourceFile {
    SourceFile { path: "/t/s1.jsonl".into(), inode }
}

fn at(offset: u64) -> Bookmark {
    Bookmark { offset, reader_state: format!("read to {offset}") }
}

fn session(name: &str, started: i64, last_seen: i64) -> SessionRow {
    SessionRow {
        id: id(name),
        agent: "claude-code".to_owned(),
        project: None,
        transcript: None,
        version: None,
        model: None,
        started,
        last_seen,
    }
}

fn reading(session: &str, message: u32, output_tokens: u64) -> ReadingRow {
    ReadingRow {
        session: id(session),
        subagent: None,
        message: format!("msg_{message}"),
        time: i64::from(message),
        model: "claude-opus-5-5".to_owned(),
        prompt_tokens: 1000 * u64::from(message),
        output_tokens,
        turn: message,
    }
}

fn compaction(session: &str, entry: u32, model: &str) -> CompactionRow {
    CompactionRow {
        session: id(session),
        subagent: None,
        entry: format!("entry-{entry}"),
        time: i64::from(entry),
        model: Some(model.to_owned()),
        version: Some("2.1.197".to_owned()),
        automatic: true,
        tokens_before: Some(u64::from(entry)),
        tokens_after: None,
    }
}

fn decision(session: &str, line: u64) -> DecisionRow {
    DecisionRow {
        offset: line,
        session: id(session),
        subagent: None,
        time: line.cast_signed(),
        label: "warned".to_owned(),
        used: 160_000,
        window: 200_000,
    }
}

fn readings_batch(readings: Vec<ReadingRow>, next: Bookmark) -> Batch {
    Batch { sessions: vec![session("s1", 1, 1)], readings, next, ..Batch::default() }
}

fn ingest(
    store: &mut Store,
    source: &SourceFile,
    batch: Batch,
) -> Result<IngestResult, StoreError> {
    store.ingest(source, |_| Ok(batch))
}
