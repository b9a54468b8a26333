//! The `plimsoll` binary.
//!
//! `hook` is handled before the command line is parsed: parsing alone would double the cost of a
//! hook call.

mod cmd;
mod diff;
mod ingest;
mod layout;
mod listing;
mod past;
mod report;
mod tui;
mod ui;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

/// The allocator of the shipped binary's C library returns every freed page to the system at once
/// and requests it again. That takes half the time of folding many small texts.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: rustix_dlmalloc::GlobalDlmalloc = rustix_dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    match arguments.next() {
        Some(first) if first == "hook" && !asks_for_help(arguments.peek()) => {
            cmd::hook::run(arguments)
        }
        Some(_) => cmd::run(),
        None => {
            cmd::hook::run_if_piped();
            cmd::run()
        }
    }
}

/// Whether a person asks for help. Agents never do, and must never get the exit code of misuse.
fn asks_for_help(argument: Option<&OsString>) -> bool {
    argument.is_some_and(|argument| argument == "--help" || argument == "-h")
}
