//! The binary, driven as a user or an agent would: a temporary home, an empty environment.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod batch;
mod board;
mod checkpoint;
mod completions;
mod config;
mod demo;
mod docs;
mod doctor;
mod elsewhere;
mod env;
mod git_hook;
mod help;
mod hook;
mod hostile;
mod init;
mod journal;
mod kept;
mod log;
mod man;
mod measure;
mod memory;
mod pictures;
mod release;
mod restore;
mod resume;
mod rs;
mod run;
mod score;
mod scripts;
mod search;
mod secrets;
mod serve;
mod ss;
mod status;
mod statusline;
mod tax;
mod team;
mod terminal;
mod test;
mod top;
mod transcript;
mod upgrade;
mod watch;
