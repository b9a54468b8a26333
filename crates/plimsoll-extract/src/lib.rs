//! Turns a transcript into a checkpoint and a restore: sections, redaction, file map, scoring.
//!
//! This crate is pure: no files, no clock, no environment, no network. The engine decides which
//! bytes to read, and `plimsoll-agents` knows what each agent's JSON means.

pub mod board;
pub mod checkpoint;
pub mod redact;
pub mod save;
pub mod work;
