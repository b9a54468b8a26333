//! Counts messages, tool calls and file accesses of a session from its transcript.

use std::io;

use plimsoll_agents::Agent;
use plimsoll_core::entry::{Entry, EntryId, Kind};
use plimsoll_core::metrics::Counts;
use plimsoll_core::reading::Scope;
use plimsoll_core::{Millis, Tokens};
use plimsoll_extract::work::{ToolUse, WorkEvent, WorkRecord};

use crate::jsonl::JsonLines;

/// Running counts for one transcript, with the position up to which it was read.
#[derive(Default)]
pub(crate) struct Activity {
    inode: u64,
    read_to: u64,
    /// Last message of the model: a message spread over several entries counts once.
    message: Option<EntryId>,
    pub(crate) counts: Counts,
    /// Time of the first entry since the last response below the checkpoint threshold. If the
    /// window is above the threshold, it crossed it at this time or later.
    pub(crate) crossed: Option<Millis>,
}

impl Activity {
    /// Counts the activity of a session since its last compaction.
    pub(crate) fn count(
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        scope: Scope,
    ) -> io::Result<Counts> {
        let mut activity = Self::default();
        activity.read_on(agent, transcript, scope, 0)?;
        Ok(activity.counts)
    }

    /// Returns how many bytes of the transcript are counted.
    pub(crate) fn bytes(&self) -> u64 {
        self.read_to
    }

    /// Counts the new part of a transcript, or all of it if the file was replaced or truncated.
    /// `line` is the checkpoint threshold.
    pub(crate) fn read_on(
        &mut self,
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        scope: Scope,
        line: Tokens,
    ) -> io::Result<()> {
        if self.inode != transcript.inode() || transcript.len() < self.read_to {
            *self = Self { inode: transcript.inode(), ..Self::default() };
        }
        let mut lines = transcript.forward(self.read_to);
        while let Some(text) = lines.next()? {
            let entry = agent.transcript().entry(text.bytes, scope);
            if let Some(entry) = &entry {
                self.cross(entry, line);
            }
            if entry.is_some_and(|entry| matches!(entry.kind, Kind::Boundary(_))) {
                self.counts = Counts::default();
            } else if let Some(record) = agent.transcript().record(text.bytes, scope) {
                self.add(&record);
            }
        }
        self.read_to = transcript.len();
        Ok(())
    }

    fn cross(&mut self, entry: &Entry<'_>, line: Tokens) {
        let is_under = match entry.kind {
            Kind::Response(response) => response.prompt_tokens + response.output_tokens < line,
            Kind::Boundary(_) => true,
            _ => false,
        };
        self.crossed = if is_under { None } else { self.crossed.or(entry.time) };
    }

    fn add(&mut self, record: &WorkRecord<'_>) {
        let is_new = record.message.is_some() && record.message != self.message;
        self.message = record.message.or(self.message);
        self.counts.messages += u64::from(record.is_prompt || is_new);
        for act in &record.events {
            let WorkEvent::ToolCall { tool, .. } = act else { continue };
            self.counts.tool_calls += 1;
            match tool {
                ToolUse::Read { .. } => self.counts.file_reads += 1,
                ToolUse::Edit { .. } | ToolUse::Write { .. } => self.counts.file_edits += 1,
                ToolUse::Delegate { .. } => self.counts.subagent_spawns += 1,
                _ => {}
            }
        }
    }
}
