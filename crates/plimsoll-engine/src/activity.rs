//! Counting what a session does, line by line.

use std::io;

use plimsoll_agents::Adapter;
use plimsoll_core::entry::{Entry, EntryId, Kind};
use plimsoll_core::metrics::Counts;
use plimsoll_core::reading::Scope;
use plimsoll_core::{Millis, Tokens};
use plimsoll_extract::work::{Act, Record, Tool};

use crate::jsonl::JsonLines;

/// What was counted in a transcript so far.
#[derive(Default)]
pub(crate) struct Activity {
    inode: u64,
    read_to: u64,
    /// The model's message that came last: its parts are one.
    message: Option<EntryId>,
    pub(crate) counts: Counts,
    /// When the first entry was written since the last response under the checkpoint line: if the
    /// window is over that line, it has crossed it then, or later.
    pub(crate) crossed: Option<Millis>,
}

impl Activity {
    /// Counts what a session has done since its window was last emptied.
    pub(crate) fn count(
        adapter: &dyn Adapter,
        transcript: &JsonLines,
        scope: Scope,
    ) -> io::Result<Counts> {
        let mut activity = Self::default();
        activity.read_on(adapter, transcript, scope, 0)?;
        Ok(activity.counts)
    }

    /// How much of the transcript was counted.
    pub(crate) fn bytes(&self) -> u64 {
        self.read_to
    }

    /// Counts what is new in a transcript; all of it, if it is another one. The checkpoint line lies at
    /// `line`.
    pub(crate) fn read_on(
        &mut self,
        adapter: &dyn Adapter,
        transcript: &JsonLines,
        scope: Scope,
        line: Tokens,
    ) -> io::Result<()> {
        if self.inode != transcript.inode() || transcript.len() < self.read_to {
            *self = Self { inode: transcript.inode(), ..Self::default() };
        }
        let mut lines = transcript.forward(self.read_to);
        while let Some(text) = lines.next()? {
            let entry = adapter.entry(text.bytes, scope);
            if let Some(entry) = &entry {
                self.cross(entry, line);
            }
            if entry.is_some_and(|entry| matches!(entry.kind, Kind::Boundary(_))) {
                self.counts = Counts::default();
            } else if let Some(record) = adapter.record(text.bytes, scope) {
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

    fn add(&mut self, record: &Record<'_>) {
        let is_new = record.message.is_some() && record.message != self.message;
        self.message = record.message.or(self.message);
        self.counts.messages += u64::from(record.is_prompt || is_new);
        for act in &record.acts {
            let Act::Called { tool, .. } = act else { continue };
            self.counts.tool_calls += 1;
            match tool {
                Tool::Read { .. } => self.counts.file_reads += 1,
                Tool::Edit { .. } | Tool::Write { .. } => self.counts.file_edits += 1,
                Tool::Delegate { .. } => self.counts.subagent_spawns += 1,
                _ => {}
            }
        }
    }
}
