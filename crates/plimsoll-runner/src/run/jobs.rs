//! Choice of the next jobs of a plan.

use std::time::Duration;

use plimsoll_core::plan::{self, Piece};
use plimsoll_core::run::{JobBegun, Run};
use plimsoll_core::settings::SessionPer;
use plimsoll_extract::redact::redact;

/// Maximum length of a job's title, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// Returns the jobs of the first batch with unfinished pieces; empty if no batch has any.
///
/// Skips pieces that depend on a failed task. A job that was begun continues under its number;
/// finished work never comes again.
pub fn next_jobs(run: &Run, per: SessionPer) -> Vec<JobBegun> {
    let Some(plan) = &run.plan else { return Vec::new() };
    let closed = run.closed(plan);
    for (at, pieces) in plan.batches.iter().enumerate() {
        let left = pieces.iter().filter(|piece| !closed.contains(piece.id.as_str()));
        let left: Vec<&Piece> = left.collect();
        if !left.is_empty() {
            return jobs_of_batch(run, at, &left, per);
        }
    }
    Vec::new()
}

/// Builds the jobs for the unfinished pieces of a batch. A job that was begun keeps its pieces,
/// because its agent may still be at work.
fn jobs_of_batch(run: &Run, at: usize, pieces: &[&Piece], per: SessionPer) -> Vec<JobBegun> {
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

/// Returns the first line of the first piece's description, redacted and shortened.
fn title(pieces: &[&Piece]) -> String {
    let first = pieces.first().map_or("", |piece| piece.description.lines().next().unwrap_or(""));
    let short: String = redact(first).chars().take(MAX_TITLE_CHARS).collect();
    match pieces.len() {
        0 | 1 => short,
        more => format!("{short} (and {} more)", more - 1),
    }
}

/// Returns the pause before a job is retried after `attempt` attempts: `base`, doubled with each
/// further attempt, but at most five minutes.
pub fn retry_pause(base: Duration, attempt: u32) -> Duration {
    const LONGEST: Duration = Duration::from_secs(300);
    let doubled = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
    base.saturating_mul(doubled).min(LONGEST)
}

#[cfg(test)]
pub(super) mod tests;
