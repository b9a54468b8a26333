//! The engine: the only crate that touches the user's files. Synchronous throughout.
//!
//! A hook call is one pass through [`hook::answer`]. Everything else here serves that function, or
//! the commands that a person runs.

mod activity;
pub mod audit;
pub mod board;
pub mod capture;
pub mod checkpoint;
mod child;
pub mod clock;
pub mod criteria;
pub mod damage;
pub mod doctor;
pub mod fate;
pub mod fill;
pub mod git;
pub mod history;
pub mod hook;
pub mod ingest;
pub mod install;
mod journal;
pub mod jsonl;
mod last_session;
pub mod load;
pub mod lock;
pub mod log;
pub mod paths;
pub mod playback;
pub mod process;
pub mod project;
pub mod reading;
mod receipt;
pub mod restore;
pub mod resume;
pub mod review;
pub mod run_journal;
pub mod run_variables;
pub mod running;
pub mod saves;
pub mod score;
mod scratch;
mod secret;
pub mod sessions;
pub mod settings;
pub mod spool;
pub mod statusline;
pub mod tail;
pub mod tax;
pub mod token;
pub mod watch;
pub mod work;
pub mod world;
