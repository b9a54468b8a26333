//! Transcripts that the client writes.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A transcript, read in full.
#[derive(Clone, Debug)]
pub struct ClientTranscript {
    pub path: PathBuf,
    pub records: Vec<Value>,
    /// Transcripts of the session's subagents, sorted by file name.
    pub subagents: Vec<ClientTranscript>,
}

impl ClientTranscript {
    /// Reads the transcript of session `session_id` in `home`.
    pub fn find(home: &Path, session_id: &str) -> Self {
        let name = format!("{session_id}.jsonl");
        let projects = entries(&home.join(".claude/projects"));
        let path = projects.iter().map(|project| project.join(&name)).find(|path| path.exists());
        let path = path.unwrap_or_else(|| panic!("session `{session_id}` left no transcript"));
        let mut transcript = Self::read(&path);
        transcript.subagents = entries(&path.with_extension("").join("subagents"))
            .iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .map(|path| Self::read(path))
            .collect();
        transcript
    }

    /// Returns the records that mark a compaction.
    pub fn boundaries(&self) -> Vec<&Value> {
        self.records.iter().filter(|line| line["subtype"] == "compact_boundary").collect()
    }

    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("the transcript should be readable");
        let parse = |line| serde_json::from_str(line).expect("a record should be JSON");
        let records = text.lines().map(parse).collect();
        Self { path: path.to_owned(), records, subagents: Vec::new() }
    }
}

/// Returns the entries of `folder`, sorted. Empty if the folder does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
