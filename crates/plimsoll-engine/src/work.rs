//! The work of a session, read on from where it was left.
//!
//! What was folded so far lies in the data folder, with how far the transcript was read. It is only
//! ever a short cut: without it, or with one that does not fit the file, the transcript is read from
//! its start.

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
    /// The work.
    pub work: Work,
    /// How far the transcript was read.
    pub offset: u64,
    /// There was more, and no time to read it.
    pub partial: bool,
}

/// What is kept between two looks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// Who made it: another release may fold differently, and another layout be misread.
    made: Made,
    inode: u64,
    offset: u64,
    /// A hash of the bytes that were looked at last.
    last: u64,
    chain: Chain,
    fold: WorkFold,
}

/// The release and the layout of what is kept.
type Made = (String, u32);

/// Raised with every change of what is kept, or of how it comes about.
const LAYOUT: u32 = 11;

fn made() -> Made {
    (env!("CARGO_PKG_VERSION").to_owned(), LAYOUT)
}

/// Folds the transcript of a session to its end, or to `deadline`, and keeps the result for next time.
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
        // Without it the next look takes longer, and comes to the same.
        let _ = write(&path, &kept);
    }
    Ok(Folded { work: kept.fold.finish(), offset: kept.offset, partial })
}

/// So much is sooner read again than kept.
const LITTLE: u64 = 16 << 10;

/// What reading on came to.
struct Reading {
    /// The deadline came before the last whole line.
    partial: bool,
    /// How many bytes were folded, some of them twice where the user went back.
    bytes: u64,
}

/// Folds a transcript from its start, and keeps nothing.
pub fn scan(agent: &'static dyn Agent, transcript: &JsonLines) -> io::Result<Folded> {
    let mut kept = Kept::default();
    let Reading { partial, .. } = kept.read_on(agent, transcript, None)?;
    Ok(Folded { work: kept.fold.finish(), offset: kept.offset, partial })
}

/// Folds the branch that the user left last, of a transcript that was rewound to its start and has
/// nothing on its active branch. A branch on which the model answered comes first. `None` if there is no
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

/// Where the prompts begin with which the user went back.
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

/// A fold that is read on again and again, and kept nowhere.
#[derive(Debug, Default)]
pub(crate) struct Folding(Kept);

impl Folding {
    /// Folds on to the transcript's end.
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
    // Behind its first field another layout may look like anything.
    let (made_by, _) = postcard::take_from_bytes::<Made>(&bytes).ok()?;
    (made_by == made()).then(|| postcard::from_bytes(&bytes).ok())?
}

fn write(path: &Path, kept: &Kept) -> io::Result<()> {
    /// Most are shorter, and room that is not used costs nothing.
    const USUAL: usize = 128 << 10;
    let bytes = postcard::to_extend(kept, Vec::with_capacity(USUAL)).map_err(io::Error::other)?;
    // There may be thousands of sessions beside it: what is left is swept up when this one ends.
    paths::put(path, &bytes)
}

impl Kept {
    /// Whether it is of this file, which only ever grows: one that was written anew has other bytes
    /// where the reading stopped.
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

    /// Reads on to the last whole line, or to the deadline.
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

    /// The place of the last compaction but one of those that are still to be read, as far as is known;
    /// 0 where there is none, or where a search costs more than it saves.
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

    /// Begins the fold again, without what the user went back behind: no fold can be undone. That is
    /// dear, so the rest of the file is looked through first for where they went back, too.
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

/// So many bytes are folded in no time.
const A_WHILE: u64 = 64 << 10;

/// Why the fold stopped.
enum Stop {
    End,
    Deadline,
    /// The user went back: what was folded since is no part of the work.
    Rewound,
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// The next line, and where it stands with its end. Half a line is next time's line.
fn next_whole<'l>(
    lines: &'l mut Forward<'_>,
    transcript: &JsonLines,
) -> io::Result<Option<(Range<u64>, &'l [u8])>> {
    let line = lines.next()?;
    let placed = line.map(|line| (line.offset..line.offset + line.len + 1, line.bytes));
    Ok(placed.filter(|(place, _)| place.end <= transcript.len()))
}
