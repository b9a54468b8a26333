//! Counting what a session does, line by line.

use std::io;

use plimsoll_agents::Adapter;
use plimsoll_core::entry::{EntryId, Kind};
use plimsoll_core::metrics::Counts;
use plimsoll_core::reading::Scope;
use plimsoll_core::work::{Act, Record, Tool};

use crate::jsonl::JsonLines;

/// What was counted in a transcript so far.
#[derive(Default)]
pub(super) struct Tally {
    inode: u64,
    read_to: u64,
    /// The model's message that came last: its parts are one.
    message: Option<EntryId>,
    pub(super) counts: Counts,
}

impl Tally {
    /// Counts what is new in a transcript; all of it, if it is another one.
    pub(super) fn read_on(
        &mut self,
        adapter: &dyn Adapter,
        transcript: &JsonLines,
        scope: Scope,
    ) -> io::Result<()> {
        if self.inode != transcript.inode() || transcript.len() < self.read_to {
            *self = Self { inode: transcript.inode(), ..Self::default() };
        }
        let mut lines = transcript.forward(self.read_to);
        while let Some(line) = lines.next()? {
            let is_boundary = |kind: Kind<'_>| matches!(kind, Kind::Boundary(_));
            if adapter.entry(line.bytes, scope).is_some_and(|entry| is_boundary(entry.kind)) {
                self.counts = Counts::default();
            } else if let Some(record) = adapter.record(line.bytes, scope) {
                self.add(&record);
            }
        }
        self.read_to = transcript.len();
        Ok(())
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
