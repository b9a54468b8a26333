//! What is true about a session's load, and what to do about it.
//!
//! Everything here is a value or a function of values: no files, no clock, no environment, no
//! network. Which bytes are read is the engine's business; what an agent's JSON means is the
//! adapters'.

pub mod audit;
pub mod board;
pub mod breakpoint;
pub mod bytes;
pub mod checkpoint;
pub mod entry;
pub mod event;
pub mod forecast;
pub mod hook_run;
pub mod metrics;
pub mod models;
pub mod name;
pub mod plan;
pub mod policy;
pub mod reading;
pub mod review;
pub mod run;
pub mod session;
pub mod settings;
pub mod shell;
pub mod text;
pub mod time;
pub mod trigger;
pub mod usage;
pub mod weight;
pub mod window;

/// A count of tokens in a context window.
pub type Tokens = u64;

/// A moment, in milliseconds since the Unix epoch.
pub type Millis = i64;
