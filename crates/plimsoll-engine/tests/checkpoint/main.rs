//! Checkpoints on disk, with killed processes, crowds, full disks and hostile repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bed;
mod child;
mod crowd;
mod failing;
mod hostile;
mod index;
mod keeping;
mod killed;
mod sealing;
mod taken_in;
