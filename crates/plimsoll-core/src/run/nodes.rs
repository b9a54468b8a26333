//! What comes next in a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Job, JobBegun, JobState, Run};
use crate::Millis;
use crate::batch::{self, Piece, Plan};
use crate::redact::redact;
use crate::settings::SessionPer;

/// The longest title of a job.
const LONGEST_TITLE: usize = 100;

/// A piece that nobody has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting<'r> {
    /// Its batch, from 1 on.
    pub batch: usize,
    /// The piece.
    pub piece: &'r Piece,
    /// The piece that has failed and for which it waits in vain, if there is one.
    pub failed: Option<&'r str>,
}

impl Run {
    /// The jobs of the first batch in which there is something left to do; none if that is nowhere.
    /// What comes after a task that has failed is not done.
    ///
    /// A job that was begun is gone on with, under its number; nothing that is done comes again.
    pub fn next_jobs(&self, per: SessionPer) -> Vec<JobBegun> {
        let Some(plan) = &self.plan else { return Vec::new() };
        let closed = self.closed(plan);
        for (at, pieces) in plan.batches.iter().enumerate() {
            let left = pieces.iter().filter(|piece| !closed.contains(piece.id.as_str()));
            let left: Vec<&Piece> = left.collect();
            if !left.is_empty() {
                return self.jobs_of(at, &left, per);
            }
        }
        Vec::new()
    }

    /// What was begun stays together as it was begun: its agent may still be at work.
    fn jobs_of(&self, at: usize, pieces: &[&Piece], per: SessionPer) -> Vec<JobBegun> {
        let is_left = |id: &String| pieces.iter().any(|piece| piece.id == *id);
        let open = self.jobs.iter().map(|job| (job, &job.begun));
        let open = open.filter(|(job, begun)| !job.is_done() && begun.pieces.iter().any(is_left));
        let mut jobs: Vec<JobBegun> = open.map(|(_, begun)| begun.clone()).collect();
        let is_begun = |id: &String| jobs.iter().any(|job| job.pieces.contains(id));
        let fresh: Vec<&Piece> =
            pieces.iter().filter(|piece| !is_begun(&piece.id)).copied().collect();
        let size = match per {
            SessionPer::Batch => fresh.len().max(1),
            SessionPer::Task => 1,
        };
        let last = self.jobs.iter().map(|job| job.begun.job).max().unwrap_or(0);
        jobs.extend(fresh.chunks(size).zip(1..).map(|(pieces, nth)| JobBegun {
            job: last.saturating_add(nth),
            title: title(pieces),
            batch: Some(at as u32 + 1),
            pieces: pieces.iter().map(|piece| piece.id.clone()).collect(),
            tokens: Some(batch::load(pieces.iter().copied())),
        }));
        jobs
    }

    /// Pieces that are done or have failed, and those that come after one that has failed.
    pub(super) fn closed<'p>(&'p self, plan: &'p Plan) -> BTreeSet<&'p str> {
        let mut closed: BTreeSet<&str> = self.hopeless(plan).into_keys().collect();
        let done = self.jobs.iter().filter(|job| job.is_done());
        closed.extend(done.flat_map(|job| job.begun.pieces.iter().map(String::as_str)));
        closed
    }

