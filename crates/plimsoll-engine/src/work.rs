//! The work of a session, read on from where it was left.
//!
//! What was folded so far lies in the data folder, with how far the transcript was read. It is only
//! ever a short cut: without it, or with one that does not fit the file, the transcript is read from
//! its start.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use plimsoll_agents::Adapter;
use plimsoll_core::entry::EntryId;
use plimsoll_core::event::SessionId;
use plimsoll_core::reading::Scope;
use plimsoll_core::work::{Act, Record, Work};
use serde::{Deserialize, Serialize};

use crate::jsonl::JsonLines;
use crate::paths::{self, Links, Paths};

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
    /// Where each prompt of the conversation begins, and what it follows.
    prompts: Vec<(u64, EntryId)>,
    /// Stretches of the file that the user went back behind.
    dead: Vec<Range<u64>>,
    work: Work,
}

/// The release and the layout of what is kept.
type Made = (String, u32);

/// Raised with every change of what is kept, or of how it comes about.
const LAYOUT: u32 = 4;

fn made() -> Made {
    (env!("CARGO_PKG_VERSION").to_owned(), LAYOUT)
}

/// Folds the transcript of a session to its end, or to `deadline`, and keeps the result for next time.
pub fn fold(
    paths: &Paths,
    adapter: &dyn Adapter,
    session: &SessionId,
    transcript: &JsonLines,
    deadline: Option<Instant>,
) -> io::Result<Folded> {
    let path = paths.work(session);
    let mut kept = read(&path).filter(|kept| kept.fits(transcript)).unwrap_or_default();
    let before = kept.offset;
    let partial = kept.read_on(adapter, transcript, deadline)?;
    if kept.offset > before {
        // Without it the next look takes longer, and comes to the same.
        let _ = write(&path, &kept);
    }
    Ok(Folded { work: kept.work, offset: kept.offset, partial })
}

/// Folds a transcript from its start, and keeps nothing.
pub fn scan(adapter: &dyn Adapter, transcript: &JsonLines) -> io::Result<Folded> {
    let mut kept = Kept::default();
    let partial = kept.read_on(adapter, transcript, None)?;
    Ok(Folded { work: kept.work, offset: kept.offset, partial })
}

/// A fold that is read on again and again, and kept nowhere.
#[derive(Debug, Default)]
pub(crate) struct Folding(Kept);

impl Folding {
    /// Folds on to the transcript's end.
    pub(crate) fn read_on(
        &mut self,
        adapter: &dyn Adapter,
        transcript: &JsonLines,
    ) -> io::Result<&Work> {
        self.0.read_on(adapter, transcript, None)?;
        Ok(&self.0.work)
    }
}

fn read(path: &Path) -> Option<Kept> {
    let bytes = paths::read_bytes(path, Links::Refused).ok()?;
    // Behind its first field another layout may look like anything.
    let (made_by, _) = postcard::take_from_bytes::<Made>(&bytes).ok()?;
    (made_by == made()).then(|| postcard::from_bytes(&bytes).ok())?
}

fn write(path: &Path, kept: &Kept) -> io::Result<()> {
    let bytes = postcard::to_stdvec(kept).map_err(io::Error::other)?;
    paths::replace(path, &bytes)
}

impl Kept {
    /// Whether it is of this file, which only ever grows.
    fn fits(&self, transcript: &JsonLines) -> bool {
        self.inode == transcript.inode() && self.offset <= transcript.len()
    }

    /// Reads on to the last whole line. Tells whether the deadline came first.
    fn read_on(
        &mut self,
        adapter: &dyn Adapter,
        transcript: &JsonLines,
        deadline: Option<Instant>,
    ) -> io::Result<bool> {
        (self.inode, self.made) = (transcript.inode(), made());
        let mut lines = transcript.forward(self.offset);
        let mut rewound = None;
        while let Some(line) = lines.next()? {
            let end = line.offset + line.len + 1;
            // Half a line is next time's line.
            if end > transcript.len() {
                break;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(true);
            }
            if !self.dead.iter().any(|dead| dead.contains(&line.offset)) {
                let record = adapter.record(line.bytes, Scope::Main);
                rewound = record.and_then(|record| self.take(record, line.offset));
            }
            if rewound.is_some() {
                break;
            }
            self.offset = end;
        }
        match rewound {
            Some(dead) => self.go_back(adapter, transcript, dead, deadline),
            None => Ok(false),
        }
    }

    /// Takes a record that begins at `offset`; or tells from where on the user went back with it.
    fn take(&mut self, mut record: Record<'_>, offset: u64) -> Option<Range<u64>> {
        let is_prompt = record.acts.iter().any(|act| matches!(act, Act::Asked(_)));
        if let Some(parent) = record.parent.filter(|_| is_prompt) {
            let before = self.prompts.iter().find(|(_, followed)| *followed == parent);
            if let Some((begin, _)) = before {
                return Some(*begin..offset);
            }
            self.prompts.push((offset, parent));
        }
        record.place = offset + 1;
        self.work.take(&record);
        None
    }

    /// Folds again without what the user went back behind. That is rare, and no fold can be undone.
    fn go_back(
        &mut self,
        adapter: &dyn Adapter,
        transcript: &JsonLines,
        dead: Range<u64>,
        deadline: Option<Instant>,
    ) -> io::Result<bool> {
        let mut dead_now = std::mem::take(&mut self.dead);
        dead_now.push(dead);
        *self = Self { dead: dead_now, ..Self::default() };
        self.read_on(adapter, transcript, deadline)
    }
}
