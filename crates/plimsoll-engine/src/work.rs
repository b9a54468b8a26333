//! Extracts the work of a session, continuing where the last call stopped.
//!
//! The fold is cached in the data folder with the offset in the transcript. The cache is only a
//! shortcut: if it is missing or does not match the file, the transcript is read from its start.

mod chain;

use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use plimsoll_agents::Agent;
use plimsoll_core::bytes;
use plimsoll_core::event::SessionId;
use plimsoll_core::reading::Scope;
use plimsoll_extract::work::{Work, WorkEvent, WorkFold};
use serde::{Deserialize, Serialize};

use crate::jsonl::{Forward, JsonLines};
use crate::paths::{self, Links, Paths};
use chain::Chain;

/// A session's work, as far as its transcript was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    pub work: Work,
    /// How far the transcript was read.
    pub offset: u64,
    /// Whether the deadline passed before the end.
    pub partial: bool,
}

/// The cache between two calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// Release and layout: another release may fold differently, and another layout would be
    /// misread.
    made: Made,
    inode: u64,
    offset: u64,
    /// Hash of the last bytes read.
    last: u64,
    chain: Chain,
    fold: WorkFold,
}

/// Release and layout of a cache.
type Made = (String, u32);

/// Increase with every change of the cache's content or meaning.
const LAYOUT: u32 = 11;

fn made() -> Made {
    (env!("CARGO_PKG_VERSION").to_owned(), LAYOUT)
}

/// Folds the transcript of a session to its end or until `deadline`, and updates the cache.
pub fn fold(
    paths: &Paths,
    agent: &'static dyn Agent,
    session: &SessionId,
    transcript: &JsonLines,
    deadline: Option<Instant>,
) -> io::Result<Folded> {
    let path = paths.work(session);
    let known = read(&path).filter(|kept| kept.fits(transcript));
    let is_known = known.is_some();
    let mut kept = known.unwrap_or_default();
    let Reading { partial, bytes } = kept.read_on(agent, transcript, deadline)?;
    if !is_known || partial || bytes > LITTLE {
        kept.last = kept.last_bytes(transcript)?;
        // If this fails, the next call is slower but has the same result.
        let _ = write(&path, &kept);
    }
    Ok(Folded { work: kept.fold.finish(), offset: kept.offset, partial })
}

/// Fewer bytes than this are read again faster than cached.
const LITTLE: u64 = 16 << 10;

/// Result of [`Kept::read_on`].
struct Reading {
    /// The deadline passed before the last complete line.
    partial: bool,
    /// Number of folded bytes; after a rewind some count twice.
    bytes: u64,
}

/// Folds a transcript from its start, without the cache.
pub fn scan(agent: &'static dyn Agent, transcript: &JsonLines) -> io::Result<Folded> {
    let mut kept = Kept::default();
    let Reading { partial, .. } = kept.read_on(agent, transcript, None)?;
    Ok(Folded { work: kept.fold.finish(), offset: kept.offset, partial })
}

/// Folds the branch that the user left last. For a transcript that was rewound to its start and has
/// an empty active branch. Prefers a branch with a response of the model. `None` if there is no
/// branch.
pub fn scan_left_branch(
    agent: &'static dyn Agent,
    transcript: &JsonLines,
) -> io::Result<Option<Folded>> {
    let mut unanswered = None;
    for rewind in rewinds(agent, transcript)?.into_iter().rev() {
        let folded = scan(agent, &transcript.until(rewind)?)?;
        if folded.work.turns() > 0 {
            return Ok(Some(folded));
        }
        unanswered = unanswered.or(Some(folded).filter(|folded| !folded.work.is_empty()));
    }
    Ok(unanswered)
}

/// Returns the offsets of the prompts with which the user rewound.
fn rewinds(agent: &'static dyn Agent, transcript: &JsonLines) -> io::Result<Vec<u64>> {
    let (mut chain, mut rewinds) = (Chain::default(), Vec::new());
    let mut lines = transcript.forward(0);
    while let Some((place, bytes)) = next_whole(&mut lines, transcript)? {
        let record = agent.transcript().record(bytes, Scope::Main);
        if record.is_some_and(|record| chain.follow(&record, &place)) {
            rewinds.push(place.start);
        }
    }
    Ok(rewinds)
}

/// A fold without a cache file, for repeated reading.
#[derive(Debug, Default)]
pub(crate) struct Folding(Kept);

impl Folding {
    /// Folds to the transcript's end.
    pub(crate) fn read_on(
        &mut self,
        agent: &'static dyn Agent,
        transcript: &JsonLines,
    ) -> io::Result<Work> {
        self.0.read_on(agent, transcript, None)?;
        Ok(self.0.fold.clone().finish())
    }
}

fn read(path: &Path) -> Option<Kept> {
    let bytes = paths::read_bytes(path, Links::Refused).ok()?;
    // Damaged bytes may still parse, and would refer to names and files that are not there.
    let (bytes, sum) = bytes.split_last_chunk::<8>()?;
    if bytes::checksum(bytes) != u64::from_le_bytes(*sum) {
        return None;
    }
    // Check the first field before parsing the rest, which another layout would misread.
    let (made_by, _) = postcard::take_from_bytes::<Made>(bytes).ok()?;
    (made_by == made()).then(|| postcard::from_bytes(bytes).ok())?
}

