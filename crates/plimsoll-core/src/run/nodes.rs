//! Queries about the pieces of a run's plan.

use std::collections::{BTreeMap, BTreeSet};

use super::{Job, JobState, Run};
use crate::Millis;
use crate::plan::{Piece, Plan};
use crate::settings::SessionPer;

/// A piece that no job has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting<'r> {
    /// The number of its batch, from 1.
    pub batch: usize,
    pub piece: &'r Piece,
    /// The failed piece that keeps this one from running, if any.
    pub failed: Option<&'r str>,
}

impl Run {
    /// Returns the pieces that are done or failed, and those that depend on a failed one.
    pub fn closed<'p>(&'p self, plan: &'p Plan) -> BTreeSet<&'p str> {
        let mut closed: BTreeSet<&str> = self.hopeless(plan).into_keys().collect();
        let done = self.jobs.iter().filter(|job| job.is_done());
        closed.extend(done.flat_map(|job| job.begun.pieces.iter().map(String::as_str)));
        closed
    }

    /// Maps each failed piece, and each piece that depends on a failed one, to the failed piece.
    fn hopeless<'p>(&'p self, plan: &'p Plan) -> BTreeMap<&'p str, &'p str> {
        let failed = self.failed_pieces().into_iter();
        let mut hopeless: BTreeMap<&str, &str> = failed.map(|id| (id, id)).collect();
        // A piece depends only on pieces of earlier batches.
        for piece in plan.pieces() {
            let failed = piece.after.iter().find_map(|id| hopeless.get(id.as_str()).copied());
            if let Some(failed) = failed {
                hopeless.entry(&piece.id).or_insert(failed);
            }
        }
        hopeless
    }

    /// Returns the ids of the failed pieces.
    pub fn failed_pieces(&self) -> Vec<&str> {
        let pieces = self.failed_jobs().flat_map(|job| &job.begun.pieces);
        pieces.filter(|id| !self.is_done(id)).map(String::as_str).collect()
    }

    /// Returns the pieces that no job has begun, in plan order.
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

    /// Returns the last batch of which a job has begun.
    pub fn last_batch(&self) -> Option<u32> {
        self.jobs.iter().filter_map(|job| job.begun.batch).max()
    }

    /// Returns the unit of work for which sessions started; `None` if that cannot be determined.
    pub fn session_per(&self) -> Option<SessionPer> {
        let job = self.jobs.first()?;
        let batch = self.plan.as_ref()?.batches.get(job.begun.batch?.checked_sub(1)? as usize)?;
        match (job.begun.pieces.len(), batch.len()) {
            (1, 1) => None,
            (own, all) if own < all => Some(SessionPer::Task),
            _ => Some(SessionPer::Batch),
        }
    }

    /// Returns the jobs that have failed for good.
    pub fn failed_jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| matches!(job.state, JobState::Failed { .. }))
    }

    /// Returns the completed pieces, in order of completion.
    pub fn done_pieces(&self) -> Vec<&Piece> {
        let mut done: Vec<(Millis, &Job)> = self.done_jobs().collect();
        done.sort_by_key(|(at, job)| (*at, job.begun.job));
        let pieces = done.into_iter().flat_map(|(_, job)| &job.begun.pieces);
        pieces.filter_map(|id| self.piece(id)).collect()
    }

    /// Returns the pieces that are not done, in plan order.
    pub fn open_pieces(&self) -> Vec<&Piece> {
        let pieces = self.plan.iter().flat_map(Plan::pieces);
        pieces.filter(|piece| !self.is_done(&piece.id)).collect()
    }

    fn is_done(&self, id: &String) -> bool {
        self.jobs.iter().any(|job| job.is_done() && job.begun.pieces.contains(id))
    }

    /// Returns a piece of the plan by its id.
    pub fn piece(&self, id: &str) -> Option<&Piece> {
        self.plan.as_ref()?.pieces().find(|piece| piece.id == id)
    }

    /// Returns the checkpoint of the job that was completed last. It covers all completed work.
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
