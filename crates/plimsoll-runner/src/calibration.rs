//! Collects the past work that calibrates estimates: pieces of past runs, and past sessions.
//!
//! A session counts as one task: its first request is the description, and the growth of its main
//! window is the cost. Each transcript is read once. Of the request only the kind and the estimate
//! are stored.

use std::ffi::OsString;
use std::path::PathBuf;

use plimsoll_agents::Agent;
use plimsoll_core::entry::{self, Response};
use plimsoll_core::plan::{Case, Kind};
use plimsoll_core::reading::Scope;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::jsonl::{JsonLines, whole_lines};
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::world::{World, now};
use plimsoll_extract::work::WorkEvent;
use plimsoll_store::{Batch, Bookmark, PastTask, SourceFile, Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::batch::calibration::Calibration;
use crate::batch::{Estimator, Task};
use crate::runs;

/// Number of newest sessions to learn from.
const MAX_SESSIONS: usize = 1_000;
/// A session that is silent for this long counts as ended.
const ENDED_AFTER: Millis = 3_600_000;
/// Bytes to read per transaction.
const BYTES_PER_TRANSACTION: u64 = 8 << 20;

/// Learns from all past work. Calls `progress` with the number of changed transcripts read so far
/// and their total.
pub fn calibrate(
    world: &World,
    store: &mut Store,
    progress: impl Fn(usize, usize),
) -> anyhow::Result<Calibration> {
    runs::import_journals(&world.paths, store)?;
    let read = store.bookmarks()?;
    let mut news = sessions::find(world)?;
    news.truncate(MAX_SESSIONS);
    news.retain(|found| read.get(&bookmark_source(found).path) != Some(&(found.inode, found.len)));
    for (done, found) in news.iter().enumerate() {
        progress(done, news.len());
        match ingest_transcript(store, found) {
            Err(error) if error.is::<StoreError>() => return Err(error),
            // Skip a transcript that cannot be read.
            _ => {}
        }
    }
    progress(news.len(), news.len());
    let mut cases = store.piece_cases()?;
    cases.extend(store.past_tasks(now() as Millis - ENDED_AFTER)?.iter().map(case));
    Ok(Calibration::of(&cases))
}

fn case(task: &PastTask) -> Case {
    let PastTask { last_active: last_word, kind, predicted, growth: grown, .. } = *task;
    Case { at: last_word, kind, predicted, measured: grown }
}

/// Returns the bookmark key of a transcript. The suffix distinguishes it from the key under which
/// other code ingests the same transcript.
fn bookmark_source(found: &Found) -> SourceFile {
    let mut name = OsString::from(&found.path);
    name.push("#task");
    SourceFile { path: PathBuf::from(name), inode: found.inode }
}

fn ingest_transcript(store: &mut Store, found: &Found) -> anyhow::Result<()> {
    let Some(file) = JsonLines::open(&found.path)? else { return Ok(()) };
    let source = SourceFile { inode: file.inode(), ..bookmark_source(found) };
    let mut read_to = None;
    loop {
        let done = store.ingest(&source, |here| {
            let here = if here.offset > file.len() { Bookmark::default() } else { here };
            read_batch(found.agent, &file, found, &here)
        })?;
        if done.end_offset >= file.len() || read_to == Some(done.end_offset) {
            return Ok(());
        }
        read_to = Some(done.end_offset);
    }
}

fn read_batch(
    agent: &'static dyn Agent,
    file: &JsonLines,
    found: &Found,
    here: &Bookmark,
) -> anyhow::Result<Batch> {
    // A note that this version cannot parse, written by a later version, is ignored. Rows that are
    // already stored stay.
    let mut seen: SessionCost = serde_json::from_str(&here.reader_state).unwrap_or_default();
    let offset = whole_lines(file, here.offset, BYTES_PER_TRANSACTION, |line| {
        seen.add_record(agent, line.bytes)
    })?;
    let next = Bookmark { offset, reader_state: serde_json::to_string(&seen)? };
    let past_tasks = seen.past_task(found).into_iter().collect();
    Ok(Batch { past_tasks, next, ..Batch::default() })
}

/// State of reading one session's transcript, stored as the note of its bookmark.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SessionCost {
    /// Kind and estimate of the first request.
    asked: Option<(Kind, Tokens)>,
    last_word: Millis,
    /// Tokens in the window at the first response since the last compaction.
    first: Option<Tokens>,
    /// Most tokens in the window since the last compaction.
    most: Tokens,
    /// Growth before the last compaction.
    grown: Tokens,
}

