//! Environment variables by which a runner passes information to the agent's hooks.

/// Run id.
pub const RUN: &str = "PLIMSOLL_RUN";
/// Session that the run started. Sessions that the agent starts in turn are not part of the run.
pub const SESSION: &str = "PLIMSOLL_RUN_SESSION";
/// Checkpoint that this session receives.
pub const CHECKPOINT: &str = "PLIMSOLL_RUN_CHECKPOINT";
/// Set if that checkpoint describes finished work and the session has a task of its own.
pub const DONE: &str = "PLIMSOLL_RUN_DONE";
/// All of them, to be removed from the environment of a nested run's sessions.
pub const ALL: [&str; 4] = [RUN, SESSION, CHECKPOINT, DONE];