    /// Pieces that have failed, and those that come after one that has, each with the one that has.
    fn hopeless<'p>(&'p self, plan: &'p Plan) -> BTreeMap<&'p str, &'p str> {
        let failed = self.failed_pieces().into_iter();
        let mut hopeless: BTreeMap<&str, &str> = failed.map(|id| (id, id)).collect();
        // What a piece comes after is in an earlier batch.
        for piece in plan.pieces() {
            let failed = piece.after.iter().find_map(|id| hopeless.get(id.as_str()).copied());
            if let Some(failed) = failed {
                hopeless.entry(&piece.id).or_insert(failed);
            }
        }
        hopeless
    }

    /// Pieces that have failed, by their names.
    pub fn failed_pieces(&self) -> Vec<&str> {
        let pieces = self.failed_jobs().flat_map(|job| &job.begun.pieces);
        pieces.filter(|id| !self.is_done(id)).map(String::as_str).collect()
    }

    /// The pieces that nobody has begun, in the order of the plan.
    pub fn waiting(&self) -> Vec<Waiting<'_>> {
        let Some(plan) = &self.plan else { return Vec::new() };
        let hopeless = self.hopeless(plan);
        let is_begun =
            |piece: &Piece| self.jobs.iter().any(|job| job.begun.pieces.contains(&piece.id));
        let batches = (1..).zip(&plan.batches);
        let pieces = batches.flat_map(|(batch, pieces)| pieces.iter().map(move |it| (batch, it)));
        let left = pieces.filter(|(_, piece)| !is_begun(piece));
        left.map(|(batch, piece)| {
            let failed = hopeless.get(piece.id.as_str()).copied();
            Waiting { batch, piece, failed }
        })
        .collect()
    }

    /// The last batch of the plan of which anything was begun.
    pub(super) fn last_batch(&self) -> Option<u32> {
        self.jobs.iter().filter_map(|job| job.begun.batch).max()
    }

    /// What its sessions were begun for, where that can be told.
    pub fn session_per(&self) -> Option<SessionPer> {
        let job = self.jobs.first()?;
        let batch = self.plan.as_ref()?.batches.get(job.begun.batch?.checked_sub(1)? as usize)?;
        match (job.begun.pieces.len(), batch.len()) {
            (1, 1) => None,
            (own, all) if own < all => Some(SessionPer::Task),
            _ => Some(SessionPer::Batch),
        }
    }

    /// Jobs that have failed for good.
    pub fn failed_jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| matches!(job.state, JobState::Failed { .. }))
    }

    /// The pieces that are done, in the order in which they were.
    pub fn done_pieces(&self) -> Vec<&Piece> {
        let mut done: Vec<(Millis, &Job)> = self.done_jobs().collect();
        done.sort_by_key(|(at, job)| (*at, job.begun.job));
        let pieces = done.into_iter().flat_map(|(_, job)| &job.begun.pieces);
        pieces.filter_map(|id| self.piece(id)).collect()
    }

    /// The pieces that are not done, in the order of the plan.
    pub fn open_pieces(&self) -> Vec<&Piece> {
        let pieces = self.plan.iter().flat_map(Plan::pieces);
        pieces.filter(|piece| !self.is_done(&piece.id)).collect()
    }

    /// Whether a piece is done.
    fn is_done(&self, id: &String) -> bool {
        self.jobs.iter().any(|job| job.is_done() && job.begun.pieces.contains(id))
    }

    /// A piece of the plan by its name.
    pub fn piece(&self, id: &str) -> Option<&Piece> {
        self.plan.as_ref()?.pieces().find(|piece| piece.id == id)
    }

    /// The checkpoint that tells of all that is done: that of the job that was done last.
    pub fn last_checkpoint(&self) -> Option<&str> {
        let last = self.done_jobs().max_by_key(|(at, job)| (*at, job.begun.job))?.1;
        match &last.state {
            JobState::Done { checkpoint, .. } => checkpoint.as_deref(),
            _ => None,
        }
    }

    fn done_jobs(&self) -> impl Iterator<Item = (Millis, &Job)> {
        self.jobs.iter().filter_map(|job| match job.state {
            JobState::Done { at, .. } => Some((at, job)),
            _ => None,
        })
    }
}

/// What a job is about, in a line.
fn title(pieces: &[&Piece]) -> String {
    let first = pieces.first().map_or("", |piece| piece.description.lines().next().unwrap_or(""));
    let short: String = redact(first).chars().take(LONGEST_TITLE).collect();
    match pieces.len() {
        0 | 1 => short,
        more => format!("{short} (and {} more)", more - 1),
    }
}

/// How long to wait before a job is tried again that was tried `attempt` times: `base`, then twice as
/// long each time, but never longer than a while.
pub fn pause(base: Duration, attempt: u32) -> Duration {
    const LONGEST: Duration = Duration::from_secs(300);
    let doubled = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
    base.saturating_mul(doubled).min(LONGEST)
}

#[cfg(test)]
pub(super) mod tests;