impl SessionCost {
    fn add_record(&mut self, agent: &'static dyn Agent, line: &[u8]) {
        if self.asked.is_none() {
            self.asked = parse_request(agent, line);
        }
        let Some(entry) = agent.transcript().entry(line, Scope::Main) else { return };
        self.last_word = self.last_word.max(entry.time.unwrap_or(0));
        match entry.kind {
            entry::Kind::Response(Response { prompt_tokens, output_tokens, .. }) => {
                self.first.get_or_insert(prompt_tokens);
                self.most = self.most.max(prompt_tokens.saturating_add(output_tokens));
            }
            entry::Kind::Boundary(_) => {
                self.grown = self.total_growth();
                (self.first, self.most) = (None, 0);
            }
            _ => {}
        }
    }

    fn total_growth(&self) -> Tokens {
        let since = self.first.map_or(0, |first| self.most.saturating_sub(first));
        self.grown.saturating_add(since)
    }

    fn past_task(&self, found: &Found) -> Option<PastTask> {
        let (kind, predicted) = self.asked?;
        let (session, last_word) = (found.owner.session.clone(), self.last_word);
        Some(PastTask {
            session,
            last_active: last_word,
            kind,
            predicted,
            growth: self.total_growth(),
        })
    }
}

/// Returns the kind and estimate of the request in a line; `None` if the line contains no request.
fn parse_request(agent: &'static dyn Agent, line: &[u8]) -> Option<(Kind, Tokens)> {
    let record = agent.transcript().record(line, Scope::Main)?;
    let asked = record.events.into_iter().find_map(|act| match act {
        WorkEvent::UserPrompt(text) => Some(text.into_owned()),
        _ => None,
    });
    let task = Task { description: asked?, ..Task::default() };
    Some((Kind::of(&task.description), Estimator::default().estimate(&task)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn line(kind: &str, more: &Value) -> Vec<u8> {
        let mut record = json!({"type": kind, "isSidechain": false, "sessionId": "s", "cwd": "/p",
            "uuid": "00000000-0000-4000-8000-000000000001", "version": "2.1.325",
            "timestamp": "2026-11-15T06:23:01.444Z"});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record.to_string().into_bytes()
    }

    fn request_record(text: &str) -> Vec<u8> {
        line("user", &json!({"message": {"role": "user", "content": text}}))
    }

    fn response_record(held: Tokens) -> Vec<u8> {
        let usage = json!({"input_tokens": held - 40, "output_tokens": 40});
        let message = json!({"id": format!("msg_{held}"), "type": "message", "role": "assistant",
            "model": "claude-opus-4-5", "content": [{"type": "text", "text": "Done."}],
            "stop_reason": "end_turn", "usage": usage});
        line("assistant", &json!({"message": message}))
    }

    fn compaction_record() -> Vec<u8> {
        let told = json!({"trigger": "auto", "preTokens": 100_000, "postTokens": 9_000});
        line("system", &json!({"subtype": "compact_boundary", "compactMetadata": told}))
    }

    #[test]
    fn growth_adds_up_across_compactions_and_the_first_request_counts() {
        let agent = plimsoll_agents::DEFAULT;
        let lines = [
            request_record("Implement the pump"),
            response_record(20_040),
            response_record(100_000),
            compaction_record(),
            response_record(30_040),
            request_record("fix it"),
            response_record(50_000),
        ];
        let mut seen = SessionCost::default();
        for line in &lines {
            // Resuming from a stored note must give the same result.
            seen = serde_json::from_str(&serde_json::to_string(&seen).unwrap()).unwrap();
            seen.add_record(agent, line);
        }
        assert_eq!(seen.total_growth(), 80_000 + 20_000);
        let (kind, predicted) = seen.asked.unwrap();
        assert_eq!(
            (kind, predicted),
            (Kind::Implement, 9_006),
            "4 words' tokens and 3 files, × 1.5"
        );
    }
}
