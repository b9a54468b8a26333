//! plimsoll as the hook of the real client, which talks to a scripted model.
//!
//! What is asserted is what the two ends get: the requests that reach the model, and what the
//! client writes down of the words for the user. `cargo test` fetches the client when it is not in
//! the cache yet.

#![expect(clippy::unwrap_used, reason = "what fails here is the test")]

mod bed;

mod batch;
mod checkpoint;
mod commands;
mod compaction;
mod failure;
mod guard;
mod install;
mod past;
mod reading;
mod restore;
mod run;
mod saves;
mod score;
mod sessions;
mod silence;
mod statusline;
mod subagents;
mod tour;
mod triggers;
mod versions;
mod warning;
mod watching;
