//! Which stretches of a transcript the user went back behind.
//!
//! What the user says instead follows the same record as what they took back, so two prompts with the
//! same parent tell of it. All that stands between the two is no part of the conversation any more.

use std::ops::Range;

use plimsoll_core::entry::{self, EntryId};
use plimsoll_extract::work::{WorkEvent, WorkRecord};
use serde::{Deserialize, Serialize};

/// The prompts of a conversation, each seen once and in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Chain {
    /// How far the transcript was looked at.
    pub(super) end: u64,
    /// Where each prompt begins, and what it follows.
    prompts: Vec<(u64, Follows)>,
    dead: Vec<Range<u64>>,
}

/// What a prompt follows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Follows {
    Record(EntryId),
    /// It is the first one.
    Nothing,
    /// It is none, but a compaction: what comes after it has another first one.
    Compaction,
}

/// How many prompts are kept when there are twice as many: nobody goes back further.
const MOST: usize = 150;

impl Chain {
    /// Whether the record that begins here is a part of the conversation, as far as is known.
    pub(super) fn holds(&self, offset: u64) -> bool {
        !self.dead.iter().any(|dead| dead.contains(&offset))
    }

    /// Takes a record that was not seen before. Tells whether the user went back with it.
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
            // Nobody goes back in a flat log.
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

    /// The prompt that followed the same record.
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
