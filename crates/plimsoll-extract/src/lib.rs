//! From a transcript to a checkpoint and a restore: sections, redaction, file map, scoring.
//!
//! Everything here is a value or a function of values: no files, no clock, no environment, no
//! network. Which bytes are read is the engine's business; what an agent's JSON means is the
//! adapters'.

pub mod board;
pub mod checkpoint;
pub mod redact;
pub mod save;
pub mod work;
