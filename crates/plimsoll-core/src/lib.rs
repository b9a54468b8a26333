//! Describes how full a session's context window is, and decides what to do about it.
//!
//! Everything here is a value or a pure function: no files, no clock, no environment, no network.
//! `plimsoll-engine` reads the files; `plimsoll-agents` understands each agent's JSON.

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

/// A time in milliseconds since the Unix epoch.
pub type Millis = i64;
