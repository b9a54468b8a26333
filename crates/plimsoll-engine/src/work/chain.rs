//! Finds the parts of a transcript that the user rewound.
//!
//! After a rewind, the new prompt has the same parent as the old one. So two prompts with the same
//! parent mark a rewind, and everything between them is no longer part of the conversation.

use std::ops::Range;

use plimsoll_core::entry::{self, EntryId};
use plimsoll_extract::work::{WorkEvent, WorkRecord};
use serde::{Deserialize, Serialize};

/// The prompts of a conversation, each once and in file order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Chain {
    /// How far the transcript was read.
    pub(super) end: u64,
    /// Offset and predecessor of each prompt.
    prompts: Vec<(u64, Follows)>,
    dead: Vec<Range<u64>>,
}

/// Predecessor of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Follows {
    Record(EntryId),
    /// The first prompt.
    Nothing,
    /// Not a prompt but a compaction, after which there is a new first prompt.
    Compaction,
}

/// Once there are twice this many prompts, only the newest of this number are kept: nobody rewinds
/// further.
const MOST: usize = 150;

impl Chain {
    /// Reports whether the record at `offset` is part of the conversation, as far as is known.
    pub(super) fn holds(&self, offset: u64) -> bool {
        !self.dead.iter().any(|dead| dead.contains(&offset))
    }

    /// Adds a record. Returns whether it is a rewind. Records before `end` are ignored.
    pub(super) fn follow(&mut self, record: &WorkRecord<'_>, place: &Range<u64>) -> bool {
        if place.start < self.end {
            return false;
        }
        self.end = place.end;
        if record.events.contains(&WorkEvent::Compaction) {
            self.prompts.push((place.start, Follows::Compaction));
        }
        if !record.is_prompt {
            return false;
        }
        let follows = match record.follows {
            // A flat log has no rewinds.
            entry::Follows::Previous => return false,
            entry::Follows::Entry(id) => Follows::Record(id),
            entry::Follows::Nothing => Follows::Nothing,
        };
        let before = self.before(follows);
        if let Some(before) = before {
            self.drop_from(before, place.start);
        }
        self.prompts.push((place.start, follows));
        if self.prompts.len() > 2 * MOST {
            self.prompts.drain(..MOST);
        }
        before.is_some()
    }

    /// Finds the prompt with the same predecessor.
    fn before(&self, follows: Follows) -> Option<usize> {
        let compaction =
            || self.prompts.iter().rposition(|(_, known)| *known == Follows::Compaction);
        let since = if follows == Follows::Nothing { compaction().unwrap_or(0) } else { 0 };
        let found = self.prompts[since..].iter().position(|(_, known)| *known == follows);
        found.map(|at| since + at)
    }

    fn drop_from(&mut self, prompt: usize, end: u64) {
        let begin = self.prompts[prompt].0;
        self.prompts.truncate(prompt);
        self.dead.retain(|dead| dead.start < begin);
        self.dead.push(begin..end);
    }
}
