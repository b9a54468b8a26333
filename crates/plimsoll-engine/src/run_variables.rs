//! What the conductor of a run tells the agent's hooks, in the environment that they inherit.

/// The run.
pub const RUN: &str = "PLIMSOLL_RUN";
/// The session that it has begun: one that the agent begins in turn is not its own.
pub const SESSION: &str = "PLIMSOLL_RUN_SESSION";
/// The checkpoint that this session is given.
pub const CHECKPOINT: &str = "PLIMSOLL_RUN_CHECKPOINT";
/// Set where that checkpoint tells of work that is done, and the session has work of its own.
pub const DONE: &str = "PLIMSOLL_RUN_DONE";
/// All of them: those of a run that this one is begun in mean nothing to its sessions.
pub const ALL: [&str; 4] = [RUN, SESSION, CHECKPOINT, DONE];