fn write(path: &Path, kept: &Kept) -> io::Result<()> {
    /// Enough for most caches.
    const USUAL: usize = 128 << 10;
    let written = postcard::to_extend(kept, Vec::with_capacity(USUAL));
    let mut bytes = written.map_err(io::Error::other)?;
    bytes.extend(bytes::checksum(&bytes).to_le_bytes());
    // Does not sweep the folder, which may contain thousands of files: the end of the session does.
    paths::put(path, &bytes)
}

impl Kept {
    /// Reports whether the cache belongs to this file. Transcripts only grow: a rewritten one has
    /// other bytes at the offset.
    fn fits(&self, transcript: &JsonLines) -> bool {
        self.inode == transcript.inode()
            && self.chain.end <= transcript.len()
            && self.last_bytes(transcript).is_ok_and(|last| last == self.last)
    }

    fn last_bytes(&self, transcript: &JsonLines) -> io::Result<u64> {
        const FEW: u64 = 4 << 10;
        let end = self.chain.end;
        Ok(bytes::fnv1a(&transcript.bytes(end.saturating_sub(FEW)..end)?))
    }

    /// Reads to the last complete line or until the deadline.
    fn read_on(
        &mut self,
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        deadline: Option<Instant>,
    ) -> io::Result<Reading> {
        (self.inode, self.made) = (transcript.inode(), made());
        let mut bytes = 0;
        loop {
            let from = self.offset;
            let stop = self.fold_on(agent, transcript, deadline)?;
            bytes += self.offset - from;
            match stop {
                Stop::End => return Ok(Reading { partial: false, bytes }),
                Stop::Deadline => return Ok(Reading { partial: true, bytes }),
                Stop::Rewound => self.begin_again(agent, transcript, deadline)?,
            }
        }
    }

    fn fold_on(
        &mut self,
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        deadline: Option<Instant>,
    ) -> io::Result<Stop> {
        self.fold.skip_output_before(self.last_but_one_compaction(agent, transcript)?);
        let mut lines = transcript.forward(self.offset);
        let mut look_at_the_clock = self.offset;
        while let Some((place, bytes)) = next_whole(&mut lines, transcript)? {
            if place.end > look_at_the_clock {
                if is_over(deadline) {
                    return Ok(Stop::Deadline);
                }
                look_at_the_clock = place.end + A_WHILE;
            }
            let skims = |call: &str| self.fold.can_skip_output(place.start + 1, call);
            let is_held = self.chain.holds(place.start);
            let record = is_held.then(|| agent.transcript().skim(bytes, Scope::Main, &skims));
            if let Some(mut record) = record.flatten() {
                if self.chain.follow(&record, &place) {
                    return Ok(Stop::Rewound);
                }
                record.place = place.start + 1;
                self.fold.read_record(&record);
            }
            self.offset = place.end;
            self.chain.end = self.chain.end.max(place.end);
        }
        Ok(Stop::End)
    }

    /// Returns the place of the last compaction but one in the unread part; 0 if there is none, or
    /// if the search would cost more than it saves.
    fn last_but_one_compaction(
        &self,
        agent: &'static dyn Agent,
        transcript: &JsonLines,
    ) -> io::Result<u64> {
        const WORTH_IT: u64 = 256 << 10;
        let (mut end, mut found) = (transcript.len(), 0);
        while end.saturating_sub(self.offset) > WORTH_IT {
            let mark = agent.transcript().compaction_mark();
            let Some(place) = transcript.last_line_with(mark, self.offset..end)? else { break };
            let mut lines = transcript.forward(place);
            let record =
                lines.next()?.and_then(|line| agent.transcript().record(line.bytes, Scope::Main));
            let is_one =
                record.is_some_and(|record| record.events.contains(&WorkEvent::Compaction));
            found += u32::from(is_one && self.chain.holds(place));
            if found == 2 {
                return Ok(place + 1);
            }
            end = place;
        }
        Ok(0)
    }

    /// Starts the fold again without the rewound part, because a fold cannot be undone. That is
    /// expensive, so the rest of the file is searched for further rewinds first.
    fn begin_again(
        &mut self,
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        deadline: Option<Instant>,
    ) -> io::Result<()> {
        (self.fold, self.offset) = (WorkFold::default(), 0);
        let mut lines = transcript.forward(self.chain.end);
        while let Some((place, bytes)) = next_whole(&mut lines, transcript)? {
            if is_over(deadline) {
                break;
            }
            if let Some(record) = agent.transcript().record(bytes, Scope::Main) {
                self.chain.follow(&record, &place);
            }
            self.chain.end = place.end;
        }
        Ok(())
    }
}

/// Number of bytes to fold between two looks at the clock.
const A_WHILE: u64 = 64 << 10;

/// Reason why the fold stopped.
enum Stop {
    End,
    Deadline,
    /// The user rewound: part of what was folded does not count any more.
    Rewound,
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Returns the next complete line and its range in the file. An incomplete line is left for the
/// next call.
fn next_whole<'l>(
    lines: &'l mut Forward<'_>,
    transcript: &JsonLines,
) -> io::Result<Option<(Range<u64>, &'l [u8])>> {
    let line = lines.next()?;
    let placed = line.map(|line| (line.offset..line.offset + line.len + 1, line.bytes));
    Ok(placed.filter(|(place, _)| place.end <= transcript.len()))
}
