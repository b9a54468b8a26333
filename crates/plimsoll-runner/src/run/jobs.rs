//! The jobs that come next in a plan.

use std::time::Duration;

use plimsoll_core::plan::{self, Piece};
use plimsoll_core::run::{JobBegun, Run};
use plimsoll_core::settings::SessionPer;
use plimsoll_extract::redact::redact;

/// The longest title of a job.
const LONGEST_TITLE: usize = 100;

/// The jobs of the first batch in which there is something left to do; none if that is nowhere.
/// What comes after a task that has failed is not done.
///
/// A job that was begun is gone on with, under its number; nothing that is done comes again.
pub fn next_jobs(run: &Run, per: SessionPer) -> Vec<JobBegun> {
    let Some(plan) = &run.plan else { return Vec::new() };
    let closed = run.closed(plan);
    for (at, pieces) in plan.batches.iter().enumerate() {
        let left = pieces.iter().filter(|piece| !closed.contains(piece.id.as_str()));
        let left: Vec<&Piece> = left.collect();
        if !left.is_empty() {
            return jobs_of(run, at, &left, per);
        }
    }
    Vec::new()
}

/// What was begun stays together as it was begun: its agent may still be at work.
fn jobs_of(run: &Run, at: usize, pieces: &[&Piece], per: SessionPer) -> Vec<JobBegun> {
    let is_left = |id: &String| pieces.iter().any(|piece| piece.id == *id);
    let open = run.jobs.iter().map(|job| (job, &job.begun));
    let open = open.filter(|(job, begun)| !job.is_done() && begun.pieces.iter().any(is_left));
    let mut jobs: Vec<JobBegun> = open.map(|(_, begun)| begun.clone()).collect();
    let is_begun = |id: &String| jobs.iter().any(|job| job.pieces.contains(id));
    let fresh: Vec<&Piece> = pieces.iter().filter(|piece| !is_begun(&piece.id)).copied().collect();
    let size = match per {
        SessionPer::Batch => fresh.len().max(1),
        SessionPer::Task => 1,
    };
    let last = run.jobs.iter().map(|job| job.begun.job).max().unwrap_or(0);
    jobs.extend(fresh.chunks(size).zip(1..).map(|(pieces, nth)| JobBegun {
        job: last.saturating_add(nth),
        title: title(pieces),
        batch: Some(at as u32 + 1),
        pieces: pieces.iter().map(|piece| piece.id.clone()).collect(),
        tokens: Some(plan::load(pieces.iter().copied())),
    }));
    jobs
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
